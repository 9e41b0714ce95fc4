// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[3,4] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
// output 0 f32[3,4] 2.49000001 1.88 1.99000001 -0.479999989 2.36999989 -1.97000003 -0.5 -1.97000003 0.340000004 -0.479999989 1.13 1.88
// output 1 f32[8,6] 2 2 2 2 2 2 2.49000001 1.88 -0.870000005 2 2 2 2 2 2 2 2 2 2.36999989 -1.97000003 2.1099999 2 2 2 2 2 2 2 2 2 0.340000004 -0.479999989 -0.610000014 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
// output 2 f32[12] 1.13 -0.5 1.99000001 2.49000001 2.36999989 0.340000004 1.88 -1.97000003 -0.479999989 -0.870000005 2.1099999 -0.610000014
// output 3 f32[3,4] 1.99000001 0.340000004 -0.479999989 -0.610000014 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999
// output 4 f32[2,3,4] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
module @jit_moves attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>) -> (tensor<3x4xf32> {jax.result_info = "result[0]"}, tensor<8x6xf32> {jax.result_info = "result[1]"}, tensor<12xf32> {jax.result_info = "result[2]"}, tensor<3x4xf32> {jax.result_info = "result[3]"}, tensor<2x3x4xf32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.slice %arg0 [0:3, 1:3] : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.slice %arg0 [0:3, 0:4:2] : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %2 = stablehlo.reverse %1, dims = [0] : tensor<3x2xf32>
    %3 = stablehlo.concatenate %0, %2, dim = 1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %4 = stablehlo.pad %arg0, %cst, low = [1, -1], high = [2, 3], interior = [1, 0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<8x6xf32>
    %5 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %6 = stablehlo.reshape %5 : (tensor<4x3xf32>) -> tensor<12xf32>
    %7 = call @_roll_static(%arg0) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %8 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
    return %3, %4, %6, %7, %9 : tensor<3x4xf32>, tensor<8x6xf32>, tensor<12xf32>, tensor<3x4xf32>, tensor<2x3x4xf32>
  }
  func.func private @_roll_static(%arg0: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %0 = stablehlo.slice %arg0 [2:3, 0:4] : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %1 = stablehlo.slice %arg0 [0:2, 0:4] : (tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
    return %2 : tensor<3x4xf32>
  }
}
