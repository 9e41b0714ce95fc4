#include "build/compose.h"

#include <map>

#include <gtest/gtest.h>

#include "base/error.h"
#include "graph/passes.h"

namespace plait {
namespace {

struct Case {
  const char* inputs;
  const char* call;
};

// Every composite at least once: constant and symbolic extents, all forms of its attributes.
const Case kCases[] = {
    {"%x: T[3, n], %seed: u64[]", "dropout(%x, p = 0.25, seed = %seed, offset = 3)"},
    {"%x: T[3, n], %y: T[n, 5]", "einsum(%x, %y, equation = \"ij,jk->ki\")"},
    {"%x: T[2, 3, n], %y: T[n, 2, m]", "einsum(%x, %y, equation = \"aij, jak\")"},
    {"%x: T[3, n, n], %y: T[1, 4], %z: T[n]", "einsum(%x, %y, %z, equation = \"...ii, ...a, i -> a...\")"},
    {"%x: T[3, n]", "einsum(%x, equation = \"ij->ij\")"},
    {"%x: T[]", "einsum(%x, equation = \"\")"},
    {"%x: i64[n, n]", "einsum(%x, equation = \"ii\")"},
    {"%x: T[3, n]", "set(%x)"},
    {"%x: i64[]", "set(%x)"},
    {"%x: bool[n]", "set(%x)"},
    {"%x: T[3, n], %y: T[3, n]", "stack(%x, %y, dim = 1)"},
    {"%x: T[]", "stack(%x, dim = 0)"},
    {"%x: T[3, 1]", "expand(%x, shape = [n, 3, 5])"},
    {"%x: T[]", "expand(%x, shape = [n])"},
    {"%x: T[n]", "eye(rows = n, columns = 4, dtype = f32)"},
    {"%x: T[n]", "eye(rows = 3, dtype = bool)"},
    {"%x: T[n]", "eye(rows = 1, columns = 1, dtype = i64)"},
    {"%x: T[2, n, 4]", "tril(%x)"},
    {"%x: T[n, 4]", "tril(%x, diagonal = -1)"},
    {"%x: bool[1, 1]", "triu(%x, diagonal = 2)"},
    {"%i: i64[2, n], %x: T[7, h]", "embedding(%i, %x)"},
    {"%i: i64[], %x: T[7, h]", "embedding(%i, %x)"},
    {"%x: T[3, n], %i: i64[3, 5]", "take_along(%x, %i, dim = 1)"},
    {"%x: T[3, n], %i: i64[5, 1]", "take_along(%x, %i, dim = 0)"},
    {"%x: T[3, 1], %i: i64[5, n]", "take_along(%x, %i, dim = 0)"},
    {"%i: i64[n]", "one_hot(%i, classes = 5)"},
    {"%i: i64[]", "one_hot(%i, classes = n, dtype = bool)"},
    {"%x: T[3, n]", "argsort(%x, dim = 0, descending = true)"},
    {"%x: T[3, n]", "%r, %q = topk(%x, k = 2, dim = 0)"},
    {"%x: T[3, n]", "%q, %r = topk(%x, k = 2, largest = false)"},
    {"%x: T[3, n], %p: i32[]", "slice_at(%x, %p, dim = 0, size = 2)"},
    {"%x: T[3, n], %u: T[3, 2], %p: i64[]", "slice_update(%x, %u, %p, dim = 1)"},
    {"%x: T[3, n], %u: T[3, 2]", "slice_update(%x, %u, dim = 1, start = 1)"},
    {"%x: T[n], %u: T[2], %p: i32[]", "slice_update(%x, %u, %p, dim = 0, start = 1)"},
    {"%x: T[3, n], %u: T[2, n]", "slice_update(%x, %u, dim = 0, start = 1)"},
    {"%x: T[3, n]", "mean(%x)"},
    {"%x: T[3, n]", "mean(%x, dims = [0], keepdim = true)"},
    {"%x: T[]", "mean(%x)"},
    {"%x: T[3, n]", "std(%x, dims = [1], correction = 0)"},
    {"%x: T[3, n]", "%r, %q = var_mean(%x, dims = [1], correction = 0)"},
    {"%x: T[3, n]", "%r, %q = max_with_argmax(%x, dims = [1], keepdim = true)"},
    {"%x: i64[3, n]", "%q, %r = min_with_argmin(%x)"},
    {"%x: T[3, n + 4]", "%r, %q = split(%x, sizes = [n, 4], dim = 1)"},
    {"%x: T[2, 3, n], %w: T[n]", "%r, %m, %s = layer_norm(%x, %w, statistics = true)"},
    {"%x: T[2, n]", "%r, %q = rms_norm(%x, statistics = true)"},
    {"%x: T[n, 6, 5], %w: T[6]", "%r, %m, %s = group_norm(%x, %w, groups = 3, statistics = true)"},
    {"%x: T[n, 6]", "%r, %m, %s = batch_norm(%x, statistics = true)"},
    {"%x: T[n, 6, 5], %m: T[6], %v: T[6]", "%r, %p, %q = batch_norm(%x, mean = %m, var = %v, statistics = true)"},
    {"%q: T[2, 4, n, 8], %k: T[2, 2, m, 8], %v: T[2, 2, m, 5]",
     "%r, %l = scaled_dot_product_attention(%q, %k, %v, statistics = true)"},
    {"%x: T[3, n]", "any(%x, dims = [1])"},
    {"%x: bool[3, n]", "any(%x, keepdim = true)"},
    {"%x: i64[]", "all(%x)"},
    {"%x: T[3, n]", "all(%x)"},
    {"%x: T[3, n]", "logsumexp(%x, dims = [1])"},
    {"%x: T[3, n]", "logsumexp(%x, dims = [0], keepdim = true)"},
    {"%x: T[]", "logsumexp(%x)"},
    {"%x: T[3, n]", "norm(%x)"},
    {"%x: T[3, n]", "norm(%x, p = 0, dims = [0])"},
    {"%x: T[3, n]", "norm(%x, p = 1, dims = [0])"},
    {"%x: T[3, n]", "norm(%x, p = inf, dims = [0], keepdim = true)"},
    {"%x: T[3, n]", "norm(%x, p = -inf)"},
    {"%x: T[3, n]", "norm(%x, p = -2.5, dims = [1])"},
    {"%x: T[3, n]", "softmax(%x, dim = 1)"},
    {"%x: T[3, n]", "softmax(%x, dim = 0)"},
    {"%x: T[n]", "log_softmax(%x, dim = -1)"},
    {"%x: T[2, 3, n]", "layer_norm(%x)"},
    {"%x: T[2, 3, n], %w: T[3, n], %b: T[3, n]", "layer_norm(%x, %w, %b, dims = 2, eps = 0.001)"},
    {"%x: T[2, 3, n]", "rms_norm(%x)"},
    {"%x: T[n], %w: T[n]", "rms_norm(%x, %w)"},
    {"%x: T[n, 6, 5], %w: T[6], %b: T[6]", "group_norm(%x, %w, %b, groups = 3)"},
    {"%x: T[2, 4*n]", "group_norm(%x, groups = 4)"},
    {"%x: T[n, 6, 5, 2], %w: T[6], %b: T[6]", "batch_norm(%x, %w, %b)"},
    {"%x: T[n, 6]", "batch_norm(%x)"},
    {"%x: T[n, 6, 5], %m: T[6], %v: T[6]", "batch_norm(%x, mean = %m, var = %v)"},
    {"%x: T[2, n, 7], %t: i64[2, n]", "cross_entropy(%x, %t)"},
    {"%x: T[2, n], %t: i64[2]", "cross_entropy(%x, %t, ignore_index = -100, smoothing = 0.1)"},
    {"%x: T[n], %t: i64[]", "cross_entropy(%x, %t, reduction = none)"},
    {"%x: T[2, 3, 7], %t: i64[2, 3]", "cross_entropy(%x, %t, ignore_index = 1, reduction = sum)"},
    {"%x: T[2, n], %y: T[2, n]", "mse(%x, %y)"},
    {"%x: T[2, n], %y: T[2, n]", "mse(%x, %y, reduction = none)"},
    {"%x: T[], %y: T[]", "mse(%x, %y, reduction = sum)"},
    {"%x: T[2, n], %y: T[2, n]", "swiglu(%x, %y)"},
    {"%x: T[2, 3, n, 8], %c: T[n, 8], %s: T[n, 8]", "rope(%x, %c, %s)"},
    {"%x: T[n, 2*d], %c: T[2*d], %s: T[n, 1]", "rope(%x, %c, %s, interleaved = true)"},
    {"%q: T[2, 4, n, 8], %k: T[2, 4, m, 8], %v: T[2, 4, m, 5]", "scaled_dot_product_attention(%q, %k, %v)"},
    {"%q: T[4, n, d], %k: T[2, m, d], %v: T[2, m, e], %b: bool[n, m]",
     "scaled_dot_product_attention(%q, %k, %v, mask = %b, causal = true)"},
    {"%q: T[2, 3*g, n, d], %k: T[2, g, m, d], %v: T[2, g, m, d], %b: T[2, 3*g, n, m]",
     "scaled_dot_product_attention(%q, %k, %v, mask = %b, scale = 0.5)"},
    {"%q: T[2, g*c, n, d], %k: T[2, g, m, d], %v: T[2, g, m, e], %b: bool[2, g*c, n, m]",
     "scaled_dot_product_attention(%q, %k, %v, mask = %b)"},
    {"%q: T[6*g*c, n, d], %k: T[2*c, m, d], %v: T[2*c, m, d]", "scaled_dot_product_attention(%q, %k, %v)"},
    {"%q: T[2, 6, n, d], %k: T[2, 1, m, d], %v: T[2, 1, m, d], %b: T[2, 1, 1, m]",
     "scaled_dot_product_attention(%q, %k, %v, mask = %b)"},
};

std::unique_ptr<Fusion> parse(const Case& c, const char* dtype) {
  const std::string text = fmt::format("let T = {}\nfusion @f ({}) -> (%r) {{ {}{} }}", dtype, c.inputs,
                                       c.call[0] == '%' ? "" : "%r = ", c.call);
  return parse_fusion(text);
}

// What sums and products of two operands become: no copies, one contraction where labels allow.
TEST(Compose, OpsOfCommonEquations) {
  struct Row {
    const char *inputs, *equation, *ops;
  };
  for (const Row& row : std::initializer_list<Row>{
           {"%a: f32[m, k], %b: f32[k, n]", "ij,jk->ik", "permute linear"},
           {"%a: f32[m, k], %b: f32[n, k]", "ij,kj->ik", "linear"},
           {"%a: f32[m, k], %b: f32[n, k]", "ij,kj->ki", "linear"},
           {"%a: f32[c, s, k], %b: f32[n, k]", "bsk,nk->bsn", "linear"},
           {"%a: f32[c, m, k], %b: f32[c, k, n]", "bij,bjk->bik", "matmul"},
           {"%a: f32[c, h, s, d], %b: f32[c, h, t, d]", "bhsd,bhtd->bhst", "permute matmul"},
           {"%a: f32[k], %b: f32[n, k]", "k,nk->n", "linear"},
           {"%a: f32[k], %b: f32[k]", "i,i->", "unsqueeze linear squeeze"},
           {"%a: f32[m], %b: f32[n]", "i,j->ij", "unsqueeze unsqueeze mul"},
           {"%a: f32[m, n], %b: f32[m, n]", "ij,ij->ij", "mul"},
           {"%a: f32[m, n], %b: f32[n]", "ij,j->j", "sum mul"},
       }) {
    const auto fusion = parse_fusion(fmt::format(
        "fusion @f ({}) -> (%y) {{\n  %y = einsum(%a, %b, equation = \"{}\")\n}}\n", row.inputs, row.equation));
    expand(*fusion);
    std::string ops;
    for (const Op* op : fusion->ops()) ops += (ops.empty() ? "" : " ") + std::string(text_name(*op));
    EXPECT_EQ(ops, row.ops) << row.equation;
  }
}

TEST(Compose, GivesTypeAndShapeOfTheCompositeFromPrimitives) {
  for (const Case& c : kCases) {
    for (const char* dtype : {"f32", "f64", "f16", "bf16", "f8e4m3"}) {
      SCOPED_TRACE(fmt::format("{} of {} {}", c.call, c.inputs, dtype));
      auto fusion = parse(c, dtype);
      const Op& composite = *fusion->find("r")->definition;
      const std::vector<TensorView*> out = compose(*fusion, composite, "it");
      ASSERT_EQ(out.size(), composite.results.size());
      for (size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i]->dtype, composite.results[i]->dtype);
        EXPECT_EQ(out[i]->shape(), composite.results[i]->shape());
        EXPECT_GT(out[i]->definition->id, composite.id);
      }
      if (out.size() == 1) {
        EXPECT_EQ(out[0]->definition, fusion->ops().back());
      }
      ASSERT_GE(fusion->ops().size(), 2u);
      for (size_t i = 1; i < fusion->ops().size(); ++i) {
        EXPECT_NE(property(fusion->ops()[i]->kind), OpProperty::composite);
        for (const TensorView* t : fusion->ops()[i]->results) EXPECT_TRUE(t->name.starts_with("it_")) << t->name;
      }
      verify(*fusion);
    }
  }
}

