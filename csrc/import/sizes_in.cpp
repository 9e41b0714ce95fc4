// Small tensors of integers as expressions over sizes: what models compute shapes from, by the ops that they have for
// it.
#include <algorithm>

#include "import/builder.h"
#include "scalar/convert.h"

namespace plait {
namespace {

constexpr int64_t kMostElements = 64;
constexpr int kDeepest = 1000;

using Elements = std::vector<sym::Expr>;
using Found = std::optional<Elements>;

int64_t count_of(const std::vector<int64_t>& shape) {
  int64_t out = 1;
  for (const int64_t extent : shape) out *= extent;
  return out;
}

class SizeReader {
 public:
  SizeReader(Fusion& fusion, const std::map<std::string, Tensor>& weights) : fusion_(fusion), weights_(weights) {}

  // Nothing where the tensor is large, of floats, or no such expression.
  Found read(TensorView* t, int depth = 0) {
    if (depth > kDeepest || is_float(t->dtype)) return {};
    for (size_t d = 0; d < t->rank(); ++d) {
      const auto extent = t->extent(d).constant();
      if (!extent || *extent > kMostElements) return {};
    }
    if (count_of(static_shape(t)) > kMostElements) return {};
    if (const auto found = done_.find(t); found != done_.end()) return found->second;
    return done_[t] = t->definition ? of_op(*t->definition, t, depth + 1) : of_weight(t);
  }

 private:
  sym::Expr number(int64_t value) { return fusion_.pool().constant(value); }

  Found of_weight(const TensorView* t) {
    const auto weight = weights_.find(t->name);
    if (weight == weights_.end()) return {};
    const Tensor dense = weight->second.contiguous();
    Elements out;
    for (int64_t i = 0; i < dense.elements(); ++i)
      out.push_back(number(load_int64(
          dense.dtype, static_cast<const char*>(dense.data()) + i * static_cast<int64_t>(size_of(dense.dtype)))));
    return out;
  }

  // Of the result, the element at each place of which is that of the operand at place(index of the result).
  template <class Place>
  Found moved(const TensorView* t, const Found& from, Place place) {
    if (!from) return {};
    const std::vector<int64_t> shape = static_shape(t);
    std::vector<int64_t> index(shape.size(), 0);
    Elements out;
    for (int64_t i = 0, n = count_of(shape); i < n; ++i) {
      out.push_back(from->at(static_cast<size_t>(place(index))));
      for (size_t d = shape.size(); d-- > 0;) {
        if (++index[d] < shape[d]) break;
        index[d] = 0;
      }
    }
    return out;
  }

  static int64_t linear_place(const std::vector<int64_t>& index, const std::vector<int64_t>& shape) {
    int64_t out = 0;
    for (size_t d = 0; d < shape.size(); ++d) out = out * shape[d] + (shape[d] == 1 ? 0 : index[d]);
    return out;
  }

  // Trailing dims aligned, extent 1 repeated.
  Found aligned(const TensorView* t, TensorView* in, int depth) {
    const std::vector<int64_t> shape = in->rank() <= t->rank() ? static_shape_or_none(in) : std::vector<int64_t>{-1};
    if (!shape.empty() && shape[0] == -1) return {};
    const size_t more = t->rank() - in->rank();
    return moved(t, read(in, depth), [&](const std::vector<int64_t>& index) {
      return linear_place({index.begin() + static_cast<int64_t>(more), index.end()}, shape);
    });
  }

  static std::vector<int64_t> static_shape_or_none(const TensorView* t) {
    std::vector<int64_t> out;
    for (size_t d = 0; d < t->rank(); ++d) {
      const auto extent = t->extent(d).constant();
      if (!extent) return {-1};
      out.push_back(*extent);
    }
    return out;
  }

  Found of_pointwise(const PointwiseOp& op, const TensorView* t, int depth) {
    std::vector<Elements> in;
    for (TensorView* each : op.in) {
      Found found = aligned(t, each, depth);
      if (!found) return {};
      in.push_back(std::move(*found));
    }
    Elements out;
    for (size_t i = 0; i < in.at(0).size(); ++i) {
      const sym::Expr a = in[0][i], b = in.size() > 1 ? in[1][i] : a, c = in.size() > 2 ? in[2][i] : a;
      const sym::Expr value = applied(op, a, b, c);
      if (!value) return {};
      out.push_back(value);
    }
    return out;
  }

