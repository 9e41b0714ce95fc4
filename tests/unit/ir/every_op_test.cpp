// Type, shape, text and factors of every op that users write, with symbols, with an extent of 0 and of no dims.
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "ir/factors.h"
#include "ir/fusion.h"
#include "support/op_words.h"

namespace plait {
namespace {

constexpr const char* kHead = R"(
fusion @f (%x: f32[a, b], %h: bf16[a, b], %hh: f16[a, b], %d: f64[a, b], %c: bool[a, b], %i: i64[a, b], %u: u8[a, b],
  %y: f32[b, a], %v: f32[b], %one: f32[a, 1, b], %s: f32[], %k: i64[], %hs: bf16[], %z: f32[0, b], %zz: f32[a, 0],
  %zi: i64[0], %zv: f32[0], %w: f32[n, b], %wz: f32[n, 0], %bias: f32[n], %hw: bf16[n, b], %m3: f32[6, a, b],
  %m4: f32[2, 1, b, n], %even: f32[2*n, 4], %long: f32[b + 3], %j: i32[n], %jx: i64[a, n], %src: f32[a, n], %t: f32[100, b],
  %ch: f32[n, 4*g, p], %chz: f32[0, 4, p], %cw: f32[4*g], %cw4: f32[4], %lbl: i64[a], %cos: f32[b, 2*e], %xr: f32[a, b, 2*e],
  %xz: f32[0, 6], %q: f32[r, 4, p, e], %kk: f32[r, 2, l, e], %vv: f32[r, 2, l, o], %kz: f32[r, 2, 0, e],
  %vz: f32[r, 2, 0, o], %mask: bool[p, l], %seed: u64[]) -> (%x) {
)";

// `%r = <call>`: its type, or after "! " part of its refusal.
struct Case {
  const char *call, *result;
};

const Case kCases[] = {
    {"add(%x, %v)", "f32[a, b]"},
    {"add(%h, %hh)", "f32[a, b]"},
    {"mul(%zz, %zz)", "f32[a, 0]"},
    {"mul(%s, %s)", "f32[]"},
    {"lt(%x, %s)", "bool[a, b]"},
    {"cast(%z, to = i8)", "i8[0, b]"},
    {"full(shape = [2*a, 3], value = 7, dtype = u32)", "u32[2*a, 3]"},
    {"full(shape = [0, a], value = 1, dtype = f8e4m3)", "f8e4m3[0, a]"},
    {"full(shape = [], value = true, dtype = bool)", "bool[]"},
    {"iota(shape = [a, 3], dim = -1)", "i64[a, 3]"},
    {"iota(shape = [0], dim = 0, dtype = bf16)", "bf16[0]"},
    {"iota(shape = [], dim = 0)", "! the tensor has no dims"},
    {"size(value = a * b - 1)", "i64[]"},
    {"size(value = 0, dtype = f32)", "f32[]"},
    {"uniform(shape = [a, 3], seed = %seed)", "f32[a, 3]"},
    {"uniform(shape = [0], seed = %seed)", "f32[0]"},
    {"uniform(shape = [], seed = %seed)", "f32[]"},
    {"normal(shape = [a, 3], seed = %seed)", "f32[a, 3]"},
    {"normal(shape = [0], seed = %seed)", "f32[0]"},
    {"normal(shape = [], seed = %seed)", "f32[]"},
    {"linear(%x, %w, %bias)", "f32[a, n]"},
    {"linear(%h, %hw, accumulate = true)", "f32[a, n]"},
    {"linear(%zv, %wz)", "f32[n]"},
    {"linear(%s, %w)", "! has 0 dims"},
    {"matmul(%m3, %y)", "f32[6, a, a]"},
    {"matmul(%m3, %m4)", "f32[2, 6, a, n]"},
    {"matmul(%z, %y)", "f32[0, a]"},
    {"matmul(%wz, %z)", "f32[n, b]"},
    {"matmul(%s, %s)", "! has 0 dims"},
    {"sum(%h, dims = [-1], keepdim = true)", "bf16[a, 1]"},
    {"sum(%c)", "i64[]"},
    {"sum(%u, dims = [0])", "i64[b]"},
    {"sum(%z, dims = [0])", "f32[b]"},
    {"sum(%s)", "f32[]"},
    {"prod(%i, dims = [0])", "i64[b]"},
    {"prod(%z)", "f32[]"},
    {"prod(%hs)", "bf16[]"},
    {"amax(%c, dims = [1])", "bool[a]"},
    {"amax(%zz, dims = [0], keepdim = true)", "f32[1, 0]"},
    {"amax(%k)", "i64[]"},
    {"amin(%u, dims = [1])", "u8[a]"},
    {"amin(%zz, dims = [1])", "f32[a]"},
    {"amin(%s)", "f32[]"},
    {"argmax(%h, dims = [1])", "i64[a]"},
    {"argmax(%zz, dims = [0])", "i64[0]"},
    {"argmax(%s)", "i64[]"},
    {"argmin(%x, dims = [0], keepdim = true)", "i64[1, b]"},
    {"argmin(%zz, dims = [0])", "i64[0]"},
    {"argmin(%s)", "i64[]"},
    {"var(%h, dims = [1])", "bf16[a]"},
    {"var(%z, correction = 0)", "f32[]"},
    {"var(%s)", "f32[]"},
    {"cumsum(%u, dim = 1)", "i64[a, b]"},
    {"cumsum(%h, dim = -2, exclusive = true)", "bf16[a, b]"},
    {"cumsum(%z, dim = 0)", "f32[0, b]"},
    {"cumsum(%s, dim = 0)", "! the tensor has no dims"},
    {"cumprod(%u, dim = 1)", "i64[a, b]"},
    {"cumprod(%h, dim = -2, exclusive = true, reverse = true)", "bf16[a, b]"},
    {"cumprod(%z, dim = 0)", "f32[0, b]"},
    {"cumprod(%s, dim = 0)", "! the tensor has no dims"},
    {"logcumsumexp(%h, dim = 1)", "bf16[a, b]"},
    {"logcumsumexp(%z, dim = 0)", "f32[0, b]"},
    {"logcumsumexp(%s, dim = 0)", "! the tensor has no dims"},
    {"%r, _ = cummax(%c, dim = -1)", "bool[a, b]"},
    {"_, %r = cummax(%zz, dim = 0)", "i64[a, 0]"},
    {"_, %r = cummax(%s, dim = 0)", "! the tensor has no dims"},
    {"%r, _ = cummin(%h, dim = 0)", "bf16[a, b]"},
    {"_, %r = cummin(%z, dim = 0)", "i64[0, b]"},
    {"_, %r = cummin(%s, dim = 0)", "! the tensor has no dims"},
    {"%r, _ = sort(%u, dim = 0)", "u8[a, b]"},
    {"_, %r = sort(%zz, descending = true)", "i64[a, 0]"},
    {"%r, _ = sort(%s)", "! the tensor has no dims"},
    {"argsort(%x, dim = 0)", "i64[a, b]"},
    {"argsort(%z, dim = 0)", "i64[0, b]"},
    {"argsort(%s)", "! the tensor has no dims"},
    {"%r, _ = topk(%t, k = 7, dim = 0)", "f32[7, b]"},
    {"_, %r = topk(%x, k = 3)", "i64[a, min(b, 3)]"},
    {"%r, _ = topk(%z, k = 3, dim = 0)", "f32[0, b]"},
    {"%r, _ = topk(%s, k = 1)", "! the tensor has no dims"},
    {"slice_at(%x, %k, dim = 1, size = 3)", "f32[a, 3]"},
    {"slice_at(%z, %k, dim = 0, size = 0)", "f32[0, b]"},
    {"slice_at(%s, %k, dim = 0, size = 1)", "! the tensor has no dims"},
    {"slice_update(%x, %x, dim = 1)", "f32[a, b]"},
    {"slice_update(%x, %z, %k, dim = 0)", "f32[a, b]"},
    {"slice_update(%x, %zz, dim = 1, start = b)", "f32[a, b]"},
    {"slice_update(%s, %s, dim = 0)", "! the tensor has no dims"},
    {"permute(%m3, dims = [2, 0, -2])", "f32[b, 6, a]"},
    {"permute(%z, dims = [1, 0])", "f32[b, 0]"},
    {"permute(%s, dims = [])", "f32[]"},
    {"broadcast(%one, shape = [a, 5, n, b], dims = [0, 1, 3])", "f32[a, 5, n, b]"},
    {"broadcast(%zv, shape = [b, 0], dims = [1])", "f32[b, 0]"},
    {"broadcast(%hs, shape = [a], dims = [])", "bf16[a]"},
    {"squeeze(%one)", "f32[a, b]"},
    {"squeeze(%z)", "f32[0, b]"},
    {"squeeze(%s)", "f32[]"},
    {"unsqueeze(%x, dims = [-1, 0])", "f32[1, a, b, 1]"},
    {"unsqueeze(%zv, dims = [1])", "f32[0, 1]"},
    {"unsqueeze(%s, dims = [0, 1])", "f32[1, 1]"},
    {"reshape(%ch, shape = [n, 4, g, p])", "f32[n, 4, g, p]"},
    {"reshape(%even, shape = [n, 8])", "f32[n, 8]"},
    {"reshape(%even, shape = [-1, 8])", "f32[n, 8]"},
    {"reshape(%z, shape = [b, 0, 7])", "f32[b, 0, 7]"},
    {"reshape(%s, shape = [1, 1])", "f32[1, 1]"},
    {"slice(%x, dim = 1, step = 2)", "f32[a, floordiv(b + 1, 2)]"},
    {"slice(%long, dim = 0, start = 1, stop = 3)", "f32[2]"},
    {"slice(%long, dim = -1, stop = -1)", "f32[b + 2]"},
    {"slice(%z, dim = 0, start = 2, stop = 5)", "f32[0, b]"},
    {"slice(%s, dim = 0)", "! the tensor has no dims"},
    {"pad(%x, low = [0, 2], high = [n, 1])", "f32[a + n, b + 3]"},
    {"pad(%zv, low = [2])", "f32[2]"},
    {"pad(%s)", "f32[]"},
    {"cat(%x, %x, %z, dim = 0)", "f32[2*a, b]"},
    {"cat(%zz, %zz, dim = 1)", "f32[a, 0]"},
    {"cat(%s, %s, dim = 0)", "! the tensor has no dims"},
    {"flip(%i, dims = [1])", "i64[a, b]"},
    {"flip(%z, dims = [0, 1])", "f32[0, b]"},
    {"flip(%s, dims = [])", "f32[]"},
    {"roll(%h, shifts = [-7], dims = [1])", "bf16[a, b]"},
    {"roll(%z, shifts = [1], dims = [0])", "f32[0, b]"},
    {"roll(%s, shifts = [], dims = [])", "f32[]"},
    {"repeat(%x, repeats = [2, 3, 1])", "f32[2, 3*a, b]"},
    {"repeat(%v, repeats = [0])", "f32[0]"},
    {"repeat(%s, repeats = [3])", "f32[3]"},
    {"repeat(%s, repeats = [])", "f32[]"},
    {"bitcast(%h, to = u16)", "u16[a, b]"},
    {"bitcast(%z, to = i32)", "i32[0, b]"},
    {"bitcast(%s, to = u32)", "u32[]"},
    {"gather(%x, %jx, dim = 1)", "f32[a, n]"},
    {"gather(%x, %zi, dim = 0)", "! as many dims"},
    {"gather(%v, %zi, dim = 0)", "f32[0]"},
    {"gather(%s, %k, dim = 0)", "! the tensor has no dims"},
    {"index_select(%x, %jx, dim = 0)", "f32[a, n, b]"},
    {"index_select(%h, %k, dim = 1)", "bf16[a]"},
    {"index_select(%z, %zi, dim = 1)", "f32[0, 0]"},
    {"scatter(%x, %jx, %src, dim = 1, update = add)", "f32[a, b]"},
    {"scatter(%x, %jx, %src, dim = 1)", "f32[a, b]"},
    {"scatter(%v, %zi, %zv, dim = 0, update = add)", "f32[b]"},
    {"scatter(%s, %k, %s, dim = 0, update = add)", "! the tensor has no dims"},
    {"einsum(%x, %x, equation = \"ij,kj\")", "f32[a, a]"},
    {"einsum(%z, %x, equation = \"ij,kj->ik\")", "f32[0, a]"},
    {"einsum(%s, %s, equation = \",\")", "f32[]"},
    {"einsum(full(shape = [5], value = 1, dtype = f32), full(shape = [1, 1], value = 1, dtype = f32), equation = "
     "\"i,ii->i\")",
     "f32[5]"},
    {"einsum(full(shape = [1], value = 1, dtype = f32), full(shape = [5, 5], value = 1, dtype = f32), equation = "
     "\"i,ii->i\")",
     "f32[5]"},
    {"dropout(%h, p = 0.5, seed = %seed)", "bf16[a, b]"},
    {"dropout(%z, p = 0, seed = %seed)", "f32[0, b]"},
    {"dropout(%s, p = 0.5, seed = %seed)", "f32[]"},
    {"set(%c)", "bool[a, b]"},
    {"set(%z)", "f32[0, b]"},
    {"set(%s)", "f32[]"},
    {"stack(%x, %x, dim = -1)", "f32[a, b, 2]"},
    {"stack(%zv, dim = 0)", "f32[1, 0]"},
    {"stack(%s, %s, %s)", "f32[3]"},
    {"expand(%one, shape = [2, -1, n, b])", "f32[2, a, n, b]"},
    {"expand(%zv, shape = [a, 0])", "f32[a, 0]"},
    {"expand(%s, shape = [])", "f32[]"},
    {"eye(rows = a, columns = 2*b, dtype = f64)", "f64[a, 2*b]"},
    {"eye(rows = 0)", "f32[0, 0]"},
    {"tril(%m3, diagonal = -1)", "f32[6, a, b]"},
    {"tril(%z)", "f32[0, b]"},
    {"tril(%s)", "! has 0 dims"},
    {"triu(%i)", "i64[a, b]"},
    {"triu(%zz, diagonal = 5)", "f32[a, 0]"},
    {"triu(%s)", "! has 0 dims"},
    {"embedding(%jx, %t)", "f32[a, n, b]"},
    {"embedding(%zi, %z)", "f32[0, b]"},
    {"embedding(%k, %t)", "f32[b]"},
    {"take_along(%x, %jx, dim = 1)", "f32[a, n]"},
    {"take_along(%zv, %zi, dim = 0)", "f32[0]"},
    {"take_along(%s, %k, dim = 0)", "! the tensor has no dims"},
    {"one_hot(%j, classes = 2*c, dtype = bf16)", "bf16[n, 2*c]"},
    {"one_hot(%zi, classes = 0)", "i64[0, 0]"},
    {"one_hot(%k, classes = 5)", "i64[5]"},
    {"mean(%h, dims = [-1])", "bf16[a]"},
    {"mean(%z, dims = [0], keepdim = true)", "f32[1, b]"},
    {"mean(%s)", "f32[]"},
    {"std(%d, dims = [0])", "f64[b]"},
    {"std(%z)", "f32[]"},
    {"std(%s, correction = 0)", "f32[]"},
    {"%r, _ = var_mean(%x, dims = [-1])", "f32[a]"},
    {"%r, %r2 = var_mean(%zz, dims = [0], correction = 0, keepdim = true)", "f32[1, 0]"},
    {"_, %r = var_mean(%hs)", "bf16[]"},
    {"%r, _ = max_with_argmax(%h, dims = [0])", "bf16[b]"},
    {"_, %r = max_with_argmax(%zz, dims = [0])", "i64[0]"},
    {"_, %r = max_with_argmax(%s)", "i64[]"},
    {"_, %r = min_with_argmin(%x, dims = [1], keepdim = true)", "i64[a, 1]"},
    {"%r, _ = min_with_argmin(%z)", "f32[]"},
    {"%r, _ = min_with_argmin(%k)", "i64[]"},
    {"_, %r = split(%long, sizes = [3, b])", "f32[b]"},
    {"%r, _ = split(%zz, sizes = [0, a], dim = 0)", "f32[0, 0]"},
    {"%r, _ = split(%s, sizes = [1, 0])", "! there is no dim 0"},
    {"%y1, _, %r = layer_norm(%h, statistics = true)", "f32[a, 1]"},
    {"_, %r, _ = group_norm(%ch, groups = 4, statistics = true)", "f32[n, 4]"},
    {"_, %r = rms_norm(%d, dims = 2, statistics = true)", "f64[1, 1]"},
    {"_, _, %r = batch_norm(%chz, statistics = true)", "f32[4]"},
    {"_, %r = scaled_dot_product_attention(%q, %kk, %vv, statistics = true)", "f32[r, 4, p]"},
    {"any(%x, dims = [1])", "bool[a]"},
    {"any(%zz, dims = [0])", "bool[0]"},
    {"any(%s)", "bool[]"},
    {"all(%i, dims = [0], keepdim = true)", "bool[1, b]"},
    {"all(%zz, dims = [1])", "bool[a]"},
    {"all(%k)", "bool[]"},
    {"logsumexp(%h, dims = [0])", "bf16[b]"},
    {"logsumexp(%z)", "f32[]"},
    {"logsumexp(%hs)", "bf16[]"},
    {"norm(%x, p = inf, dims = [0])", "f32[b]"},
    {"norm(%z, dims = [1])", "f32[0]"},
    {"norm(%s)", "f32[]"},
    {"softmax(%h, dim = -1)", "bf16[a, b]"},
    {"softmax(%z, dim = 0)", "f32[0, b]"},
    {"softmax(%s, dim = 0)", "! the tensor has no dims"},
    {"log_softmax(%d, dim = 0)", "f64[a, b]"},
    {"log_softmax(%z, dim = 1)", "f32[0, b]"},
    {"log_softmax(%s, dim = 0)", "! the tensor has no dims"},
    {"layer_norm(%x, %v, %v)", "f32[a, b]"},
    {"layer_norm(%x, %x, dims = 2)", "f32[a, b]"},
    {"layer_norm(%zz)", "f32[a, 0]"},
    {"layer_norm(%s)", "! dims is 1 for %s: f32[]"},
    {"rms_norm(%m3, %v)", "f32[6, a, b]"},
    {"rms_norm(%z)", "f32[0, b]"},
    {"rms_norm(%s)", "! dims is 1 for %s: f32[]"},
    {"group_norm(%ch, %cw, groups = 2)", "f32[n, 4*g, p]"},
    {"group_norm(%chz, %cw4, %cw4, groups = 4)", "f32[0, 4, p]"},
    {"group_norm(%s, groups = 1)", "! has 0 dims"},
    {"batch_norm(%ch, %cw, %cw, mean = %cw, var = %cw)", "f32[n, 4*g, p]"},
    {"batch_norm(%chz)", "f32[0, 4, p]"},
    {"batch_norm(%s)", "! has 0 dims"},
    {"cross_entropy(%x, %lbl)", "f32[]"},
    {"cross_entropy(%x, %lbl, reduction = none)", "f32[a]"},
    {"cross_entropy(%z, %zi, reduction = none)", "f32[0]"},
    {"cross_entropy(%v, %k, reduction = none)", "f32[]"},
    {"mse(%h, %h)", "bf16[]"},
    {"mse(%x, %x, reduction = none)", "f32[a, b]"},
    {"mse(%z, %z, reduction = sum)", "f32[]"},
    {"swiglu(%h, %h)", "bf16[a, b]"},
    {"swiglu(%z, %z)", "f32[0, b]"},
    {"swiglu(%s, %s)", "f32[]"},
    {"rope(%xr, %cos, %cos)", "f32[a, b, 2*e]"},
    {"rope(%xz, %s, %s, interleaved = true)", "f32[0, 6]"},
    {"rope(%s, %s, %s)", "! has 0 dims"},
    {"scaled_dot_product_attention(%q, %kk, %vv, mask = %mask, causal = true)", "f32[r, 4, p, o]"},
    {"scaled_dot_product_attention(%q, %kz, %vz)", "f32[r, 4, p, o]"},
    {"scaled_dot_product_attention(%s, %s, %s)", "! has 0 dims"},
};

// What the cases of an op show.
struct Shown {
  bool symbol = false, zero = false, no_dims = false;
};

void look(const TensorView& t, Shown& shown) {
  shown.no_dims |= t.rank() == 0 && t.name != "seed";
  for (const sym::Expr e : t.shape()) {
    shown.symbol |= !e.constant();
    shown.zero |= e.constant() == 0;
  }
}

// Of an op with several results the call names them, %r among them.
bool names_results(const Case& c) { return c.call[0] == '%' || c.call[0] == '_'; }
std::string word_of(const Case& c) {
  std::string call = c.call;
  if (names_results(c)) call.erase(0, call.find('=') + 2);
  return call.substr(0, call.find('('));
}
bool is_refused(const Case& c) { return c.result[0] == '!'; }
std::string text_of(const Case& c) {
  return fmt::format("{}  {}{}\n}}\n", kHead, names_results(c) ? "" : "%r = ", c.call);
}

TEST(EveryOp, TypeAndShape) {
  for (const Case& c : kCases) {
    if (is_refused(c)) continue;
    const auto fusion = parse_fusion(text_of(c));
    verify(*fusion);
    EXPECT_EQ(type_text(*fusion->find("r")), c.result) << c.call;
    EXPECT_TRUE(equal(*fusion, *parse_fusion(print(*fusion)))) << print(*fusion);
  }
}

TEST(EveryOp, NoDimsWhereItNeedsOne) {
  for (const Case& c : kCases) {
    if (!is_refused(c)) continue;
    try {
      parse_fusion(text_of(c));
      ADD_FAILURE() << "accepted: " << c.call;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(c.result + 2), std::string::npos) << c.call << "\n" << e.what();
    }
  }
}

// A new op has to be listed above, with these three. A size and the identity have nothing of the kind; functions share
// one rule, which add, mul, lt and cast stand for.
TEST(EveryOp, HasCasesWithSymbolsZerosAndNoDims) {
  std::map<std::string, Shown> shown;
  for (const Case& c : kCases) {
    Shown& op = shown[word_of(c)];
    if (is_refused(c)) {
      op.no_dims = true;
      continue;
    }
    const auto fusion = parse_fusion(text_of(c));
    const TensorView& r = *fusion->find("r");
    look(r, op);
    for (const TensorView* t : inputs(*r.definition)) look(*t, op);
  }
  for (const testing::OpWord& word : testing::op_words()) {
    if (word.kind == OpKind::PointwiseOp) continue;
    const Shown& op = shown[testing::text(word)];
    EXPECT_TRUE(op.zero || word.kind == OpKind::Size) << testing::text(word) << " without an extent of 0";
    EXPECT_TRUE(op.symbol || word.kind == OpKind::Size) << testing::text(word) << " without a symbol";
    EXPECT_TRUE(op.no_dims || word.kind == OpKind::Eye) << testing::text(word) << " of no dims";
  }
}

// How often the factors name a dim of an operand (-1, -2, ...: of a result), and that its extent is theirs.
int count_factors(const Op& op, const std::vector<Factor>& all, int operand, size_t dim) {
  int count = 0;
  for (const Factor& f : all) {
    const auto i = static_cast<size_t>(operand < 0 ? ~operand : operand);
    if ((operand < 0 ? f.result_dim.at(i) : f.operand_dim.at(i)) != static_cast<int>(dim)) continue;
    ++count;
    const int64_t scale = operand < 0 ? f.result_scale : f.operand_scale.empty() ? 1 : f.operand_scale.at(i);
    const TensorView& t = operand < 0 ? *op.results[i] : *inputs(op)[i];
    EXPECT_EQ(t.extent(dim), f.extent * scale) << describe(op) << " dim " << dim << " of %" << t.name;
  }
  return count;
}

TEST(EveryOp, FactorsNameEveryDimOnce) {
  for (const Case& c : kCases) {
    if (is_refused(c)) continue;
    const auto fusion = parse_fusion(text_of(c));
    const Op& op = *fusion->find("r")->definition;
    const std::vector<Factor> all = factors(op);
    const auto in = inputs(op);
    for (const Factor& f : all) ASSERT_EQ(f.operand_dim.size(), in.size()) << c.call;
    for (size_t r = 0; r < op.results.size(); ++r)
      for (size_t d = 0; d < op.results[r]->rank(); ++d)
        EXPECT_EQ(count_factors(op, all, ~static_cast<int>(r), d), 1) << c.call << " result " << r << " dim " << d;
    if (property(op.kind) == OpProperty::composite && op.kind != OpKind::Dropout && !is_sharded_whole(op.kind)) {
      for (const Factor& f : all) EXPECT_EQ(f.kind, FactorKind::whole) << c.call;
      continue;  // opened before anybody asks
    }
    for (size_t i = 0; i < in.size(); ++i) {
      for (size_t d = 0; d < in[i]->rank(); ++d) {
        const int count = count_factors(op, all, static_cast<int>(i), d);
        EXPECT_TRUE(count == 1 || (count == 0 && in[i]->extent(d).constant() == 1))
            << c.call << " names dim " << d << " of %" << in[i]->name << " " << count << " times";
      }
    }
  }
}

}  // namespace
}  // namespace plait
