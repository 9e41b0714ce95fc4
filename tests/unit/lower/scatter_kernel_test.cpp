// Kernels around scatters: drawn ones, with producers and consumers, whatever the ranges, interpreted against direct
// evaluation, and what each task may meet; text of a small one.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "kir/interpret.h"
#include "kir/parse.h"
#include "lower/lower.h"
#include "segment/segment.h"
#include "support/direct_evaluation.h"
#include "support/kernel_run.h"
#include "support/sanitized.h"

namespace plait {
namespace {

struct Drawn {
  std::string text, pin;
  sym::Environment env;
};

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}

  Drawn operator()() {
    const size_t rank = 1 + below(3), dim = below(rank);
    std::vector<std::string> in, index;
    for (size_t d = 0; d < rank; ++d) {
      const int64_t extent = d == dim ? below(12) : below(5) == 0 ? 1 : below(7);
      const int64_t reached = d == dim ? below(14) : below(4) == 0 ? below(extent + 1) : extent;
      const bool shorter = d != dim && reached != extent;  // must be provable
      in.push_back(shorter ? std::to_string(extent) : size(extent));
      index.push_back(shorter ? std::to_string(reached) : d != dim ? in.back() : size(reached));
    }
    const char* dtypes[] = {"f32", "f64", "i64", "bool", "i32"};
    const std::string type = dtypes[below(5)];
    const bool is_bool = type == "bool", is_float = type[0] == 'f';
    const char* updates[] = {"set", "max", "min", "add", "mul"};
    const std::string update = updates[below(is_bool ? 3 : type == "i32" ? 4 : 5)];
    const bool rows = below(3) > 0;  // one index for each place of the dim
    const std::string x = list(in), i = list(index);
    std::string body, inputs = fmt::format("%x: {}{}, %i: i64{}, %s: {}{}, %e: {}{}", type, x,
                                           rows ? "[" + index[dim] + "]" : i, type, i, type, x);
    std::string base = "%x", source = "%s", at = "%i";
    if (rows && (rank > 1 || below(2) == 0)) {
      body += fmt::format("  %at = broadcast(%i, shape = {}, dims = [{}])\n", i, dim);
      at = "%at";
    }
    if (below(2) == 0) base = fmt::format("full(shape = {}, value = {}, dtype = {})", x, is_bool ? "true" : "1", type);
    if (below(3) == 0)
      source = fmt::format("full(shape = {}, value = {}, dtype = {})", i, is_bool ? "true" : "2", type);
    else if (below(2) == 0)
      source = is_bool ? "logical_not(%s)" : "add(%s, 1)";
    body += fmt::format("  %y = scatter({}, {}, {}, dim = {}, update = {}, bounds = {})\n", base, at, source, dim,
                        update, below(2) == 0 ? "check" : "assume");
    std::string outputs = "%y";
    if (!is_bool && below(2) == 0) {
      body += "  %z = sub(%y, %e)\n";
      outputs = below(2) == 0 ? "%z" : "%y, %z";
      if (rows && is_float && below(2) == 0) {
        body += fmt::format(
            "  %n = scatter(full(shape = [{0}], value = 0, dtype = {1}), %i, full(shape = [{2}], value = 1, dtype = "
            "{1}), dim = 0, update = add)\n",
            in[dim], type, index[dim]);
        std::string others;
        for (size_t d = 0; d < rank; ++d)
          if (d != dim) others += fmt::format("{}{}", others.empty() ? "" : ", ", d);
        body += fmt::format("  %m = {}\n", rank > 1 ? "unsqueeze(%n, dims = [" + others + "])" : "add(%n, 0)");
        body += "  %q = add(%z, %m)\n";
        outputs = below(3) == 0 ? "%q, %n" : below(2) == 0 ? "%q, %y" : "%q";
      }
    }
    Drawn out{fmt::format("fusion @f ({}) -> ({}) {{\n{}}}\n", inputs, outputs, body), "", env_};
    const int rest = static_cast<int>(below(4));
    out.pin = rest == 0 ? "" : fmt::format("rows = {}", rest == 1 ? 0 : 1 + below(5));
    if (rest > 0 && rank > dim + 1 && below(2) == 0) out.pin += fmt::format(", columns = {}", below(6));
    if (rest > 0) out.pin = "scatter(" + out.pin + ")";
    return out;
  }
  std::mt19937& random() { return random_; }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(n)); }
  std::string size(int64_t extent) {
    if (below(2) == 0) return std::to_string(extent);
    const std::string name = fmt::format("n{}", env_.size());
    env_[name] = extent;
    return name;
  }
  static std::string list(const std::vector<std::string>& sizes) {
    std::string out;
    for (const std::string& s : sizes) out += (out.empty() ? "[" : ", ") + s;
    return out + "]";
  }

  std::mt19937 random_;
  sym::Environment env_;
};

