// Shape and type rules of ops that move elements. Attributes are complete (ir/complete.cpp).
#include "base/error.h"
#include "ir/infer_parts.h"

namespace plait::rules {

Inferred infer(const Permute& op) {
  check_dims(op, op.dims, op.in->rank(), false);
  if (op.dims.size() != op.in->rank())
    throw UserError(fmt::format("{} dims for {}", op.dims.size(), text(op.in)), describe(op), "name every dim once");
  std::vector<sym::Expr> shape;
  for (int64_t d : op.dims) shape.push_back(op.in->extent(size_t(d)));
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const Broadcast& op) {
  check_extents(op, "extent", op.shape);
  if (op.dims.size() != op.in->rank())
    throw UserError(fmt::format("{} dims for {}", op.dims.size(), text(op.in)), describe(op),
                    "say for every dim of the operand which dim of the result it is");
  check_dims(op, op.dims, op.shape.size(), true);
  for (size_t d = 0; d < op.dims.size(); ++d)
    if (!is_unit(op.in->extent(d)) && op.in->extent(d) != op.shape[size_t(op.dims[d])])
      throw UserError(fmt::format("dim {} of {} meets dim {} of extent {}", d, text(op.in), op.dims[d],
                                  sym::print(op.shape[size_t(op.dims[d])])),
                      describe(op), "make them equal, or 1 to broadcast");
  return typed(op.shape, op.in->dtype, op.in);
}

Inferred infer(const Squeeze& op) {
  check_dims(op, op.dims, op.in->rank(), true);
  std::vector<sym::Expr> shape;
  for (size_t d = 0, k = 0; d < op.in->rank(); ++d) {
    if (k == op.dims.size() || op.dims[k] != int64_t(d)) {
      shape.push_back(op.in->extent(d));
      continue;
    }
    ++k;
    if (!is_unit(op.in->extent(d)))
      throw UserError(fmt::format("dim {} of {} is {}", d, text(op.in), sym::print(op.in->extent(d))), describe(op),
                      "only dims of extent 1 can go");
  }
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const Unsqueeze& op, Fusion& fusion) {
  const size_t rank = op.in->rank() + op.dims.size();
  check_dims(op, op.dims, rank, true);
  std::vector<sym::Expr> shape;
  for (size_t d = 0, k = 0, from = 0; d < rank; ++d) {
    const bool fresh = k < op.dims.size() && op.dims[k] == int64_t(d);
    shape.push_back(fresh ? fusion.pool().constant(1) : op.in->extent(from++));
    k += fresh;
  }
  return typed(std::move(shape), op.in->dtype, op.in);
}

namespace {

// Extents of a piece speak of the rank; that pieces fit is the matter of localize.
bool speaks_of_rank(sym::Expr e) {
  for (const std::string& name : sym::symbols(e))
    if (name.starts_with("rank.")) return true;
  return false;
}

}  // namespace

Inferred infer(const Reshape& op, Fusion& fusion) {
  check_extents(op, "extent", op.shape);
  const sym::Expr have = element_count(op.in->shape(), fusion), want = element_count(op.shape, fusion);
  const bool local = speaks_of_rank(have) || speaks_of_rank(want);
  const sym::Truth equal = sym::prove(sym::eq(have, want));
  if (equal == sym::Truth::no || (equal == sym::Truth::unknown && !local))
    throw UserError(
        fmt::format("{} has {} elements, the new shape {}{}", text(op.in), sym::print(have), sym::print(want),
                    equal == sym::Truth::unknown ? ", which is not known to be as many" : ""),
        describe(op),
        equal == sym::Truth::no ? "shapes hold equally many elements; -1 is what the others leave"
                                : "write the operand's extents so that they divide, e.g. f32[4*n]");
  return typed(op.shape, op.in->dtype, op.in);
}

Inferred infer(const Slice& op, Fusion& fusion) {
  check_dim(op, op.dim, op.in->rank());
  if (op.step < 1) throw UserError(fmt::format("step is {}", op.step), describe(op), "step is at least 1: flip first");
  if (sym::bounds(op.start).hi < 0 || sym::bounds(op.stop).hi < 0)
    throw UserError(fmt::format("the range is {} to {}", sym::print(op.start), sym::print(op.stop)), describe(op),
                    "count from 0");
  std::vector<sym::Expr> shape = op.in->shape();
  shape[size_t(op.dim)] = sym::ceildiv(sym::max(op.stop - op.start, fusion.pool().constant(0)), op.step);
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const Pad& op) {
  const size_t rank = op.in->rank();
  if (op.low.size() != rank || op.high.size() != rank)
    throw UserError(fmt::format("{} low and {} high widths for {}", op.low.size(), op.high.size(), text(op.in)),
                    describe(op), "give one width for every dim, or leave a list out");
  std::vector<sym::Expr> shape;
  for (size_t d = 0; d < rank; ++d) {
    // Widths of a rank are parts of its piece.
    const auto may_be_negative = [](sym::Expr e) { return sym::bounds(e).lo < 0 && !speaks_of_rank(e); };
    if (may_be_negative(op.low[d]) || may_be_negative(op.high[d]))
      throw UserError(fmt::format("widths of dim {} are {} and {}", d, sym::print(op.low[d]), sym::print(op.high[d])),
                      describe(op), "widths are at least 0: cut with slice");
    shape.push_back(op.in->extent(d) + op.low[d] + op.high[d]);
  }
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const Cat& op, Fusion& fusion) {
  if (op.in.empty()) throw UserError("cat of nothing", describe(op), "give at least one tensor");
  const TensorView* first = op.in.front();
  check_dim(op, op.dim, first->rank());
  std::vector<sym::Expr> shape = first->shape();
  sym::Expr total = fusion.pool().constant(0);
  for (const TensorView* t : op.in) {
    check_same_dtype(op, first, t);
    check_rank(op, t, first->rank(), first->rank(), "the tensors of cat have as many dims each");
    for (size_t d = 0; d < t->rank(); ++d)
      if (int64_t(d) != op.dim) check_same_extent(op, first, d, t, d, "only the extents along dim may differ");
    total = total + t->extent(size_t(op.dim));
  }
  shape[size_t(op.dim)] = total;
  return typed(std::move(shape), first->dtype, first);
}

Inferred infer(const Flip& op) {
  check_dims(op, op.dims, op.in->rank(), false);
  return same_as(op.in);
}

Inferred infer(const Roll& op) {
  check_dims(op, op.dims, op.in->rank(), false);
  if (op.dims.size() != op.shifts.size())
    throw UserError(fmt::format("{} shifts for {} dims", op.shifts.size(), op.dims.size()), describe(op),
                    "give one shift for every dim");
  return same_as(op.in);
}

Inferred infer(const Repeat& op, Fusion& fusion) {
  const size_t rank = op.in->rank();
  if (op.repeats.size() < rank)
    throw UserError(fmt::format("{} repeats for {}", op.repeats.size(), text(op.in)), describe(op),
                    "give one number for every dim, and more in front for new dims");
  std::vector<sym::Expr> shape;
  for (size_t d = 0, shift = op.repeats.size() - rank; d < op.repeats.size(); ++d) {
    if (op.repeats[d] < 0)
      throw UserError(fmt::format("{} repeats of dim {}", op.repeats[d], d), describe(op), "repeat at least 0 times");
    const sym::Expr extent = d < shift ? fusion.pool().constant(1) : op.in->extent(d - shift);
    shape.push_back(extent * op.repeats[d]);
  }
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const Bitcast& op) {
  if (op.to == DType::boolean)
    throw UserError(fmt::format("bits of {} as bool", text(op.in)), describe(op),
                    "not every byte is a bool: compare, e.g. ne(%x, %zero)");
  if (size_of(op.to) != size_of(op.in->dtype))
    throw UserError(fmt::format("{} has elements of {} bytes, {} of {}", text(op.in), size_of(op.in->dtype),
                                name(op.to), size_of(op.to)),
                    describe(op), "bits are kept: name a dtype of the same size, or cast");
  return typed(op.in->shape(), op.to, op.in);
}

namespace {

// An index, or a piece of one, into a dim or a piece of that.
template <class Lookup>
void check_piece(const Lookup& op) {
  check_index(op, op.index);
  if (op.ordinal && *op.ordinal < 0)
    throw UserError(fmt::format("ordinal {}", *op.ordinal), describe(op), "leave it out: ops are numbered");
  if (!op.range.empty() && op.range.size() != 2)
    throw UserError(fmt::format("range has {} numbers", op.range.size()), describe(op),
                    "give the first place of the piece and the extent of the whole dim, or neither");
  const size_t rank = op.index->rank();
  if (op.global.size() == op.start.size() && (op.global.empty() || op.global.size() == rank)) return;
  throw UserError(fmt::format("the index has {} dims, global {} and start {}", rank, op.global.size(), op.start.size()),
                  describe(op), "give global and start for every dim, or neither");
}

}  // namespace

Inferred infer(const Gather& op) {
  check_piece(op);
  check_rank(op, op.index, op.in->rank(), op.in->rank(), "index and operand of gather have as many dims");
  check_dim(op, op.dim, op.in->rank());
  for (size_t d = 0; d < op.in->rank(); ++d)
    if (int64_t(d) != op.dim && !sym::proven(sym::le(op.index->extent(d), op.in->extent(d))))
      check_same_extent(op, op.index, d, op.in, d, "the index is no longer than the operand, but along dim");
  return typed(op.index->shape(), op.in->dtype, op.in);
}

Inferred infer(const IndexSelect& op) {
  check_piece(op);
  check_dim(op, op.dim, op.in->rank());
  std::vector<sym::Expr> shape;
  for (size_t d = 0; d < op.in->rank(); ++d) {
    if (int64_t(d) != op.dim) {
      shape.push_back(op.in->extent(d));
      continue;
    }
    for (sym::Expr e : op.index->shape()) shape.push_back(e);
  }
  return typed(std::move(shape), op.in->dtype, op.in);
}

Inferred infer(const Scatter& op) {
  check_piece(op);
  check_same_dtype(op, op.in, op.src);
  if (rounds(op.update) && op.in->dtype == DType::boolean)
    throw UserError(
        fmt::format("{} cannot be {}", text(op.in), op.update == ScatterUpdate::add ? "added to" : "multiplied"),
        describe(op), "cast it first, or say or by update = max, and by update = min");
  for (const TensorView* t : {op.index, op.src})
    check_rank(op, t, op.in->rank(), op.in->rank(), "all operands of scatter have as many dims");
  check_dim(op, op.dim, op.in->rank());
  for (size_t d = 0; d < op.in->rank(); ++d) {
    check_same_extent(op, op.src, d, op.index, d, "index and src have one shape");
    if (int64_t(d) != op.dim && !sym::proven(sym::le(op.index->extent(d), op.in->extent(d))))
      check_same_extent(op, op.index, d, op.in, d, "the index is no longer than the operand, but along dim");
  }
  return same_as(op.in);
}

}  // namespace plait::rules
