// Bad texts: each is refused at the right place, with what is wrong and the remedy. `^` marks the place in the text.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "ir/fusion.h"

namespace plait {
namespace {

struct BadText {
  const char* text;  // with one `^` before the character that the error points at
  const char* what;
  const char* remedy;
  const char* place = "";  // further part of where
};

// line:column of the mark, which is taken out.
std::string take_mark(std::string& text) {
  const size_t at = text.find('^');
  if (at == text.npos) return "";
  text.erase(at, 1);
  const std::string before = text.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  return fmt::format("bad.plait:{}:{}", lines + 1, at - (lines ? before.rfind('\n') + 1 : 0) + 1);
}

void expect_refused(const std::vector<BadText>& cases) {
  for (const auto& bad : cases) {
    std::string text = bad.text;
    const std::string place = take_mark(text);
    try {
      parse_fusion(text, {.file = "bad.plait"});
      ADD_FAILURE() << "accepted: " << text;
    } catch (const UserError& e) {
      EXPECT_NE(e.message().find(bad.what), std::string::npos) << text << "\n" << e.what();
      EXPECT_NE(e.remedy().find(bad.remedy), std::string::npos) << text << "\n" << e.what();
      EXPECT_NE(e.where().find(bad.place), std::string::npos) << text << "\n" << e.what();
      const bool there = e.where() == place || e.where().rfind(place + ": ", 0) == 0;
      EXPECT_TRUE(there) << text << "\nexpected " << place << "\n" << e.what();
    }
  }
}

TEST(BadText, Head) {
  expect_refused({
      {"^", "found the end of the text", "expected `fusion` after lets and mesh"},
      {"let ^3 = 4\n", "found `3`", "expected a name"},
      {"let a ^4\n", "found `4`", "expected `=` after `a`"},
      {"let a = ^}\n", "found `}`", "expected a size or a dtype"},
      {"let a = ^f33\n", "`f33` is no dtype", "did you mean `f32`?"},
      {"let ^a = -1\n", "size a = -1 is negative", "sizes are at least 0"},
      {"let a = 1, ^a = 2\n", "`a` is defined twice", "let a name once"},
      {"let a = ^99999999999999999999\n", "99999999999999999999 does not fit into 64 bits", "expected a size"},
      {"let ^f32 = bf16\n", "`f32` is a dtype", "choose another name"},
      {"let ^min = 3\nfusion @f (%x: f32[2]) -> (%x) {}", "word of the expression language", "rename", "symbol 'min'"},
      {"mesh ^m (tp = 2)\n", "found `m`", "expected `@` before the mesh's name"},
      {"mesh @m (^)\n", "found `)`", "expected a mesh axis"},
      {"mesh @m (^tp = 2, tp = 3)\n", "mesh axis `tp` is named twice", "its own name"},
      {"mesh @m (^tp = 0)\n", "mesh axis `tp` has size 0", "at least 1"},
      {"mesh @m (^tp = 2) with dp = [tp, cp]\n", "mesh @m has no axis `cp`", "did you mean `tp`"},
      {"mesh @m (^shards = 2) with replicas = [replica]\n", "mesh @m has no axis `replica`", "known: shards"},
      {"mesh @m (^tp = 2) with tp = [tp]\n", "`tp` is the name of an axis or group already", "of its own"},
      {"mesh @m (^tp = 2) with dp = [tp, tp]\n", "mesh axis `tp` is named twice", "name it once"},
      {"mesh @m (^dp = 2 bandwidth 50 latency 12, tp = 2)\n", "mesh axis `tp` says nothing of its link, others do",
       "give each axis a bandwidth and a latency, or none"},
      {"mesh @m (^dp = 2, tp = 2 bandwidth 50 latency 12)\n",
       "mesh axis `tp` says something of its link, others do not", "give each axis a bandwidth and a latency, or none"},
      {"mesh @m (dp = 2 bandwidth 50^)\n", "found `)`", "expected `latency` after the bandwidth"},
      {"mesh @m (tp = 2) with dp = [^]\n", "found `]`", "expected a mesh axis"},
      {"let T = f32\nmesh @m (^T = -1)\n", "`T` is a dtype", "numbers or symbols"},
      {"let t = 0\nmesh @m (^tp = t)\n", "mesh axis `tp` has size 0", "at least 1"},
      {"let T = f32\nmesh @m (^tp = T)\n", "`T` is a dtype", "numbers or symbols"},
      {"^mesh @m (local = 2)\nfusion @f on @m (%x: f32[2]) -> (%x) {}", "`local`", "another name", "mesh @m"},
      {"^mesh @m (a = 4294967296, b = 4)\nfusion @f on @m (%x: f32[2]) -> (%x) {}", "more than 2147483648 ranks",
       "smaller"},
      {"mesh @m (tp = 2)\nfusion @f on @^n (%x: f32[2]) -> (%x) {}", "there is no mesh @n", "declare it above"},
      {"mesh @m (tp = 2)\nfusion @^f (%x: f32[2]) -> (%x) {}", "does not use mesh @m", "write `fusion @f on @m`"},
      {"fusion ^f (%x: f32[2]) -> (%x) {}", "found `f`", "expected `@` before the fusion's name"},
      {"^module @f", "found `module`", "expected `fusion`"},
  });
}

TEST(BadText, InputsAndOutputs) {
  expect_refused({
      {"fusion @f (^x: f32[2]) -> (%x) {}", "found `x`", "expected a tensor, e.g. %x"},
      {"fusion @f (%x ^f32[2]) -> (%x) {}", "found `f32`", "expected `:` and a type after %x"},
      {"fusion @f (%x: ^f31[2]) -> (%x) {}", "`f31` is no dtype", "did you mean"},
      {"fusion @f (%x: f32^) -> (%x) {}", "found `)`", "expected `[` before the extents"},
      {"fusion @f (%x: f32[2^) -> (%x) {}", "found `)`", "expected `]` after the extents"},
      {"fusion @f (%x: f32[4, a + ^]) -> (%x) {}", "extent: expected a number, a name or '('", "size expression"},
      {"fusion @f (%x: f32[^3 - 4]) -> (%x) {}", "extent -1 is negative", "at least 0"},
      {"fusion @f (%x: f32[^9223372036854775808]) -> (%x) {}", "is past 64 bits", "size expression"},
      {"fusion @f (%x: f32[^rank.tp]) -> (%x) {}", "mesh axis `tp` without a mesh", "declare one"},
      {"let T = f32\nfusion @f (%x: f32[^T]) -> (%x) {}", "`T` is a dtype", "numbers or symbols"},
      {"fusion @f (%x: f32[2], ^%x: f32[2]) -> (%x) {}", "%x is defined twice", "rename one of them"},
      {"fusion @f (%x: f32[2] ^%y: f32[2]) -> (%x) {}", "found `%`", "expected `)` or `,` after an input"},
      {"fusion @f (%x: f32[2]) -> (^) {}", "the fusion has no outputs", "-> (%y)"},
      {"fusion @f (%x: f32[2]) -> (^%y) {}", "output %y is not defined", "did you mean `x`?"},
      {"fusion @f (%x: f32[2]) -> (%x, ^%x) {}", "%x is an output twice", "list it once"},
      {"fusion @f (%x: f32[2]) ^{}", "found `{`", "expected `->` before the outputs"},
      {"fusion @f (%x: f32[2]) -> (%y) { %y: f32[2] ^stored {} = neg(%x) }", "found `stored`", "expected `=`"},
      {"fusion @f (%x: f32[2] in ^0..4) -> (%x) {}", "a range of f32", "ranges of integers"},
      {"fusion @f (%x: i64[2] in 0 ^4) -> (%x) {}", "found `4`", "expected `..` after the first value of the range"},
      {"fusion @f (%x: i64[2] in ^..4) -> (%x) {}", "begin: expected a number", "size expression"},
      {"fusion @f (%x: i64[2] in 0..^) -> (%x) {}", "end: expected a number", "size expression"},
      {"fusion @f (%x: f32[2] allocation ^(0, 1)) -> (%x) {}", "no order of the dims of %x: f32[2]", "every dim once"},
      {"fusion @f (%x: f32[2, 3] allocation ^(0, 0)) -> (%x) {}", "no order of the dims of %x", "every dim once"},
      {"fusion @f (%x: f32[2, 3] allocation ^(1)) -> (%x) {}", "no order of the dims of %x", "every dim once"},
      {"fusion @f (%x: f32[2, 3] allocation (^-1, 0)) -> (%x) {}", "-1 is out of range", "a dim"},
      {"fusion @f (%x: f32[] allocation (^)) -> (%x) {}", "found `)`", "a dim"},
      {"fusion @f (%x: f32[2, 3] allocation (1 ^gaps, 0)) -> (%x) {}", "found `gaps`", "expected `)` or `,`"},
      {"fusion @f (%x: f32[2, 3] allocation (^strided)) -> (%x) {}", "found `strided`", "a dim"},
  });
}

TEST(BadText, Annotations) {
  const char* kHead = "mesh @m (tp = 2, dp = 2)\nfusion @f on @m ";
  const std::vector<BadText> cases = {
      {"(%x: f32[4, 6] ^{0: tp, 1: tp}) -> (%x) {}", "mesh axis `tp` is used twice on %x",
       "a mesh axis shards at most one dim"},
      {"(%x: f32[4, 6] ^{0: [tp, tp]}) -> (%x) {}", "mesh axis `tp` is used twice on %x", ""},
      {"(%x: f32[4, 6] ^{0: tp} partial(tp: sum)) -> (%x) {}", "mesh axis `tp` is used twice on %x", ""},
      {"(%x: f32[4, 6] {0: ^cp}) -> (%x) {}", "mesh @m has no axis `cp`", "did you mean `tp`"},
      {"(%x: f32[4, 6] {^2: tp}) -> (%x) {}", "%x: f32[4, 6] has no dim 2", "dims are 0 to 1"},
      {"(%x: f32[4, 6] {^-1: tp}) -> (%x) {}", "%x: f32[4, 6] has no dim -1", "dims are 0 to 1"},
      {"(%x: f32[] {^0: tp}) -> (%x) {}", "%x: f32[] has no dim 0", "the tensor has no dims"},
      {"(%x: f32[4, 6] {0: tp, ^0: dp}) -> (%x) {}", "dim 0 is given twice", "[tp, dp]"},
      {"(%x: f32[4, 6] {0 ^tp}) -> (%x) {}", "found `tp`", "expected `:` after the dim"},
      {"(%x: f32[4, 6] {0: [^]}) -> (%x) {}", "found `]`", "a mesh axis or `local`"},
      {"(%x: f32[4, 6] {0: [tp^}) -> (%x) {}", "found `}`", "expected `]` after the pieces"},
      {"(%x: f32[4, 6] ^{0: [local, tp]}) -> (%x) {}", "`local` without a number stands last", "[local 2, tp]"},
      {"(%x: f32[4, 6] {0: [local ^0, tp]}) -> (%x) {}", "0 is out of range", "a number of parts"},
      {"(%x: f32[4, 6] {0: tp granule ^0}) -> (%x) {}", "0 is out of range", "a granule"},
      {"(%x: f32[4, 6] {} partial(^cp: sum)) -> (%x) {}", "mesh @m has no axis `cp`", ""},
      {"(%x: f32[4, 6] {} partial(tp: ^mean)) -> (%x) {}", "`mean` is no reduction", "sum, max, min, prod"},
      {"(%x: bool[4, 6] ^{} partial(tp: max)) -> (%x) {}", "a pending max of %x: bool[4, 6]", "ranks reduce numbers"},
      {"(%x: i64[4, 6] ^{} partial(tp: logsumexp)) -> (%x) {}", "a pending logsumexp of %x: i64[4, 6]", "floats"},
      {"(%x: f32[4, 6] {} partial(tp: sum, ^tp: max)) -> (%x) {}", "`tp` is named twice", "name it once"},
      {"(param %x: f32[4, 6] {} ^stored {} partial(tp: sum)) -> (%x) {}", "a stored layout has no partial", "drop it"},
      {"(%x: f32[4, 6] {0: tp}) -> (%x ^{1: tp}) {}", "%x is annotated twice", "annotate it once"},
      {"(%x: f32[4, 6]) -> (%x ^{0: tp} partial(tp: sum)) {}", "mesh axis `tp` is used twice", "at most one dim"},
      {"(%x: f32[4, 6]) -> (%x {} partial^) {}", "found `)`", "expected `(`"},
      {"(%x: f32[4, 6]) -> (%x {^2: tp}) {}", "%x: f32[4, 6] has no dim 2", "dims are 0 to 1"},
      {"(%x: f32[^rank.cp]) -> (%x) {}", "mesh @m has no axis `cp`", ""},
  };
  std::vector<std::string> texts;
  for (const auto& c : cases) texts.push_back(std::string(kHead) + c.text);
  std::vector<BadText> full = cases;
  for (size_t i = 0; i < full.size(); ++i) full[i].text = texts[i].c_str();
  expect_refused(full);
  expect_refused({{"fusion @f (%x: f32[4] ^{0: tp}) -> (%x) {}", "an annotation without a mesh", "declare one"}});
}

TEST(BadText, Statements) {
  const std::string head = "fusion @f (%x: f32[4, k], %w: f32[5, j], %seed: u64[]) -> (%y) {\n  ";
  const std::vector<BadText> cases = {
      {"%y = ^frobnicate(%x)\n}", "there is no op `frobnicate`", "known: "},
      {"%y = ^gelu_tanh(%x)\n}", "there is no op `gelu_tanh`", ""},
      {"%y = ^sofmax(%x)\n}", "there is no op `sofmax`", ""},
      {"%y = ^exq(%x)\n}", "there is no op `exq`", "did you mean `exp`?"},
      {"%y = ^mull(%x, %x)\n}", "there is no op `mull`", "did you mean `mul`?"},
      {"%y = exp ^%x\n}", "found `%`", "expected `(` after `exp`"},
      {"%y = exp(^%xx)\n}", "%xx is not defined", "did you mean `x`?"},
      {"%y = exp(^%y)\n}", "%y is used in its own definition", "no cycles"},
      {"%y = exp(^%z)\n  %z = exp(%y)\n}", "%z is used before it is defined at bad.plait:3:3", "no cycles"},
      {"%y = exp(%x)\n  ^%y = exp(%x)\n}", "%y is defined twice", "its own name"},
      {"^%x = exp(%x)\n}", "%x is defined twice", "its own name"},
      {"%y = exp(%x\n^}", "found `}`", "expected `)` or `,` after an argument"},
      {"%y = exp(%x)\n^", "the body is never closed", "expected `}`"},
      {"%y = exp(%x)\n}\n^fusion @g", "text after the fusion", "one fusion"},
      {"%y ^exp(%x)\n}", "found `exp`", "expected `=` after %y"},
      {"%^ = exp(%x)\n}", "`%` without a name", "letters, digits and _"},
      {"^y = exp(%x)\n}", "found `y`", "expected a tensor"},
      {"%y = ^linear(%x, %w)\n}", "contracted extents differ: dim 1 of %x: f32[4, k] is k, dim 1 of %w: f32[5, j] is j",
       "make them equal", "linear: %y = linear(%x, %w)"},
      {"%y = ^add(%x, %w)\n}", "extents differ", "1 to broadcast", "add: %y = add(%x, %w)"},
      {"^%y: f32[4] = exp(%x)\n}", "%y is f32[4, k], not f32[4]", "drop the type or correct it"},
      {"%y = gelu(%x, approx = ^erf)\n}", "`erf` is no approximation of gelu", "none, tanh"},
      {"%y = gelu(%x, ^aprox = tanh)\n}", "gelu has no attribute `aprox`", "did you mean `approx`?"},
      {"%y = exp(%x, ^approx = tanh)\n}", "exp has no attribute `approx`", "exp takes none: write exp(%x)"},
      {"%y = ^%x + %x\n}", "found a tensor where an op is written", "write e.g. add(%a, %b)"},
      {"%y = cast(%x, ^f16)\n}", "`f16` stands without the name of its attribute", "write e.g. to = f16"},
      {"%y = cast(%x, to = ^float16)\n}", "`float16` is no dtype", "did you mean `f16`?"},
      {"%y = ^transpose(%x)\n}", "there is no op `transpose`", "did you mean `permute`?"},
      {"%y = sum(%x, ^0)\n}", "sum takes tensors, found the number `0`", "dims have a name: dims = [0]"},
      {"%y = max(%x, ^dim = 1)\n}", "max has no attribute `dim`", "along a dim it is amax"},
      {"%y = clamp(%x, ^max = 1.0)\n}", "clamp has no attribute `max`", "clamp takes none: write clamp(%x, %y, %z)"},
      {"%y = dropout(%x, p = 0.1, ^p = 0.2, seed = %seed)\n}", "attribute `p` is given twice", "give it once"},
      {"%y = dropout(%x, p = ^0.1.2, seed = %seed)\n}", "`0.1.2` is no number", ""},
      {"%y = dropout(%x, p = 0.1, seed = %seed, offset = ^-1)\n}", "-1 is out of range", "an offset"},
      {"%y = linear(%x, ^)\n}", "found `)`", "an operand or an attribute"},
      {"%y = linear(^%x)\n}", "linear lacks its operand `w`", "give the tensor"},
      {"%y = linear(^%x, %w, %x, %x)\n}", "linear takes 3 tensors, found 4", "drop the others"},
      {"%y = linear(%x, %w, accumulate = ^1)\n}", "found `1`", "`false` or `true`"},
      {"%y = cast(%x, to = ^f31)\n}", "`f31` is no dtype", "did you mean"},
      {"%y = full(shape = [4], value = ^zero, dtype = f32)\n}", "`zero` is no f32 constant", "value = 0.5"},
      {"%y = all_reduce(%x, team = ^tp)\n}", "mesh axis `tp` without a mesh", "declare one"},
      {"^%y: f32[4, k] loops (split(0, 0)) = exp(%x)\n}", "the factor must be at least 1", ""},
      {"%y: f32[4, k] loops (split(^4294967296, 2)) = exp(%x)\n}", "out of range", "a loop position"},
      {"%y: f32[4, k] loops (^tile(0)) = exp(%x)\n}", "`tile` is no transform", "merge, split, reorder, parallel"},
      {"%y: f32[4, k] loops (parallel(0, ^warp)) = exp(%x)\n}", "`warp` is no parallel type", "known: "},
      {"%y = exp(%x) ^&\n}", "found `&`", "expected a tensor"},
  };
  std::vector<std::string> texts;
  for (const auto& c : cases) texts.push_back(head + c.text);
  std::vector<BadText> full = cases;
  for (size_t i = 0; i < full.size(); ++i) full[i].text = texts[i].c_str();
  expect_refused(full);
}

TEST(BadText, Segments) {
  const std::string head = "fusion @f (%x: f32[4], %w: f32[4]) -> (%z) {\n  ";
  const std::vector<BadText> cases = {
      {"segment @^s (%x) -> (%y) {\n %y = exp(%x)\n }\n %z = exp(%y)\n}", "no segment holds exp: %z = exp(%y)",
       "exactly one segment"},
      {"%y = exp(%x)\n segment @^s (%y) -> (%z) {\n %z = exp(%y)\n }\n}", "does not hold the next op",
       "exactly one segment"},
      {"segment @^s (%x) -> (%z) {\n %z = add(%x, %w)\n }\n}", "segment @s reads %w, which is not its input",
       "list %w among the inputs of @s"},
      {"segment @^s (%x) -> (%z, %w) {\n %z = exp(%x)\n }\n}", "does not make its output %w", "drop it"},
      {"segment @^s (%x) -> () {\n %z = exp(%x)\n }\n}", "makes %z, an output of the fusion, and does not list it",
       "list %z among the outputs"},
      {"segment @s (%x) -> () {\n %y = exp(%x)\n }\n segment @^t (%y) -> (%z) {\n %z = exp(%y)\n }\n}",
       "lists the input %y", "list it as an output of the segment that makes it"},
      {"segment @^s (%x, %z) -> (%z) {\n %z = exp(%x)\n }\n}", "lists the input %z", "order the segments"},
      {"segment @s (%x, ^%q) -> (%z) {\n %z = exp(%x)\n }\n}", "%q is not defined", "did you mean"},
      {"segment @^s (%x, %x) -> (%z) {\n %z = exp(%x)\n }\n}", "lists %x twice", "list it once"},
      {"segment @s (%x) -> (%z) {\n %z = exp(%x)\n }\n segment @^e () -> () {}\n}", "segment @e holds no ops", "drop"},
      {"segment @s (%x) -> (%y) {\n %y = exp(%x)\n }\n segment @^s (%y) -> (%z) {\n %z = exp(%y)\n }\n}",
       "segment @s is defined twice", "rename"},
      {"segment @s (%x) -> (%z) {\n ^segment @t (%x) -> (%z) {\n %z = exp(%x)\n }\n }\n}", "a segment within a segment",
       "close the outer one"},
      {"segment @s (%x) -> (%z) {\n %z = exp(%x)\n^", "the segment is never closed", "expected `}`"},
      {"segment @s (%x) -> (%z) schedule p^(a = 1 {\n %z = exp(%x)\n }\n}", "`(` is never closed", "expected `)`"},
  };
  std::vector<std::string> texts;
  for (const auto& c : cases) texts.push_back(head + c.text);
  std::vector<BadText> full = cases;
  for (size_t i = 0; i < full.size(); ++i) full[i].text = texts[i].c_str();
  expect_refused(full);
}

TEST(BadText, Settings) {
  auto error = [](const char* name, const char* value) {
    try {
      parse_fusion("let n = 4, T = f32\nfusion @f (%x: T[n]) -> (%x) {}", {.set = {{name, value}}});
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const char* bad : {"-1", "x", "", "4 ", "1.5", "99999999999999999999"}) {
    EXPECT_NE(error("n", bad).find("is no size"), std::string::npos) << bad;
    EXPECT_NE(error("n", bad).find("set n"), std::string::npos) << bad;
  }
  EXPECT_NE(error("T", "f33").find("did you mean `f32`?"), std::string::npos);
  EXPECT_EQ(error("other", "f33"), "");
}

// Texts that are long or deep, not wrong in a word.
TEST(BadText, SizeAndDepth) {
  const std::string deep(5000, '('), closed(5000, ')');
  EXPECT_THROW(parse_fusion("fusion @f (%x: f32[" + deep + "a" + closed + "]) -> (%x) {}"), UserError);
  EXPECT_THROW(parse_fusion("fusion @f (%x: f32[" + deep), UserError);
  EXPECT_THROW(parse_fusion("fusion @f (%" + std::string(100000, 'x') + ": f32[2]) -> (%x) {}"), UserError);
  std::string chain = "fusion @f (%x0: f32[n]) -> (%x3000) {\n", sums = "fusion @f (%x: f32[n";
  for (int i = 0; i < 3000; ++i) chain += fmt::format("  %x{} = exp(%x{})\n", i + 1, i);
  for (int i = 0; i < 450; ++i) sums += fmt::format(" + n{}", i % 50);
  auto fusion = parse_fusion(chain + "}\n");
  verify(*fusion);
  EXPECT_EQ(fusion->ops().size(), 3000u);
  EXPECT_NO_THROW(verify(*parse_fusion(sums + "]) -> (%x) {}")));
  EXPECT_THROW(parse_fusion(sums + sums.substr(sums.find(" + ")) + "]) -> (%x) {}"), UserError);
  std::string products = "fusion @f (%x: f32[1";
  for (int i = 0; i < 40; ++i) products += fmt::format("*(a{} + b{})", i, i);
  auto wide = parse_fusion(products + "]) -> (%x) {}");
  EXPECT_EQ(print(*parse_fusion(print(*wide))), print(*wide));
  EXPECT_THROW(parse_fusion("fusion @f (%x: f32[9223372036854775807*2]) -> (%x) {}"), UserError);
}

}  // namespace
}  // namespace plait
