// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[4,3] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
// output 0 f32[4,3] 1.13 2.49000001 1.88 0.25999999 1.99000001 4.25 -1.71000004 4.0999999 6.23999977 -1.37 3.61999989 5.62999964
// output 1 f32[4,3] 1.13 2.81369996 5.28975582 -0.870000005 0.435000002 1.03094995 -1.97000003 -4.15669966 -8.27183247 0.340000004 -0.163199991 0.0995519981
// output 2 f32[4,3] 1.13 2.49000001 2.49000001 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 2.1099999 0.340000004 0.340000004 0.340000004
// output 3 f32[4,3] -1.37 3.61999989 5.62999964 -2.50000024 1.12999988 3.74999952 -1.63 1.62999988 1.38 0.340000004 -0.479999989 -0.610000014
module @jit_running attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}, tensor<4x3xf32> {jax.result_info = "result[2]"}, tensor<4x3xf32> {jax.result_info = "result[3]"}) {
    %0 = call @cumsum(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %1 = call @cumprod(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %2 = call @cummax(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %3 = call @cumsum_1(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  }
  func.func private @cumsum(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[3, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
  func.func private @cumprod(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.multiply %arg1, %arg2 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @cummax(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [2, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
  func.func private @cumsum_1(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 3], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 4, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
}
