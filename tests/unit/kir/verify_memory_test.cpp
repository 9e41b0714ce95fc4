// Invariants of kir/verify.cpp about buffers, phases and reductions, broken once each; accesses that are not proven.
#include <gtest/gtest.h>

#include "base/error.h"
#include "kir/accesses.h"
#include "kir/parse.h"

namespace plait::kir {
namespace {

std::string refusal(const Kernel& kernel) {
  try {
    verify(kernel);
  } catch (const InternalError& error) {
    return error.message();
  }
  return "accepted";
}

// The message with which a text is refused, or "accepted".
std::string verdict_of(const std::string& statements,
                       const std::string& buffers = "%x: f32[n] read, %y: f32[n] write") {
  return refusal(parse("kernel @k(" + buffers + "; n) target cpu {\n" + statements + "}\n"));
}

#define EXPECT_WORDS(verdict, words) EXPECT_NE((verdict).find(words), std::string::npos) << (verdict)

const std::string kRow = "for i in 0..n on cpu_thread {\n  alloc %row: f32[8] stack\n  %0: f32 = load %x[i] splat\n";

TEST(KirVerify, LocalBuffers) {
  const std::string fill = "  store %row[0] = %0 lanewise\n", read = "  %1: f32 = load %row[0] splat\n";
  EXPECT_EQ(verdict_of(kRow + fill + read + "}\n"), "accepted");
  EXPECT_WORDS(verdict_of(kRow + read + fill + "}\n"), "nothing is stored to row before");
  EXPECT_WORDS(verdict_of(kRow + "  alloc %row: f32[8] stack\n}\n"), "row has memory already");
  EXPECT_WORDS(verdict_of(kRow + "}\n" + fill), "row has no memory here");
  EXPECT_WORDS(verdict_of("alloc %row: f32[n] stack\n"), "is not proven to have at most 262144 bytes");
  EXPECT_EQ(verdict_of("alloc %row: f64[min(n, 32768)] stack\n"), "accepted");
  EXPECT_WORDS(verdict_of("alloc %row: f64[min(n, 32769)] stack\n"), "is not proven to have at most 262144 bytes");
  EXPECT_WORDS(verdict_of("alloc %row: f32[8] shared\n"), "row is shared on a CPU");
  // Again in another block: its old contents are gone.
  const std::string first = "if n == 1 {\n  alloc %row: f32[8] stack\n  %0: f32 = literal 1\n" + fill + "}\n";
  const std::string second = "if n == 2 {\n  alloc %row: f32[8] stack\n";
  EXPECT_EQ(verdict_of(first + second + "}\n"), "accepted");
  EXPECT_WORDS(verdict_of(first + second + read + "}\n"), "nothing is stored to row before");
}

TEST(KirVerify, SpacesOfBuffers) {
  EXPECT_WORDS(verdict_of("", "%w: f32[n] workspace, %x: f32[n] read"), "buffer x of space argument stands behind");
  Kernel kernel = parse("kernel @k(%w: f32[n] workspace; n) target cpu {}");
  kernel.buffers[0].written = true;
  EXPECT_WORDS(refusal(kernel), "buffer w of space workspace is marked as written");
  EXPECT_WORDS(verdict_of("%0: f32 = load %w[0] splat\n", "%w: f32[n] workspace"), "nothing is stored to w before");
  EXPECT_EQ(verdict_of("for i in 0..0 {\n%0: f32 = load %w[i] lanewise\n}\n", "%w: f32[0] workspace"), "accepted");
}

TEST(KirVerify, PhasesBesideEachOther) {
  const std::string task = "{\n  for i in 0..n on cpu_thread {\n  }\n}\n";
  EXPECT_EQ(verdict_of("phase " + task + "phase beside " + task), "accepted");
  EXPECT_WORDS(verdict_of("phase beside " + task + "phase " + task), "the first phase is beside none");
  Kernel kernel = parse("kernel @k(%x: f32[n] read; n) target cpu {\nphase " + task + "phase beside " + task + "}\n");
  kernel.target = TargetKind::cuda;
  EXPECT_NE(refusal(kernel), "accepted");
}

TEST(KirVerify, Phases) {
  const std::string task = "phase {\n  for i in 0..n on cpu_thread {\n    %0: f32 = load %x[i] splat\n  }\n}\n";
  EXPECT_EQ(verdict_of(task + "phase {\n  for i in 0..n on cpu_thread {\n  }\n}\n"), "accepted");
  EXPECT_WORDS(verdict_of(task + "phase {\n  store %y[0] = %0 lanewise\n}\n"), "outside of the block that defines it");
  EXPECT_WORDS(verdict_of(task + task), "%0 is defined twice");
  Kernel kernel = parse("kernel @k() target cpu {}");
  kernel.phases.clear();
  EXPECT_WORDS(refusal(kernel), "has no phase");
}

TEST(KirVerify, LanesAndUnrolledLoops) {
  EXPECT_EQ(verdict_of("for j in 0..8 on lanes {\n}\n"), "accepted");
  EXPECT_WORDS(verdict_of("for j in 0..6 on lanes {\n}\n"), "a lanes loop of extent 6");
  EXPECT_WORDS(verdict_of("for j in 0..n on lanes {\n}\n"), "a lanes loop of extent n");
  EXPECT_EQ(verdict_of("for j in 0..6 unroll {\n}\n"), "accepted");
  EXPECT_WORDS(verdict_of("for j in 0..65 unroll {\n}\n"), "unrolling a loop of extent 65");
  EXPECT_WORDS(verdict_of("for j in 0..n unroll {\n}\n"), "unrolling a loop of extent n");
  EXPECT_WORDS(verdict_of("for j in 0..8 on lanes unroll {\n}\n"), "unrolling a lanes loop");
}

TEST(KirVerify, Reductions) {
  const std::string sum = "%0: f32 = start sum\n%1: f32 = literal 1\n";
  EXPECT_EQ(verdict_of(sum + "accumulate sum(%0) with %1\nmerge sum(%0) with %1\n%2: f32 = fold sum(%0)\n"),
            "accepted");
  EXPECT_WORDS(verdict_of("%0: f32, %1: f32 = start sum\n"), "no state of sum");
  EXPECT_WORDS(verdict_of("%0: bool = start sum\n"), "no state of sum");
  EXPECT_WORDS(verdict_of("%0: f32, %1: f32x2 = start log_sum_exp\n"), "the lanes of a state differ");
  EXPECT_WORDS(verdict_of(sum + "assign %0 = %1\n"), "%0 is a state, which is not assigned");
  EXPECT_WORDS(verdict_of(sum + "accumulate sum(%1) with %1\n"), "%1 is not of a state");
  EXPECT_WORDS(verdict_of(sum + "accumulate product(%0) with %1\n"), "no whole state of product");
  EXPECT_WORDS(verdict_of(sum + "accumulate sum(%0) with %1, %1\n"), "the dtypes are not those of the state");
  EXPECT_WORDS(verdict_of(sum + "%2: f64 = literal 1\naccumulate sum(%0) with %2\n"), "not those of the state");
  EXPECT_WORDS(verdict_of(sum + "%2: f32x2 = literal 1\nmerge sum(%0) with %2\n"), "lanes are not those of the state");
  EXPECT_WORDS(verdict_of(sum + "%2: f64 = fold sum(%0)\n"), "the dtypes are not those of the state");
  EXPECT_WORDS(verdict_of("%0: f32x4 = start sum\n%1: f32x2 = fold sum(%0)\n"), "folded to 2 lanes");
  EXPECT_WORDS(verdict_of(sum + "for i in 0..n on cpu_thread {\n  accumulate sum(%0) with %1\n}\n"),
               "%0 is declared outside of a parallel loop");
  const std::string two = "%0: f32, %1: f32 = start log_sum_exp\n%2: f32, %3: f32 = start log_sum_exp\n";
  EXPECT_WORDS(verdict_of(two + "merge log_sum_exp(%0, %3) with %0, %1\n"), "no whole state");
}

TEST(KirAccesses, ProvenFromLoopsConditionsAndActiveLanes) {
  const auto unproven = [](const std::string& statements, const std::string& extent) {
    const std::string buffers = "%x: f32[" + extent + "] read";
    return unproven_accesses(parse("kernel @k(" + buffers + "; m, n) target cpu {\n" + statements + "}\n"));
  };
  const std::string rows = "for i in 0..m on cpu_thread {\n  for j in 0..ceildiv(n, 8) {\n";
  const std::string whole = "%0: f32x8 = load %x[i*n + 8*j + lane] contiguous", cut = whole + " active n - 8*j";
  EXPECT_EQ(unproven(rows + whole + "\n}\n}\n", "m*n"), std::vector{whole});
  EXPECT_EQ(unproven(rows + cut + "\n}\n}\n", "m*n"), std::vector<std::string>{});
  EXPECT_EQ(unproven(rows + cut + "\n}\n}\n", "m*n - 1").size(), 1u);
  EXPECT_EQ(unproven(rows + "if 8*j + 8 <= n {\n" + whole + "\n}\n}\n}\n", "m*n"), std::vector<std::string>{});
  EXPECT_EQ(unproven(rows + "if 8*j + 7 <= n {\n" + whole + "\n}\n}\n}\n", "m*n").size(), 1u);
  EXPECT_EQ(unproven("for j in 0..min(n - 8, 4) {\n%0: f32 = load %x[j + 8] splat\n}\n", "n").size(), 0u);
  EXPECT_EQ(unproven("for j in 0..min(n, 4) {\n%0: f32 = load %x[j - 1] splat\n}\n", "n").size(), 1u);
  const std::string bound = "for i in 0..m {\n%0: i64 = coordinate i\nbind b = %0\n";
  const std::string load = "%1: f32 = load %x[b] splat";
  EXPECT_EQ(unproven(bound + load + "\n}\n", "n"), std::vector{load});
  EXPECT_EQ(unproven(bound + "if 0 <= b and b < n {\n" + load + "\n}\n}\n", "n").size(), 0u);
  EXPECT_EQ(unproven(bound + "if 0 <= b and not n <= b {\n" + load + "\n}\n}\n", "n").size(), 0u);
  EXPECT_EQ(unproven(bound + "if b < n {\n" + load + "\n}\n}\n", "n").size(), 1u);
}

}  // namespace
}  // namespace plait::kir
