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
        c.options.machine.lanes = lanes;
        check(c);
      }
    }
  }
}

}  // namespace
}  // namespace plait
