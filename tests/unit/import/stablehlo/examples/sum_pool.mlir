// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[1,4,4,2] -1.36000001 0.5 1.00999999 -1.86000001 -1.25999999 2.6400001 -1.64999998 -1.35000002 2.74000001 1.11000001 -0.159999996 0.560000002 1.30999994 -0.620000005 -1.30999994 1.94000006 1.35000002 0.560000002 2.07999992 0.75 2.9000001 -0.980000019 0.769999981 0.419999987 -0.230000004 0.959999979 -0.819999993 2.00999999 2.33999991 -1.36000001 0.340000004 -0.610000014
// output 0 f32[1,4,2,2] 2.27999973 2.32999992 -2.90999985 2.61000013 8.60999966 2.66000032 0.760000229 2.05000019 11.5100002 2.98999977 6.35000038 -1.21000004 7.61999989 1.9399997 6.35000038 -2.53000021
module @jit_sum_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x4x4x2xf32>) -> (tensor<1x4x2x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 1, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x2x2xf32>
    return %1 : tensor<1x4x2x2xf32>
  }
}
