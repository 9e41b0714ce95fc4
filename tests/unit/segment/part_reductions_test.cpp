// Reductions that get ops of their own, so that they share kernels or need nothing written for them alone.
#include "segment/part_reductions.h"

#include <gtest/gtest.h>

namespace plait {
namespace {

// `%y = exp(%x)` of `%y: f32[n] = exp(%x)`.
std::string bare_line(const std::string& line) {
  const size_t type = line.find(": "), op = line.find(" = ");
  return type < op ? line.substr(0, type) + line.substr(op) : line;
}

struct Parted {
  std::string text;   // of the ops
  std::string first;  // what belongs together: `a b; c d`
};
Parted parted(const std::string& text, const PartOptions& options = {}) {
  const auto f = parse_fusion(text);
  Parted out;
  for (const std::vector<Op*>& ops : part_reductions(*f, options)) {
    out.first += out.first.empty() ? "" : "; ";
    for (const Op* op : ops) out.first += (op == ops.front() ? "" : " ") + op->results[0]->name;
  }
  verify(*f);
  EXPECT_EQ(print(*parse_fusion(print(*f))), print(*f));
  for (const Op* op : f->ops()) out.text += bare_line(print(*op, *f)) + "\n";
  return out;
}

// Nothing changes.
void expect_kept(const std::string& text, const PartOptions& options = {}) {
  const auto f = parse_fusion(text);
  const std::string before = print(*f);
  EXPECT_TRUE(part_reductions(*f, options).empty());
  EXPECT_EQ(print(*f), before);
}

// Cross-entropy against probabilities: its sum goes over the rows first.
const std::string kSoftLabels = R"(
fusion @f (%x: T[b, n], %t: T[b, n]) -> (%loss) {
  %m = amax(%x, dims = [1], keepdim = true)
  %y = mul(sub(%x, %m), %t)
  %loss = sum(%y, dims = [0, 1])
})";

TEST(PartReductions, ASumOfAllGoesOverTheRowsOfItsNeighbourFirst) {
  EXPECT_EQ(parted("let b = 4, n = 8, T = f32\n" + kSoftLabels).text,
            "%m = amax(%x, dims = [1], keepdim = true)\n%y_sub = sub(%x, %m)\n%y = mul(%y_sub, %t)\n"
            "%loss_rows = sum(%y, dims = [1], keepdim = true)\n%loss = sum(%loss_rows, dims = [0, 1])\n");
}

// What is read of a reduction that was parted is made of ops that the graph did not have.
TEST(PartReductions, AReductionOfWhatIsMadeOfAPartedOne) {
  const std::string text = parted(R"(
let b = 4, n = 8, T = bf16
fusion @f (%x: T[b, n], %t: T[b, n]) -> (%all) {
  %m = amax(%x, dims = [1], keepdim = true)
  %y = mul(sub(%x, %m), %t)
  %loss = sum(%y, dims = [0, 1], keepdim = true)
  %all = sum(exp(%loss), dims = [0, 1])
})")
                               .text;
  EXPECT_NE(text.find("%loss = cast(%loss_whole, to = bf16)"), text.npos) << text;
}

TEST(PartReductions, NarrowSumsRoundOnce) {
  EXPECT_EQ(parted("let b = 4, n = 8, T = bf16\n" + kSoftLabels).text,
            "%m = amax(%x, dims = [1], keepdim = true)\n%y_sub = sub(%x, %m)\n%y = mul(%y_sub, %t)\n"
            "%y_wide = cast(%y, to = f32)\n%loss_rows = sum(%y_wide, dims = [1], keepdim = true)\n"
            "%loss_whole = sum(%loss_rows, dims = [0, 1])\n%loss = cast(%loss_whole, to = bf16)\n");
}

// Extremes need no wide type; positions are those of all elements and stay.
TEST(PartReductions, WhichReductionsGoOverRowsFirst) {
  const auto of = [](const std::string& function) {
    return "fusion @f (%x: bf16[b, n]) -> (%z) {\n  %m = amax(%x, dims = [1], keepdim = true)\n"
           "  %y = sub(%x, %m)\n  %z = " +
           function + "(%y)\n}";
  };
  EXPECT_NE(
      parted(of("amin")).text.find("%z_rows = amin(%y, dims = [1], keepdim = true)\n%z = amin(%z_rows, dims = [0, 1])"),
      std::string::npos)
      << parted(of("amin")).text;
  EXPECT_NE(parted(of("prod")).text.find("%z_whole = prod(%z_rows, dims = [0, 1])\n%z = cast(%z_whole, to = bf16)"),
            std::string::npos)
      << parted(of("prod")).text;
  EXPECT_EQ(parted(of("argmax")).text.find("_rows"), std::string::npos);
}

const std::string kScaleBackward = R"(
fusion @f (%x: f32[b, n], %g: f32[b, n], %w: f32[n]) -> (%dx, %dw, %dv) {
  %h = mul(%x, %w)
  %m = sum(mul(%g, %h), dims = [1], keepdim = true)
  %dx = sub(%g, mul(%h, %m))
  %p = mul(%g, %h)
  %dw = sum(%p, dims = [0])
  %dv = sum(exp(%p), dims = [0])
})";