// Inputs: small integers, indices of which few lie outside.
test::Values inputs_of(const Fusion& fusion, const sym::Environment& env, std::mt19937& random) {
  test::Values out;
  for (const TensorView* t : fusion.inputs()) {
    const bool index = t->name == "i";
    out[t].clear();
    for (int64_t k = test::elements(*t, env); k > 0; --k) {
      const int64_t v = static_cast<int64_t>(random() % 14) - (index ? 1 : 5);
      out[t].push_back(t->dtype == DType::boolean ? double(v & 1) : double(v));
    }
  }
  return out;
}

// Runs the kernel on typed buffers and hears what its tasks meet.
void check_accesses(const Fusion& fusion, const Segment& s, const sym::Environment& env, const test::Values& values) {
  const LoweredKernel k = lower(fusion, s);
  std::vector<int64_t> integers;
  for (sym::Expr e : k.arguments) integers.push_back(sym::evaluate(e, env));
  const std::vector<int64_t> extents = kir::buffer_extents(k.kernel, integers);
  std::vector<Tensor> tensors;
  std::vector<void*> buffers;
  for (size_t b = 0; b < kir::passed_buffers(k.kernel); ++b) {
    const DType dtype = k.kernel.buffers[b].dtype;
    const bool is_input = b < s.inputs.size();
    tensors.push_back(is_input ? Tensor::from_doubles(dtype, {extents[b]}, values.at(s.inputs[b]))
                               : Tensor::empty(dtype, {extents[b]}));
    buffers.push_back(tensors.back().data());
  }
  kir::AccessChecker checker(k.kernel);
  kir::interpret(k.kernel, integers, buffers, checker);
  checker.finish(extents);
  if (!checker.problems().empty()) throw std::runtime_error(checker.problems().front() + "\n" + kir::print(k.kernel));
  // The text is read back as the same kernel.
  const std::string text = kir::print(k.kernel);
  if (kir::print(kir::parse(text)) != text) throw std::runtime_error("another text: " + text);
}

void run_drawn(uint32_t first, uint32_t count) {
  size_t in_one = 0, refused = 0, ranges = 0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    Draw draw(seed);
    const Drawn drawn = draw();
    SCOPED_TRACE(fmt::format("seed {}, {}\n{}", seed, drawn.pin, drawn.text));
    auto fusion = parse_fusion(drawn.text);
    SegmentOptions options;
    options.target = test::small_target(1 << draw.random()() % 4);
    if (!drawn.pin.empty())
      for (const TensorView* t : fusion->outputs()) options.pins[t->name] = parse_schedule(drawn.pin);
    try {
      segment(*fusion, options);
    } catch (const UserError& error) {  // an index that names no whole rows, or a pin of what is no scatter
      ++refused;
      options.pins.clear();
      fusion = parse_fusion(drawn.text);
      segment(*fusion, options);
    }
    try {
      test::Values values = inputs_of(*fusion, drawn.env, draw.random());
      test::run_segments(*fusion, drawn.env, values);
      for (const Segment& s : fusion->segments) {
        if (!std::holds_alternative<schedules::Scatter>(s.schedule)) continue;
        check_accesses(*fusion, s, drawn.env, values);
        in_one += fusion->segments.size() == 1;
        ranges += std::get<schedules::Scatter>(s.schedule).rows.value_or(0) > 0;
      }
    } catch (const std::exception& error) {
      FAIL() << error.what() << "\n" << print(*fusion);
    }
  }
  std::printf("%u drawn: %zu are one kernel, %zu have ranges, %zu pins refused\n", count, in_one, ranges, refused);
  EXPECT_GT(2 * in_one, count);
  EXPECT_GT(5 * ranges, count);
}

TEST(ScatterKernels, DrawnOnesAreRight) { run_drawn(0, testing::drawn_here(400)); }
TEST(ScatterKernels, LongRunDrawnOnesAreRight) { run_drawn(100000, 20000); }

std::string kernel_of(const std::string& text, const std::string& pin) {
  const auto fusion = parse_fusion(text);
  SegmentOptions options;
  options.target.vector_lanes = 4;
  options.pins[fusion->outputs()[0]->name] = parse_schedule(pin);
  segment(*fusion, options);
  EXPECT_EQ(fusion->segments.size(), 1u) << print(*fusion);
  return kir::print(lower(*fusion, fusion->segments.at(0)).kernel);
}

