// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[5,4] 2.3499999 -0.569999993 1.01999998 1.88999999 1.58000004 2.57999992 2.29999995 2.58999991 -1.87 0.189999998 0.419999987 -1.66999996 -1.97000003 2.1500001 2.92000008 1.91999996 -0.419999987 1.52999997 -0.5 1.70000005
// input arg1 i32[] 4
// output 0 f32[2,3] 2.1500001 2.92000008 1.91999996 1.52999997 -0.5 1.70000005
// output 1 f32[5,4] 2.3499999 -0.569999993 1.01999998 1.88999999 1.58000004 2.57999992 2.29999995 2.58999991 -1.87 0.189999998 0.419999987 -1.66999996 -1.97000003 1 1 1.91999996 -0.419999987 1 1 1.70000005
module @jit_dynamic_slice attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x4xf32>, %arg1: tensor<i32>) -> (tensor<2x3xf32> {jax.result_info = "result[0]"}, tensor<5x4xf32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %1 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %2 = stablehlo.select %0, %1, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %3 = stablehlo.dynamic_slice %arg0, %2, %c_1, sizes = [2, 3] : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.compare LT, %arg1, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_3 = stablehlo.constant dense<5> : tensor<i32>
    %6 = stablehlo.add %arg1, %c_3 : tensor<i32>
    %7 = stablehlo.select %5, %6, %arg1 : tensor<i1>, tensor<i32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %8 = stablehlo.dynamic_update_slice %arg0, %4, %7, %c_4 : (tensor<5x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
    return %3, %8 : tensor<2x3xf32>, tensor<5x4xf32>
  }
}
