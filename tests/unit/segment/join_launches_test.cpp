// Segments that share a launch on CPUs: by rule, and as a file says.
#include <gtest/gtest.h>

#include "base/error.h"
#include "compile/file_schedules.h"
#include "ir/launches.h"
#include "segment/segment.h"

namespace plait {
namespace {

struct Launches {
  std::string text;  // `y + z; w`: outputs of the segments of each launch
  std::string explain;
};
Launches launched(const std::string& text, TargetKind target = TargetKind::cpu, const SegmentOptions& options = {}) {
  const auto f = parse_fusion(text);
  SegmentOptions how = options;
  const std::vector<FileSegment> written = file_segments(*f);
  forget_schedules(*f);
  how.target.kind = target;
  how.fixed = fixed_groups(written, *f);
  how.joined = joined_groups(written);
  Launches out;
  how.explain = &out.explain;
  segment(*f, how);
  verify(*f);
  EXPECT_EQ(print(*parse_fusion(print(*f))), print(*f));
  for (const std::vector<const Segment*>& launch : launches(*f)) {
    out.text += out.text.empty() ? "" : "; ";
    for (const Segment* s : launch) {
      out.text += s == launch.front() ? "" : " + ";
      for (const TensorView* t : s->outputs) out.text += (t == s->outputs.front() ? "" : " ") + t->name;
    }
  }
  return out;
}

std::string refused(const std::string& text, TargetKind target = TargetKind::cpu) {
  try {
    return "launches " + launched(text, target).text;
  } catch (const UserError& error) {
    return error.message() + " | " + error.remedy();
  }
}

const std::string kLoss = R"(
fusion @f (%x: f32[rows, n]) -> (%loss) {
  %r = sum(square(%x), dims = [1])
  %loss = sum(exp(%r), dims = [0])
})";

TEST(JoinLaunches, AReductionOfWhatRowsGiveIsInTheirLaunch) {
  const Launches loss = launched(kLoss);
  EXPECT_EQ(loss.text.find("; "), std::string::npos) << loss.text;
  EXPECT_NE(loss.explain.find("it reads small tensors of it"), std::string::npos) << loss.explain;
  EXPECT_EQ(launched(kLoss, TargetKind::cuda).text, "r_square; r; loss_exp; loss") << "without rows";
}

// Each row of the batch gives one number, and each column too.
TEST(JoinLaunches, LargeTensorsPartLaunches) {
  EXPECT_EQ(
      launched("fusion @f (%x: f32[b, n]) -> (%y, %s) {\n  %e = exp(%x)\n  %m = sum(%e, dims = [1], keepdim = true)\n"
               "  %y = div(%e, %m)\n  %s = sum(%y, dims = [0])\n}")
          .text,
      "y; s");
}

// A result that a later step reads would live longer; what stands between two segments keeps them apart.
TEST(JoinLaunches, NothingMovesBehindWhatItNeeds) {
  EXPECT_EQ(
      launched("fusion @f (%x: f32[b, n], %w: f32[n, n]) -> (%m, %z) {\n  %m = sum(%x, dims = [1], keepdim = true)\n"
               "  %p = matmul(%x, %w)\n  %z = mul(%p, %m)\n}")
          .text,
      "p; m z");
  EXPECT_EQ(launched("fusion @f (%x: f32[b, n], %w: f32[n, n]) -> (%z) {\n  %s = sum(%x, dims = [0, 1])\n"
                     "  %y = mul(%w, %s)\n  %z = matmul(%x, %y)\n}")
                .text,
            "s; y; z");
}

// A reshape of what a launch makes stands behind it, and so does what reads the reshape.
TEST(JoinLaunches, AliasesStandBehindLaunches) {
  EXPECT_EQ(launched("fusion @f (%x: f32[2*a, n]) -> (%z) {\n  %m = sum(%x, dims = [1])\n"
                     "  %r = reshape(%m, shape = [2, a])\n  %z, %i = sort(%r, dim = 0)\n}")
                .text.rfind("m; r; ", 0),
            0u);
  // What is read as another type is a launch of its own.
  EXPECT_EQ(launched("fusion @f (%x: f32[a], %y: f32[b]) -> (%u, %v) {\n  %u = exp(%x)\n"
                     "  %v = bitcast(%y, to = i32)\n}")
                .text,
            "u; v");
  // Of an input it may stand in front.
  EXPECT_EQ(launched("fusion @f (%x: f32[a, n], %t: i64[a] in 0..n) -> (%s, %p) {\n  %s = sum(%x, dims = [0])\n"
                     "  %u = unsqueeze(%t, dims = [1])\n  %p = sum(gather(%x, %u, dim = 1), dims = [0, 1])\n}")
                .text,
            "u; s + p");
}

TEST(JoinLaunches, ListsOfTensorsAreOneLaunch) {
  std::string inputs, outputs, body;
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    inputs += (i ? ", " : "") + ("%p" + n) + ": f32[a" + n + ", 3], %g" + n + ": f32[a" + n + ", 3]";
    outputs += (i ? ", " : "") + ("%q" + n);
    body += "  %q" + n + " = add(%p" + n + ", neg(%g" + n + "))\n";
  }
  const std::string text = "fusion @f (" + inputs + ") -> (" + outputs + ") {\n" + body + "}";
  EXPECT_EQ(launched(text).text, "q0 + q1 + q2 + q3 + q4");
  SegmentOptions few;
  few.limits.outputs = 2;
  EXPECT_EQ(launched(text, TargetKind::cpu, few).text, "q0 + q1; q2 + q3; q4");
  few.limits = {.statements = 128, .live = 64, .outputs = 32, .inputs = 6};
  EXPECT_EQ(launched(text, TargetKind::cpu, few).text, "q0 + q1 + q2; q3 + q4");
  SegmentOptions none;
  none.decide = [](std::string_view what) { return what.rfind("join ", 0) != 0; };
  EXPECT_EQ(launched(text, TargetKind::cpu, none).text, "q0; q1; q2; q3; q4");
}

