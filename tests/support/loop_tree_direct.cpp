#include "base/error.h"
#include "support/loop_tree_case.h"

namespace plait::tree_oracle {

Word mix(const Op& op, size_t result, const std::vector<Word>& in) {
  if (property(op.kind) == OpProperty::movement || property(op.kind) == OpProperty::indexing) return in.at(0);
  Word out = static_cast<Word>(op.kind) * 31 + op.id * 7 + result;
  for (size_t i = 0; i < in.size(); ++i) out = out * 5 + in[i] * (2 * i + 3) + in[i] * in[0];
  return out;
}

Word element(const Op& op, size_t result, const std::vector<Word>& in) {
  Word out = in.at(0) * (2 * result + 3) + op.id + 1;
  for (size_t i = 1; i < in.size(); ++i) out = out * in[i] + i;
  return out;
}

Word scanned(const Case& c, const Op& op, Word state, Word element) {
  return state * (c.totals.contains(&op) ? 1 : 3) + element;
}

Word fill_of(const Op& op) { return 1000 + op.id; }

Word input_value(const TensorView& tensor, size_t place) { return place * 2654435761u % 1000003u + tensor.id * 17u; }

std::vector<int64_t> shape_of(const TensorView& tensor, const sym::Environment& sizes) {
  std::vector<int64_t> out;
  for (const Axis& a : tensor.domain.logical) out.push_back(sym::evaluate(a.extent, sizes));
  return out;
}

namespace {

using Index = std::vector<int64_t>;

// Every index of a shape, row-major.
template <class Fn>
void each(const Index& shape, Fn&& fn) {
  for (int64_t n : shape)
    if (n == 0) return;
  Index at(shape.size(), 0);
  for (;;) {
    fn(at);
    size_t d = shape.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

size_t place_of(const Index& shape, const Index& at) {
  int64_t out = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    PLAIT_CHECK(at[d] >= 0 && at[d] < shape[d], "the oracle reads outside of its own arrays");
    out = out * shape[d] + at[d];
  }
  return static_cast<size_t>(out);
}

class Direct {
 public:
  explicit Direct(const Case& c) : case_(c) {}

  std::map<const TensorView*, Array> run() {
    for (const TensorView* t : case_.fusion->inputs()) {
      Array& a = values_[t];
      for (size_t i = count(shape(*t)); a.size() < i;) a.push_back(input_value(*t, a.size()));
    }
    for (const Op* op : case_.fusion->ops()) compute(*op);
    return std::move(values_);
  }

 private:
  Index shape(const TensorView& t) const { return shape_of(t, case_.sizes); }
  static size_t count(const Index& shape) {
    int64_t n = 1;
    for (int64_t e : shape) n *= e;
    return static_cast<size_t>(n);
  }
  int64_t number(sym::Expr e) const { return sym::evaluate(e, case_.sizes); }
  Word get(const TensorView& t, const Index& at) const { return values_.at(&t)[place_of(shape(t), at)]; }

  // With broadcasting of trailing dims.
  Word aligned(const TensorView& t, const Index& at) const {
    Index own = shape(t);
    Index from(at.end() - static_cast<std::ptrdiff_t>(own.size()), at.end());
    for (size_t d = 0; d < own.size(); ++d)
      if (own[d] == 1) from[d] = 0;
    return get(t, from);
  }

  void compute(const Op& op) {
    for (const TensorView* t : op.results) values_[t].assign(count(shape(*t)), 0);
    const Index out = shape(*op.results[0]);
    if (const auto* o = as<Reduce>(op)) return reduce(op, *o->in, o->dims, o->keepdim);
    if (const auto* o = as<MaxWithArgmax>(op)) return reduce(op, *o->in, o->dims, o->keepdim);
    if (const auto how = scan_of(op)) return scan(op, *how);
    if (const auto* o = as<Linear>(op)) return product(op, *o->x, *o->w, true);
    if (const auto* o = as<Matmul>(op)) return product(op, *o->a, *o->b, false);
    each(out, [&](const Index& at) {
      const std::vector<Word> in = operands(op, at, out);
      for (size_t r = 0; r < op.results.size(); ++r) values_[op.results[r]][place_of(out, at)] = mix(op, r, in);
    });
  }

  void reduce(const Op& op, const TensorView& in, const std::vector<int64_t>& dims, bool keepdim) {
    std::vector<bool> gone(in.rank(), false);
    for (int64_t d : dims) gone[static_cast<size_t>(d)] = true;
    const Index out = shape(*op.results[0]);
    each(shape(in), [&](const Index& at) {
      Index to;
      for (size_t d = 0; d < at.size(); ++d) {
        if (!gone[d]) to.push_back(at[d]);
        if (gone[d] && keepdim) to.push_back(0);
      }
      for (size_t r = 0; r < op.results.size(); ++r)
        values_[op.results[r]][place_of(out, to)] += element(op, r, {get(in, at)});
    });
  }

  void scan(const Op& op, const ScanOf& how) {
    const Index out = shape(*op.results[0]);
    const size_t d = static_cast<size_t>(how.dim);
    each(out, [&](const Index& at) {
      const int64_t last = how.reverse ? out[d] - 1 - at[d] : at[d];  // of the scan's own order
      for (size_t r = 0; r < op.results.size(); ++r) {
        Word state = 0;
        for (int64_t i = 0; i < last + !how.exclusive; ++i) {
          Index from = at;
          from[d] = how.reverse ? out[d] - 1 - i : i;
          state = scanned(case_, op, state, element(op, r, {get(*how.in, from)}));
        }
        values_[op.results[r]][place_of(out, at)] = state;
      }
    });
  }

  void product(const Op& op, const TensorView& a, const TensorView& b, bool transposed) {
    const Index out = shape(*op.out()), sa = shape(a);
    each(out, [&](const Index& at) {
      Word& y = values_[op.out()][place_of(out, at)];
      for (int64_t k = 0; k < sa.back(); ++k)
        y += element(op, 0, {get(a, {at[0], k}), transposed ? get(b, {at[1], k}) : get(b, {k, at[1]})});
    });
  }

  std::vector<Word> operands(const Op& op, const Index& at, const Index& out) const {
    const std::vector<TensorView*> in = inputs(op);
    if (const auto* o = as<Gather>(op)) {
      Index from = at;
      const size_t d = static_cast<size_t>(o->dim);
      from[d] = static_cast<int64_t>(get(*o->index, at) % static_cast<Word>(shape(*o->in)[d]));
      return {get(*o->in, from)};
    }
    if (const auto* o = as<IndexSelect>(op)) {
      const auto first = at.begin() + o->dim, behind = first + static_cast<std::ptrdiff_t>(o->index->rank());
      const Word j = get(*o->index, Index(first, behind));
      Index from(at.begin(), first);
      from.push_back(static_cast<int64_t>(j % static_cast<Word>(shape(*o->in)[static_cast<size_t>(o->dim)])));
      from.insert(from.end(), behind, at.end());
      return {get(*o->in, from)};
    }
    if (op.kind == OpKind::PointwiseOp) {
      std::vector<Word> values;
      for (const TensorView* t : in) values.push_back(aligned(*t, at));
      return values;
    }
    if (in.empty()) return {};
    return {moved(op, *in[0], at, out)};
  }

  Word moved(const Op& op, const TensorView& in, const Index& at, const Index& out) const {
    const Index si = shape(in);
    Index from = at;
    if (const auto* o = as<Permute>(op))
      for (size_t d = 0; d < at.size(); ++d) from[static_cast<size_t>(o->dims[d])] = at[d];
    if (op.kind == OpKind::Reshape) return values_.at(&in)[place_of(out, at)];
    if (op.kind == OpKind::Squeeze || op.kind == OpKind::Unsqueeze) return values_.at(&in)[place_of(out, at)];
    if (const auto* o = as<Broadcast>(op)) {
      from.assign(si.size(), 0);
      for (size_t d = 0; d < si.size(); ++d)
        if (si[d] != 1) from[d] = at[static_cast<size_t>(o->dims[d])];
    }
    if (const auto* o = as<Slice>(op)) {
      int64_t& x = from[static_cast<size_t>(o->dim)];
      x = number(o->start) + x * o->step;
    }
    if (const auto* o = as<Pad>(op)) {
      for (size_t d = 0; d < at.size(); ++d) {
        from[d] -= number(o->low[d]);
        if (from[d] < 0 || from[d] >= si[d]) return fill_of(op);
      }
    }
    if (const auto* o = as<Cat>(op)) {
      const size_t d = static_cast<size_t>(o->dim);
      for (const TensorView* part : o->in) {
        const int64_t n = shape(*part)[d];
        if (from[d] < n) return get(*part, from);
        from[d] -= n;
      }
    }
    if (const auto* o = as<Flip>(op))
      for (int64_t d : o->dims)
        from[static_cast<size_t>(d)] = si[static_cast<size_t>(d)] - 1 - at[static_cast<size_t>(d)];
    if (const auto* o = as<Roll>(op)) {
      for (size_t k = 0; k < o->dims.size(); ++k) {
        const size_t d = static_cast<size_t>(o->dims[k]);
        from[d] = ((at[d] - o->shifts[k]) % si[d] + si[d]) % si[d];
      }
    }
    if (op.kind == OpKind::Repeat) {
      from.erase(from.begin(), from.end() - static_cast<std::ptrdiff_t>(si.size()));
      for (size_t d = 0; d < si.size(); ++d) from[d] %= si[d];
    }
    return get(in, from);
  }

  const Case& case_;
  std::map<const TensorView*, Array> values_;
};

}  // namespace

std::map<const TensorView*, Array> evaluate(const Case& c) { return Direct(c).run(); }

}  // namespace plait::tree_oracle
