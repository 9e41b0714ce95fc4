#include <fmt/core.h>
#include <gtest/gtest.h>

#include "lower/lower.h"
#include "segment/segment.h"
#include "support/direct_evaluation.h"

namespace plait {
namespace {

using test::Values;

Values draw_inputs(const Fusion& fusion, const sym::Environment& env) {
  Values values;
  int64_t k = 1;
  for (const TensorView* t : fusion.inputs()) {
    auto& v = values[t];
    for (int64_t i = 0; i < test::elements(*t, env); ++i) v.push_back(static_cast<double>((k += 7) % 13 - 6));
    if (t->dtype == DType::u64) v.assign(v.size(), 42);
  }
  return values;
}

struct Case {
  std::string text;
  sym::Environment env;
  SegmentOptions options = {};
  test::LoweredRun how = {};
};

// Lowers and interprets all segments; returns the fusion.
std::unique_ptr<Fusion> check(const Case& c) {
  auto fusion = parse_fusion(c.text);
  segment(*fusion, c.options);
  verify(*fusion);
  Values values = draw_inputs(*fusion, c.env);
  test::run_segments(*fusion, c.env, values, c.how);
  return fusion;
}

const char* kMlp = R"(let sb = 6, h = 8, h4 = 12
fusion @mlp (%x: f32[sb, h], param %w0: f32[h4, h], param %b0: f32[h4], param %w1: f32[h, h4], param %b1: f32[h], %seed: u64[])
  -> (%linear1, %gelu, %linear2, %dropout) {
  %p = linear(%x, %w0)
  %linear1 = add(%p, %b0)
  %gelu = relu(%linear1)
  %q = linear(%gelu, %w1)
  %linear2 = add(%q, %b1)
  %u = uniform(shape = [sb, h], seed = %seed, offset = 0)
  %limit = full(shape = [], value = 0.1, dtype = f32)
  %keep = ge(%u, %limit)
  %scale = full(shape = [], value = 2, dtype = f32)
  %scaled = mul(%linear2, %scale)
  %zero = full(shape = [], value = 0, dtype = f32)
  %dropout = where(%keep, %scaled, %zero)
}
)";

TEST(Lower, PointwiseAndLinear) {
  for (int lanes : {1, 4, 8}) {
    for (int64_t sb : {1, 2, 6}) {
      for (int64_t h : {3, 8, 16}) {
        Case c{kMlp, {{"sb", sb}, {"h", h}, {"h4", 12}}};
        c.options.target.vector_lanes = lanes;
        check(c);
      }
    }
  }
}

const char* kRows = R"(let n = 4, m = 2
fusion @rows (%x: f32[m, n], %b: f32[n], %r: f32[m, 1]) -> (%y, %z) {
  %y = add(%x, %b)
  %z = mul(%y, %r)
}
)";

// Extents around vectors, blocks and unrolled vectors; empty ones too.
TEST(Lower, PointwiseBoundaries) {
  for (const char* schedule :
       {"pointwise(vector = 1, block = 0)", "pointwise(vector = 4, block = 0)", "pointwise(vector = 4, block = 8)",
        "pointwise(vector = 4, unroll = 2, block = 0)", "pointwise(vector = 4, unroll = 2, block = 16)",
        "pointwise(vector = 1, unroll = 4, block = 8)", "pointwise(vector = 4, split = 0, block = 8)",
        "pointwise(vector = 4, split = 0, block = 0)", "pointwise(vector = 4, threads = 2)",
        "pointwise(vector = 2, unroll = 2, threads = 4)"}) {
    for (int64_t n : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33}) {
      for (int64_t m : {0, 1, 3}) {
        Case c{kRows, {{"n", n}, {"m", m}}};
        c.options.pins["y"] = parse_schedule(schedule);
        c.how.cuda = std::string(schedule).find("threads") != std::string::npos;
        c.options.target = test::small_target(8, c.how.cuda);
        SCOPED_TRACE(schedule + fmt::format(" n = {}, m = {}", n, m));
        check(c);
      }
    }
  }
}

const char* kProducts = R"(let n = 4, m = 2, k = 3
fusion @contractions (%x: f32[2, m, k], %w: f32[n, k], %v: f32[2, k, n]) -> (%y, %z) {
  %y = linear(%x, %w)
  %z = matmul(%x, %v)
}
)";

TEST(Lower, ProductBoundaries) {
  for (const char* schedule : {"nest(vector = 1, rows = 1)", "nest(vector = 4, rows = 1)", "nest(vector = 4, rows = 3)",
                               "nest(vector = 1, rows = 4)", "nest(threads = 4)"}) {
    for (int64_t n : {0, 1, 4, 5, 9})
      for (int64_t m : {0, 1, 3, 4})
        for (int64_t k : {0, 1, 3}) {
          Case c{kProducts, {{"n", n}, {"m", m}, {"k", k}}};
          c.options.pins["y"] = c.options.pins["z"] = parse_schedule(schedule);
          c.how.cuda = std::string(schedule).find("threads") != std::string::npos;
          c.options.target = test::small_target(8, c.how.cuda);
          SCOPED_TRACE(schedule + fmt::format(" n = {}, m = {}, k = {}", n, m, k));
          check(c);
        }
  }
}

}  // namespace
}  // namespace plait
