// Shape, type and error rules of every op.
#include <algorithm>

#include "base/error.h"
#include "ir/infer_parts.h"
#include "ir/text_limits.h"

namespace plait {

using namespace rules;

namespace {

std::string alias_for(DType dtype, const std::vector<TensorView*>& in) {
  for (const TensorView* t : in)
    if (t->dtype == dtype) return t->dtype_alias;
  return "";
}

Inferred infer_pointwise(const PointwiseOp& op, Fusion& fusion) {
  Inferred out;
  std::vector<DType> types;
  for (const TensorView* t : op.in) types.push_back(t->dtype);
  const int arity = info(op.function).arity;
  if (static_cast<int>(op.in.size()) != arity)
    throw UserError(
        fmt::format("{} takes {} operand{}, found {}", text_name(op), arity, arity == 1 ? "" : "s", op.in.size()),
        describe(op),
        fmt::format("give that many tensors: {}({}{})", text_name(op),
                    std::string_view("%x, %y, %z", size_t(4 * arity - 2)),
                    op.function == Pointwise::cast ? ", to = f32" : ""));
  if (op.function == Pointwise::cast) {
    if (!op.to) throw UserError("cast needs its result dtype", describe(op), "write cast(%x, to = f32)");
    out.dtype = *op.to;
  } else {
    if (op.to) throw UserError(fmt::format("{} takes no `to`", text_name(op)), describe(op), "only cast names a dtype");
    try {
      out.dtype = result_type(op.function, types);
    } catch (const UserError& e) {
      std::string found;
      for (const TensorView* t : op.in) found += (found.empty() ? "" : ", ") + text(t);
      const std::string why = e.message().substr(name(op.function).size());  // behind gelu_erf, say
      throw UserError(fmt::format("{}{}", text_name(op), why), fmt::format("{} with {}", describe(op), found),
                      e.remedy());
    }
  }
  out.shape = rules::broadcast(op, op.in, 0, fusion);
  out.dtype_alias = op.function == Pointwise::cast ? "" : alias_for(out.dtype, op.in);
  return out;
}

void check_contraction(const Op& op, const TensorView* a, int a_dim, const TensorView* b, int b_dim) {
  if (a->dtype != b->dtype)
    throw UserError(fmt::format("dtypes differ: {} and {}", text(a), text(b)), describe(op), "cast one of them");
  if (a->dtype == DType::boolean)
    throw UserError(fmt::format("{} has no products to add", text(a)), describe(op), "cast it first");
  if (!same_extent(a->extent(a_dim), b->extent(b_dim)))
    throw UserError(fmt::format("contracted extents differ: dim {} of {} is {}, dim {} of {} is {}", a_dim, text(a),
                                sym::print(a->extent(a_dim)), b_dim, text(b), sym::print(b->extent(b_dim))),
                    describe(op), "make them equal");
}

Inferred infer_linear(const Linear& op) {
  check_rank(op, op.x, 1, SIZE_MAX, "the first operand of linear is x[..., k]");
  check_rank(op, op.w, 2, 2, "the second operand of linear is w[n, k]");
  check_contraction(op, op.x, static_cast<int>(op.x->rank()) - 1, op.w, 1);
  if (op.b) {
    check_rank(op, op.b, 1, 1, "the bias of linear is b[n]");
    if (op.b->dtype != op.x->dtype)
      throw UserError(fmt::format("dtypes differ: {} and {}", text(op.x), text(op.b)), describe(op),
                      "cast one of them");
    if (op.b->extent(0) != op.w->extent(0))
      throw UserError(fmt::format("extents differ: dim 0 of {} is {}, dim 0 of {} is {}", text(op.b),
                                  sym::print(op.b->extent(0)), text(op.w), sym::print(op.w->extent(0))),
                      describe(op), "the bias has one element per row of the weight");
  }
  Inferred out;
  out.shape = op.x->shape();
  out.shape.back() = op.w->extent(0);
  out.dtype = op.accumulate ? accumulation_type(op.x->dtype) : op.x->dtype;
  out.dtype_alias = out.dtype == op.x->dtype ? op.x->dtype_alias : "";
  return out;
}

Inferred infer_matmul(const Matmul& op, Fusion& fusion) {
  check_rank(op, op.a, 2, SIZE_MAX, "operands of matmul are a[..., m, k] and b[..., k, n]");
  check_rank(op, op.b, 2, SIZE_MAX, "operands of matmul are a[..., m, k] and b[..., k, n]");
  int ra = static_cast<int>(op.a->rank()), rb = static_cast<int>(op.b->rank());
  check_contraction(op, op.a, ra - 1, op.b, rb - 2);
  Inferred out;
  out.shape = rules::broadcast(op, {op.a, op.b}, 2, fusion);
  out.shape.push_back(op.a->extent(ra - 2));
  out.shape.push_back(op.b->extent(rb - 1));
  out.dtype = op.accumulate ? accumulation_type(op.a->dtype) : op.a->dtype;
  out.dtype_alias = out.dtype == op.a->dtype ? op.a->dtype_alias : "";
  return out;
}

// Random numbers of a shape, or of a piece of it.
template <class Random>
Inferred infer_random(const Random& op) {
  check_seed(op, op.seed);
  check_offset(op, op.offset);
  check_extents(op, "extent", op.shape);
  check_extents(op, "global extent", op.global);
  check_extents(op, "start", op.start);
  if (op.global.size() != op.start.size() || (!op.global.empty() && op.global.size() != op.shape.size()))
    throw UserError(
        fmt::format("shape has {} dims, global {} and start {}", op.shape.size(), op.global.size(), op.start.size()),
        describe(op), "give global and start for every dim, or neither");
  return {op.shape, DType::f32, ""};
}

Inferred infer_iota(const Iota& op) {
  check_extents(op, "extent", op.shape);
  check_extents(op, "start", {op.start});
  check_dim(op, op.dim, op.shape.size());
  if (op.dtype == DType::boolean)
    throw UserError("iota counts, and bool is no number", describe(op), "name another dtype");
  return {op.shape, op.dtype, ""};
}

Inferred infer_size(const Size& op) {
  if (op.dtype == DType::boolean || is_unsigned(op.dtype))
    throw UserError(fmt::format("a size as {}", name(op.dtype)), describe(op), "name a signed or float dtype");
  return {{}, op.dtype, ""};
}

// What a mesh reduces: numbers.
Inferred infer_all_reduce(const AllReduce& op) {
  if (op.in->dtype == DType::boolean)
    throw UserError(fmt::format("{} cannot be reduced", text(op.in)), describe(op), "cast it first");
  return {op.in->shape(), op.in->dtype, op.in->dtype_alias};
}

// Ops that view their operand as [outer, middle, inner] have the shape their result states.
Inferred stated(const Op& op, const TensorView* in, sym::Expr operand_elements, sym::Expr result_elements) {
  if (!op.out())
    throw UserError(fmt::format("{} needs the type of its result", text_name(op)), describe(op),
                    "write `%y: f32[...] = ...`");
  auto elements = [&](const TensorView* t) {
    sym::Expr product = operand_elements.pool().constant(1);
    for (const auto& axis : t->domain.logical) product = product * axis.extent;
    return product;
  };
  auto differ = [](sym::Expr a, sym::Expr b) { return sym::prove(sym::eq(a, b)) == sym::Truth::no; };
  if (op.out()->dtype != in->dtype)
    throw UserError(fmt::format("dtypes differ: {} and {}", text(in), text(op.out())), describe(op),
                    "a move keeps the dtype");
  auto check = [&](const TensorView* t, sym::Expr expected) {
    if (differ(elements(t), expected))
      throw UserError(fmt::format("{} has {} elements, the attributes say {}", text(t), sym::print(elements(t)),
                                  sym::print(expected)),
                      describe(op), "element counts are those of [outer, count, inner] and [outer, total, inner]");
  };
  check(in, operand_elements);
  check(op.out(), result_elements);
  return same_as(op.out());
}

Inferred infer_block(const GatherBlock& op) {
  if (op.totals.size() != 2 || op.held.size() != 4 || op.wanted.size() != 4)
    throw UserError(fmt::format("totals, held and wanted have {}, {} and {} numbers", op.totals.size(), op.held.size(),
                                op.wanted.size()),
                    describe(op),
                    "give two, four and four: of each dim its extent, and where a block starts and its count");
  const sym::Expr rest = op.outer * op.middle * op.inner;
  return stated(op, op.in, rest * op.held[1] * op.held[3], rest * op.wanted[1] * op.wanted[3]);
}

Inferred infer_reshard(const Reshard& op) {
  if (op.step && op.team.axes.empty())
    throw UserError("a step of a reshard has no team", describe(op),
                    "give team = ..., the mesh axes of the step, or drop the step");
  if (!op.step && !op.team.axes.empty())
    throw UserError("a reshard has a team and no step", describe(op), "give step = ..., or drop the team");
  return same_as(op.in);
}

}  // namespace

std::vector<Inferred> infer_results(const Op& op, Fusion& fusion) {
  // One rule for each kind; those of ops with several results give a list.
  const auto rule = overloaded{
      [&](const PointwiseOp& o) { return infer_pointwise(o, fusion); },
      [&](const Full& o) {
        check_extents(o, "extent", o.shape);
        return Inferred{o.shape, o.value.dtype, ""};
      },
      [&](const Iota& o) { return infer_iota(o); },
      [&](const Size& o) { return infer_size(o); },
      [&](const Uniform& o) { return infer_random(o); },
      [&](const Normal& o) { return infer_random(o); },
      [&](const Linear& o) { return infer_linear(o); },
      [&](const Matmul& o) { return infer_matmul(o, fusion); },
      [&](const Reshard& o) { return infer_reshard(o); },
      [&](const AllReduce& o) { return infer_all_reduce(o); },
      [&](const AllGather& o) { return stated(o, o.in, o.outer * o.count * o.inner, o.outer * o.total * o.inner); },
      [&](const ReduceScatter& o) { return stated(o, o.in, o.outer * o.total * o.inner, o.outer * o.count * o.inner); },
      [&](const AllToAll& o) {
        const sym::Expr rest = o.outer * o.middle * o.inner;
        return stated(o, o.in, rest * o.count * o.scattered_total, rest * o.total * o.scattered);
      },
      [&](const GatherRange& o) { return stated(o, o.in, o.outer * o.count * o.inner, o.outer * o.taken * o.inner); },
      [&](const GatherBlock& o) { return infer_block(o); },
      [&](const LocalSlice& o) { return stated(o, o.in, o.outer * o.total * o.inner, o.outer * o.count * o.inner); },
      [&]<class Node>(const Node& o) {
        if constexpr (requires { rules::infer(o, fusion); })
          return rules::infer(o, fusion);
        else
          return rules::infer(o);
      },
  };
  return visit(op, [&](const auto& node) -> std::vector<Inferred> {
    if constexpr (std::is_same_v<decltype(rule(node)), Inferred>)
      return {rule(node)};
    else
      return rule(node);
  });
}

Inferred infer(const Op& op, Fusion& fusion) {
  std::vector<Inferred> all = infer_results(op, fusion);
  PLAIT_CHECK(all.size() == 1, "{} has {} results", describe(op), all.size());
  return std::move(all[0]);
}

Op* emit_op(Fusion& fusion, std::unique_ptr<Op> op, const std::vector<std::string>& names, OpFrom from) {
  complete(*op, fusion);
  std::vector<Inferred> types = infer_results(*op, fusion);
  for (const Inferred& type : types)
    if (from == OpFrom::user) check_text_limits(*op, type, describe(*op));
  const std::vector<std::string> hints = names.empty() ? result_names(*op) : names;
  PLAIT_CHECK(hints.size() == types.size(), "{} names for {} results of {}", hints.size(), types.size(), describe(*op));
  std::vector<TensorView*> results;
  for (size_t i = 0; i < types.size(); ++i) {
    results.push_back(fusion.add_tensor(hints[i], std::move(types[i].shape), types[i].dtype));
    results[i]->dtype_alias = std::move(types[i].dtype_alias);
  }
  return fusion.add_op(std::move(op), std::move(results));
}

}  // namespace plait
