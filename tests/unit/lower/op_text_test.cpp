// The kernel of one case of every op that combines, moves or looks up elements, and of those that make some: schedule
// and body.
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "lower/lower.h"
#include "segment/segment.h"

namespace plait {
namespace {

struct Row {
  const char *call, *kernel;
};

const Row kRows[] = {
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
    {"prod(%x)", R"(nest()
  %0: f32 = variable 1
  for i0 in 0..3 {
    for i1 in 0..4 {
      for i2 in 0..8 {
        %1: f32 = load %x[32*i0 + 8*i1 + i2] contiguous
        %2: f32 = mul(%0, %1)
        assign %0 = %2
      }
    }
  }
  store %y[0] = %0 contiguous
)"},
    {"amin(%x, dims = [0, 2])", R"(nest(vector = 1)
  for i0 in 0..4 on cpu_thread {
    %0: f32 = variable inf
    for i1 in 0..3 {
      for i2 in 0..8 {
        %1: f32 = load %x[8*i0 + 32*i1 + i2] contiguous
        %2: f32 = min(%0, %1)
        assign %0 = %2
      }
    }
    store %y[i0] = %0 contiguous
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
    {"var(%x, dims = [2])", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: f32 = variable 0
    %1: f32 = variable 0
    %2: f32 = variable 0
    %5: f32 = literal 1
    for i1 in 0..8 {
      %3: f32 = load %x[8*i0 + i1] contiguous
      %4: f32 = sub(%3, %0)
      %6: f32 = add(%2, %5)
      assign %2 = %6
      %7: f32 = div(%4, %2)
      %8: f32 = add(%0, %7)
      %9: f32 = sub(%3, %8)
      assign %0 = %8
      %10: f32 = mul(%4, %9)
      %11: f32 = add(%1, %10)
      assign %1 = %11
    }
    %12: i64 = coordinate 7
    %13: f32 = convert(%12)
    %14: f32 = div(%1, %13)
    store %y[i0] = %14 contiguous
  }
)"},
    {"var(%x, dims = [0, 2])", R"(nest(vector = 1)
  for i0 in 0..4 on cpu_thread {
    %0: f64 = variable 0
    %1: f64 = variable 0
    %2: f64 = variable 0
    %8: f32 = literal 1
    %19: f64 = literal 1
    for i1 in 0..3 {
      %3: f32 = variable 0
      %4: f32 = variable 0
      %5: f32 = variable 0
      for i2 in 0..8 {
        %6: f32 = load %x[8*i0 + 32*i1 + i2] contiguous
        %7: f32 = sub(%6, %3)
        %9: f32 = add(%5, %8)
        assign %5 = %9
        %10: f32 = div(%7, %5)
        %11: f32 = add(%3, %10)
        %12: f32 = sub(%6, %11)
        assign %3 = %11
        %13: f32 = mul(%7, %12)
        %14: f32 = add(%4, %13)
        assign %4 = %14
      }
      %15: f64 = convert(%5)
      %16: f64 = convert(%3)
      %17: f64 = sub(%16, %0)
      %18: f64 = add(%2, %15)
      %20: f64 = max(%18, %19)
      %21: f64 = div(%15, %20)
      %22: f64 = mul(%17, %21)
      %23: f64 = mul(%22, %2)
      %24: f64 = mul(%17, %23)
      %25: f64 = convert(%4)
      %26: f64 = add(%25, %24)
      %27: f64 = add(%1, %26)
      assign %1 = %27
      %28: f64 = add(%0, %22)
      assign %0 = %28
      assign %2 = %18
    }
    %29: i64 = coordinate 23
    %30: f64 = convert(%29)
    %31: f64 = div(%1, %30)
    %32: f32 = convert(%31)
    store %y[i0] = %32 contiguous
  }
)"},
    {"sum(%x, dims = [0, 2])", R"(nest(vector = 1)
  for i0 in 0..4 on cpu_thread {
    %0: f64 = variable 0
    for i1 in 0..3 {
      %1: f32 = variable 0
      for i2 in 0..8 {
        %2: f32 = load %x[8*i0 + 32*i1 + i2] contiguous
        %3: f32 = add(%1, %2)
        assign %1 = %3
      }
      %4: f64 = convert(%1)
      %5: f64 = add(%0, %4)
      assign %0 = %5
    }
    %6: f32 = convert(%0)
    store %y[i0] = %6 contiguous
  }
)"},
    {"cumsum(%x, dim = 1)", R"(nest(vector = 1)
  for i0 in 0..24 on cpu_thread {
    %0: f32 = variable 0
    for i1 in 0..4 {
      %1: f32 = load %x[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] contiguous
      %3: f32 = add(%0, %1)
      assign %0 = %3
      store %y[8*i1 + 32*floordiv(i0, 8) + mod(i0, 8)] = %3 contiguous
    }
  }
)"},
    {"cumsum(%x, dim = 2, exclusive = true, reverse = true)", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    %0: f32 = variable 0
    for i1 in 0..8 {
      %1: f32 = load %x[8*i0 - i1 + 7] contiguous
      %2: f32 = convert(%0)
      %3: f32 = add(%0, %1)
      assign %0 = %3
      store %y[8*i0 - i1 + 7] = %2 contiguous
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
    {"squeeze(%q, dims = [0])", R"(nest(vector = 4)
  for i0 in 0..2 {
    %0: f32x4 = load %q[4*i0 + lane] aligned
    store %y[4*i0 + lane] = %0 aligned
  }
)"},
    {"unsqueeze(%n, dims = [0])", R"(nest(vector = 2)
  for i0 in 0..1 {
    %0: i64x2 = load %n[2*i0 + lane] aligned
    store %y[2*i0 + lane] = %0 aligned
  }
)"},
    {"reshape(%x, shape = [6, 16])", R"(nest(vector = 4)
  for i0 in 0..6 on cpu_thread {
    for i1 in 0..4 {
      %0: f32x4 = load %x[16*i0 + 4*i1 + lane] aligned
      store %y[16*i0 + 4*i1 + lane] = %0 aligned
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
    {"scatter_add(%x, %i, %s, dim = 1)", R"(nest(vector = 1)
  for i0 in 0..12 on cpu_thread {
    for i1 in 0..8 {
      %0: f32 = variable 0
      %1: f32 = load %x[8*i0 + i1] contiguous
      assign %0 = %1
      for s0 in 0..2 {
        %2: i64 = load %i[i1 + 8*s0 + 16*floordiv(i0, 4)] contiguous
        bind j1 = %2
        if j1 == mod(i0, 4) {
          %3: f32 = load %s[i1 + 8*s0 + 16*floordiv(i0, 4)] contiguous
          %4: f32 = add(%0, %3)
          assign %0 = %4
        }
      }
      store %y[8*i0 + i1] = %0 contiguous
    }
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

std::unique_ptr<Fusion> parsed(const std::string& call) {
  const std::string inputs =
      "%x: f32[3, 4, 8], %n: i64[2], %i: i64[3, 2, 8], %s: f32[3, 2, 8], %q: f32[1, 8], %seed: u64[]";
  return parse_fusion(fmt::format("fusion @f ({}) -> (%y) {{\n  %y = {}\n}}\n", inputs, call));
}

std::string kernel_of(const std::string& call) {
  const auto fusion = parsed(call);
  SegmentOptions options;
  options.machine.lanes = 4;
  segment(*fusion, options);
  const Segment& s = fusion->segments.at(0);
  const std::string text = kir::print(lower(*fusion, s).kernel);
  const size_t body = text.find('\n') + 1;
  return s.schedule + "\n" + text.substr(body, text.size() - body - 2);
}

TEST(LowerOpText, OneKernelOfEachRow) {
  for (const Row& row : kRows) EXPECT_EQ(kernel_of(row.call), row.kernel) << row.call;
}

TEST(LowerOpText, RowsHoldEveryOpThatCombinesMovesOrLooksUp) {
  std::set<OpKind> seen;
  for (const Row& row : kRows) {
    const auto fusion = parsed(row.call);
    for (const Op* op : fusion->ops()) seen.insert(op->kind);
  }
#define PLAIT_OP(Name, text, properties)                                                      \
  if (const OpProperty p = property(OpKind::Name);                                            \
      p == OpProperty::reduction || p == OpProperty::movement || p == OpProperty::indexing) { \
    EXPECT_TRUE(seen.count(OpKind::Name)) << #text;                                           \
  }
#include "ir/ops.def"
#undef PLAIT_OP
}

// Two uniform numbers of the lane pair, and both functions of an angle.
TEST(LowerOpText, NormalNumbers) {
  const std::string text = kernel_of("normal(shape = [8], seed = %seed, offset = 7)");
  EXPECT_NE(text.find("random(seed = %0, index = 4*i0 + 2*floordiv(lane, 2), offset = 7)"), std::string::npos) << text;
  EXPECT_NE(text.find("random(seed = %0, index = 4*i0 + 2*floordiv(lane, 2) + 1, offset = 7)"), std::string::npos);
  for (const char* function : {"log(", "sqrt(", "cos(", "sin("})
    EXPECT_NE(text.find(function), std::string::npos) << function;
}

}  // namespace
}  // namespace plait
