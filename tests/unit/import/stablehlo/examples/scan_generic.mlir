// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[3] -1.57000005 -0.819999993 2.00999999
// input arg1 f32[4,3] 1.13 2.49000001 1.88 -0.870000005 -0.5 2.36999989 -1.97000003 2.1099999 1.99000001 0.340000004 -0.479999989 -0.610000014
// output 0 f32[3] -2.9400003 2.79999995 7.63999987
// output 1 f32[4,3] -1.77410007 -2.04180002 3.77880001 0.382800043 -0.835000038 9.21929932 2.58070016 2.46869993 12.4573994 -1.11520004 -1.57439995 -5.03250027
"builtin.module"() <{sym_name = "jit_scan"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3xf32>, tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg7: tensor<3xf32>, %arg8: tensor<4x3xf32>):
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11:4 = "stablehlo.while"(%arg8, %10, %arg7, %9) ({
    ^bb0(%arg13: tensor<4x3xf32>, %arg14: tensor<i32>, %arg15: tensor<3xf32>, %arg16: tensor<4x3xf32>):
      %17 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
      %18 = "stablehlo.compare"(%arg14, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%18) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg9: tensor<4x3xf32>, %arg10: tensor<i32>, %arg11: tensor<3xf32>, %arg12: tensor<4x3xf32>):
      %12 = "func.call"(%arg9, %arg10) <{callee = @dynamic_index_in_dim}> : (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>
      %13:2 = "func.call"(%arg11, %12) <{callee = @closed_call}> : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      %14 = "func.call"(%arg12, %13#1, %arg10) <{callee = @dynamic_update_index_in_dim}> : (tensor<4x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<4x3xf32>
      %15 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %16 = "stablehlo.add"(%arg10, %15) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg9, %16, %13#0, %14) : (tensor<4x3xf32>, tensor<i32>, tensor<3xf32>, tensor<4x3xf32>) -> ()
    }) : (tensor<4x3xf32>, tensor<i32>, tensor<3xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<i32>, tensor<3xf32>, tensor<4x3xf32>)
    "func.return"(%11#2, %11#3) : (tensor<3xf32>, tensor<4x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x3xf32>, tensor<i32>) -> tensor<3xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<4x3xf32>, %arg6: tensor<i32>):
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.dynamic_slice"(%arg5, %arg6, %5) <{slice_sizes = array<i64: 1, 3>}> : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %7 = "stablehlo.reshape"(%6) : (tensor<1x3xf32>) -> tensor<3xf32>
    "func.return"(%7) : (tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>), res_attrs = [{}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3xf32>, %arg4: tensor<3xf32>):
    %3 = "stablehlo.add"(%arg3, %arg4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %4 = "stablehlo.multiply"(%arg3, %arg4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%3, %4) : (tensor<3xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<4x3xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf32>) -> tensor<1x3xf32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2, %1) : (tensor<4x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
    "func.return"(%2) : (tensor<4x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