// A norm of two tensors scales both: sums beside each other, their root, two products.
TEST(JoinLaunches, ClipOfANorm) {
  EXPECT_EQ(launched("fusion @f (%x: f32[a, b], %y: f32[c]) -> (%u, %v) {\n  %s = sum(square(%x), dims = [0, 1])\n"
                     "  %t = sum(square(%y), dims = [0])\n  %r = rsqrt(add(%s, %t))\n  %u = mul(%x, %r)\n"
                     "  %v = mul(%y, %r)\n}")
                .text.find("; "),
            std::string::npos);
}

const std::string kWritten = R"(
fusion @f (%x: f32[b, n], %y: f32[m]) -> (%u, %v) {
  segment @one (%x) -> (%u) {
    %u = exp(%x)
  }
  segment @two (%y) -> (%v) JOINS{
    %v = neg(%y)
  }
})";

std::string written(const std::string& joins) {
  std::string text = kWritten;
  return text.replace(text.find("JOINS"), 5, joins);
}

TEST(JoinLaunches, AFileIsObeyedOrRefused) {
  EXPECT_EQ(launched(written("")).text, "u; v");
  EXPECT_EQ(launched(written("joins @one ")).text, "u + v");
  EXPECT_EQ(launched(written("joins @one "), TargetKind::cuda).text, "u + v");
  EXPECT_EQ(
      refused(written("joins @two ")).rfind("segment @two joins @two, which does not begin the launch in front of it"),
      0u);
  EXPECT_NE(refused(written("joins ")).find("expected `@` before the segment that it joins"), std::string::npos);
  EXPECT_EQ(refused("fusion @f (%x: f32[n]) -> (%y, %z) {\n  segment @one (%x) -> (%y) {\n    %y = exp(%x)\n  }\n"
                    "  segment @two (%x) -> (%z) joins @one {\n    %z = bitcast(%x, to = i32)\n  }\n}"),
            "a bitcast shares no launch | leave `joins` out for the segment of %z");
  const std::string between = R"(
fusion @f (%x: f32[n, n], %w: f32[n, n]) -> (%z) {
  segment @one (%x) -> (%e) {
    %e = exp(%x)
  }
  segment @two (%e, %w) -> (%z) schedule library joins @one {
    %z = matmul(%w, %e)
  }
})";
  EXPECT_EQ(refused(between).rfind("segment @two joins @one, and no kernel computes @two", 0), 0u) << refused(between);
  EXPECT_NE(
      refused("fusion @f (%x: f32[n]) -> (%y) {\n  segment @one (%x) -> (%y) joins @none {\n    %y = exp(%x)\n  }\n}")
          .find("the first segment joins none"),
      std::string::npos);
}

// Work grows with the graph, not with its square.
TEST(JoinLaunches, AThousandTensors) {
  std::string inputs, outputs, body;
  for (int i = 0; i < 1000; ++i) {
    const std::string n = std::to_string(i);
    inputs += (i ? ", " : "") + ("%p" + n) + ": f32[a" + std::to_string(i % 50) + ", " + n + " + 2]";
    outputs += (i ? ", " : "") + ("%q" + n);
    body += "  %q" + n + " = neg(%p" + n + ")\n";
  }
  const std::string text = launched("fusion @f (" + inputs + ") -> (" + outputs + ") {\n" + body + "}").text;
  EXPECT_LE(std::count(text.begin(), text.end(), ';'), 40) << text.substr(0, 300);
}

}  // namespace
}  // namespace plait
