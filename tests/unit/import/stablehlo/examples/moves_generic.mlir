// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[3,4] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
// output 0 f32[3,4] 2.49000001 1.88 1.99000001 -0.479999989 2.36999989 -1.97000003 -0.5 -1.97000003 0.340000004 -0.479999989 1.13 1.88
// output 1 f32[8,6] 2 2 2 2 2 2 2.49000001 1.88 -0.870000005 2 2 2 2 2 2 2 2 2 2.36999989 -1.97000003 2.1099999 2 2 2 2 2 2 2 2 2 0.340000004 -0.479999989 -0.610000014 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
// output 2 f32[12] 1.13 -0.5 1.99000001 2.49000001 2.36999989 0.340000004 1.88 -1.97000003 -0.479999989 -0.870000005 2.1099999 -0.610000014
// output 3 f32[3,4] 1.99000001 0.340000004 -0.479999989 -0.610000014 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999
// output 4 f32[2,3,4] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
"builtin.module"() <{sym_name = "jit_moves"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<8x6xf32>, tensor<12xf32>, tensor<3x4xf32>, tensor<2x3x4xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<3x4xf32>):
    %3 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 3, 3>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %4 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 3, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 2>}> : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %5 = "stablehlo.reverse"(%4) <{dimensions = array<i64: 0>}> : (tensor<3x2xf32>) -> tensor<3x2xf32>
    %6 = "stablehlo.concatenate"(%3, %5) <{dimension = 1 : i64}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
    %7 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.pad"(%arg1, %7) <{edge_padding_high = array<i64: 2, 3>, edge_padding_low = array<i64: 1, -1>, interior_padding = array<i64: 1, 0>}> : (tensor<3x4xf32>, tensor<f32>) -> tensor<8x6xf32>
    %9 = "stablehlo.transpose"(%arg1) <{permutation = array<i64: 1, 0>}> : (tensor<3x4xf32>) -> tensor<4x3xf32>
    %10 = "stablehlo.reshape"(%9) : (tensor<4x3xf32>) -> tensor<12xf32>
    %11 = "func.call"(%arg1) <{callee = @_roll_static}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %12 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
    "func.return"(%6, %8, %10, %11, %13) : (tensor<3x4xf32>, tensor<8x6xf32>, tensor<12xf32>, tensor<3x4xf32>, tensor<2x3x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4xf32>) -> tensor<3x4xf32>, res_attrs = [{}], sym_name = "_roll_static", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x4xf32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 3, 4>, start_indices = array<i64: 2, 0>, strides = array<i64: 1, 1>}> : (tensor<3x4xf32>) -> tensor<1x4xf32>
    %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 2, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x4xf32>) -> tensor<2x4xf32>
    %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<1x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
    "func.return"(%2) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
