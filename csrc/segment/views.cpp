#include "segment/views.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace plait {

namespace {

std::vector<sym::Expr> dense_strides(sym::Pool& pool, const std::vector<sym::Expr>& extents) {
  std::vector<sym::Expr> out(extents.size());
  sym::Expr stride = pool.constant(1);
  for (size_t d = extents.size(); d-- > 0; stride = stride * extents[d]) out[d] = stride;
  return out;
}

sym::Pool& pool_of(const Op& op) { return op.out()->fusion->pool(); }

bool equal(sym::Expr a, sym::Expr b) { return a == b || sym::proven(sym::eq(a, b)); }

std::optional<MemoryView> refuse(std::string* why, std::string reason) {
  *why = std::move(reason);
  return std::nullopt;
}

std::vector<std::vector<MemoryAxis>> dense_dims(sym::Pool& pool, const std::vector<sym::Expr>& extents) {
  const std::vector<sym::Expr> strides = dense_strides(pool, extents);
  std::vector<std::vector<MemoryAxis>> out;
  for (size_t d = 0; d < extents.size(); ++d) out.push_back({{extents[d], strides[d]}});
  return out;
}

// Whether axes begin .. end lie as one, the last of them fastest.
bool is_one(const std::vector<MemoryAxis>& axes, size_t begin, size_t end) {
  for (size_t d = begin; d + 1 < end; ++d)
    if (!equal(axes[d].stride, axes[d + 1].stride * axes[d + 1].extent)) return false;
  return true;
}

// An axis as several of these extents.
std::vector<MemoryAxis> parted(const MemoryAxis& axis, const std::vector<MemoryAxis>& extents) {
  std::vector<MemoryAxis> out = extents;
  sym::Expr stride = axis.stride;
  for (size_t i = out.size(); i-- > 0; stride = stride * out[i].extent) out[i].stride = stride;
  return out;
}

// The shortest runs of axes from i and of dims from j with as many elements, as their ends; nothing where there are
// none.
std::optional<std::pair<size_t, size_t>> next_run(const std::vector<MemoryAxis>& in, size_t i,
                                                  const std::vector<MemoryAxis>& out, size_t j, sym::Pool& pool) {
  sym::Expr of_in = pool.constant(1);
  for (size_t a = i; a < in.size(); ++a) {
    of_in = of_in * in[a].extent;
    sym::Expr of_out = pool.constant(1);
    for (size_t b = j; b < out.size(); ++b) {
      of_out = of_out * out[b].extent;
      if (equal(of_in, of_out)) return std::pair(a + 1, b + 1);
    }
  }
  return std::nullopt;
}

// Dims of `shape`, whose elements in order are those of the view in order; nothing where they have no such axes.
std::optional<std::vector<std::vector<MemoryAxis>>> reshaped(const MemoryView& view,
                                                             const std::vector<sym::Expr>& shape, sym::Pool& pool) {
  std::vector<std::vector<MemoryAxis>> out = dense_dims(pool, shape);  // right for dims of extent 1
  if (view.whole) return out;
  std::vector<MemoryAxis> axes, to;
  std::vector<size_t> places;
  for (const auto& dim : view.dims)
    for (const MemoryAxis& axis : dim)
      if (axis.extent.constant() != 1) axes.push_back(axis);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d].constant() != 1) to.push_back(out[d][0]), places.push_back(d);
  for (size_t i = 0, j = 0; i < axes.size() || j < to.size();) {
    const auto run = next_run(axes, i, to, j, pool);
    if (!run) return std::nullopt;
    const auto [in_end, out_end] = *run;
    if (is_one(axes, i, in_end)) {
      const std::vector<MemoryAxis> dims(to.begin() + ptrdiff_t(j), to.begin() + ptrdiff_t(out_end));
      const std::vector<MemoryAxis> parts = parted(axes[in_end - 1], dims);
      for (size_t b = j; b < out_end; ++b) out[places[b]] = {parts[b - j]};
    } else if (out_end == j + 1) {
      out[places[j]].assign(axes.begin() + ptrdiff_t(i), axes.begin() + ptrdiff_t(in_end));
    } else {
      return std::nullopt;
    }
    i = in_end, j = out_end;
  }
  return out;
}

std::optional<MemoryView> view_of(const Permute& op, MemoryView view, std::string*) {
  const auto dims = view.dims;
  int64_t last = -1;  // dim of more than one element
  for (size_t d = 0; d < op.dims.size(); ++d) {
    view.dims[d] = dims[static_cast<size_t>(op.dims[d])];
    if (op.out()->extent(d).constant() == 1) continue;
    view.whole = view.whole && op.dims[d] > last;
    last = op.dims[d];
  }
  return view;
}

