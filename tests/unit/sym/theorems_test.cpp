// The theorem of each rule that rewrites (S1 to S22, docs/math.md), over all small values of its variables: both sides
// have one value, they are built as one node, and bounds, divisor and proof of either side hold.
#include "unit/sym/claims.h"

namespace plait::sym::testing {
namespace {

const Variable kX{"x", "-13", "13", "1", false};
const Variable kY{"y", "-5", "5", "1", false};
const Variable kZ{"z", "-2", "2", "1", false};
const Variable kI{"i", "0", "5"};
const Variable kN{"n", "1", "5"};
const Variable kJ{"j", "0", "n - 1"};
Variable from(const char* name, const char* lo, const char* hi) { return {name, lo, hi}; }
void claim(const char* written, const char* result, std::vector<Variable> numbers, std::vector<Variable> symbols,
           const char* only = "1") {
  check_claim({written, result, std::move(numbers), std::move(symbols), only});
}

TEST(SymTheorem, S1Sums) {
  claim("a*z + b*y + c + d*z", "c + b*y + (a + d)*z",
        {from("a", "-2", "2"), from("b", "-2", "2"), from("c", "-2", "2"), from("d", "-2", "2")}, {kZ, kY});
  claim("(x + y) - (y - i)", "i + x", {}, {kX, kY, kI});
}

TEST(SymTheorem, S2Products) {
  claim("(a*z + b)*(c*y + d)", "a*c*z*y + a*d*z + b*c*y + b*d",
        {from("a", "-2", "2"), from("b", "-2", "2"), from("c", "-2", "2"), from("d", "-2", "2")}, {kZ, kY});
  claim("(x + y)*(x + y)*(x - y)", "x*x*x + x*x*y - x*y*y - y*y*y", {}, {kX, kY});
}

TEST(SymTheorem, S3SplitsAreMerged) {
  claim("k*b*floordiv(x, b) + k*mod(x, b)", "k*x", {from("k", "-3", "3"), from("b", "1", "6")}, {kX});
  claim("k*y*b*floordiv(x, b) + mod(x, b)*y*k + 1", "k*x*y + 1", {from("k", "-2", "2"), from("b", "1", "4")}, {kX, kY});
  claim("n*floordiv(x, n) + mod(x, n)", "x", {}, {kN, kX});
  claim("2*n*floordiv(x, 2*n) + mod(x, 2*n)", "x", {}, {kN, kX});
}

TEST(SymTheorem, S4NestedSplitsAreMerged) {
  claim("k*b*mod(floordiv(x, b), c) + k*mod(x, b)", "k*mod(x, b*c)",
        {from("k", "-2", "3"), from("b", "1", "4"), from("c", "1", "4")}, {kX});
  claim("n*mod(floordiv(x, n), c) + mod(x, n)", "mod(x, n*c)", {from("c", "1", "4")}, {kN, kX});
  // Coefficients that do not match are left as they are, with their values.
  check_claim({"a*mod(floordiv(x, b), c) + k*mod(x, b)",
               "k*mod(x, b) + a*mod(floordiv(x, b), c)",
               {from("a", "-2", "4"), from("k", "-1", "2"), from("b", "1", "3"), from("c", "1", "3")},
               {kX}});
}

TEST(SymTheorem, S5ExactQuotients) {
  const std::vector<Variable> numbers = {from("a", "1", "12"), from("k", "0", "2"), from("r", "0", "3")};
  claim("(k*a + r)*floordiv(m, a)", "k*m + r*floordiv(m, a)", numbers, {{"m", "-24", "24", "12"}}, "mod(12, a) == 0");
  claim("-(k*a + r)*floordiv(m, a)", "-k*m - r*floordiv(m, a)", numbers, {{"m", "-24", "24", "12"}}, "mod(12, a) == 0");
  claim("a*floordiv(m, a)", "m", {from("a", "1", "12")}, {{"m", "-24", "24", "12"}}, "mod(12, a) == 0");
  claim("k*a*x*floordiv(m, a)", "k*m*x", {from("a", "1", "12"), from("k", "-2", "2")}, {kX, {"m", "-24", "24", "12"}},
        "mod(12, a) == 0");
  claim("c*m - k*floordiv(m, a)", "(c*a - k)*floordiv(m, a)",
        {from("a", "1", "12"), from("c", "-2", "2"), from("k", "-3", "14")}, {{"m", "-24", "24", "12"}},
        "mod(12, a) == 0");
  claim("k*floordiv(m, a*b) + c*floordiv(m, a)", "(k + c*b)*floordiv(m, a*b)",
        {from("a", "1", "6"), from("b", "1", "6"), from("c", "-3", "3"), from("k", "-3", "3")},
        {{"m", "-24", "24", "12"}}, "mod(12, a*b) == 0");
}

TEST(SymTheorem, S6WholeBlocks) {
  claim("floordiv(a*d*x + y + c, d)", "a*x + floordiv(y + c, d)",
        {from("a", "-2", "2"), from("d", "1", "4"), from("c", "-5", "5")}, {kX, kY});
  claim("mod(a*d*x + y + c, d)", "mod(y + c, d)", {from("a", "-2", "2"), from("d", "1", "4"), from("c", "-5", "5")},
        {kX, kY});
  claim("floordiv(n*x + y, n)", "x + floordiv(y, n)", {}, {kN, kX, kY});
  claim("mod(a*n*x + y, n)", "mod(y, n)", {from("a", "-3", "3")}, {kN, kX, kY});
  claim("floordiv((n + 2)*x + y, n + 2)", "x + floordiv(y, n + 2)", {}, {kN, kX, kY});
  claim("mod((n + 2)*x + y, n + 2)", "mod(y, n + 2)", {}, {kN, kX, kY});
}

TEST(SymTheorem, S7MultiplesByFacts) {
  const Variable m{"m", "-24", "24", "12"};
  claim("floordiv(m + y, d)", "floordiv(m, d) + floordiv(y, d)", {from("d", "1", "12")}, {m, kY}, "mod(12, d) == 0");
  claim("mod(m + y, d)", "mod(y, d)", {from("d", "1", "12")}, {m, kY}, "mod(12, d) == 0");
  claim("mod(y - 3*m, d)", "mod(y, d)", {from("d", "1", "12")}, {m, kY}, "mod(36, d) == 0");
}

TEST(SymTheorem, S8Buckets) {
  claim("floordiv(i + c, d)", "floordiv(c, d)", {from("c", "-14", "14"), from("d", "1", "12")}, {kI},
        "floordiv(c, d) == floordiv(c + 5, d)");
  claim("mod(i + c, d)", "i + c - d*floordiv(c, d)", {from("c", "-14", "14"), from("d", "1", "12")}, {kI},
        "floordiv(c, d) == floordiv(c + 5, d)");
  claim("floordiv(j, n)", "0", {}, {kN, kJ});
  claim("mod(n*x + j, n)", "j", {}, {kN, kJ, kX});
  claim("floordiv(n*i + j, n*6)", "0", {}, {kN, kJ, kI});
}

TEST(SymTheorem, S9CommonDivisors) {
  const std::vector<Variable> numbers{from("g", "2", "4"), from("e", "2", "4")};
  const Variable r{"r", "0", "g - 1"};
  claim("floordiv(g*x + r, g*e)", "floordiv(x, e)", numbers, {kX, r});
  claim("mod(g*x + r, g*e)", "g*mod(x, e) + r", numbers, {kX, r});
  claim("floordiv(n*x + j, n*e)", "floordiv(x, e)", {from("e", "2", "4")}, {kN, kJ, kX});
  claim("mod(n*x + j, n*e)", "n*mod(x, e) + j", {from("e", "2", "4")}, {kN, kJ, kX});
  // Without the fact r < g nothing may be split off.
  check_claim({"floordiv(g*x + r, g*e)", "floordiv(r + g*x, g*e)", numbers, {kX, {"r", "0", "g + 1"}}});
}

TEST(SymTheorem, S10NestedQuotients) {
  claim("floordiv(floordiv(x, a) + c, b)", "floordiv(x + a*c, a*b)",
        {from("a", "1", "5"), from("b", "1", "5"), from("c", "-4", "4")}, {kX});
  claim("floordiv(floordiv(x, n) + c, b)", "floordiv(x + c*n, b*n)", {from("b", "1", "4"), from("c", "0", "b - 1")},
        {kN, kX});
  check_claim({"floordiv(floordiv(x, n) + c, b)",
               "floordiv(x + c*n, b*n)",
               {from("b", "1", "4"), from("c", "-5", "5")},
               {kN, kX},
               "1",
               false});
  claim("ceildiv(ceildiv(x, a), b)", "ceildiv(x, a*b)", {from("a", "1", "5"), from("b", "1", "5")}, {kX});
}

TEST(SymTheorem, S11NestedRemainders) {
  claim("mod(k*mod(x, a) + y, d)", "mod(k*x + y, d)", {from("k", "-3", "3"), from("a", "1", "6"), from("d", "1", "6")},
        {kX, kY}, "mod(k*a, d) == 0");
  claim("mod(y*mod(x, n*c) + 1, n)", "mod(x*y + 1, n)", {from("c", "1", "3")}, {kN, kX, kY});
  check_claim({"mod(k*mod(x, a) + y, d)",
               "mod(y + mod(x, a)*k, d)",
               {from("k", "-3", "3"), from("a", "1", "5"), from("d", "1", "5")},
               {kX, kY}});
}

TEST(SymTheorem, S12Digits) {
  claim("floordiv(mod(x, a*b), a)", "mod(floordiv(x, a), b)", {from("a", "1", "5"), from("b", "1", "5")}, {kX});
  claim("floordiv(mod(x, n*b), n)", "mod(floordiv(x, n), b)", {from("b", "1", "4")}, {kN, kX});
}

TEST(SymTheorem, S13Extrema) {
  claim("min(x + a, y, x + b)", "min(y, x + min(a, b))", {from("a", "-3", "3"), from("b", "-3", "3")}, {kX, kY});
  claim("max(x + a, y, x + b)", "max(y, x + max(a, b))", {from("a", "-3", "3"), from("b", "-3", "3")}, {kX, kY});
  claim("min(min(x, y), min(i, x))", "min(i, min(y, x))", {}, {kX, kY, kI});
  claim("max(j, max(x, n))", "max(n, x)", {}, {kN, kJ, kX});
}

TEST(SymTheorem, S14Select) {
  claim("select(i < c, x, y)", "x", {from("c", "6", "8")}, {kI, kX, kY});
  claim("select(i < c, x, y)", "y", {from("c", "-2", "0")}, {kI, kX, kY});
  claim("select(x < y, i, i)", "i", {}, {kX, kY, kI});
  claim("select(x != y, i, x)", "select(x == y, x, i)", {}, {kX, kY, kI});
  claim("select(x < y, 1, 0)", "x < y", {}, {kX, kY});
  claim("select(x == y, 0, 1)", "x != y", {}, {kX, kY});
}

TEST(SymTheorem, S15ComparisonsAreDifferences) {
  const std::vector<Variable> four{from("a", "-2", "2"), from("b", "-3", "3"), from("c", "-2", "2"),
                                   from("d", "-3", "3")};
  claim("a*y + b < c*z + d", "a*y - c*z < d - b", four, {kY, kZ});
  claim("a*y + b == c*z + d", "a*y - c*z + b - d == 0", four, {kY, kZ});
  claim("k*x + c > k*y", "x > y + floordiv(-c, k)", {from("k", "1", "4"), from("c", "-6", "6")}, {kX, kY});
  claim("k*x <= k*y + c", "x <= y + floordiv(c, k)", {from("k", "1", "4"), from("c", "-6", "6")}, {kX, kY});
  claim("x <= y", "x < y + 1", {}, {kX, kY});
}

TEST(SymTheorem, S16ProvenConditions) {
  claim("i < c", "1", {from("c", "6", "9")}, {kI});
  claim("i < c", "0", {from("c", "-3", "0")}, {kI});
  claim("i == c", "0", {from("c", "-3", "9")}, {kI}, "c < 0 or c > 5");
  claim("x*n + j < x*n + n", "1", {}, {kN, kJ, kX});
  claim("n <= j", "0", {}, {kN, kJ});
  claim("j == n + c", "0", {from("c", "0", "3")}, {kN, kJ});
}

TEST(SymTheorem, S17EqualitiesByDivisor) {
  claim("2*a*x + 2*b*y == 2*c + 1", "0", {from("a", "-2", "2"), from("b", "-2", "2"), from("c", "-2", "2")}, {kX, kY});
  claim("k*x == k*y + k*c", "x == y + c", {from("k", "-3", "3"), from("c", "-2", "2")}, {kX, kY}, "k != 0");
  claim("m + y*8 == c", "0", {from("c", "-9", "9")}, {{"m", "-12", "12", "4"}, kY}, "mod(c, 4) != 0");
}

TEST(SymTheorem, S18Conjunctions) {
  claim("x < y and i < x and x < y", "i < x and x < y", {}, {kX, kY, kI});
  claim("x < y + c and y + c <= x", "0", {from("c", "-3", "3")}, {kX, kY});
  claim("x == c or x != c", "1", {from("c", "-3", "3")}, {kX});
  claim("x and (y and i)", "i and (x and y)", {}, {kX, kY, kI});
}

TEST(SymTheorem, S19Negations) {
  claim("not x < y + c", "y + c <= x", {from("c", "-3", "3")}, {kX, kY});
  claim("not x <= y + c", "y + c < x", {from("c", "-3", "3")}, {kX, kY});
  claim("not not x == y", "x == y", {}, {kX, kY});
  claim("not select(x < y, x == i, y < i)", "select(x < y, x != i, i <= y)", {}, {kX, kY, kI});
  claim("not (x < y or x == i)", "y <= x and x != i", {}, {kX, kY, kI});
}

TEST(SymTheorem, S20EqualPieces) {
  const std::vector<Variable> numbers{from("g", "1", "3"), from("p", "1", "4")};
  const std::vector<Variable> symbols{from("x", "0", "4"), from("r", "0", "p - 1")};
  claim("chunk(g*p*x, p, r, g)", "g*x", numbers, symbols);
  claim("chunk_start(g*p*x, p, r, g)", "g*x*r", numbers, symbols, "p > 1");
  claim("chunk(x, 1, 0, g)", "x", {from("g", "1", "4")}, {from("x", "0", "9")});
  claim("chunk_start(x, 1, 0, g)", "0", {from("g", "1", "4")}, {from("x", "0", "9")});
  claim("chunk(g*n*x, n, r, g)", "g*x", {from("g", "1", "3")}, {kN, from("r", "0", "n - 1"), from("x", "0", "4")});
}

TEST(SymTheorem, S21Pieces) {
  const std::vector<Variable> all{from("c", "0", "14"), from("p", "1", "4"), from("r", "0", "p - 1"),
                                  from("g", "1", "4")};
  claim("chunk(c, p, r, g)", "min(g*ceildiv(ceildiv(c, g), p), c - min(c, r*g*ceildiv(ceildiv(c, g), p)))", all, {});
  claim("chunk_start(c, p, r, g)", "min(c, r*g*ceildiv(ceildiv(c, g), p))", all, {});
  claim("chunk_start(x, n, 0, g)", "0", {from("g", "1", "4")}, {kN, from("x", "0", "9")});
  claim("chunk(0, n, j, g)", "0", {from("g", "1", "4")}, {kN, kJ});
  claim("chunk_start(0, n, j, g)", "0", {from("g", "1", "4")}, {kN, kJ});
}

TEST(SymTheorem, S22MeetingBounds) {
  claim("max(i - c, 0)", "0", {from("c", "5", "8")}, {kI});
  claim("min(max(x, c), c)", "c", {from("c", "-5", "5")}, {kX});
  claim("select(x < y, m, 3)", "3", {}, {kX, kY, from("m", "3", "3")});
  claim("floordiv(m, d)", "floordiv(7, d)", {from("d", "2", "9")}, {from("m", "7", "7")});
}

}  // namespace
}  // namespace plait::sym::testing
