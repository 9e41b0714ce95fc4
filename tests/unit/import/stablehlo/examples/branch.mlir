// Made by jax 0.10.2 (make_examples.py).
// input arg0 bool[] 1
// input arg1 i32[] 1
// input arg2 f32[3] -1.57000005 -0.819999993 2.00999999
// output 0 f32[3] 0.570000052 -0.180000007 -3.00999999
module @jit_branch attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<3xf32>) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<i1>) -> tensor<i32>
    %1 = "stablehlo.case"(%0) ({
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %5 = stablehlo.multiply %arg2, %4 : tensor<3xf32>
      stablehlo.return %5 : tensor<3xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
      %5 = stablehlo.add %arg2, %4 : tensor<3xf32>
      stablehlo.return %5 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %2 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %3 = "stablehlo.case"(%2) ({
      stablehlo.return %1 : tensor<3xf32>
    }, {
      %4 = stablehlo.negate %1 : tensor<3xf32>
      stablehlo.return %4 : tensor<3xf32>
    }, {
      %4 = stablehlo.multiply %1, %1 : tensor<3xf32>
      stablehlo.return %4 : tensor<3xf32>
    }) : (tensor<i32>) -> tensor<3xf32>
    return %3 : tensor<3xf32>
  }
}