std::optional<MemoryView> view_of(const Broadcast& op, MemoryView view, std::string* why) {
  std::vector<std::vector<MemoryAxis>> dims;
  for (sym::Expr extent : op.out()->shape()) dims.push_back({{extent, pool_of(op).constant(0)}});
  for (size_t d = 0; d < op.dims.size(); ++d) {
    const size_t to = static_cast<size_t>(op.dims[d]);
    if (equal(op.in->extent(d), op.out()->extent(to)))
      dims[to] = view.dims[d];
    else if (op.in->extent(d).constant() != 1)
      return refuse(why, fmt::format("whether dim {} of %{} is repeated is left open", d, op.in->name));
  }
  view.dims = std::move(dims);
  view.whole = false;
  return view;
}

std::optional<MemoryView> reshape(const Op& op, const TensorView& in, MemoryView view, std::string* why) {
  auto dims = reshaped(view, op.out()->shape(), pool_of(op));
  if (!dims) return refuse(why, fmt::format("dims of %{} that it parts are no neighbours in memory", in.name));
  view.dims = std::move(*dims);
  return view;
}
std::optional<MemoryView> view_of(const Reshape& op, MemoryView view, std::string* why) {
  return reshape(op, *op.in, std::move(view), why);
}
std::optional<MemoryView> view_of(const Squeeze& op, MemoryView view, std::string* why) {
  return reshape(op, *op.in, std::move(view), why);
}
std::optional<MemoryView> view_of(const Unsqueeze& op, MemoryView view, std::string* why) {
  return reshape(op, *op.in, std::move(view), why);
}

std::optional<MemoryView> view_of(const Slice& op, MemoryView view, std::string* why) {
  const size_t dim = static_cast<size_t>(op.dim);
  if (view.dims[dim].size() > 1)
    return refuse(why, fmt::format("dim {} of %{} is several in memory", dim, op.in->name));
  MemoryAxis& axis = view.dims[dim][0];
  view.offset = view.offset + op.start * axis.stride;
  axis = {op.out()->extent(dim), axis.stride * op.step};
  view.whole = false;
  return view;
}

std::optional<MemoryView> view_of(const Op& op, const MemoryView&, std::string* why) {
  return refuse(why, describe(op) + " is no view");
}

// The dims of both operands of a contraction as axes that belong together.
class Aligner {
 public:
  Aligner(MemoryView a, MemoryView b, std::vector<sym::Expr> out, sym::Pool& pool)
      : a_(std::move(a)), b_(std::move(b)), out_(std::move(out)), pool_(pool) {}

  std::optional<ContractionViews> run(std::string* why) {
    fill(a_), fill(b_);
    ContractionViews views{start(a_), start(b_), {}};
    const size_t rank = out_.size();
    for (size_t d = 0; d + 2 < rank; ++d) {
      if (!spread(a_, d) || !spread(b_, d) || !align(a_.dims[d], b_.dims[d])) {
        *why = fmt::format("whether batch dim {} broadcasts is left open", d);
        return std::nullopt;
      }
      for (const MemoryAxis& axis : a_.dims[d]) views.out.push_back(axis.extent);
      add(views.a, a_.dims[d]), add(views.b, b_.dims[d]);
    }
    for (size_t d = rank - 2; d < rank; ++d) {
      add(views.a, a_.dims[d]), add(views.b, b_.dims[d]);
      views.out.push_back(out_[d]);
    }
    return views;
  }

 private:
  static ContractionViews::Operand start(const MemoryView& view) {
    return {view.root, view.offset, {}, {}, view.whole};
  }
  static void add(ContractionViews::Operand& to, const std::vector<MemoryAxis>& axes) {
    for (const MemoryAxis& axis : axes) {
      to.extents.push_back(axis.extent);
      to.strides.push_back(axis.stride);
    }
  }
  void fill(MemoryView& view) {
    while (view.dims.size() < out_.size())
      view.dims.insert(view.dims.begin(), {{pool_.constant(1), pool_.constant(0)}});
  }
  // Repeats a batch dim of one matrix.
  bool spread(MemoryView& view, size_t d) {
    sym::Expr extent = pool_.constant(1);
    for (const MemoryAxis& axis : view.dims[d]) extent = extent * axis.extent;
    if (extent.constant() == 1 && out_[d].constant() != 1) view.dims[d] = {{out_[d], pool_.constant(0)}};
    if (view.dims[d].size() == 1) view.dims[d][0].extent = equal(extent, out_[d]) ? out_[d] : view.dims[d][0].extent;
    return extent.constant() == 1 || equal(extent, out_[d]);
  }
  static bool align(std::vector<MemoryAxis>& a, std::vector<MemoryAxis>& b) {
    if (a.size() == 1 && b.size() > 1) a = parted(a[0], b);
    if (b.size() == 1 && a.size() > 1) b = parted(b[0], a);
    const auto same = [](const MemoryAxis& x, const MemoryAxis& y) { return equal(x.extent, y.extent); };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  }

