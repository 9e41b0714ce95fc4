// The kernel of one case of every op that combines, moves or looks up elements, and of those that make some: schedule
// and body; reductions, moves and lookups as nests.
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "lower/lower.h"
#include "segment/segment.h"
#include "unit/lower/op_text_order_rows.h"
#include "unit/lower/op_text_rows.h"

namespace plait {
namespace {

std::unique_ptr<Fusion> parsed(const std::string& call) {
  const std::string inputs =
      "%x: f32[3, 4, 8], %n: i64[2], %i: i64[3, 2, 8], %s: f32[3, 2, 8], %q: f32[1, 8], %seed: u64[]";
  const bool several = call[0] == '%';  // results, which the call names
  return parse_fusion(fmt::format("fusion @f ({}) -> ({}) {{\n  {}{}\n}}\n", inputs, several ? "%y, %z" : "%y",
                                  several ? "" : "%y = ", call));
}

std::string kernel_of(const std::string& call) {
  const auto fusion = parsed(call);
  SegmentOptions options;
  options.target.vector_lanes = 4;
  const Op& op = *fusion->outputs()[0]->definition;
  const OpProperty kind = property(op.kind);
  const bool view = op.kind == OpKind::Reshape || op.kind == OpKind::Squeeze || op.kind == OpKind::Unsqueeze;
  const bool lookup = kind == OpProperty::indexing && op.kind != OpKind::Scatter;
  if (kind == OpProperty::reduction || lookup || (kind == OpProperty::movement && !view))
    options.pins["y"] = schedules::Nest();
  segment(*fusion, options);
  const Segment& s = fusion->segments.at(0);
  const std::string text = kir::print(lower(*fusion, s).kernel);
  const size_t body = text.find('\n') + 1;
  return print(s.schedule) + "\n" + text.substr(body, text.size() - body - 2);
}

std::vector<Row> all_rows() {
  std::vector<Row> out(std::begin(kRows), std::end(kRows));
  out.insert(out.end(), std::begin(kOrderRows), std::end(kOrderRows));
  return out;
}

TEST(LowerOpText, OneKernelOfEachRow) {
  for (const Row& row : all_rows()) EXPECT_EQ(kernel_of(row.call), row.kernel) << row.call;
}

TEST(LowerOpText, RowsHoldEveryOpThatCombinesMovesOrLooksUp) {
  std::set<OpKind> seen;
  for (const Row& row : all_rows()) {
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
  EXPECT_NE(text.find("random(seed = %0, index = 8*i0 + 2*floordiv(lane, 2), offset = n0)"), std::string::npos) << text;
  EXPECT_NE(text.find("random(seed = %0, index = 8*i0 + 2*floordiv(lane, 2) + 1, offset = n0)"), std::string::npos);
  for (const char* function : {"log(", "sqrt(", "cos(", "sin("})
    EXPECT_NE(text.find(function), std::string::npos) << function;
}

}  // namespace
}  // namespace plait