TEST(Compose, KnowsEveryCompositeAndOpWithSeveralResults) {
  std::map<OpKind, int> seen;
  for (const Case& c : kCases) ++seen[parse(c, "f32")->ops()[0]->kind];
#define PLAIT_OP(Name, text, properties)                                             \
  EXPECT_EQ(seen.count(OpKind::Name), can_compose(OpKind::Name) ? 1u : 0u) << #text; \
  EXPECT_TRUE(can_compose(OpKind::Name) || OpProperty::properties != OpProperty::composite) << #text;
#include "ir/ops.def"
#undef PLAIT_OP
}

// Narrow operands are computed wide: nothing between the operands and the result has a narrow dtype but moves.
TEST(Compose, RoundsOnce) {
  for (const Case& c : kCases) {
    auto fusion = parse(c, "bf16");
    const bool weighs = fusion->ops()[0]->kind == OpKind::Sdpa;  // values of this type by weights of it
    const std::vector<TensorView*> out = compose(*fusion, *fusion->ops()[0], "it");
    int roundings = 0;
    const auto is_result = [&](const TensorView* t) {  // or reshaped to one
      const auto readers = fusion->readers(t);
      return std::count(out.begin(), out.end(), t) > 0 || (readers.size() == 1 && readers[0]->kind == OpKind::Reshape &&
                                                           std::count(out.begin(), out.end(), readers[0]->out()) > 0);
    };
    for (const Op* op : fusion->ops()) {
      const auto* cast = as<PointwiseOp>(*op);
      roundings += cast && cast->function == Pointwise::cast && is_narrow(cast->out()->dtype) &&
                   !is_narrow(cast->in[0]->dtype) && !is_result(cast->out());
    }
    EXPECT_EQ(roundings, weighs ? 1 : 0) << c.call;
  }
}

TEST(Compose, RefusesPrimitives) {
  auto fusion = parse_fusion("fusion @f (%x: f32[4]) -> (%r) { %r = exp(%x) }");
  EXPECT_THROW(compose(*fusion, *fusion->ops()[0], "it"), InternalError);
}

}  // namespace
}  // namespace plait
