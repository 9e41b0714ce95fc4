// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[3] -1.57000005 -0.819999993 2.00999999
// output 0 f32[3] -0.570000052 -2.31999993 7.26000023
// output 1 f32[3,3] 2 0 0 0 2 0 0 0 2
// output 2 f32[3] nan nan inf
module @jit_constants attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result[0]"}, tensor<3x3xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<[1.000000e+00, -2.500000e+00, 3.250000e+00]> : tensor<3xf32>
    %0 = stablehlo.add %arg0, %cst : tensor<3xf32>
    %1 = stablehlo.iota dim = 0 : tensor<3xi32>
    %2 = stablehlo.convert %1 : (tensor<3xi32>) -> tensor<3xf32>
    %3 = stablehlo.add %0, %2 : tensor<3xf32>
    %4 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %5 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %7 = stablehlo.add %4, %6 : tensor<3x3xi32>
    %8 = stablehlo.compare EQ, %7, %5, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %9 = stablehlo.convert %8 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<3x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %13 = stablehlo.compare GT, %arg0, %12, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = call @_where(%13, %cst_2, %cst_3) : (tensor<3xi1>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
    return %3, %11, %14 : tensor<3xf32>, tensor<3x3xf32>, tensor<3xf32>
  }
  func.func private @_where(%arg0: tensor<3xi1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<3xi1>, tensor<3xf32>
    return %2 : tensor<3xf32>
  }
}
