#pragma once
// As op_text_rows.h: scans, and ops that put elements in order.
#include "unit/lower/op_text_rows.h"

namespace plait {

inline const Row kOrderRows[] = {
    {"cumprod(%x, dim = 1)", R"(nest(vector = 1)
  for i0 in 0..24 on cpu_thread {
    %0: f64 = variable 1
    for i1 in 0..4 {
      %1: f32 = load %x[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] contiguous
      %2: f64 = convert(%1)
      %3: f64 = mul(%0, %2)
      assign %0 = %3
      %4: f64 = convert(%0)
      %5: f32 = convert(%4)
      store %y[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] = %5 contiguous
    }
  }
)"},
    {"logcumsumexp(%x, dim = 2)", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: f64 = variable -inf
    %1: f64 = variable 0
    %4: f64 = literal 0
    %16: f64 = literal 0
    for i1 in 0..8 {
      %2: f32 = load %x[8*i0 + i1] contiguous
      %3: f64 = convert(%2)
      %5: f64 = max(%0, %3)
      %22: f64 = abs(%5)
      %23: f64 = literal inf
      %6: bool = eq(%22, %23)
      %7: f64 = where(%6, %4, %5)
      %8: bool = eq(%1, %4)
      %9: f64 = sub(%0, %7)
      %10: f64 = exp(%9)
      %11: f64 = mul(%1, %10)
      %12: f64 = where(%8, %4, %11)
      %13: f64 = sub(%3, %7)
      %14: f64 = exp(%13)
      %15: f64 = add(%12, %14)
      assign %1 = %15
      assign %0 = %5
      %25: f64 = abs(%0)
      %26: f64 = literal inf
      %17: bool = eq(%25, %26)
      %18: f64 = where(%17, %16, %0)
      %19: f64 = log(%1)
      %20: f64 = add(%18, %19)
      %21: f32 = convert(%20)
      store %y[8*i0 + i1] = %21 contiguous
    }
  }
)"},
    {"%y, %z = cummax(%x, dim = 1)", R"(nest(vector = 1)
  for i0 in 0..24 on cpu_thread {
    %0: f32 = variable -inf
    %1: i64 = variable 0
    %4: bool = literal true
    for i1 in 0..4 {
      %2: f32 = load %x[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] contiguous
      %3: bool = ge(%2, %0)
      %5: bool = ne(%2, %2)
      %6: bool = where(%5, %4, %3)
      %7: f32 = where(%6, %2, %0)
      %8: i64 = coordinate i1
      %9: i64 = where(%6, %8, %1)
      assign %0 = %7
      assign %1 = %9
      store %y[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] = %7 contiguous
      store %z[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] = %9 contiguous
    }
  }
)"},
    {"%y, %z = cummin(%x, dim = 2)", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: f32 = variable inf
    %1: i64 = variable 0
    %4: bool = literal true
    for i1 in 0..8 {
      %2: f32 = load %x[8*i0 + i1] contiguous
      %3: bool = le(%2, %0)
      %5: bool = ne(%2, %2)
      %6: bool = where(%5, %4, %3)
      %7: f32 = where(%6, %2, %0)
      %8: i64 = coordinate i1
      %9: i64 = where(%6, %8, %1)
      assign %0 = %7
      assign %1 = %9
      store %y[8*i0 + i1] = %7 contiguous
      store %z[8*i0 + i1] = %9 contiguous
    }
  }
)"},
    {"%y, %z = sort(%x, descending = true)", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: i64 = coordinate 8
    %1: i64 = variable 0
    %2: i64 = variable 2
    %3: i64 = literal 1
    for s0 in 0..62 {
      %4: bool = le(%2, %0)
      %5: i64 = add(%1, %3)
      %6: i64 = where(%4, %5, %1)
      assign %1 = %6
      %7: i64 = add(%2, %2)
      %8: i64 = where(%4, %7, %2)
      assign %2 = %8
    }
    bind j1 = %1
    for s2 in 0..8 {
      %9: f32 = load %x[8*i0 + s2] contiguous
      %10: i64 = coordinate s2
      store %y[8*i0 + s2] = %9 contiguous
      store %z[8*i0 + s2] = %10 contiguous
    }
    for s3 in 0..4 {
      %11: f32 = load %y[8*i0 - s3 + 3] contiguous
      %12: i64 = load %z[8*i0 - s3 + 3] contiguous
      %13: i64 = coordinate -s3 + 3
      %14: i64 = variable 0
      %15: i64 = variable 0
      assign %14 = %13
      assign %15 = %13
      for s4 in 0..j1 {
        bind j5 = %15
        if j5 < 4 and 0 <= j5 {
          %16: i64 = variable 0
          %17: f32 = variable 0
          %18: i64 = variable 0
          %19: f32 = load %y[8*i0 + 2*j5 + 1] contiguous
          %20: i64 = load %z[8*i0 + 2*j5 + 1] contiguous
          %21: i64 = coordinate 2*j5 + 1
          assign %16 = %21
          assign %17 = %19
          assign %18 = %20
          if j5 < 3 {
            %22: f32 = load %y[8*i0 + 2*j5 + 2] contiguous
            %23: i64 = load %z[8*i0 + 2*j5 + 2] contiguous
            %24: bool = gt(%17, %22)
            %25: bool = eq(%17, %22)
            %26: bool = ne(%17, %17)
            %27: bool = ne(%22, %22)
            %105: bool = literal true
            %28: bool = bitwise_xor(%27, %105)
            %29: bool = bitwise_and(%26, %28)
            %30: bool = bitwise_or(%24, %29)
            %31: bool = bitwise_and(%26, %27)
            %32: bool = bitwise_or(%25, %31)
            %33: bool = lt(%18, %23)
            %34: bool = bitwise_and(%32, %33)
            %35: bool = bitwise_or(%30, %34)
            %36: i64 = coordinate 2*j5 + 2
            %37: i64 = where(%35, %36, %16)
            assign %16 = %37
            %38: i64 = where(%35, %23, %18)
            assign %18 = %38
            %39: f32 = where(%35, %22, %17)
            assign %17 = %39
          }
          %40: bool = gt(%11, %17)
          %41: bool = eq(%11, %17)
          %42: bool = ne(%11, %11)
          %43: bool = ne(%17, %17)
          %113: bool = literal true
          %44: bool = bitwise_xor(%43, %113)
          %45: bool = bitwise_and(%42, %44)
          %46: bool = bitwise_or(%40, %45)
          %47: bool = bitwise_and(%42, %43)
          %48: bool = bitwise_or(%41, %47)
          %49: bool = lt(%12, %18)
          %50: bool = bitwise_and(%48, %49)
          %51: bool = bitwise_or(%46, %50)
          bind j6 = %14
          %52: i64 = coordinate 8
          %53: i64 = where(%51, %16, %52)
          assign %15 = %53
          %54: i64 = where(%51, %16, %14)
          assign %14 = %54
          if j6 < 8 and 0 <= j6 {
            %55: f32 = where(%51, %17, %11)
            store %y[8*i0 + j6] = %55 contiguous
            %56: i64 = where(%51, %18, %12)
            store %z[8*i0 + j6] = %56 contiguous
          }
        }
      }
      bind j7 = %14
      if j7 < 8 and 0 <= j7 {
        store %y[8*i0 + j7] = %11 contiguous
        store %z[8*i0 + j7] = %12 contiguous
      }
    }
    %61: i64 = literal 0
    for s8 in 0..7 {
      %57: f32 = load %y[8*i0] contiguous
      %58: i64 = load %z[8*i0] contiguous
      %59: f32 = load %y[8*i0 - s8 + 7] contiguous
      %60: i64 = load %z[8*i0 - s8 + 7] contiguous
      store %y[8*i0 - s8 + 7] = %57 contiguous
      store %z[8*i0 - s8 + 7] = %58 contiguous
      %62: i64 = variable 0
      %63: i64 = variable 0
      assign %62 = %61
      assign %63 = %61
      for s9 in 0..j1 {
        bind j10 = %63
        if 2*j10 + s8 < 6 and 0 <= j10 {
          %64: i64 = variable 0
          %65: f32 = variable 0
          %66: i64 = variable 0
          %67: f32 = load %y[8*i0 + 2*j10 + 1] contiguous
          %68: i64 = load %z[8*i0 + 2*j10 + 1] contiguous
          %69: i64 = coordinate 2*j10 + 1
          assign %64 = %69
          assign %65 = %67
          assign %66 = %68
          if 2*j10 + s8 < 5 {
            %70: f32 = load %y[8*i0 + 2*j10 + 2] contiguous
            %71: i64 = load %z[8*i0 + 2*j10 + 2] contiguous
            %72: bool = gt(%65, %70)
            %73: bool = eq(%65, %70)
            %74: bool = ne(%65, %65)
            %75: bool = ne(%70, %70)
            %121: bool = literal true
            %76: bool = bitwise_xor(%75, %121)
            %77: bool = bitwise_and(%74, %76)
            %78: bool = bitwise_or(%72, %77)
            %79: bool = bitwise_and(%74, %75)
            %80: bool = bitwise_or(%73, %79)
            %81: bool = lt(%66, %71)
            %82: bool = bitwise_and(%80, %81)
            %83: bool = bitwise_or(%78, %82)
            %84: i64 = coordinate 2*j10 + 2
            %85: i64 = where(%83, %84, %64)
            assign %64 = %85
            %86: i64 = where(%83, %71, %66)
            assign %66 = %86
            %87: f32 = where(%83, %70, %65)
            assign %65 = %87
          }
          %88: bool = gt(%59, %65)
          %89: bool = eq(%59, %65)
          %90: bool = ne(%59, %59)
          %91: bool = ne(%65, %65)
          %129: bool = literal true
          %92: bool = bitwise_xor(%91, %129)
          %93: bool = bitwise_and(%90, %92)
          %94: bool = bitwise_or(%88, %93)
          %95: bool = bitwise_and(%90, %91)
          %96: bool = bitwise_or(%89, %95)
          %97: bool = lt(%60, %66)
          %98: bool = bitwise_and(%96, %97)
          %99: bool = bitwise_or(%94, %98)
          bind j11 = %62
          %100: i64 = coordinate -s8 + 7
          %101: i64 = where(%99, %64, %100)
          assign %63 = %101
          %102: i64 = where(%99, %64, %62)
          assign %62 = %102
          if j11 + s8 < 7 and 0 <= j11 {
            %103: f32 = where(%99, %65, %59)
            store %y[8*i0 + j11] = %103 contiguous
            %104: i64 = where(%99, %66, %60)
            store %z[8*i0 + j11] = %104 contiguous
          }
        }
      }
      bind j12 = %62
      if j12 + s8 < 7 and 0 <= j12 {
        store %y[8*i0 + j12] = %59 contiguous
        store %z[8*i0 + j12] = %60 contiguous
      }
    }
  }
)"},
};

}  // namespace plait