  MemoryView a_, b_;
  std::vector<sym::Expr> out_;
  sym::Pool& pool_;
};

// Whether an operand's last two dims are one axis each, of which one is dense, and none repeats.
bool is_matrix(const MemoryView& view) {
  const size_t rank = view.dims.size();
  bool dense = false;
  for (size_t d = rank - 2; d < rank; ++d) {
    if (view.dims[d].size() > 1) return false;
    const MemoryAxis& axis = view.dims[d][0];
    const bool one = axis.extent.constant() == 1;
    if (axis.stride.constant() == 0 && !one) return false;
    dense = dense || one || axis.stride.constant() == 1;
  }
  return dense;
}

// x of a linear as [rows, k], where its rows lie so.
bool gather_rows(MemoryView& x, const Linear& op, sym::Pool& pool) {
  sym::Expr rows = pool.constant(1);
  for (size_t d = 0; d + 1 < op.x->rank(); ++d) rows = rows * op.x->extent(d);
  const auto dims = reshaped(x, {rows, op.w->extent(1)}, pool);
  if (!dims || (*dims)[0].size() > 1 || (*dims)[1].size() > 1) return false;
  x.dims = *dims;
  return true;
}

}  // namespace

MemoryViews::MemoryViews(const Fusion& segmented) {
  for (const Segment& segment : segmented.segments) {
    if (!std::holds_alternative<schedules::Alias>(segment.schedule)) continue;
    const Op& op = *segment.ops[0];
    std::string why;
    auto view = view_of_result(op, of(segment.inputs[0]), &why);
    PLAIT_CHECK(view, "{} is no view: {}", describe(op), why);
    views_[op.out()] = std::move(*view);
  }
}

MemoryView MemoryViews::of(const TensorView* tensor) const {
  if (const auto it = views_.find(tensor); it != views_.end()) return it->second;
  sym::Pool& pool = tensor->fusion->pool();
  return {tensor, pool.constant(0), dense_dims(pool, tensor->shape()), true};
}

bool is_view_op(const Op& op) {
  switch (op.kind) {
    case OpKind::Permute:
    case OpKind::Broadcast:
    case OpKind::Squeeze:
    case OpKind::Unsqueeze:
    case OpKind::Reshape:
    case OpKind::Slice:
      return true;
    default:
      return false;
  }
}

std::optional<MemoryView> view_of_result(const Op& op, const MemoryView& operand, std::string* why) {
  return visit(op, [&](const auto& node) { return view_of(node, operand, why); });
}

LibraryContraction library_contraction(const Op& op) {
  return {inputs(op)[0]->dtype, op.out()->dtype, op.kind == OpKind::Linear};
}

std::optional<ContractionViews> contraction_views(const Op& op, const MemoryViews& views, std::string* why,
                                                  const TensorView** at_fault) {
  const auto* linear = as<Linear>(op);
  if (op.kind != OpKind::Matmul && (linear == nullptr || linear->b != nullptr)) {
    *why = linear == nullptr ? "not a contraction" : "the bias is part of the contraction";
    return std::nullopt;
  }
  sym::Pool& pool = pool_of(op);
  const TensorView *left = inputs(op)[0], *right = inputs(op)[1];
  MemoryView a = views.of(left), b = views.of(right);
  std::vector<sym::Expr> out = op.out()->shape();
  for (const TensorView* root : {a.root, b.root})
    if (!is_row_major(root->domain)) {
      *why = fmt::format("%{} lies in another order", root->name);
      return std::nullopt;
    }
  if (linear != nullptr) {
    std::swap(b.dims[0], b.dims[1]);
    if (gather_rows(a, *linear, pool)) {
      sym::Expr rows = pool.constant(1);
      for (size_t d = 0; d + 1 < out.size(); ++d) rows = rows * out[d];
      out = {rows, out.back()};
    }
  }
  for (const bool first : {true, false}) {
    if (is_matrix(first ? a : b)) continue;
    const TensorView* operand = first ? left : right;
    if (at_fault != nullptr) *at_fault = operand;
    *why = fmt::format("a matrix of %{} has neither dense rows nor dense columns", operand->name);
    return std::nullopt;
  }
  return Aligner(std::move(a), std::move(b), std::move(out), pool).run(why);
}

}  // namespace plait
