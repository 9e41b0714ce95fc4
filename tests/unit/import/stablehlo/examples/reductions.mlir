// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[3,4] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
// input arg1 i32[3,4] 2 1 1 2 0 1 2 -1 -2 -1 -1 2
// input arg2 bool[3,4] 1 1 1 0 0 1 0 1 1 1 0 0
// output 0 f32[] 7.87999964
// output 1 f32[4] 1.99000001 2.49000001 1.88 2.1099999
// output 2 f32[3] -0.870000005 -1.97000003 -0.610000014
// output 3 f32[3] -4.6020875 4.92568922 0.198108494
// output 4 i32[4] 0 1 2 3
// output 5 bool[4] 1 1 1 1
// output 6 bool[3] 0 0 0
// output 7 f32[] 2.49000001
module @jit_reductions attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>, %arg1: tensor<3x4xi32>, %arg2: tensor<3x4xi1>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<4xf32> {jax.result_info = "result[1]"}, tensor<3xf32> {jax.result_info = "result[2]"}, tensor<3xf32> {jax.result_info = "result[3]"}, tensor<4xi32> {jax.result_info = "result[4]"}, tensor<4xi1> {jax.result_info = "result[5]"}, tensor<3xi1> {jax.result_info = "result[6]"}, tensor<f32> {jax.result_info = "result[7]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.maximum across dimensions = [0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.minimum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.multiply across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.reduce(%arg1 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<3x4xi32>, tensor<i32>) -> tensor<4xi32>
    %c_3 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.reduce(%arg2 init: %c_3) applies stablehlo.or across dimensions = [0] : (tensor<3x4xi1>, tensor<i1>) -> tensor<4xi1>
    %c_4 = stablehlo.constant dense<true> : tensor<i1>
    %6 = stablehlo.reduce(%arg2 init: %c_4) applies stablehlo.and across dimensions = [1] : (tensor<3x4xi1>, tensor<i1>) -> tensor<3xi1>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %7 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_6 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %8 = stablehlo.maximum %cst_6, %7 : tensor<f32>
    return %0, %1, %2, %3, %4, %5, %6, %8 : tensor<f32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xi32>, tensor<4xi1>, tensor<3xi1>, tensor<f32>
  }
}
