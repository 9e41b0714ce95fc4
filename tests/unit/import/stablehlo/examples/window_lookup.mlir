// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[5,3] -0.370000005 2.94000006 -0.409999996 1.94000006 2.3499999 -0.0399999991 0.189999998 -0.140000001 -1.47000003 0.389999986 -0.790000021 -0.709999979 -1.08000004 -1.02999997 2.06999993
// input arg1 i32[4] 0 3 7 -2
// output 0 f32[4,2,3] -0.370000005 2.94000006 -0.409999996 1.94000006 2.3499999 -0.0399999991 0.389999986 -0.790000021 -0.709999979 -1.08000004 -1.02999997 2.06999993 0.389999986 -0.790000021 -0.709999979 -1.08000004 -1.02999997 2.06999993 0.389999986 -0.790000021 -0.709999979 -1.08000004 -1.02999997 2.06999993
module @jit_window_lookup attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x3xf32>, %arg1: tensor<4xi32>) -> (tensor<4x2x3xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %7 = stablehlo.concatenate %5, %6, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
    %8 = "stablehlo.gather"(%arg0, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 3>}> : (tensor<5x3xf32>, tensor<4x2xi32>) -> tensor<4x2x3xf32>
    return %8 : tensor<4x2x3xf32>
  }
}
