// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[1,4,5,2] -0.75 2.73000002 -1.04999995 -1.10000002 -0.25 -0.850000024 1.35000002 -1.41999996 2.48000002 2.28999996 -1.99000001 0.709999979 -1.47000003 -0.709999979 0.0799999982 0.270000011 0.340000004 2.6400001 -0.709999979 -1.05999994 1.35000002 2.73000002 2.6099999 2.4000001 -1.67999995 2.68000007 1.25 2.3599999 0.0399999991 -0.899999976 1.96000004 1.30999994 1.88999999 -0.99000001 -1.33000004 1.82000005 -1.89999998 2.73000002 -1.32000005 1
// output 0 f32[1,2,2,2] -0.75 2.73000002 1.35000002 2.6400001 2.6099999 2.73000002 1.25 2.73000002
module @jit_max_pool attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x4x5x2xf32>) -> (tensor<1x2x2x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<1x4x5x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
    return %1 : tensor<1x2x2x2xf32>
  }
}
