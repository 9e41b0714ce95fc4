#include "ir/tensor_view.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ir/fusion.h"
#include "mesh/remedies.h"

namespace plait {

std::string_view name(ParallelType type) {
  constexpr std::string_view kNames[] = {"serial",   "vectorize", "unroll",   "block_x", "block_y",    "block_z",
                                         "thread_x", "thread_y",  "thread_z", "cluster", "cpu_thread", "stream"};
  return kNames[static_cast<size_t>(type)];
}

std::vector<sym::Expr> TensorView::shape() const {
  std::vector<sym::Expr> out;
  for (const auto& axis : domain.logical) out.push_back(axis.extent);
  return out;
}

std::string type_text(const TensorView& tensor) {
  std::string out(tensor.dtype_alias.empty() ? name(tensor.dtype) : std::string_view(tensor.dtype_alias));
  out += "[";
  for (size_t d = 0; d < tensor.rank(); ++d) out += (d ? ", " : "") + sym::print(tensor.extent(d));
  return out + "]";
}

namespace {

void apply(std::vector<Axis>& loops, const Transform& t, size_t number) {
  auto refuse = [&](const char* what) {
    throw UserError(fmt::format("transform {} does not apply: {}", number, what),
                    fmt::format("position {} of {} loop axes", t.position, loops.size()), "positions count from 0");
  };
  size_t at = static_cast<size_t>(t.position);
  if (t.kind == Transform::Kind::reorder) {
    std::vector<Axis> next;
    std::vector<bool> used(loops.size());
    if (t.order.size() != loops.size()) refuse("reorder needs every position once");
    for (int old : t.order) {
      if (old < 0 || static_cast<size_t>(old) >= loops.size() || used[old]) refuse("reorder needs every position once");
      used[old] = true;
      next.push_back(loops[old]);
    }
    loops = std::move(next);
    return;
  }
  if (t.position < 0 || at >= loops.size()) refuse("no such loop axis");
  switch (t.kind) {
    case Transform::Kind::merge:
      if (at + 1 >= loops.size()) refuse("merge needs a loop axis behind it");
      if (loops[at].kind == AxisKind::reduction || loops[at + 1].kind == AxisKind::reduction)
        if (loops[at].kind != loops[at + 1].kind) refuse("a reduction axis merges only with another one");
      loops[at].extent = loops[at].extent * loops[at + 1].extent;
      if (loops[at + 1].kind != AxisKind::broadcast) loops[at].kind = loops[at + 1].kind;
      loops.erase(loops.begin() + t.position + 1);
      break;
    case Transform::Kind::split: {
      if (!t.factor || !sym::proven(sym::ge(t.factor, 1))) refuse("the factor must be at least 1");
      Axis inner = loops[at];
      inner.extent = t.factor;
      loops[at].extent = sym::ceildiv(loops[at].extent, t.factor);
      loops.insert(loops.begin() + t.position + 1, inner);
      break;
    }
    case Transform::Kind::parallel:
      loops[at].parallel = t.parallel;
      break;
    case Transform::Kind::reorder:
      break;
  }
}

}  // namespace

std::vector<Axis> loop_axes(const Domain& domain) {
  std::vector<Axis> loops = domain.logical;
  loops.insert(loops.end(), domain.reduction.begin(), domain.reduction.end());
  for (size_t i = 0; i < domain.transforms.size(); ++i) apply(loops, domain.transforms[i], i);
  return loops;
}

bool is_row_major(const Domain& domain) {
  return domain.strided.empty() && std::is_sorted(domain.allocation.begin(), domain.allocation.end());
}

namespace {

std::string where(const TensorView& t, int dim) { return fmt::format("%{}: {} dim {}", t.name, type_text(t), dim); }

// The axes of a name, of which the layout has none.
Team free_team(const TensorView& t, const Layout& layout, int dim, const MeshAxisRef& axis) {
  const Mesh& mesh = t.fusion->mesh();
  if (!t.fusion->has_mesh())
    throw UserError(fmt::format("fusion @{} has no mesh", t.fusion->name()), where(t, dim), std::string(kDeclareMesh));
  Team team;
  try {
    team = mesh.team(axis.name);
  } catch (const UserError& e) {
    throw UserError(e.message(), where(t, dim), e.remedy());
  }
  for (int index : team.axes)
    if (layout.uses(index))
      throw UserError(fmt::format("mesh axis `{}` is used twice on %{}", mesh.axes()[index].name, t.name),
                      where(t, dim), "a mesh axis shards at most one dim of a tensor");
  return team;
}

void add_piece(TensorView& t, Layout& layout, int dim, const MeshAxisRef& axis, const ShardOptions& options) {
  int rank = static_cast<int>(t.rank()), at = dim < 0 ? dim + rank : dim;
  if (at < 0 || at >= rank)
    throw UserError(fmt::format("%{} has no dim {}", t.name, dim), where(t, dim),
                    rank ? fmt::format("dims are 0 to {}", rank - 1) : "the tensor has no dims");
  const Team team = free_team(t, layout, dim, axis);
  if (options.granule < 1 || options.granule > kMaxGranule)
    throw UserError(fmt::format("granule {} is out of range", options.granule), where(t, dim),
                    fmt::format("granules are 1 to {}", kMaxGranule));
  std::vector<Piece> added;
  for (int index : team.axes) added.push_back({index, options.granule, 0});
  auto& pieces = layout.dims[at].pieces;
  pieces.insert(options.inner ? pieces.end() : pieces.begin(), added.begin(), added.end());
}

}  // namespace

TensorView& TensorView::shard(int dim, const MeshAxisRef& axis, ShardOptions options) {
  Layout compute = layout;
  add_piece(*this, compute, dim, axis, options);
  if (stored) {
    Layout storage_layout = *stored;
    add_piece(*this, storage_layout, dim, axis, options);
    stored = std::move(storage_layout);
  }
  layout = std::move(compute);
  layout_source = LayoutSource::annotated;
  reason = "annotated";
  return *this;
}

TensorView& TensorView::pending(const MeshAxisRef& axis, ReduceOp reduce) {
  Layout made = layout;
  for (int index : free_team(*this, made, 0, axis).axes) made.partial[index] = reduce;
  if (!may_be_pending(reduce, dtype))
    throw UserError(fmt::format("a pending {} of %{}", plait::name(reduce), name), where(*this, 0),
                    reduce == ReduceOp::logsumexp ? "a logsumexp is of floats" : "ranks reduce numbers");
  layout = std::move(made);
  layout_source = LayoutSource::annotated;
  reason = "annotated";
  return *this;
}

TensorView& TensorView::replicate() {
  layout = Layout::replicated(rank());
  layout_source = LayoutSource::annotated;
  reason = "annotated";
  return *this;
}

TensorView& TensorView::allocate(std::vector<int> order, const std::vector<int>& strided) {
  const std::string tensor = fmt::format("%{}: {}", name, type_text(*this));
  std::vector<int> all(rank());
  std::iota(all.begin(), all.end(), 0);
  if (!std::is_permutation(order.begin(), order.end(), all.begin(), all.end()))
    throw UserError("no order of the dims of " + tensor, "allocation", "list every dim once, outermost first");
  std::vector<bool> free(rank());
  for (int dim : strided) {
    const auto at = std::find(order.begin(), order.end(), dim);
    if (at == order.end())
      throw UserError(fmt::format("{} has no dim {} to be strided", tensor, dim), "allocation", "name its dims");
    if (free[size_t(at - order.begin())])
      throw UserError(fmt::format("dim {} of {} is strided twice", dim, tensor), "allocation", "name each dim once");
    free[size_t(at - order.begin())] = true;
  }
  domain.allocation = std::move(order);
  domain.strided = strided.empty() ? std::vector<bool>() : std::move(free);
  return *this;
}

TensorView& TensorView::within(std::string_view begin, std::string_view end) {
  for (std::string_view text : {begin, end})  // facts first, as of extents
    for (const auto& symbol : sym::symbols(sym::parse(fusion->pool(), text))) fusion->pool().symbol(symbol, {.lo = 0});
  return within(sym::parse(fusion->pool(), begin), sym::parse(fusion->pool(), end));
}

TensorView& TensorView::within(sym::Expr begin, sym::Expr end) {
  const std::string tensor = fmt::format("%{}: {}", name, type_text(*this));
  if (role == TensorRole::intermediate)
    throw UserError(fmt::format("%{} is no input", name), tensor, "state ranges of inputs");
  if (is_float(dtype) || dtype == DType::boolean)
    throw UserError(fmt::format("a range of {}", plait::name(dtype)), tensor, "state ranges of integers");
  sym::Pool& pool = fusion->pool();
  range = ValueRange{sym::import(pool, begin), sym::import(pool, end)};
  return *this;
}

void StorageRef::shard(int dim, const MeshAxisRef& axis, ShardOptions options) {
  if (tensor_->role == TensorRole::intermediate)
    throw UserError(fmt::format("%{} is computed", tensor_->name), where(*tensor_, dim),
                    "inputs and parameters have a storage layout of their own; annotate how a result is held, or "
                    "write `reshard`");
  Layout layout = tensor_->stored.value_or(tensor_->layout);
  add_piece(*tensor_, layout, dim, axis, options);
  tensor_->stored = std::move(layout);
}

bool same_type(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.shape() == b.shape() && a.layout == b.layout;
}

}  // namespace plait
