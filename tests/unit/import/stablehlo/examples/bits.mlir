// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[3] 1.5 -2.25 0
// output 0 i32[3] 1069547520 -1072693248 0
// output 1 i32[3] 1 -2 0
// output 2 bool[3] 1 1 0
module @jit_bits attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3xf32>) -> (tensor<3xi32> {jax.result_info = "result[0]"}, tensor<3xi32> {jax.result_info = "result[1]"}, tensor<3xi1> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3xf32>) -> tensor<3xi32>
    %1 = stablehlo.convert %arg0 : (tensor<3xf32>) -> tensor<3xi32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %3 = stablehlo.compare NE, %arg0, %2, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %4 = stablehlo.convert %3 : tensor<3xi1>
    return %0, %1, %4 : tensor<3xi32>, tensor<3xi32>, tensor<3xi1>
  }
}
