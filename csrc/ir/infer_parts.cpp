#include "ir/infer_parts.h"

#include <algorithm>

#include "base/error.h"

namespace plait::rules {

std::string text(const TensorView* t) { return fmt::format("%{}: {}", t->name, type_text(*t)); }

bool same_extent(sym::Expr a, sym::Expr b) { return a == b || sym::proven(sym::eq(a, b)); }

bool is_unit(sym::Expr e) { return e.constant() == 1; }

std::vector<sym::Expr> broadcast(const Op& op, const std::vector<TensorView*>& in, size_t drop, Fusion& fusion) {
  size_t rank = 0;
  for (const TensorView* t : in) rank = std::max(rank, t->rank() - drop);
  std::vector<sym::Expr> out(rank, fusion.pool().constant(1));
  std::vector<const TensorView*> from(rank, nullptr);
  for (const TensorView* t : in) {
    size_t shift = rank - (t->rank() - drop);
    for (size_t d = 0; d + drop < t->rank(); ++d) {
      sym::Expr e = t->extent(d);
      if (is_unit(e)) continue;
      if (is_unit(out[d + shift])) {
        out[d + shift] = e;
        from[d + shift] = t;
      } else if (!same_extent(out[d + shift], e)) {
        const TensorView* other = from[d + shift];
        throw UserError(
            fmt::format("extents differ: dim {} of {} is {}, dim {} of {} is {}", d, text(t), sym::print(e),
                        d + shift - (rank - (other->rank() - drop)), text(other), sym::print(out[d + shift])),
            describe(op), "make them equal, or 1 to broadcast");
      }
    }
  }
  return out;
}

void check_float(const Op& op, const TensorView* t) {
  if (!is_float(t->dtype))
    throw UserError(fmt::format("{} is not floating-point", text(t)), describe(op),
                    fmt::format("cast it first, e.g. cast(%{}, to = f32)", t->name));
}

void check_index(const Op& op, const TensorView* t) {
  if (t->dtype == DType::i64 || t->dtype == DType::i32) return;
  throw UserError(fmt::format("{} is no index", text(t)), describe(op),
                  fmt::format("an index is i32 or i64: cast it, e.g. cast(%{}, to = i64)", t->name));
}

void check_seed(const Op& op, const TensorView* seed) {
  if (seed->dtype != DType::u64 || seed->rank() != 0)
    throw UserError(fmt::format("the seed is {}", text(seed)), describe(op),
                    "a seed is u64[]: declare an input, e.g. %seed: u64[]");
}

void check_offset(const Op& op, std::optional<int64_t> offset) {
  if (offset && *offset < 0)
    throw UserError(fmt::format("offset {} is negative", *offset), describe(op), "give a number from 0");
}

void check_rank(const Op& op, const TensorView* t, size_t least, size_t most, const std::string& remedy) {
  if (t->rank() >= least && t->rank() <= most) return;
  throw UserError(fmt::format("{} has {} dim{}", text(t), t->rank(), t->rank() == 1 ? "" : "s"), describe(op), remedy);
}

void check_extents(const Op& op, std::string_view what, const std::vector<sym::Expr>& extents) {
  for (size_t d = 0; d < extents.size(); ++d)
    if (sym::bounds(extents[d]).hi < 0)
      throw UserError(extents.size() == 1 ? fmt::format("{} is negative: {}", what, sym::print(extents[d]))
                                          : fmt::format("{} {} is negative: {}", what, d, sym::print(extents[d])),
                      describe(op), "extents are at least 0");
}

void check_same_dtype(const Op& op, const TensorView* a, const TensorView* b) {
  if (a->dtype != b->dtype)
    throw UserError(fmt::format("dtypes differ: {} and {}", text(a), text(b)), describe(op),
                    fmt::format("cast one of them, e.g. cast(%{}, to = {})", b->name, name(a->dtype)));
}

void check_same_extent(const Op& op, const TensorView* a, size_t a_dim, const TensorView* b, size_t b_dim,
                       const char* remedy) {
  if (same_extent(a->extent(a_dim), b->extent(b_dim))) return;
  throw UserError(fmt::format("extents differ: dim {} of {} is {}, dim {} of {} is {}", a_dim, text(a),
                              sym::print(a->extent(a_dim)), b_dim, text(b), sym::print(b->extent(b_dim))),
                  describe(op), remedy);
}

void check_dim(const Op& op, int64_t dim, size_t rank) {
  if (dim >= 0 && dim < int64_t(rank)) return;
  const std::string range =
      rank == 0 ? "the tensor has no dims" : fmt::format("dims are {} to {}", -int64_t(rank), int64_t(rank) - 1);
  std::string of = fmt::format("a result of {} dim{}", rank, rank == 1 ? "" : "s");  // where no operand has these dims
  for (const TensorView* t : inputs(op))
    if (t->rank() == rank) {
      of = text(t);
      break;
    }
  throw UserError(fmt::format("there is no dim {} of {}", dim, of), describe(op), range);
}

void check_dims(const Op& op, const std::vector<int64_t>& dims, size_t rank, bool sorted) {
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < dims.size(); ++i) {
    check_dim(op, dims[i], rank);
    if (seen[size_t(dims[i])])
      throw UserError(fmt::format("dim {} is named twice", dims[i]), describe(op), "name each dim once");
    seen[size_t(dims[i])] = true;
    if (sorted && i > 0 && dims[i] < dims[i - 1])
      throw UserError(fmt::format("dim {} stands after dim {}", dims[i], dims[i - 1]), describe(op),
                      "dims stand in increasing order");
  }
}

Inferred same_as(const TensorView* in) { return {in->shape(), in->dtype, in->dtype_alias}; }

Inferred typed(std::vector<sym::Expr> shape, DType dtype, const TensorView* like) {
  return {std::move(shape), dtype, dtype == like->dtype ? like->dtype_alias : ""};
}

std::vector<sym::Expr> reduced(const TensorView* in, const std::vector<int64_t>& dims, bool keepdim, Fusion& fusion) {
  std::vector<sym::Expr> out;
  for (size_t d = 0; d < in->rank(); ++d) {
    const bool gone = std::find(dims.begin(), dims.end(), int64_t(d)) != dims.end();
    if (!gone)
      out.push_back(in->extent(d));
    else if (keepdim)
      out.push_back(fusion.pool().constant(1));
  }
  return out;
}

sym::Expr element_count(const std::vector<sym::Expr>& shape, Fusion& fusion) {
  sym::Expr count = fusion.pool().constant(1);
  for (sym::Expr e : shape) count = count * e;
  return count;
}

}  // namespace plait::rules
