// The canonical layout of texts: ir/format.h.
#include "ir/format.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "ir/fusion.h"
#include "support/scratch_folder.h"

namespace plait {
namespace {

void expect_layout(const std::string& text, const std::string& want) {
  EXPECT_EQ(format_text(text), want) << text;
  EXPECT_EQ(format_text(want), want);
}

TEST(Format, StatementsBlanksAndEmptyLines) {
  expect_layout(
      "\n\n  let   b=4,T =f32\nlet c = 2 mesh @m(tp=2)with g=[tp]\nfusion @f on@m(%x:T[b,2 * c]{0:tp}, param %w :T "
      "[b,8]"
      "{ }stored{0:[tp,local]})->(%y{0:tp},%z aliases %x){\n\n\n%y=add(mul(%x,-0.5),%w)%a = gelu( %y , approx=tanh "
      ")\n\n\n"
      "   %z:T[b,2*c]{1:tp}partial( tp:sum )=add(%a,1e-05)\n\n}\n\n\n",
      "let b = 4, T = f32\nlet c = 2\nmesh @m (tp = 2) with g = [tp]\n\nfusion @f on @m (%x: T[b, 2*c] {0: tp}, param "
      "%w: T[b, 8] {} stored {0: [tp, local]}) -> (%y {0: tp}, %z aliases %x) {\n  %y = add(mul(%x, -0.5), %w)\n"
      "  %a = gelu(%y, approx = tanh)\n\n  %z: T[b, 2*c] {1: tp} partial(tp: sum) = add(%a, 1e-05)\n}\n");
}

TEST(Format, ExpressionsAndRanges) {
  expect_layout(
      "given n:16 in 16 .. 4096 below  -m+2 , k : 1 in ..8,j:1 in 0.. below n\n"
      "fusion @f(%i:i64[n]in 0 ..n+1,%x:f32[ (n-1)*2,floordiv( n,2 ),rank.tp]allocation(1,0 strided,2))->(%y){\n"
      "%y:f32[n]loops(split(0,4),reorder(1,0))inline 2 keep 4=slice(%x,dim=0,start=n- 1,stop=- 1,step = +2)}",
      "given n: 16 in 16..4096 below -m + 2, k: 1 in ..8, j: 1 in 0.. below n\n\n"
      "fusion @f (%i: i64[n] in 0..n + 1, %x: f32[(n - 1)*2, floordiv(n, 2), rank.tp] allocation (1, 0 strided, 2)) -> "
      "(%y) {\n"
      "  %y: f32[n] loops (split(0, 4), reorder(1, 0)) inline 2 keep 4 = slice(%x, dim = 0, start = n - 1, stop = -1, "
      "step = +2)\n}\n");
}

TEST(Format, Comments) {
  expect_layout(
      "# RUN: opt\t\n#EXPECT\n\n\n   # of T  \nlet T = f32# short\nfusion @f(%x:T[4])->(%y){#body\n#first\n%a=neg(%x)  "
      "  # "
      "neg\n%y = # what\nadd(%a,\n# left out\n%x # last\n)\n# end\n}# of f\n# of all",
      "# RUN: opt\n#EXPECT\n\n# of T\nlet T = f32  # short\n\nfusion @f (%x: T[4]) -> (%y) {  #body\n  #first\n"
      "  %a = neg(%x)  # neg\n  %y =  # what\n      add(\n    %a,\n    # left out\n    %x  # last\n  )\n  # end\n}  # "
      "of f\n"
      "# of all\n");
  expect_layout("fusion @f(%x:f32[4], # one\n\n\n  # two\n  %z:f32[4]) # in\n ->(%y)\n{ %y = add(%x,%z) }",
                "fusion @f (\n  %x: f32[4],  # one\n\n  # two\n  %z: f32[4]\n)  # in\n    -> (%y) {\n"
                "  %y = add(%x, %z)\n}\n");
  expect_layout("# \xff\xfe bytes\nfusion", "# \xff\xfe bytes\nfusion\n");
}

TEST(Format, Segments) {
  expect_layout(
      "fusion @f(%x:f32[4])->(%y){segment @s1(%x)->(%a)schedule pointwise(vector=8){%a=neg(%x)}\n\nsegment "
      "@s2(%a)->(%y)"
      "schedule manual( %y:loops(merge(0))inline 1 )joins@s1{\n\n%b = neg(%a)\n%y=neg(%b)\n}}",
      "fusion @f (%x: f32[4]) -> (%y) {\n  segment @s1 (%x) -> (%a) schedule pointwise(vector = 8) {\n    %a = "
      "neg(%x)\n"
      "  }\n\n  segment @s2 (%a) -> (%y) schedule manual(%y: loops (merge(0)) inline 1) joins @s1 {\n    %b = neg(%a)\n"
      "    %y = neg(%b)\n  }\n}\n");
}

TEST(Format, Programs) {
  expect_layout(
      "mesh @m(tp=2)\nprogram @p on@m[2](\n%x:f32[n])->(%y:f32[n]in %x){\nkernel @k(buffers=2,integers=0,status,phases "
      "= 2 "
      "+ 1)schedule pointwise(vector=1)\n\n\ncontraction @l1 linear f32->f32\n%t=alloc f32[n]\nlaunch @k "
      "(%x)->(%t)using(%y)"
      "(integers=[n])on compute # go\nlibrary @l1(%x,%t[n,2]strides[1,n]at(n+1))->(%y)on compute\nall_reduce %t -> "
      "%y(op="
      "sum,team=tp)on comm\nrecord %e1 on comm\n}",
      "mesh @m (tp = 2)\nprogram @p on @m[2] (\n  %x: f32[n]\n) -> (%y: f32[n] in %x) {\n"
      "  kernel @k (buffers = 2, integers = 0, status, phases = 2+1) schedule pointwise(vector = 1)\n\n"
      "  contraction @l1 linear f32 -> f32\n  %t = alloc f32[n]\n"
      "  launch @k(%x) -> (%t) using (%y) (integers = [n]) on compute  # go\n"
      "  library @l1(%x, %t[n, 2] strides [1, n] at (n + 1)) -> (%y) on compute\n"
      "  all_reduce %t -> %y (op = sum, team = tp) on comm\n  record %e1 on comm\n}\n");
}

TEST(Format, SizesMayHaveTheNamesOfStatements) {
  expect_layout(
      "let fusion=4,mesh=2\ngiven let:1 in 1..2\nmesh @mesh(let=fusion)with given=[let] fusion @fusion on@mesh()->(%y)"
      "{%y=iota(shape=[mesh],dim=0)}",
      "let fusion = 4, mesh = 2\ngiven let: 1 in 1..2\nmesh @mesh (let = fusion) with given = [let]\n\n"
      "fusion @fusion on @mesh () -> (%y) {\n  %y = iota(shape = [mesh], dim = 0)\n}\n");
}

TEST(Format, LongHeadsHaveAnInputOnEachLine) {
  const std::string item(37, 'x'), other(40, 'x');
  const std::string head = "fusion @f (%a" + item + ": f32[4], %b" + other + ": f32[4]) -> (%y) {";
  ASSERT_EQ(head.size(), kFormatColumns + 1);
  expect_layout(head + "}", "fusion @f (\n  %a" + item + ": f32[4],\n  %b" + other + ": f32[4]\n) -> (%y) {\n}\n");
  const std::string fits = head.substr(0, 11) + head.substr(12);
  expect_layout(fits + "}", fits + "\n}\n");
}

TEST(Format, ListsThatBeginBelowTheirBracketStaySo) {
  expect_layout(
      "fusion @f(\n%x:f32[4],%z:f32[4])->(\n%y){%y=add(\n\n%x,mul(%z,%z),\n\n0.5)}",
      "fusion @f (\n  %x: f32[4],\n  %z: f32[4]\n) -> (\n  %y\n) {\n  %y = add(\n    %x,\n    mul(%z, %z),\n\n"
      "    0.5\n  )\n}\n");
  expect_layout("fusion @f(\n)->(%y){\n}", "fusion @f () -> (%y) {\n}\n");
}

TEST(Format, LongStatementsBreakWhereTheyDid) {
  const std::string name(110, 'x');
  expect_layout("fusion @f (%x: f32[4]) -> (%y) {\n%" + name + "\n = neg(\n%x)\n%y\n= neg(%x)\n}",
                "fusion @f (%x: f32[4]) -> (%y) {\n  %" + name + " = neg(\n    %x\n  )\n  %y = neg(%x)\n}\n");
  expect_layout("fusion @f (%x: f32[4]) -> (%y) {\n%" + name + "\n = neg(%x)\n}",
                "fusion @f (%x: f32[4]) -> (%y) {\n  %" + name + "\n      = neg(%x)\n}\n");
  const std::string long_one = "fusion @f (%x: f32[4]) -> (%y) {\n  %" + name + " = neg(%x)\n}\n";
  expect_layout(long_one, long_one);
}

TEST(Format, LineEndsAndTabs) {
  expect_layout("# a\r\n\r\nfusion @f\t(%x: f32[4])\r\n-> (%y) {\r\n\t%y = neg(%x)\r\n\r\n\r\n}\r\n",
                "# a\n\nfusion @f (%x: f32[4]) -> (%y) {\n  %y = neg(%x)\n}\n");
  expect_layout("given n: 1 in 1..2\rfusion @f () -> () {}", "given n: 1 in 1..2\n\nfusion @f () -> () {\n}\n");
  expect_layout("", "");
  expect_layout("# only", "# only\n");
}

// Whatever stands in a text, its words stay, and the layout of a layout is itself.
TEST(Format, TextsThatDoNotParse) {
  for (const char* text : {")",
                           "(",
                           "}}}",
                           "{{{",
                           "fusion",
                           "fusion @f {",
                           "let",
                           "let,",
                           "given",
                           "%",
                           "1..",
                           "...",
                           ".",
                           "-",
                           "- -",
                           "+-1",
                           "fusion @f (%x: [} ) ] -> {",
                           "program { launch\n}\n}",
                           "\x01 \x02",
                           "segment {",
                           "# a\n)",
                           "( # a\n,\n# b",
                           "mesh @ # m\n(tp)",
                           "=",
                           "%x = = neg("}) {
    const std::string once = format_text(text);
    EXPECT_EQ(format_text(once), once) << text;
  }
}

// The fusions of a file, which in tests/ir stand on both sides of a line.
std::vector<std::string> fusions_of(const std::string& text) {
  std::vector<std::string> out;
  const size_t at = text.find("# EXPECT\n");
  for (const std::string& part : {text.substr(0, at), at == text.npos ? "" : text.substr(at)})
    if (part.find("fusion @") != part.npos) out.push_back(part);
  return out;
}

TEST(Format, FusionsOfTheTreeMeanTheSame) {
  namespace fs = std::filesystem;
  int count = 0;
  for (const char* folder : {"docs/examples", "tests/fusions", "tests/ir"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(PLAIT_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".plait") continue;
      SCOPED_TRACE(entry.path());
      const std::string whole = format_text(testing::read_file(entry.path()));
      EXPECT_EQ(format_text(whole), whole);
      for (const std::string& text : fusions_of(testing::read_file(entry.path()))) {
        const auto before = parse_fusion(text), after = parse_fusion(format_text(text));
        EXPECT_TRUE(equal(*before, *after));
        const std::string printed = print(*before);
        EXPECT_EQ(format_text(printed), printed);
        ++count;
      }
    }
  EXPECT_GE(count, 200);
}

}  // namespace
}  // namespace plait
