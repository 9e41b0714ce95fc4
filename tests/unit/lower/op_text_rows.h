#pragma once
// Calls and the kernels that they become: schedule and body.

namespace plait {

struct Row {
  const char *call, *kernel;
};

inline const Row kRows[] = {
    {"sum(%x, dims = [1])", R"(nest(vector = 4)
  for i0 in 0..6 on cpu_thread {
    %0: f32x4 = variable 0
    for i2 in 0..4 {
      %1: f32x4 = load %x[8*i2 + lane + 32*floordiv(i0, 2) + 4*mod(i0, 2)] aligned
      %2: f32x4 = add(%0, %1)
      assign %0 = %2
    }
    store %y[4*i0 + lane] = %0 aligned
  }
)"},
    {"prod(%x)", R"(nest(vector = 4)
  %0: f32x4 = variable 1
  for i0 in 0..3 {
    for i1 in 0..4 {
      for i2 in 0..2 {
        %1: f32x4 = load %x[32*i0 + 8*i1 + 4*i2 + lane] aligned
        %2: f32x4 = mul(%0, %1)
        assign %0 = %2
      }
    }
  }
  %3: f32x2 = variable 0
  %4: f32x2 = half(%0, upper = false)
  assign %3 = %4
  %5: f32x2 = half(%0, upper = true)
  %6: f32x2 = mul(%3, %5)
  assign %3 = %6
  %7: f32 = variable 0
  %8: f32 = half(%3, upper = false)
  assign %7 = %8
  %9: f32 = half(%3, upper = true)
  %10: f32 = mul(%7, %9)
  assign %7 = %10
  store %y[0] = %7 contiguous
)"},
    {"amin(%x, dims = [0, 2])", R"(nest(vector = 4)
  for i0 in 0..4 on cpu_thread {
    %0: f32x4 = variable inf
    for i1 in 0..3 {
      for i2 in 0..2 {
        %1: f32x4 = load %x[8*i0 + 32*i1 + 4*i2 + lane] aligned
        %2: f32x4 = min(%0, %1)
        assign %0 = %2
      }
    }
    %3: f32x2 = variable 0
    %4: f32x2 = half(%0, upper = false)
    assign %3 = %4
    %5: f32x2 = half(%0, upper = true)
    %6: f32x2 = min(%3, %5)
    assign %3 = %6
    %7: f32 = variable 0
    %8: f32 = half(%3, upper = false)
    assign %7 = %8
    %9: f32 = half(%3, upper = true)
    %10: f32 = min(%7, %9)
    assign %7 = %10
    store %y[i0] = %7 contiguous
  }
)"},
    {"argmax(%x, dims = [2])", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: f32 = variable -inf
    %1: i64 = variable 0
    %4: bool = literal false
    %5: bool = literal true
    for i1 in 0..8 {
      %2: f32 = load %x[8*i0 + i1] contiguous
      %3: bool = gt(%2, %0)
      %6: bool = ne(%2, %2)
      %7: bool = eq(%0, %0)
      %8: bool = where(%6, %7, %4)
      %9: bool = where(%3, %5, %8)
      %10: f32 = where(%9, %2, %0)
      assign %0 = %10
      %11: i64 = coordinate i1
      %12: i64 = where(%9, %11, %1)
      assign %1 = %12
    }
    store %y[i0] = %1 contiguous
  }
)"},
    {"var(%x, dims = [2])", R"(nest(vector = 4)
  for i0 in 0..12 on cpu_thread {
    %0: f32x4 = variable 0
    %1: f32x4 = variable 0
    %2: f32x4 = variable 0
    %5: f32x4 = literal 1
    for i1 in 0..2 {
      %3: f32x4 = load %x[8*i0 + 4*i1 + lane] aligned
      %4: f32x4 = sub(%3, %0)
      %6: f32x4 = add(%2, %5)
      assign %2 = %6
      %7: f32x4 = div(%4, %2)
      %8: f32x4 = add(%0, %7)
      %9: f32x4 = sub(%3, %8)
      assign %0 = %8
      %10: f32x4 = mul(%4, %9)
      %11: f32x4 = add(%1, %10)
      assign %1 = %11
    }
    %12: f32x2 = variable 0
    %13: f32x2 = half(%0, upper = false)
    assign %12 = %13
    %14: f32x2 = half(%0, upper = true)
    %15: f32x2 = variable 0
    %16: f32x2 = half(%1, upper = false)
    assign %15 = %16
    %17: f32x2 = half(%1, upper = true)
    %18: f32x2 = variable 0
    %19: f32x2 = half(%2, upper = false)
    assign %18 = %19
    %20: f32x2 = half(%2, upper = true)
    %21: f32x2 = sub(%14, %12)
    %22: f32x2 = add(%18, %20)
    %23: f32x2 = literal 1
    %24: f32x2 = max(%22, %23)
    %25: f32x2 = div(%20, %24)
    %26: f32x2 = mul(%21, %25)
    %27: f32x2 = mul(%26, %18)
    %28: f32x2 = mul(%21, %27)
    %29: f32x2 = add(%17, %28)
    %30: f32x2 = add(%15, %29)
    assign %15 = %30
    %31: f32x2 = add(%12, %26)
    assign %12 = %31
    assign %18 = %22
    %32: f32 = variable 0
    %33: f32 = half(%12, upper = false)
    assign %32 = %33
    %34: f32 = half(%12, upper = true)
    %35: f32 = variable 0
    %36: f32 = half(%15, upper = false)
    assign %35 = %36
    %37: f32 = half(%15, upper = true)
    %38: f32 = variable 0
    %39: f32 = half(%18, upper = false)
    assign %38 = %39
    %40: f32 = half(%18, upper = true)
    %41: f32 = sub(%34, %32)
    %42: f32 = add(%38, %40)
    %43: f32 = literal 1
    %44: f32 = max(%42, %43)
    %45: f32 = div(%40, %44)
    %46: f32 = mul(%41, %45)
    %47: f32 = mul(%46, %38)
    %48: f32 = mul(%41, %47)
    %49: f32 = add(%37, %48)
    %50: f32 = add(%35, %49)
    assign %35 = %50
    %51: f32 = add(%32, %46)
    assign %32 = %51
    assign %38 = %42
    %52: i64 = coordinate 7
    %53: f32 = convert(%52)
    %54: f32 = div(%35, %53)
    store %y[i0] = %54 contiguous
  }
)"},
    {"var(%x, dims = [0, 2])", R"(nest(vector = 4)
  for i0 in 0..4 on cpu_thread {
    %0: f64x4 = variable 0
    %1: f64x4 = variable 0
    %2: f64x4 = variable 0
    %8: f32x4 = literal 1
    %19: f64x4 = literal 1
    for i1 in 0..3 {
      %3: f32x4 = variable 0
      %4: f32x4 = variable 0
      %5: f32x4 = variable 0
      for i2 in 0..2 {
        %6: f32x4 = load %x[8*i0 + 32*i1 + 4*i2 + lane] aligned
        %7: f32x4 = sub(%6, %3)
        %9: f32x4 = add(%5, %8)
        assign %5 = %9
        %10: f32x4 = div(%7, %5)
        %11: f32x4 = add(%3, %10)
        %12: f32x4 = sub(%6, %11)
        assign %3 = %11
        %13: f32x4 = mul(%7, %12)
        %14: f32x4 = add(%4, %13)
        assign %4 = %14
      }
      %15: f64x4 = convert(%5)
      %16: f64x4 = convert(%3)
      %17: f64x4 = sub(%16, %0)
      %18: f64x4 = add(%2, %15)
      %20: f64x4 = max(%18, %19)
      %21: f64x4 = div(%15, %20)
      %22: f64x4 = mul(%17, %21)
      %23: f64x4 = mul(%22, %2)
      %24: f64x4 = mul(%17, %23)
      %25: f64x4 = convert(%4)
      %26: f64x4 = add(%25, %24)
      %27: f64x4 = add(%1, %26)
      assign %1 = %27
      %28: f64x4 = add(%0, %22)
      assign %0 = %28
      assign %2 = %18
    }
    %29: f64x2 = variable 0
    %30: f64x2 = half(%0, upper = false)
    assign %29 = %30
    %31: f64x2 = half(%0, upper = true)
    %32: f64x2 = variable 0
    %33: f64x2 = half(%1, upper = false)
    assign %32 = %33
    %34: f64x2 = half(%1, upper = true)
    %35: f64x2 = variable 0
    %36: f64x2 = half(%2, upper = false)
    assign %35 = %36
    %37: f64x2 = half(%2, upper = true)
    %38: f64x2 = sub(%31, %29)
    %39: f64x2 = add(%35, %37)
    %40: f64x2 = literal 1
    %41: f64x2 = max(%39, %40)
    %42: f64x2 = div(%37, %41)
    %43: f64x2 = mul(%38, %42)
    %44: f64x2 = mul(%43, %35)
    %45: f64x2 = mul(%38, %44)
    %46: f64x2 = add(%34, %45)
    %47: f64x2 = add(%32, %46)
    assign %32 = %47
    %48: f64x2 = add(%29, %43)
    assign %29 = %48
    assign %35 = %39
    %49: f64 = variable 0
    %50: f64 = half(%29, upper = false)
    assign %49 = %50
    %51: f64 = half(%29, upper = true)
    %52: f64 = variable 0
    %53: f64 = half(%32, upper = false)
    assign %52 = %53
    %54: f64 = half(%32, upper = true)
    %55: f64 = variable 0
    %56: f64 = half(%35, upper = false)
    assign %55 = %56
    %57: f64 = half(%35, upper = true)
    %58: f64 = sub(%51, %49)
    %59: f64 = add(%55, %57)
    %60: f64 = literal 1
    %61: f64 = max(%59, %60)
    %62: f64 = div(%57, %61)
    %63: f64 = mul(%58, %62)
    %64: f64 = mul(%63, %55)
    %65: f64 = mul(%58, %64)
    %66: f64 = add(%54, %65)
    %67: f64 = add(%52, %66)
    assign %52 = %67
    %68: f64 = add(%49, %63)
    assign %49 = %68
    assign %55 = %59
    %69: i64 = coordinate 23
    %70: f64 = convert(%69)
    %71: f64 = div(%52, %70)
    %72: f32 = convert(%71)
    store %y[i0] = %72 contiguous
  }
)"},
    {"sum(%x, dims = [0, 2])", R"(nest(vector = 4)
  for i0 in 0..4 on cpu_thread {
    %0: f64x4 = variable 0
    for i1 in 0..3 {
      %1: f32x4 = variable 0
      for i2 in 0..2 {
        %2: f32x4 = load %x[8*i0 + 32*i1 + 4*i2 + lane] aligned
        %3: f32x4 = add(%1, %2)
        assign %1 = %3
      }
      %4: f64x4 = convert(%1)
      %5: f64x4 = add(%0, %4)
      assign %0 = %5
    }
    %6: f64x2 = variable 0
    %7: f64x2 = half(%0, upper = false)
    assign %6 = %7
    %8: f64x2 = half(%0, upper = true)
    %9: f64x2 = add(%6, %8)
    assign %6 = %9
    %10: f64 = variable 0
    %11: f64 = half(%6, upper = false)
    assign %10 = %11
    %12: f64 = half(%6, upper = true)
    %13: f64 = add(%10, %12)
    assign %10 = %13
    %14: f32 = convert(%10)
    store %y[i0] = %14 contiguous
  }
)"},
    {"cumsum(%x, dim = 1)", R"(nest(vector = 1)
  for i0 in 0..24 on cpu_thread {
    %0: f64 = variable 0
    for i1 in 0..4 {
      %1: f32 = load %x[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] contiguous
      %2: f64 = convert(%1)
      %3: f64 = add(%0, %2)
      assign %0 = %3
      %4: f64 = convert(%0)
      %5: f32 = convert(%4)
      store %y[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] = %5 contiguous
    }
  }
)"},
    {"cumsum(%x, dim = 2, exclusive = true, reverse = true)", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: f64 = variable 0
    for i1 in 0..8 {
      %1: f32 = load %x[8*i0 - i1 + 7] contiguous
      %2: f64 = convert(%1)
      %3: f64 = convert(%0)
      %4: f64 = add(%0, %2)
      assign %0 = %4
      %5: f32 = convert(%3)
      store %y[8*i0 - i1 + 7] = %5 contiguous
    }
  }
)"},
    {"permute(%x, dims = [2, 0, 1])", R"(nest(vector = 1)
  for i0 in 0..24 on cpu_thread {
    for i1 in 0..4 {
      %0: f32 = load %x[8*i1 + floordiv(i0, 3) + 32*mod(i0, 3)] contiguous
      store %y[4*i0 + i1] = %0 contiguous
    }
  }
)"},
    {"broadcast(%n, shape = [2, 5], dims = [0])", R"(nest(vector = 2)
  for i0 in 0..2 on cpu_thread {
    %0: i64x2 = load %n[i0] splat
    for i1 in 0..2 {
      store %y[5*i0 + 2*i1 + lane] = %0 contiguous
    }
    if 1 {
      store %y[5*i0 + lane + 4] = %0 contiguous active 1
    }
  }
)"},
    {"squeeze(%q, dims = [0])", R"(alias
  for i0 in 0..8 {
    %0: f32 = load %q[i0] contiguous
    store %y[i0] = %0 contiguous
  }
)"},
    {"unsqueeze(%n, dims = [0])", R"(alias
  for i0 in 0..2 {
    %0: i64 = load %n[i0] contiguous
    store %y[i0] = %0 contiguous
  }
)"},
    {"reshape(%x, shape = [6, 16])", R"(alias
  for i0 in 0..6 {
    for i1 in 0..16 {
      %0: f32 = load %x[16*i0 + i1] contiguous
      store %y[16*i0 + i1] = %0 contiguous
    }
  }
)"},
    {"slice(%x, dim = 2, start = 1, step = 3)", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    for i1 in 0..3 {
      %0: f32 = load %x[8*i0 + 3*i1 + 1] contiguous
      store %y[3*i0 + i1] = %0 contiguous
    }
  }
)"},
    {"pad(%x, low = [1, 0, 0], high = [0, 0, 0], value = 2)", R"(nest(vector = 4)
  for i0 in 0..16 on cpu_thread {
    for i1 in 0..2 {
      %0: f32x4 = variable 2
      if 0 < floordiv(i0, 4) {
        %1: f32x4 = load %x[8*i0 + 4*i1 + lane - 32] aligned
        assign %0 = %1
      }
      store %y[8*i0 + 4*i1 + lane] = %0 aligned
    }
  }
)"},
    {"cat(%x, %s, dim = 1)", R"(nest(vector = 4)
  for i0 in 0..18 on cpu_thread {
    for i1 in 0..2 {
      %0: f32x4 = variable 0
      if mod(i0, 6) < 4 {
        %1: f32x4 = load %x[4*i1 + lane + 32*floordiv(i0, 6) + 8*mod(i0, 6)] aligned
        assign %0 = %1
      }
      if 3 < mod(i0, 6) {
        %2: f32x4 = load %s[4*i1 + lane + 16*floordiv(i0, 6) + 8*mod(i0, 6) - 32] aligned
        assign %0 = %2
      }
      store %y[8*i0 + 4*i1 + lane] = %0 aligned
    }
  }
)"},
    {"flip(%x, dims = [2])", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    for i1 in 0..8 {
      %0: f32 = load %x[8*i0 - i1 + 7] contiguous
      store %y[8*i0 + i1] = %0 contiguous
    }
  }
)"},
    {"roll(%x, shifts = [3], dims = [2])", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    for i1 in 0..8 {
      %0: f32 = load %x[8*i0 + select(i1 < 3, i1 + 5, i1 - 3)] contiguous
      store %y[8*i0 + i1] = %0 contiguous
    }
  }
)"},
    {"repeat(%x, repeats = [2, 1, 1])", R"(nest(vector = 4)
  for i0 in 0..24 on cpu_thread {
    for i1 in 0..2 {
      %0: f32x4 = load %x[4*i1 + lane + 8*mod(i0, 12)] aligned
      store %y[8*i0 + 4*i1 + lane] = %0 aligned
    }
  }
)"},
    {"bitcast(%x, to = i32)", R"(nest(vector = 4)
  for i0 in 0..12 on cpu_thread {
    for i1 in 0..2 {
      %0: i32x4 = load %x[8*i0 + 4*i1 + lane] aligned
      store %y[8*i0 + 4*i1 + lane] = %0 aligned
    }
  }
)"},
    {"gather(%x, %i, dim = 1)", R"(nest(vector = 1)
  for i0 in 0..6 on cpu_thread {
    for i1 in 0..8 {
      %0: i64 = load %i[8*i0 + i1] contiguous
      bind j0 = %0
      %1: f32 = variable nan
      if j0 < 4 and 0 <= j0 {
        %2: f32 = load %x[i1 + 8*j0 + 32*floordiv(i0, 2)] contiguous
        assign %1 = %2
      }
      store %y[8*i0 + i1] = %1 contiguous
    }
  }
)"},
    {"index_select(%x, %n, dim = 1)", R"(nest(vector = 4)
  for i0 in 0..6 on cpu_thread {
    for i1 in 0..2 {
      %0: i64 = load %n[mod(i0, 2)] contiguous
      bind j0 = %0
      %1: f32x4 = variable nan
      if j0 < 4 and 0 <= j0 {
        %2: f32x4 = load %x[4*i1 + 8*j0 + lane + 32*floordiv(i0, 2)] aligned
        assign %1 = %2
      }
      store %y[8*i0 + 4*i1 + lane] = %1 aligned
    }
  }
)"},
    {"scatter(%x, %i, %s, dim = 1, update = add)", R"(scatter(vector = 4, rows = 0, columns = 0)
  for i0 in 0..3 on cpu_thread {
    for i1 in 0..4 {
      for i2 in 0..2 {
        %0: f32x4 = load %x[32*i0 + 8*i1 + 4*i2 + lane] aligned
        store %y[32*i0 + 8*i1 + 4*i2 + lane] = %0 aligned
      }
    }
    for i4 in 0..2 {
      for i5 in 0..8 {
        %1: i64 = load %i[16*i0 + 8*i4 + i5] contiguous
        bind j0 = %1
        if j0 < 4 and 0 <= j0 {
          %2: f32 = load %y[32*i0 + i5 + 8*j0] contiguous
          %3: f32 = load %s[16*i0 + 8*i4 + i5] contiguous
          %4: f32 = add(%2, %3)
          store %y[32*i0 + i5 + 8*j0] = %4 contiguous
        }
      }
    }
  }
)"},
    {"scatter(%x, %i, %s, dim = 0)", R"(scatter(vector = 4, rows = 0, columns = 0)
  for i0 in 0..4 on cpu_thread {
    for i1 in 0..3 {
      for i2 in 0..2 {
        %0: f32x4 = load %x[8*i0 + 32*i1 + 4*i2 + lane] aligned
        store %y[8*i0 + 32*i1 + 4*i2 + lane] = %0 aligned
      }
    }
    if i0 < 2 {
      for i4 in 0..3 {
        for i5 in 0..8 {
          %1: i64 = load %i[8*i0 + 16*i4 + i5] contiguous
          bind j0 = %1
          if j0 < 3 and 0 <= j0 {
            %2: f32 = load %s[8*i0 + 16*i4 + i5] contiguous
            store %y[8*i0 + i5 + 32*j0] = %2 contiguous
          }
        }
      }
    }
  }
)"},
    {"%y, %z = var_mean(%x, dims = [0])", R"(nest(vector = 4)
  for i0 in 0..8 on cpu_thread {
    %0: f32x4 = variable 0
    %1: f32x4 = variable 0
    %2: f32x4 = variable 0
    %3: f32x4 = variable 0
    %7: f32x4 = literal 1
    for i2 in 0..3 {
      %4: f32x4 = load %x[4*i0 + 32*i2 + lane] aligned
      %5: f32x4 = add(%0, %4)
      assign %0 = %5
      %6: f32x4 = sub(%4, %1)
      %8: f32x4 = add(%3, %7)
      assign %3 = %8
      %9: f32x4 = div(%6, %3)
      %10: f32x4 = add(%1, %9)
      %11: f32x4 = sub(%4, %10)
      assign %1 = %10
      %12: f32x4 = mul(%6, %11)
      %13: f32x4 = add(%2, %12)
      assign %2 = %13
    }
    %14: i64x4 = coordinate 3
    %15: f32x4 = convert(%14)
    %16: f32x4 = div(%0, %15)
    %17: i64x4 = coordinate 2
    %18: f32x4 = convert(%17)
    %19: f32x4 = div(%2, %18)
    store %y[4*i0 + lane] = %16 aligned
    store %z[4*i0 + lane] = %19 aligned
  }
)"},
    {"%y, %z = max_with_argmax(%x, dims = [1])", R"(nest(vector = 4)
  for i0 in 0..6 on cpu_thread {
    %0: f32x4 = variable -inf
    %1: i64x4 = variable 0
    %4: boolx4 = literal false
    %5: boolx4 = literal true
    for i2 in 0..4 {
      %2: f32x4 = load %x[8*i2 + lane + 32*floordiv(i0, 2) + 4*mod(i0, 2)] aligned
      %3: boolx4 = gt(%2, %0)
      %6: boolx4 = ne(%2, %2)
      %7: boolx4 = eq(%0, %0)
      %8: boolx4 = where(%6, %7, %4)
      %9: boolx4 = where(%3, %5, %8)
      %10: f32x4 = where(%9, %2, %0)
      assign %0 = %10
      %11: i64x4 = coordinate i2
      %12: i64x4 = where(%9, %11, %1)
      assign %1 = %12
    }
    store %y[4*i0 + lane] = %0 aligned
    store %z[4*i0 + lane] = %1 aligned
  }
)"},
    {"%y, %z = min_with_argmin(%x, dims = [2])", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: f32 = variable inf
    %1: i64 = variable 0
    %4: bool = literal false
    %5: bool = literal true
    for i1 in 0..8 {
      %2: f32 = load %x[8*i0 + i1] contiguous
      %3: bool = lt(%2, %0)
      %6: bool = ne(%2, %2)
      %7: bool = eq(%0, %0)
      %8: bool = where(%6, %7, %4)
      %9: bool = where(%3, %5, %8)
      %10: f32 = where(%9, %2, %0)
      assign %0 = %10
      %11: i64 = coordinate i1
      %12: i64 = where(%9, %11, %1)
      assign %1 = %12
    }
    store %y[i0] = %0 contiguous
    store %z[i0] = %1 contiguous
  }
)"},
    {"iota(shape = [8], dim = 0)", R"(pointwise(vector = 2, unroll = 1, split = 0, block = 4096)
  for i0 in 0..4 {
    %0: i64x2 = coordinate 2*i0 + lane
    store %y[2*i0 + lane] = %0 aligned
  }
)"},
    {"size(value = 3)", R"(pointwise(vector = 1, unroll = 1, split = 0, block = 0)
  %0: i64 = coordinate 3
  store %y[0] = %0 contiguous
)"},
};

}  // namespace plait
