// Made by jax 0.10.2 (make_examples.py).
// input arg0 f32[2,3,5,4] 2.1500001 -0.200000003 1.50999999 2.29999995 1.21000004 0.74000001 1.80999994 1.58000004 0.340000004 0.860000014 1.73000002 -1.67999995 1.23000002 1.67999995 -0.00999999978 0.540000021 -0.860000014 1.25 2.8599999 -0.50999999 0.310000002 2.46000004 0.75999999 0.109999999 1.34000003 -1.85000002 -1.23000002 2.3599999 -1.21000004 -1.85000002 2.63000011 1.75999999 2.8900001 1.79999995 2.6099999 -0.280000001 1.76999998 -1.17999995 2.11999989 1.65999997 -1.03999996 -1.08000004 -1.15999997 2.08999991 1.32000005 -0.600000024 1.26999998 1.42999995 1.44000006 2.98000002 2.22000003 0.150000006 -1.75999999 -0.860000014 -1.63 1.91999996 1.97000003 -0.930000007 2.74000001 -0.379999995 0.330000013 0.899999976 2.99000001 2.48000002 -1.27999997 2.47000003 -0.980000019 2.00999999 1.36000001 -1.24000001 -1.73000002 2.6500001 -1.98000002 -1.25999999 2.86999989 1.48000002 0.819999993 0.270000011 0.860000014 0.310000002 -1.66999996 -0.850000024 -0.430000007 0.479999989 -0.0299999993 1.61000001 2.01999998 1.84000003 0.300000012 -0.0399999991 -1.88 -0.230000004 1.94000006 -0.25 -0.569999993 -1.19000006 1.16999996 0.5 -1.76999998 -0.790000021 -1.62 -1.23000002 -0.709999979 -1.62 2.95000005 1.16999996 -1.40999997 0.629999995 -0.0199999996 -1.02999997 0.0599999987 0.829999983 -1.5 2.76999998 0.479999989 -1.61000001 1.42999995 2.74000001 -1.91999996 1.40999997
// input arg1 f32[2,3,5,4] 1.46000004 2.07999992 -0.280000001 -1.77999997 0.860000014 -1.26999998 1.59000003 -0.270000011 0.289999992 2.88000011 1.90999997 2.22000003 0.779999971 2.71000004 -1.90999997 2.45000005 -0.0500000007 -0.839999974 0.670000017 2.72000003 -0.349999994 2.53999996 0.340000004 2.83999991 1.82000005 1.91999996 -0.189999998 0.939999998 -0.75999999 2 -0.709999979 1.36000001 -1.62 -0.769999981 -0.209999993 -1.13999999 -0.699999988 -0.99000001 -1.79999995 -0.289999992 0.340000004 0.0900000036 2.5 -1.55999994 1.12 -0.25999999 -1.87 1.86000001 0.109999999 2.88000011 1.87 2.33999991 0.829999983 -0.300000012 2.26999998 0.0700000003 2.3599999 2.56999993 -0.230000004 1.63 2.06999993 2.99000001 0.289999992 -1 -0.709999979 -0.0900000036 -1.63999999 1.47000003 -1.72000003 0.319999993 2.99000001 0.0199999996 -0.949999988 0.0399999991 -0.689999998 -0.99000001 -0.699999988 -0.469999999 0.289999992 -0.579999983 1.19000006 2.28999996 -1.88 0.330000013 1.08000004 0.370000005 1.29999995 -0.970000029 2.68000007 2.98000002 2.1400001 0.920000017 2.17000008 1.36000001 2.32999992 0.5 -0.589999974 0.790000021 0.479999989 -0.949999988 1.36000001 1.64999998 -0.680000007 -1.17999995 0.910000026 0.300000012 1.62 1.72000003 -1.89999998 -0.949999988 2.32999992 1.36000001 1.95000005 1.72000003 0.970000029 -0.379999995 -0.569999993 1.10000002 1.09000003 2.58999991
// input arg2 f32[2,3,5,4] 0.829999983 0.150000006 -1.52999997 -0.25999999 1.11000001 -1.88999999 2.36999989 2.26999998 -1.77999997 2.00999999 -1.08000004 1.48000002 -1.22000003 1.46000004 2.78999996 2.92000008 1.32000005 -1.17999995 -0.0299999993 -0.610000014 2.77999997 -0.5 0.810000002 0.0399999991 -1.30999994 -0.0799999982 1.85000002 0.0700000003 1.39999998 0.910000026 -1.62 1.64999998 1.37 2.00999999 -1.25999999 2.86999989 2.33999991 2.51999998 2.80999994 1.11000001 -0.140000001 -1.71000004 1.49000001 1.15999997 1.25 -1.97000003 2.73000002 -0.0599999987 -1.64999998 2.95000005 1.67999995 0.620000005 1.82000005 2.00999999 1.33000004 -0.239999995 -0.400000006 1.35000002 -1.27999997 -0.99000001 -1.01999998 0.300000012 1.07000005 0.519999981 1.85000002 2.77999997 -1.55999994 -1.20000005 1.77999997 -0.239999995 1.26999998 -1.62 -1.29999995 2.3900001 0.170000002 -1.38 2.61999989 -0.850000024 -1.60000002 0.689999998 0.879999995 -1.58000004 1.38 -0.49000001 2.96000004 -0.270000011 1.58000004 1.13999999 0.939999998 -1.71000004 2.03999996 -0.400000006 0.689999998 2.25999999 1.34000003 -0.889999986 2.94000006 1.99000001 0.569999993 1.73000002 -0.469999999 -0.270000011 0.180000007 -0.479999989 -0.370000005 1.32000005 0.370000005 -0.610000014 1.11000001 0.00999999978 0.379999995 1.48000002 1.13999999 2.93000007 -0.370000005 1.00999999 2.0999999 -0.379999995 -0.219999999 0.589999974
// output 0 f32[2,3,5,4] 0.829999983 0.150000006 -1.52999997 -0.25999999 1.04921699 -1.44715166 1.52337825 1.72078133 0.440275311 0.0723424554 -0.700394869 0.524404347 -1.13334441 1.4614495 0.741630554 1.94027495 -1.45217836 1.64801395 -0.859531701 1.43307519 2.77999997 -0.5 0.810000002 0.0399999991 0.621261954 -0.278320283 1.35892105 0.0558342598 2.45879793 -0.313054979 0.55409354 0.236569449 -0.857454836 -0.110912308 1.70277297 0.0861912295 0.666264772 -0.128110811 1.22608399 0.195547476 -0.140000001 -1.71000004 1.49000001 1.15999997 0.655125618 -1.85872841 2.19932055 0.462119937 -1.60842395 2.82283711 1.6751703 0.634380579 1.12188983 -1.7185266 2.67009258 -0.0287747867 0.790111184 0.256682277 1.3781507 0.428791225 -1.01999998 0.300000012 1.07000005 0.519999981 1.28383708 2.29077196 -1.04118168 -0.860696852 1.82998931 2.75965118 -1.53880513 -1.18848479 1.7758894 -0.231002137 1.26340556 -1.61882901 0.299581259 0.328205287 0.60994041 -0.277722657 0.879999995 -1.58000004 1.38 -0.49000001 2.1609087 -0.773273826 1.50316441 0.513789117 0.995861292 -1.51109803 1.40700281 -0.398162812 1.42134047 -0.423671186 1.58298314 -0.10979221 1.06389308 -1.27487099 1.39024997 -0.325141072 -0.469999999 -0.270000011 0.180000007 -0.479999989 -0.459673852 -0.105814233 0.199619696 -0.493423998 0.515979767 0.454171479 0.366780579 0.654334843 0.143107146 0.835371256 0.0125250295 0.107538521 0.414420605 0.752358973 -0.0376217812 0.127125069
"builtin.module"() <{sym_name = "jit_attention"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<2x3x5x4xf32>, %arg5: tensor<2x3x5x4xf32>, %arg6: tensor<2x3x5x4xf32>):
    %13 = "stablehlo.dot_general"(%arg4, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x5xf32>
    %14 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.sqrt"(%14) : (tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.convert"(%15) : (tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3x5x5xf32>
    %18 = "stablehlo.divide"(%13, %17) : (tensor<2x3x5x5xf32>, tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
    %19 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<5x5xi1>
    %21 = "func.call"(%20) <{callee = @tril}> : (tensor<5x5xi1>) -> tensor<5x5xi1>
    %22 = "stablehlo.constant"() <{value = dense<-1.000000e+30> : tensor<f32>}> : () -> tensor<f32>
    %23 = "func.call"(%21, %18, %22) <{callee = @_where}> : (tensor<5x5xi1>, tensor<2x3x5x5xf32>, tensor<f32>) -> tensor<2x3x5x5xf32>
    %24 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.reduce"(%23, %24) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %40 = "stablehlo.maximum"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%40) : (tensor<f32>) -> ()
    }) : (tensor<2x3x5x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
    %26 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3x5xf32>
    %28 = "stablehlo.maximum"(%27, %25) : (tensor<2x3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x3x5xf32>) -> tensor<2x3x5x1xf32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x3x5x1xf32>) -> tensor<2x3x5x5xf32>
    %31 = "stablehlo.subtract"(%23, %30) : (tensor<2x3x5x5xf32>, tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
    %32 = "stablehlo.exponential"(%31) : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
    %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.reduce"(%32, %33) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %39 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%39) : (tensor<f32>) -> ()
    }) : (tensor<2x3x5x5xf32>, tensor<f32>) -> tensor<2x3x5xf32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x3x5xf32>) -> tensor<2x3x5x1xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x3x5x1xf32>) -> tensor<2x3x5x5xf32>
    %37 = "stablehlo.divide"(%32, %36) : (tensor<2x3x5x5xf32>, tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
    %38 = "stablehlo.dot_general"(%37, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
    "func.return"(%38) : (tensor<2x3x5x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<5x5xi1>) -> tensor<5x5xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<5x5xi1>):
    %4 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<5x5xi32>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<5x5xi32>
    %7 = "stablehlo.add"(%4, %6) : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi32>
    %8 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<5x5xi32>
    %9 = "stablehlo.compare"(%7, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<5x5xi32>, tensor<5x5xi32>) -> tensor<5x5xi1>
    %10 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<5x5xi1>
    %12 = "stablehlo.select"(%9, %arg3, %11) : (tensor<5x5xi1>, tensor<5x5xi1>, tensor<5x5xi1>) -> tensor<5x5xi1>
    "func.return"(%12) : (tensor<5x5xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<5x5xi1>, tensor<2x3x5x5xf32>, tensor<f32>) -> tensor<2x3x5x5xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<5x5xi1>, %arg1: tensor<2x3x5x5xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<5x5xi1>) -> tensor<2x3x5x5xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3x5x5xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<2x3x5x5xi1>, tensor<2x3x5x5xf32>, tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
    "func.return"(%3) : (tensor<2x3x5x5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
