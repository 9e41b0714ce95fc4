// An einsum as diagonals, sums, products and contractions of two operands at a time, from left to right.
#include <algorithm>

#include "build/composer.h"
#include "ir/einsum.h"

namespace plait::building {

namespace {

using Labels = std::vector<int>;

bool has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

Labels operator+(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <class Fn>
Labels kept(const Labels& labels, Fn&& fn) {
  Labels out;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(out), fn);
  return out;
}

// A tensor and the labels of its dims.
struct Labelled {
  TensorView* tensor;
  Labels labels;
};

class Contractor {
 public:
  Contractor(Composer& c, const Labels& out) : c_(c), out_(out) {}

  // in with its dims in the order of `labels`, which are those that it has.
  Labelled ordered(const Labelled& in, const Labels& labels) {
    if (in.labels == labels) return in;
    auto permute = std::make_unique<Permute>();
    permute->in = in.tensor;
    for (int label : labels)
      permute->dims.push_back(std::find(in.labels.begin(), in.labels.end(), label) - in.labels.begin());
    return {c_.emit(std::move(permute)), labels};
  }

  // An operand's dims of extent 1 that others have longer go; of labels that it has twice the diagonal stays.
  Labelled stripped(Labelled in, const std::map<int, sym::Expr>& extents) {
    std::vector<int64_t> units;
    for (size_t d = 0; d < in.labels.size(); ++d)
      if (in.tensor->extent(d).constant() == 1 && extents.at(in.labels[d]).constant() != 1) units.push_back(int64_t(d));
    if (!units.empty()) {
      in.tensor = c_.squeeze(in.tensor, units);
      for (auto d = units.rbegin(); d != units.rend(); ++d) in.labels.erase(in.labels.begin() + *d);
    }
    for (size_t d = 0; d < in.labels.size();) {
      const auto again = std::find(in.labels.begin() + int64_t(d) + 1, in.labels.end(), in.labels[d]);
      if (again == in.labels.end()) {
        ++d;
      } else {
        in = diagonal(in, d, size_t(again - in.labels.begin()));
        d = 0;
      }
    }
    return in;
  }

  // Without the labels that `stays` refuses, over which it sums.
  template <class Fn>
  Labelled summed(const Labelled& in, Fn&& stays) {
    std::vector<int64_t> dims;
    for (size_t d = 0; d < in.labels.size(); ++d)
      if (!stays(in.labels[d])) dims.push_back(int64_t(d));
    if (dims.empty()) return in;
    const DType dtype = in.tensor->dtype;
    return {c_.cast(c_.sum(in.tensor, dims, false), dtype), kept(in.labels, stays)};
  }

  // The sum of a times b over the labels that both have and `later` has not; each alone has none such.
  template <class Fn>
  Labelled product(Labelled a, Labelled b, Fn&& later) {
    Labels batch = kept(a.labels, [&](int l) { return has(b.labels, l) && later(l); });
    const Labels summed = kept(a.labels, [&](int l) { return has(b.labels, l) && !later(l); });
    const auto alone = [&](int l) { return !has(batch, l) && !has(summed, l); };
    Labels rows = kept(a.labels, alone), columns = kept(b.labels, alone);
    const Labels all = batch + rows + columns;
    const bool last = std::is_permutation(all.begin(), all.end(), out_.begin(), out_.end());
    if (last) batch = kept(out_, [&](int l) { return has(batch, l); });
    const bool first = all == out_, second = batch + columns + rows == out_;
    const bool turned = first != second ? second : rows.size() == 1 && columns.size() != 1;
    if (turned) {
      std::swap(a, b);
      std::swap(rows, columns);
    }
    if (summed.empty()) return scaled(a, b, last ? out_ : batch + rows + columns);
    const Labelled left = ordered(a, batch + rows + summed);
    if (batch.empty()) return linear(left, ordered(b, columns + summed), rows, columns);
    return stacked(left, ordered(b, batch + summed + columns), batch, rows, columns);
  }

 private:
  // Of dims p < q, as long as each other; the label comes last. Rows of one element more begin one element later each.
  Labelled diagonal(const Labelled& in, size_t p, size_t q) {
    Labels labels = in.labels;
    const int label = labels[p];
    auto permute = std::make_unique<Permute>();
    permute->in = in.tensor;
    std::vector<sym::Expr> shape;
    for (size_t d = 0; d < labels.size(); ++d)
      if (d != p && d != q) permute->dims.push_back(int64_t(d)), shape.push_back(in.tensor->extent(d));
    permute->dims.insert(permute->dims.end(), {int64_t(p), int64_t(q)});
    labels.erase(labels.begin() + int64_t(q));
    labels.erase(labels.begin() + int64_t(p));
    labels.push_back(label);
    const sym::Expr n = in.tensor->extent(p);
    const size_t last = shape.size();
    shape.push_back(n * in.tensor->extent(q));
    auto pad = std::make_unique<Pad>();
    pad->in = c_.reshape(c_.emit(std::move(permute)), shape);
    pad->low.resize(last + 1, c_.extent(0));
    pad->high = pad->low;
    pad->high[last] = n;
    shape[last] = n;
    shape.push_back(in.tensor->extent(q) + 1);
    auto slice = std::make_unique<Slice>();
    slice->in = c_.reshape(c_.emit(std::move(pad)), shape);
    slice->dim = int64_t(last) + 1;
    slice->start = c_.extent(0);
    slice->stop = c_.extent(1);
    return {c_.squeeze(c_.emit(std::move(slice)), {int64_t(last) + 1}), labels};
  }

