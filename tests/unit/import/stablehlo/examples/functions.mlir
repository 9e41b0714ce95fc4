// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[4] 0.5 2.5 0.25 7
// output 0 f32[4] 0.47942555 0.598472118 0.247403964 0.656986594
// output 1 f32[4] 0.87758255 -0.801143587 0.968912423 0.753902256
// output 2 f32[4] 0.546302497 -0.747022331 0.255341917 0.87144798
// output 3 f32[4] 1.64872122 12.1824942 1.28402543 1096.63318
// output 4 f32[4] 0.648721278 11.1824942 0.284025401 1095.63318
// output 5 f32[4] 0.405465096 1.25276303 0.223143548 2.07944155
// output 6 f32[4] 0.707106769 1.58113885 0.5 2.64575124
// output 7 f32[4] 0.793700516 1.35720885 0.629960537 1.9129312
// output 8 f32[4] 0.462117165 0.986614347 0.244918659 0.999998331
// output 9 f32[4] 0 2 0 7
// output 10 f32[4] 1 3 1 7
// output 11 f32[4] 0 2 0 7
// output 12 f32[4] 1 1 1 1
// output 13 f32[4] 0.5 2.5 0.25 7
// output 14 bool[4] 1 1 1 1
// output 15 f32[4] 0.622459352 0.924141824 0.562176526 0.999089003
// output 16 f32[4] 0.5 2.5 0.25 7
// output 17 f32[4] 0.311229676 2.31035447 0.140544131 6.99362278
// output 18 f32[4] 0.520499885 0.999593019 0.276326358 1
// output 19 f32[4] 0.463647544 1.19028997 0.244978681 1.42889929
// output 20 f32[4] 0.521095335 6.05020475 0.252612293 548.316162
// output 21 f32[4] 1.12762594 6.13228941 1.03141308 548.317017
// output 22 f32[4] 1.41421354 0.632455528 2 0.377964467
// output 23 f32[4] -0.693147182 0.91629076 -1.38629436 1.94591022
// output 24 f32[4] 1 3 0 7
// output 25 f32[4] 0.321750551 0.62024951 0.197395563 0.718829989
// output 26 f32[4] 0.176776692 9.88211727 0.03125 129.641815
module @jit_functions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<4xf32> {jax.result_info = "result[2]"}, tensor<4xf32> {jax.result_info = "result[3]"}, tensor<4xf32> {jax.result_info = "result[4]"}, tensor<4xf32> {jax.result_info = "result[5]"}, tensor<4xf32> {jax.result_info = "result[6]"}, tensor<4xf32> {jax.result_info = "result[7]"}, tensor<4xf32> {jax.result_info = "result[8]"}, tensor<4xf32> {jax.result_info = "result[9]"}, tensor<4xf32> {jax.result_info = "result[10]"}, tensor<4xf32> {jax.result_info = "result[11]"}, tensor<4xf32> {jax.result_info = "result[12]"}, tensor<4xf32> {jax.result_info = "result[13]"}, tensor<4xi1> {jax.result_info = "result[14]"}, tensor<4xf32> {jax.result_info = "result[15]"}, tensor<4xf32> {jax.result_info = "result[16]"}, tensor<4xf32> {jax.result_info = "result[17]"}, tensor<4xf32> {jax.result_info = "result[18]"}, tensor<4xf32> {jax.result_info = "result[19]"}, tensor<4xf32> {jax.result_info = "result[20]"}, tensor<4xf32> {jax.result_info = "result[21]"}, tensor<4xf32> {jax.result_info = "result[22]"}, tensor<4xf32> {jax.result_info = "result[23]"}, tensor<4xf32> {jax.result_info = "result[24]"}, tensor<4xf32> {jax.result_info = "result[25]"}, tensor<4xf32> {jax.result_info = "result[26]"}) {
    %0 = stablehlo.sine %arg0 : tensor<4xf32>
    %1 = stablehlo.cosine %arg0 : tensor<4xf32>
    %2 = stablehlo.tan %arg0 : tensor<4xf32>
    %3 = stablehlo.exponential %arg0 : tensor<4xf32>
    %4 = stablehlo.exponential_minus_one %arg0 : tensor<4xf32>
    %5 = stablehlo.log_plus_one %arg0 : tensor<4xf32>
    %6 = stablehlo.sqrt %arg0 : tensor<4xf32>
    %7 = stablehlo.cbrt %arg0 : tensor<4xf32>
    %8 = stablehlo.tanh %arg0 : tensor<4xf32>
    %9 = stablehlo.floor %arg0 : tensor<4xf32>
    %10 = stablehlo.ceil %arg0 : tensor<4xf32>
    %11 = call @round(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %12 = stablehlo.sign %arg0 : tensor<4xf32>
    %13 = stablehlo.abs %arg0 : tensor<4xf32>
    %14 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
    %15 = stablehlo.negate %arg0 : tensor<4xf32>
    %16 = stablehlo.exponential %15 : tensor<4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %18 = stablehlo.add %17, %16 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %20 = stablehlo.divide %19, %18 : tensor<4xf32>
    %21 = call @relu(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %22 = call @silu(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %23 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    %24 = chlo.atan %arg0 : tensor<4xf32> -> tensor<4xf32>
    %25 = chlo.sinh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %26 = chlo.cosh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %27 = stablehlo.rsqrt %arg0 : tensor<4xf32>
    %28 = stablehlo.log %arg0 : tensor<4xf32>
    %29 = stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %31 = stablehlo.add %arg0, %30 : tensor<4xf32>
    %32 = stablehlo.atan2 %arg0, %31 : tensor<4xf32>
    %cst_2 = stablehlo.constant dense<2.500000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %34 = stablehlo.power %arg0, %33 : tensor<4xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %32, %34 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func private @round(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @relu(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @silu(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    %1 = stablehlo.exponential %0 : tensor<4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.add %2, %1 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.divide %4, %3 : tensor<4xf32>
    %6 = stablehlo.multiply %arg0, %5 : tensor<4xf32>
    return %6 : tensor<4xf32>
  }
}