  // Null where sizes have no such function.
  sym::Expr applied(const PointwiseOp& op, sym::Expr a, sym::Expr b, sym::Expr c) {
    switch (op.function) {
      case Pointwise::add:
        return a + b;
      case Pointwise::sub:
        return a - b;
      case Pointwise::mul:
        return a * b;
      case Pointwise::neg:
        return -a;
      case Pointwise::max:
        return sym::max(a, b);
      case Pointwise::min:
        return sym::min(a, b);
      case Pointwise::floor_divide:
        return sym::proven(sym::gt(b, 0)) ? sym::floordiv(a, b) : sym::Expr();
      case Pointwise::remainder:
        return sym::proven(sym::gt(b, 0)) ? sym::mod(a, b) : sym::Expr();
      case Pointwise::fmod:
        return sym::proven(sym::gt(b, 0)) && sym::proven(sym::ge(a, 0)) ? sym::mod(a, b) : sym::Expr();
      case Pointwise::eq:
        return sym::eq(a, b);
      case Pointwise::ne:
        return sym::ne(a, b);
      case Pointwise::lt:
        return sym::lt(a, b);
      case Pointwise::le:
        return sym::le(a, b);
      case Pointwise::gt:
        return sym::gt(a, b);
      case Pointwise::ge:
        return sym::ge(a, b);
      case Pointwise::logical_not:
        return sym::logical_not(a);
      case Pointwise::logical_and:
        return sym::logical_and(a, b);
      case Pointwise::where:
        return sym::select(a, b, c);
      case Pointwise::cast:
        return op.to && (*op.to == DType::i64 || *op.to == DType::i32) ? a : sym::Expr();
      default:
        return {};
    }
  }

  Found of_op(const Op& op, const TensorView* t, int depth) {
    if (const auto* pointwise = as<PointwiseOp>(op)) return of_pointwise(*pointwise, t, depth);
    if (const auto* size = as<Size>(op)) return Elements{size->value};
    if (const auto* full = as<Full>(op))
      return Elements(static_cast<size_t>(count_of(static_shape(t))), number(full->value.to_int64()));
    if (const auto* copy = as<Set>(op)) return read(copy->in, depth);
    if (const auto* shaped = as<Reshape>(op)) return read(shaped->in, depth);
    if (const auto* shorter = as<Squeeze>(op)) return read(shorter->in, depth);
    if (const auto* longer = as<Unsqueeze>(op)) return read(longer->in, depth);
    if (const auto* wide = as<Expand>(op)) return aligned(t, wide->in, depth);
    if (const auto* stack = as<Stack>(op)) return t->rank() == 1 ? joined(stack->in, depth) : Found{};
    if (const auto* cat = as<Cat>(op)) return t->rank() == 1 ? joined(cat->in, depth) : Found{};
    if (const auto* part = as<Slice>(op)) return of_slice(*part, t, depth);
    if (const auto* looked = as<IndexSelect>(op)) return of_lookup(*looked, t, depth);
    return {};
  }

  Found joined(const std::vector<TensorView*>& in, int depth) {
    Elements out;
    for (TensorView* each : in) {
      const Found found = read(each, depth);
      if (!found) return {};
      out.insert(out.end(), found->begin(), found->end());
    }
    return out;
  }

  Found of_slice(const Slice& op, const TensorView* t, int depth) {
    const auto start = op.start.constant();
    if (t->rank() != 1 || !start) return {};
    return moved(t, read(op.in, depth), [&](const std::vector<int64_t>& index) { return *start + index[0] * op.step; });
  }

  Found of_lookup(const IndexSelect& op, const TensorView* t, int depth) {
    if (op.in->rank() != 1) return {};
    const Found from = read(op.in, depth), at = read(op.index, depth);
    if (!from || !at) return {};
    Elements out;
    for (const sym::Expr each : *at) {
      const auto place = each.constant();
      if (!place || *place < 0 || *place >= static_cast<int64_t>(from->size())) return {};
      out.push_back((*from)[static_cast<size_t>(*place)]);
    }
    (void)t;
    return out;
  }

  Fusion& fusion_;
  const std::map<std::string, Tensor>& weights_;
  std::map<const TensorView*, Found> done_;
};

}  // namespace

std::optional<std::vector<sym::Expr>> ImportBuilder::sizes_in(TensorView* tensor) {
  return SizeReader(fusion(), out_.weights).read(tensor);
}

}  // namespace plait
