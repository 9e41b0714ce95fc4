// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[3] -1.57000005 -0.819999993 2.00999999
// output 0 f32[3] -0.570000052 -2.31999993 7.26000023
// output 1 f32[3,3] 2 0 0 0 2 0 0 0 2
// output 2 f32[3] nan nan inf
"builtin.module"() <{sym_name = "jit_constants"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>, tensor<3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<3xf32>):
    %3 = "stablehlo.constant"() <{value = dense<[1.000000e+00, -2.500000e+00, 3.250000e+00]> : tensor<3xf32>}> : () -> tensor<3xf32>
    %4 = "stablehlo.add"(%arg3, %3) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %5 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi32>
    %6 = "stablehlo.convert"(%5) : (tensor<3xi32>) -> tensor<3xf32>
    %7 = "stablehlo.add"(%4, %6) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %8 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x3xi32>
    %9 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x3xi32>
    %10 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3x3xi32>
    %12 = "stablehlo.add"(%8, %11) : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi32>
    %13 = "stablehlo.compare"(%12, %9) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %14 = "stablehlo.convert"(%13) : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %15 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3xf32>
    %17 = "stablehlo.multiply"(%14, %16) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %18 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %20 = "stablehlo.compare"(%arg3, %19) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    %21 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %23 = "func.call"(%20, %21, %22) <{callee = @_where}> : (tensor<3xi1>, tensor<f32>, tensor<f32>) -> tensor<3xf32>
    "func.return"(%7, %17, %23) : (tensor<3xf32>, tensor<3x3xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<3xi1>, tensor<f32>, tensor<f32>) -> tensor<3xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3xi1>, %arg1: tensor<f32>, %arg2: tensor<f32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %2 = "stablehlo.select"(%arg0, %0, %1) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%2) : (tensor<3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
