// The division of a softmax in front of the product that reads its terms.
#include "segment/divide_early.h"

#include <gtest/gtest.h>

namespace plait {
namespace {

// `%y = exp(%x)` of `%y: f32[n] = exp(%x)`.
std::string without_type(const std::string& line) {
  const size_t type = line.find(": "), op = line.find(" = ");
  return type < op ? line.substr(0, type) + line.substr(op) : line;
}

std::string ops_after(const std::string& text) {
  const auto f = parse_fusion(text);
  divide_early(*f);
  verify(*f);
  EXPECT_EQ(print(*parse_fusion(print(*f))), print(*f));
  std::string out;
  for (const Op* op : f->ops()) out += without_type(print(*op, *f)) + "\n";
  return out;
}

std::string attention(const std::string& sum, const std::string& rest, const std::string& outputs = "%y") {
  return "fusion @f (%x: f32[s, t], %v: f32[t, d]) -> (" + outputs + ") {\n  %e = exp(%x)\n  %p = matmul(%e, %v)\n" +
         sum + rest + "}";
}
const std::string kRowSum = "  %s = sum(%e, dims = [1], keepdim = true)\n", kDivision = "  %y = div(%p, %s)\n";

TEST(DivideEarly, TheProductReadsDividedTerms) {
  EXPECT_EQ(ops_after(attention(kRowSum, kDivision)),
            "%e = exp(%x)\n%s = sum(%e, dims = [1], keepdim = true)\n%e_divided = div(%e, %s)\n"
            "%y = matmul(%e_divided, %v)\n");
  const std::string guarded = kRowSum +
                              "  %none = le(%s, 0)\n  %one = full(shape = [], value = 1, dtype = f32)\n"
                              "  %w = where(%none, %one, %s)\n";
  const std::string text = ops_after(attention(guarded, "  %y = div(%p, %w)\n"));
  EXPECT_NE(text.find("%e_divided = div(%e, %w)\n%y = matmul(%e_divided, %v)\n"), std::string::npos) << text;
}

TEST(DivideEarly, WhatStaysBehind) {
  const auto stays = [](const std::string& text) {
    EXPECT_EQ(ops_after(text).find("_divided"), std::string::npos) << ops_after(text);
  };
  stays(attention(kRowSum, kDivision, "%y, %p"));
  stays(attention(kRowSum, kDivision, "%y, %e"));
  stays(attention(kRowSum, kDivision + "  %z = neg(%p)\n", "%y, %z"));
  stays(attention("  %s = sum(%e, dims = [0], keepdim = true)\n", "  %y = div(%p, sum(%s))\n"));
  stays(attention("  %s = add(sum(%e, dims = [1], keepdim = true), 1)\n", kDivision));
  stays(attention(kRowSum, "  %y = div(%s, %p)\n"));
  stays("fusion @f (%e: f32[s, t], %v: f32[t, d]) -> (%y) {\n  %p = matmul(%e, %v)\n" + kRowSum + kDivision + "}");
}

}  // namespace
}  // namespace plait
