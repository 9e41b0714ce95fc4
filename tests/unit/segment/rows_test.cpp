// Reductions share a kernel on CPUs with what the schedule norm takes beside them.
#include <gtest/gtest.h>

#include "base/error.h"
#include "segment/segment.h"

namespace plait {
namespace {

struct Made {
  std::string text;  // `norm: y; pointwise: z`
  std::string explain;
  size_t largest = 0;
};
Made segmented(const std::string& text, TargetKind target = TargetKind::cpu, sym::Guards* guards = nullptr) {
  const auto f = parse_fusion(text);
  SegmentOptions how;
  how.target.kind = target;
  how.target.shared_bytes = target == TargetKind::cuda ? 48 << 10 : 0;
  how.guards = guards;
  Made out;
  how.explain = &out.explain;
  segment(*f, how);
  for (const Segment& s : f->segments) {
    out.text += (out.text.empty() ? "" : "; ") + std::string(plait::name(s.schedule)) + ":";
    for (const TensorView* t : s.outputs) out.text += " " + t->name;
    out.largest = std::max(out.largest, s.ops.size());
  }
  return out;
}

const char* kSoftmax = R"(
fusion @f (%x: f32[b, n]) -> (%y) {
  %m = amax(%x, dims = [1], keepdim = true)
  %e = exp(sub(%x, %m))
  %s = sum(%e, dims = [1], keepdim = true)
  %y = div(%e, %s)
})";

TEST(SegmentRows, ASoftmaxIsOneSegment) {
  EXPECT_EQ(segmented(kSoftmax).text, "norm: y");
  EXPECT_EQ(segmented(kSoftmax, TargetKind::cuda).text, "norm: y");
}

TEST(SegmentRows, GpusTakeColumnsMovesAndScans) {
  const auto made = [](const char* text) { return segmented(text, TargetKind::cuda); };
  EXPECT_EQ(made("fusion @f (%x: f32[b, n]) -> (%y) {\n  %m = amax(%x, dims = [0], keepdim = true)\n"
                 "  %y = sub(%x, %m)\n}")
                .text,
            "norm: y");
  EXPECT_EQ(made("fusion @f (%x: f32[b, n]) -> (%y) {\n  %g = flip(%x, dims = [1])\n  %h = abs(%g)\n"
                 "  %m = amax(%h, dims = [1], keepdim = true)\n  %y = sub(%h, %m)\n}")
                .text,
            "norm: y");
  EXPECT_EQ(made("fusion @f (%x: f32[b, n]) -> (%y) {\n  %c = cumsum(%x, dim = 1)\n"
                 "  %m = amax(%c, dims = [1], keepdim = true)\n  %y = sub(%c, %m)\n}")
                .text,
            "norm: y");
  const Made elsewhere = made(
      "fusion @f (%x: f32[b, n]) -> (%y) {\n  %c = cumsum(%x, dim = 1)\n  %f = flip(%c, dims = [1])\n"
      "  %y = sub(%c, %f)\n}");
  EXPECT_EQ(elsewhere.text, "norm: c; pointwise: y");
  EXPECT_NE(elsewhere.explain.find("is read at other places"), std::string::npos) << elsewhere.explain;
}

TEST(SegmentRows, ReductionsOfOneTensorShareASegment) {
  EXPECT_EQ(segmented("fusion @f (%x: f32[b, n]) -> (%s, %m) {\n  %s = sum(%x, dims = [1])\n"
                      "  %m = amax(%x, dims = [1])\n}")
                .text,
            "norm: s m");
  const Made apart = segmented(
      "fusion @f (%x: f32[b, n]) -> (%e, %s, %m) {\n  %e = exp(%x)\n  %s = sum(%e, dims = [1])\n"
      "  %m = sum(%e, dims = [0])\n}");
  EXPECT_EQ(apart.text, "norm: e s; norm: m");
  EXPECT_NE(apart.explain.find("reduce different dims"), std::string::npos) << apart.explain;
}

TEST(SegmentRows, ScansArePartOfARow) {
  const char* text = R"(
fusion @f (%x: f32[b, n]) -> (%k) {
  %m = amax(%x, dims = [1], keepdim = true)
  %c = cumsum(sub(%x, %m), dim = 1, exclusive = true)
  %k = where(le(%c, 0.9), %x, -1.0)
})";
  EXPECT_EQ(segmented(text).text, "norm: k");
  EXPECT_EQ(segmented(text, TargetKind::cuda).text, "norm: k");
}

// Whether a row stays on the stack is asked, and part of what the kernel is made for.
TEST(SegmentRows, ScansThatAreReadElsewhereAskForTheirRows) {
  const char* text = R"(
fusion @f (%x: f32[b, n]) -> (%y) {
  %c = cumsum(%x, dim = 1)
  %f = flip(%c, dims = [1])
  %y = sub(%c, %f)
})";
  sym::Guards few({{"b", 2}, {"n", 16384}}, {{}}), many({{"b", 2}, {"n", 16385}}, {{}});
  EXPECT_EQ(segmented(text, TargetKind::cpu, &few).text, "norm: y");
  EXPECT_GE(few.answers().size(), 1u);
  const Made apart = segmented(text, TargetKind::cpu, &many);
  EXPECT_EQ(apart.text, "norm: c; pointwise: y");
  EXPECT_NE(apart.explain.find("do not stay on the stack"), std::string::npos) << apart.explain;
  EXPECT_EQ(segmented(text).text, "norm: c; pointwise: y");  // nobody to ask
}

// What later merges of elementwise groups must leave alone.
TEST(SegmentRows, GroupsOfRowsTakeNoOutputOfAnotherDomain) {
  EXPECT_EQ(segmented(R"(
fusion @f (%x: bf16[d, 1], %l: bf16[d, d]) -> (%add, %where, %sum) {
  %add = add(%x, %x)
  %lt = lt(%add, %l)
  %where = where(%lt, %add, %l)
  %sum = sum(%l, dims = [0])
})")
                .text,
            "pointwise: add; norm: where sum");
}

TEST(SegmentRows, AreBoundedByTheLimitOfStatements) {
  std::string body = "  %y0 = mul(%x, 2)\n";
  for (int i = 0; i < 300; ++i)
    body += fmt::format("  %m{0} = amax(%y{0}, dims = [1], keepdim = true)\n  %y{1} = sub(%y{0}, %m{0})\n", i, i + 1);
  const Made made = segmented("fusion @f (%x: f32[b, n]) -> (%y300) {\n" + body + "}");
  const auto limit = static_cast<size_t>(kernel_limits(Options()).statements);
  EXPECT_LE(made.largest, limit + 2);  // and the constants that its ops read
  EXPECT_GT(made.largest, limit / 4);
}

}  // namespace
}  // namespace plait
