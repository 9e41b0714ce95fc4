#include "kir/parse.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "kir/facts.h"

namespace plait::kir {
namespace {

// The whole message with which a text is refused.
std::string refusal_of(const std::string& text) {
  try {
    parse(text, "k.kir");
  } catch (const UserError& error) {
    return error.where() + ": " + error.message() + " | " + error.remedy();
  }
  return "accepted";
}

std::string with_statements(const std::string& statements) {
  return "kernel @k(%x: f32[n] read, %y: f32[n] write; n) target cpu {\n" + statements + "}\n";
}

#define EXPECT_REFUSAL(text, words) EXPECT_NE(refusal_of(text).find(words), std::string::npos) << refusal_of(text)

TEST(KirParse, EveryStatementReadsBack) {
  const std::string text =
      "kernel @all(%x: bf16[64*n] read, %s: u64[1] read, %y: f32[n] write, %w: u64[2] update, %p: f32[n] workspace; n, "
      "m) given n: 16 in 16..4096, m: 1 in .. target cpu schedule nest(vector = 8) {\n"
      "  phase {\n"
      "    for i in 0..n on cpu_thread {\n"
      "      alloc %row: bf16[64] stack\n"
      "      for j in 0..8 unroll {\n"
      "        %0: f32x8 = load %x[64*i + 8*j + lane] aligned\n"
      "        store %row[8*j + lane] = %0 aligned\n"
      "      }\n"
      "      %1: f32, %2: f32, %3: f32 = start variance\n"
      "      %4: i32, %5: i64 = start first_greatest of i8\n"
      "      for j in 0..8 on lanes {\n"
      "        %6: f32 = load %row[j] splat\n"
      "        accumulate variance(%1, %2, %3) with %6 active -i + n\n"
      "        %7: i64 = coordinate j\n"
      "        %8: i32 = convert(%7)\n"
      "        accumulate first_greatest(%4, %5) with %8, %7\n"
      "      }\n"
      "      merge variance(%1, %2, %3) with %1, %2, %3\n"
      "      %9: f32, %10: f32, %11: f32 = fold variance(%1, %2, %3)\n"
      "      store %p[i] = %9 lanewise\n"
      "    }\n"
      "  }\n"
      "  phase {\n"
      "    for i in 0..n on cpu_thread {\n"
      "      %12: f32x8 = variable -inf\n"
      "      %13: f32x8 = literal 0.5\n"
      "      assign %12 = %13\n"
      "      %14: f32x4 = half(%12, upper = true)\n"
      "      %15: f32x4 = round(%14, to = bf16)\n"
      "      %16: f32x4 = round(%15)\n"
      "      %17: boolx4 = lt(%15, %16)\n"
      "      %18: f32x4 = where(%17, %15, %16)\n"
      "      %19: u64 = load %s[0] splat\n"
      "      %20: f32 = random(seed = %19, index = i, offset = 7)\n"
      "      atomic_min %w[1] = %19\n"
      "      atomic_max %w[1] = %19\n"
      "      atomic_add %w[0] = %19\n"
      "      %21: i64 = coordinate i\n"
      "      bind b = %21\n"
      "      if b < n and 0 <= b {\n"
      "        store %y[b] = %20 lanewise\n"
      "      }\n"
      "    }\n"
      "  }\n"
      "}\n";
  const Kernel kernel = parse(text);
  EXPECT_EQ(print(kernel), text);
  verify(kernel);
}

TEST(KirParse, SpacingAndComments) {
  const Kernel kernel = parse(
      "kernel @k ( %y : f32 [ n*2 ] write ; n ) # the head\n target cpu { for i in 0 .. 2*n on cpu_thread\n"
      "{ %0 : f32 = literal 1.50\n # nothing\n store %y [ i ] = %0 lanewise } }");
  EXPECT_EQ(print(kernel),
            "kernel @k(%y: f32[2*n] write; n) target cpu {\n  for i in 0..2*n on cpu_thread {\n    %0: f32 = literal "
            "1.5\n    store %y[i] = %0 lanewise\n  }\n}\n");
}

TEST(KirParse, FactsAreThoseOfTheText) {
  const std::string head = "kernel @k(%x: f32[n] read; n)";
  const auto facts = [&](const std::string& given, const char* symbol) {
    const Kernel kernel = parse(head + given + " target cpu { for i in 0..n { %0: f32x4 = load %x[lane] aligned } }");
    EXPECT_EQ(print(parse(print(kernel))), print(kernel));
    return facts_text(kernel.pool->info(kernel.pool->find_symbol(symbol)));
  };
  EXPECT_EQ(facts("", "n"), "1 in 0..");
  EXPECT_EQ(facts(" given n: 16 in 16..4096", "n"), "16 in 16..4096");
  EXPECT_EQ(facts(" given n: 1 in ..", "n"), "1 in ..");
  EXPECT_EQ(facts(" given n = 12", "n"), "1 in 12..12");
  EXPECT_EQ(facts("", "lane"), "1 in 0..3");
  EXPECT_EQ(facts(" given lane: 1 in 0..", "lane"), "1 in 0..");
  EXPECT_EQ(facts("", "i"), "1 in 0.. below n");
  EXPECT_EQ(facts(" given i: 1 in 0.. below n + 1", "i"), "1 in 0.. below n + 1");
}

TEST(KirParse, SeveralKernels) {
  const std::string one = with_statements(""), both = one + one;
  EXPECT_EQ(parse_kernels(both).size(), 2u);
  EXPECT_REFUSAL(both, "text after the kernel");
  EXPECT_TRUE(is_kernel_text("# a comment\nkernel @k"));
  EXPECT_FALSE(is_kernel_text("kernels"));
}

TEST(KirParse, RefusalsShowTheLineAndThePlace) {
  const std::string line = "  |   %0: f32 = lod %x[0] splat\n", mark = "  |             ^";
  EXPECT_EQ(refusal_of(with_statements("  %0: f32 = lod %x[0] splat\n")),
            "k.kir:2:13: there is no function `lod` | did you mean `load`?\n" + line + mark);
  EXPECT_REFUSAL(with_statements("  store %z[0] = %0 lanewise\n"), "k.kir:2:9: there is no buffer %z");
  EXPECT_REFUSAL(with_statements("  store %y[0] = %0 lanewise\n"), "k.kir:2:17: %0 has no value yet");
  EXPECT_REFUSAL(with_statements("  %0: f32 = load %x[q] splat\n"), "k.kir:2:21");
  EXPECT_REFUSAL(with_statements("  stor %y[0]\n"), "`stor` begins no statement");
  EXPECT_REFUSAL(with_statements("  %0: f31 = literal 1\n"), "`f31` is no type of a value");
  EXPECT_REFUSAL(with_statements("  %0: f32 = literal x\n"), "`x` is no f32");
  EXPECT_REFUSAL(with_statements("  %0: f32, %1: f32 = literal 1\n"), "`literal` defines one value");
  EXPECT_REFUSAL(with_statements("  %0: f32 = start sums\n"), "`sums` is not a reduction");
  EXPECT_REFUSAL(with_statements("  for i in 0..n on lane { }\n"), "`lane` is not a kind of loops");
  EXPECT_REFUSAL(with_statements("  for i in 0..n {\n"), "the end of the text");
  EXPECT_REFUSAL(with_statements("  alloc %a: f32[4] read\n"), "%a is no local buffer");
  EXPECT_REFUSAL(with_statements("  alloc %a: f32[4] stack\n  alloc %a: f32[5] stack\n"), "in another way above");
  EXPECT_REFUSAL("kernel @k(%x: f32[n] reed; n) target cpu {}", "`reed` is no use of a buffer");
  EXPECT_REFUSAL("kernel @k(; n) given n: 4 in 5..3 target cpu {}", "k.kir:1:22");
  EXPECT_REFUSAL("kernel @k() target gpu {}", "`gpu` is not a target");
  std::string deep;
  for (int i = 0; i < 300; ++i) deep += "if 1 {";
  EXPECT_REFUSAL(with_statements(deep), "too deep");
}

}  // namespace
}  // namespace plait::kir