TEST(PartReductions, SumsOfColumnsComputeWhatTheyReadAgain) {
  const Parted out = parted(kScaleBackward);
  EXPECT_EQ(out.first, "h_again p_again dw dv_exp_again dv");
  EXPECT_NE(out.text.find("%h_again = mul(%x, %w)\n%p_again = mul(%g, %h_again)\n%dw = sum(%p_again, dims = [0])\n"),
            std::string::npos)
      << out.text;
  EXPECT_EQ(out.text.find("%p = "), std::string::npos) << out.text;  // nobody reads it any more
  EXPECT_NE(out.text.find("%h = mul(%x, %w)\n"), std::string::npos) << out.text;
}

// Two reductions over different dims that both end here: the later one yields.
TEST(PartReductions, OneOfTwoComputesAgain) {
  const Parted out = parted(
      "fusion @f (%x: f32[b, n]) -> (%s, %t) {\n  %e = exp(%x)\n  %s = sum(%e, dims = [1])\n"
      "  %t = sum(%e, dims = [0])\n}");
  EXPECT_EQ(out.text, "%e = exp(%x)\n%s = sum(%e, dims = [1])\n%e_again = exp(%x)\n%t = sum(%e_again, dims = [0])\n");
}

TEST(PartReductions, WhatStays) {
  // Alike, or what all read lies in memory.
  expect_kept(
      "fusion @f (%x: f32[b, n]) -> (%y) {\n  %e = exp(%x)\n  %s = sum(%e, dims = [1], keepdim = true)\n"
      "  %y = div(%e, %s)\n}");
  expect_kept("fusion @f (%x: f32[b, n]) -> (%s, %t) {\n  %s = sum(%x, dims = [1])\n  %t = sum(%x, dims = [0])\n}");
  expect_kept(
      "fusion @f (%x: f32[b, n]) -> (%e, %s, %t) {\n  %e = exp(%x)\n  %s = sum(%e, dims = [1])\n"
      "  %t = sum(%e, dims = [0])\n}");
  // Three tensors would be read again; random numbers are made once; other extents are no neighbours.
  expect_kept(
      "fusion @f (%x: f32[b, n], %y: f32[b, n], %z: f32[b, n]) -> (%s, %t) {\n  %e = add(add(%x, %y), %z)\n"
      "  %s = sum(%e, dims = [1])\n  %t = sum(%e, dims = [0])\n}");
  expect_kept(
      "fusion @f (%x: f32[b, n], %seed: u64[]) -> (%s, %t) {\n"
      "  %e = mul(%x, uniform(seed = %seed, shape = [b, n], offset = 0))\n"
      "  %s = sum(%e, dims = [1])\n  %t = sum(%e, dims = [0])\n}");
  // Both results are read by ops of the operand's shape.
  expect_kept(
      "fusion @f (%x: f32[b, n]) -> (%y) {\n  %e = exp(%x)\n  %s = sum(%e, dims = [1], keepdim = true)\n"
      "  %t = sum(%e, dims = [0], keepdim = true)\n  %y = mul(mul(%e, %s), %t)\n}");
  // A file says what makes it, or nobody wants it.
  expect_kept(kScaleBackward, {.stays = [](const TensorView& t) { return t.name == "p" || t.name == "dv_exp"; },
                               .decide = nullptr,
                               .explain = nullptr});
  expect_kept(kScaleBackward, {.stays = nullptr, .decide = [](std::string_view) { return false; }, .explain = nullptr});
  // Nothing to look at.
  expect_kept("fusion @f (%x: f32[b, n]) -> (%y) {\n  %y = exp(%x)\n}");
}

TEST(PartReductions, LongChainsAreLeftAlone) {
  std::string body = "  %e0 = exp(%x)\n";
  for (int i = 1; i < 40; ++i) body += "  %e" + std::to_string(i) + " = neg(%e" + std::to_string(i - 1) + ")\n";
  expect_kept("fusion @f (%x: f32[b, n]) -> (%s, %t) {\n" + body +
              "  %s = sum(%e39, dims = [1])\n  %t = sum(%e39, dims = [0])\n}");
}

}  // namespace
}  // namespace plait