constexpr const char* kMeans = R"(
fusion @f (%x: f32[60, 8], %id: i64[60]) -> (%y) {
  %ids = broadcast(%id, shape = [60, 8], dims = [0])
  %sums = scatter(full(shape = [20, 8], value = 0.0, dtype = f32), %ids, %x, dim = 0, update = add, bounds = assume)
  %counts = scatter(full(shape = [20], value = 0.0, dtype = f32), %id, full(shape = [60], value = 1.0, dtype = f32), dim = 0, update = add, bounds = assume)
  %y = div(%sums, unsqueeze(max(%counts, 1.0), dims = [1]))
}
)";

constexpr const char* kMeansInRanges =
    R"(kernel @kernel(%id: i64[60] read, %x: f32[480] read, %y: f32[160] write, %counts: i32[2] workspace, %places: i32[60] workspace, %counts_moved: f32[60] workspace, %numbers: i32[60] workspace) target cpu schedule scatter(vector = 4, rows = 16, columns = 0, chunk = 64) {
  phase {
    for i0 in 0..1 on cpu_thread {
      %0: i32 = literal 0
      for i1 in 0..2 {
        store %counts[2*i0 + i1] = %0 contiguous
      }
      %42: i32 = literal 1
      for i2_1 in 0..-64*i0 + 60 {
        %40: i64 = load %id[64*i0 + i2_1] contiguous
        bind j0_1 = %40
        if j0_1 < 20 and 0 <= j0_1 {
          %41: i32 = load %counts[2*i0 + floordiv(j0_1, 16)] contiguous
          %43: i32 = add(%41, %42)
          store %counts[2*i0 + floordiv(j0_1, 16)] = %43 contiguous
        }
      }
    }
  }
  phase {
    %5: i32 = variable 0
    for i3 in 0..2 {
      for i4 in 0..1 {
        %6: i32 = load %counts[i3 + 2*i4] contiguous
        %7: i32 = add(%5, %6)
        store %counts[i3 + 2*i4] = %5 contiguous
        assign %5 = %7
      }
    }
  }
  phase {
    for i5 in 0..1 on cpu_thread {
      %46: i32 = literal 1
      %53: f32 = literal 1
      for i6_1 in 0..-64*i5 + 60 {
        %44: i64 = load %id[64*i5 + i6_1] contiguous
        bind j1_1 = %44
        if j1_1 < 20 and 0 <= j1_1 {
          %45: i32 = load %counts[2*i5 + floordiv(j1_1, 16)] contiguous
          %47: i32 = add(%45, %46)
          store %counts[2*i5 + floordiv(j1_1, 16)] = %47 contiguous
          %48: i64 = convert(%45)
          bind j2_1 = %48
          %49: i64 = coordinate j1_1
          %50: i32 = convert(%49)
          store %places[j2_1] = %50 contiguous
          %51: i64 = coordinate 64*i5 + i6_1
          %52: i32 = convert(%51)
          store %numbers[j2_1] = %52 contiguous
          store %counts_moved[j2_1] = %53 contiguous
        }
      }
    }
  }
  phase {
    for i7 in 0..2 on cpu_thread {
      alloc %sums_rows: f32[128] stack
      %62: f32x4 = literal 0
      for i8_1 in 0..-max(-16, 16*i7 - 20) {
        for i9 in 0..2 {
          store %sums_rows[8*i8_1 + 4*i9 + lane] = %62 aligned
        }
      }
      alloc %counts_rows: f32[16] stack
      for i11_1 in 0..-max(-4, 4*i7 - 5) {
        store %counts_rows[4*i11_1 + lane] = %62 aligned
      }
      if min(5, 4*i7 + 4) < 5 and 0 < max(-4, 4*i7 - 5) + 4 {
        store %counts_rows[lane - 4*max(-4, 4*i7 - 5)] = %62 aligned
      }
      %20: i32 = variable 0
      if 0 < i7 {
        %21: i32 = load %counts[i7 - 1] contiguous
        assign %20 = %21
      }
      %22: i64 = convert(%20)
      bind j3 = %22
      %23: i32 = load %counts[i7] contiguous
      %24: i64 = convert(%23)
      bind j4 = %24
      for i13 in 0..-j3 + j4 {
        %25: i32 = load %places[i13 + j3] contiguous
        %26: i64 = convert(%25)
        bind j5 = %26
        %27: i32 = load %numbers[i13 + j3] contiguous
        %28: i64 = convert(%27)
        bind j6 = %28
        for i14 in 0..2 {
          %29: f32x4 = load %sums_rows[4*i14 - 128*i7 + 8*j5 + lane] aligned
          %30: f32x4 = load %x[4*i14 + 8*j6 + lane] aligned
          %31: f32x4 = add(%29, %30)
          store %sums_rows[4*i14 - 128*i7 + 8*j5 + lane] = %31 aligned
        }
        %32: f32 = load %counts_rows[-16*i7 + j5] contiguous
        %33: f32 = load %counts_moved[i13 + j3] contiguous
        %34: f32 = add(%32, %33)
        store %counts_rows[-16*i7 + j5] = %34 contiguous
      }
      %59: f32 = literal 1
      for i16_1 in 0..-max(-16, 16*i7 - 20) {
        %58: f32 = load %counts_rows[i16_1] contiguous
        %60: f32 = max(%58, %59)
        %65: f32x4 = convert(%60)
        for i17 in 0..2 {
          %57: f32x4 = load %sums_rows[8*i16_1 + 4*i17 + lane] aligned
          %61: f32x4 = div(%57, %65)
          store %y[8*i16_1 + 4*i17 + 128*i7 + lane] = %61 aligned
        }
      }
    }
  }
}
)";