  // Both by broadcast, element by element.
  Labelled scaled(const Labelled& a, const Labelled& b, const Labels& labels) {
    return {c_.pointwise(Pointwise::mul, {spread(a, labels), spread(b, labels)}), labels};
  }
  TensorView* spread(const Labelled& in, const Labels& labels) {
    TensorView* t = ordered(in, kept(labels, [&](int l) { return has(in.labels, l); })).tensor;
    std::vector<int64_t> fresh;
    for (size_t d = 0; d < labels.size(); ++d)
      if (!has(in.labels, labels[d])) fresh.push_back(int64_t(d));
    return fresh.empty() ? t : c_.unsqueeze(t, fresh);
  }

  sym::Expr count(const TensorView* t, size_t begin, size_t end) {
    sym::Expr out = c_.extent(1);
    for (size_t d = begin; d < end; ++d) out = out * t->extent(d);
    return out;
  }
  // t with dims begin .. end as one.
  TensorView* joined(TensorView* t, size_t begin, size_t end) {
    if (end == begin + 1) return t;
    if (end == begin) return c_.unsqueeze(t, {int64_t(begin)});
    const std::vector<sym::Expr> old = t->shape();
    std::vector<sym::Expr> shape(old.begin(), old.begin() + int64_t(begin));
    shape.push_back(count(t, begin, end));
    shape.insert(shape.end(), old.begin() + int64_t(end), old.end());
    return c_.reshape(t, shape);
  }
  // t with dim `at` in place of dims begin .. end of `like`.
  TensorView* parted(TensorView* t, size_t at, const TensorView* like, size_t begin, size_t end) {
    if (end == begin + 1) return t;
    if (end == begin) return c_.squeeze(t, {int64_t(at)});
    std::vector<sym::Expr> shape = t->shape();
    shape.erase(shape.begin() + int64_t(at));
    const std::vector<sym::Expr> parts = like->shape();
    shape.insert(shape.begin() + int64_t(at), parts.begin() + int64_t(begin), parts.begin() + int64_t(end));
    return c_.reshape(t, shape);
  }

  // left[rows.., summed..], right[columns.., summed..].
  Labelled linear(const Labelled& left, const Labelled& right, const Labels& rows, const Labels& columns) {
    auto op = std::make_unique<Linear>();
    op->x = joined(left.tensor, rows.size(), left.labels.size());
    op->w = joined(joined(right.tensor, columns.size(), right.labels.size()), 0, columns.size());
    return {parted(c_.emit(std::move(op)), rows.size(), right.tensor, 0, columns.size()), rows + columns};
  }

  // left[batch.., rows.., summed..], right[batch.., summed.., columns..].
  Labelled stacked(const Labelled& left, const Labelled& right, const Labels& batch, const Labels& rows,
                   const Labels& columns) {
    const size_t first = batch.size(), end = right.labels.size(), inner = end - columns.size();
    const auto matrix = [&](const Labelled& in, size_t middle) {
      return joined(joined(in.tensor, middle, in.labels.size()), first, middle);
    };
    auto op = std::make_unique<Matmul>();
    op->a = matrix(left, first + rows.size());
    op->b = matrix(right, inner);
    TensorView* out = parted(c_.emit(std::move(op)), first + 1, right.tensor, inner, end);
    return {parted(out, first, left.tensor, first, first + rows.size()), batch + rows + columns};
  }

  Composer& c_;
  const Labels& out_;
};

}  // namespace

TensorView* composed(Composer& c, const Einsum& op) {
  const EinsumLabels labels = read_equation(op);
  Contractor contractor(c, labels.out);
  // Whether the result or an operand from `next` on has the label.
  const auto later = [&](size_t next) {
    return [&labels, next](int label) {
      return has(labels.out, label) || std::any_of(labels.in.begin() + int64_t(next), labels.in.end(),
                                                   [&](const Labels& in) { return has(in, label); });
    };
  };
  Labelled out = contractor.stripped({op.in[0], labels.in[0]}, labels.extents);
  for (size_t i = 1; i < op.in.size(); ++i) {
    Labelled next = contractor.stripped({op.in[i], labels.in[i]}, labels.extents);
    const auto stays = later(i + 1);
    const Labels left = out.labels, right = next.labels;
    out = contractor.summed(out, [&](int l) { return stays(l) || has(right, l); });
    next = contractor.summed(next, [&](int l) { return stays(l) || has(left, l); });
    out = contractor.product(out, next, stays);
  }
  out = contractor.ordered(contractor.summed(out, later(op.in.size())), labels.out);
  return out.tensor == op.in[0] ? c.cast_always(out.tensor, out.tensor->dtype) : out.tensor;
}

}  // namespace plait::building
