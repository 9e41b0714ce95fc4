// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[4,3] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
// input arg1 bf16[3,2] 2.03125 2.046875 0.578125 -0.5703125 -1.7265625 -0.080078125
// output 0 f32[4,2] 0.48651123 0.751083374 -6.15905762 -1.68804932 -6.21917725 -5.39231873 1.46466064 1.01843262
module @jit_narrow attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x3xf32>, %arg1: tensor<3x2xbf16>) -> (tensor<4x2xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x3xf32>) -> tensor<4x3xbf16>
    %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xbf16>, tensor<3x2xbf16>) -> tensor<4x2xbf16>
    %2 = stablehlo.convert %1 : (tensor<4x2xbf16>) -> tensor<4x2xf32>
    return %2 : tensor<4x2xf32>
  }
}