constexpr const char* kMeansInOneWalk =
    R"(kernel @kernel(%id: i64[60] read, %x: f32[480] read, %y: f32[160] write, %sums: f32[160] workspace, %counts: f32[20] workspace) target cpu schedule scatter(vector = 4, rows = 0, columns = 0) {
  %15: f32x4 = literal 0
  for i0 in 0..20 {
    for i1 in 0..2 {
      store %sums[8*i0 + 4*i1 + lane] = %15 aligned
    }
  }
  for i3 in 0..5 {
    store %counts[4*i3 + lane] = %15 aligned
  }
  for i5 in 0..60 {
    %2: i64 = load %id[i5] contiguous
    bind j0 = %2
    if j0 < 20 and 0 <= j0 {
      for i6 in 0..2 {
        %3: f32x4 = load %sums[4*i6 + 8*j0 + lane] aligned
        %4: f32x4 = load %x[8*i5 + 4*i6 + lane] aligned
        %5: f32x4 = add(%3, %4)
        store %sums[4*i6 + 8*j0 + lane] = %5 aligned
      }
    }
  }
  %8: f32 = literal 1
  for i8 in 0..60 {
    %6: i64 = load %id[i8] contiguous
    bind j1 = %6
    if j1 < 20 and 0 <= j1 {
      %7: f32 = load %counts[j1] contiguous
      %9: f32 = add(%7, %8)
      store %counts[j1] = %9 contiguous
    }
  }
  for i9 in 0..20 {
    %11: f32 = load %counts[i9] contiguous
    %13: f32 = max(%11, %8)
    %17: f32x4 = convert(%13)
    for i10 in 0..2 {
      %10: f32x4 = load %sums[4*i10 + 8*i9 + lane] aligned
      %14: f32x4 = div(%10, %17)
      store %y[4*i10 + 8*i9 + lane] = %14 aligned
    }
  }
}
)";

TEST(ScatterKernels, TextOfMeansInRanges) {
  EXPECT_EQ(kernel_of(kMeans, "scatter(rows = 16, columns = 0, chunk = 64)"), kMeansInRanges);
}

TEST(ScatterKernels, TextOfMeansInOneWalk) { EXPECT_EQ(kernel_of(kMeans, "scatter(rows = 0)"), kMeansInOneWalk); }

TEST(ScatterKernels, NumbersThatDoNotApplyAreRefused) {
  const auto refused = [](const std::string& dims, const std::string& dim, const std::string& pin) {
    const auto fusion = parse_fusion(fmt::format(
        "fusion @f (%x: f32{0}, %i: i64{0}, %s: f32{0}) -> (%y) {{\n  %y = scatter(%x, %i, %s, dim = {1})\n}}\n", dims,
        dim));
    SegmentOptions options;
    options.pins["y"] = parse_schedule(pin);
    try {
      segment(*fusion, options);
    } catch (const UserError& error) {
      return std::string(error.message());
    }
    return std::string();
  };
  EXPECT_EQ(refused("[8, 8]", "0", "scatter(rows = 4)"),
            "rows does not apply: the index does not name whole rows of the result, one after another");
  EXPECT_EQ(refused("[8]", "0", "scatter(columns = 4)"), "columns does not apply: the last dim is scattered");
  EXPECT_EQ(refused("[8]", "0", "scatter(rows = 0, chunk = 64)"), "chunk does not apply: nothing is sorted");
  EXPECT_EQ(refused("[8]", "0", "scatter(rows = 4, chunk = 64)"), "");
  EXPECT_EQ(refused("[8, 8]", "0", "nest(ranges = 2)"), "") << "a pinned nest stays one";
}

}  // namespace
}  // namespace plait
