#include "ir/type_parser.h"

#include <algorithm>
#include <set>

#include "base/suggest.h"
#include "ir/op_help.h"

namespace plait {

namespace {
constexpr int64_t kMaxLink = 1'000'000;  // GB/s, microseconds
}

Mesh TypeParser::read_mesh() {
  in_.expect("@", "before the mesh's name");
  std::string name = in_.word("the mesh's name");
  in_.expect("(", "before the mesh axes");
  std::vector<MeshAxis> axes;
  const size_t at = in_.here();
  do {
    MeshAxis axis;
    const size_t size_at = in_.here();
    axis.name = in_.word("a mesh axis");
    in_.expect("=", "after the mesh axis");
    if (in_.next_is_word())
      axis.symbol = in_.word("a size");
    else
      axis.size = in_.integer("a size or a symbol");
    if (auto let = std::find_if(sizes_.begin(), sizes_.end(), [&](auto& l) { return l.name == axis.symbol; });
        let != sizes_.end() && let->value < 1)
      in_.fail_at(size_at, fmt::format("mesh axis `{}` has size {}", axis.name, let->value), "sizes are at least 1");
    if (const std::string& symbol = axis.size == -1 ? axis.name : axis.symbol; is_dtype_let(symbol))
      in_.fail_at(size_at, fmt::format("`{}` is a dtype", symbol), "sizes are numbers or symbols");
    if (in_.accept("bandwidth")) {
      axis.bandwidth = in_.integer("the GB/s of the axis's link", 1, kMaxLink);
      in_.expect("latency", "after the bandwidth");
      axis.latency = in_.integer("the microseconds of the axis's link", 0, kMaxLink);
    }
    axes.push_back(std::move(axis));
  } while (in_.accept(","));
  in_.expect(")", "after the mesh axes");
  std::vector<MeshGroup> groups;
  if (in_.accept("with")) {
    do {
      MeshGroup& group = groups.emplace_back();
      group.name = in_.word("the name of a group of axes");
      in_.expect("=", "after the group's name");
      in_.expect("[", "before the axes of a group");
      do group.axes.push_back(in_.word("a mesh axis"));
      while (in_.accept(","));
      in_.expect("]", "after the axes of a group");
    } while (in_.accept(","));
  }
  return guarded(at, [&] { return Mesh(name, axes, groups); });
}

bool TypeParser::is_dtype_let(std::string_view name) const {
  return std::any_of(dtypes_.begin(), dtypes_.end(), [&](const auto& l) { return l.name == name; });
}

sym::Expr TypeParser::read_expression(std::string_view what) {
  const size_t at = in_.here();
  sym::Expr out = in_.expression(fusion_->pool(), what);
  for (const std::string& symbol : sym::symbols(out)) {
    if (is_dtype_let(symbol))
      in_.fail_at(at, fmt::format("{}: `{}` is a dtype", what, symbol), "sizes are numbers or symbols");
    if (symbol.rfind("rank.", 0) == 0) guarded(at, [&] { return mesh_axis(symbol.substr(5)); });
  }
  return out;
}

int TypeParser::mesh_axis(const std::string& axis) {
  if (!fusion_->has_mesh())
    throw UserError(fmt::format("mesh axis `{}` without a mesh", axis), "", "declare one: mesh @m (tp = 2)");
  return fusion_->mesh().index(axis);
}

Team TypeParser::mesh_team(const std::string& name) {
  if (!fusion_->has_mesh()) return {{mesh_axis(name)}};
  return fusion_->mesh().team(name);
}

TypeParser::Type TypeParser::read_type() {
  Type type;
  in_.skip();
  size_t at = in_.offset();
  std::string text = in_.word("a dtype");
  auto let = std::find_if(dtypes_.begin(), dtypes_.end(), [&](const auto& l) { return l.name == text; });
  if (let != dtypes_.end()) {
    type.alias = text;
    type.dtype = let->value;
  } else if (auto dtype = parse_dtype(text)) {
    type.dtype = *dtype;
  } else {
    in_.fail_at(at, fmt::format("`{}` is no dtype", text), dtype_help(text));
  }
  type.shape = read_extents();
  return type;
}

std::vector<sym::Expr> TypeParser::read_extents(bool open) {
  std::vector<sym::Expr> out;
  in_.expect("[", "before the extents");
  if (in_.accept("]")) return out;
  do {
    const size_t at = in_.here();
    if (out.size() == kMaxExtents)
      in_.fail_at(at, fmt::format("more than {} extents", kMaxExtents), "tensors have at most that many dims");
    out.push_back(read_expression("extent"));
    if (sym::bounds(out.back()).hi < 0 && !(open && out.back().constant() == -1))
      in_.fail_at(at, fmt::format("extent {} is negative", sym::print(out.back())), "extents are at least 0");
  } while (in_.accept(","));
  in_.expect("]", "after the extents");
  return out;
}

void TypeParser::read_pieces(std::vector<Piece>& pieces) {
  if (in_.accept("local")) {
    Piece& piece = pieces.emplace_back();
    if (char c = in_.peek(); (c >= '0' && c <= '9') || c == '-')
      piece.local = in_.integer("a number of parts", 1, kMaxGranule);
    return;
  }
  in_.skip();
  size_t at = in_.offset();
  std::string name = in_.word("a mesh axis or `local`");
  const Team team = guarded(at, [&] { return mesh_team(name); });
  const int64_t granule = in_.accept("granule") ? in_.integer("the number of a granule", 1, kMaxGranule) : 1;
  for (int axis : team.axes) pieces.push_back({axis, granule, 0});
}

// `{...}` and `partial(...)` behind it.
Layout TypeParser::read_layout(const TensorView& t) {
  Layout layout = Layout::replicated(t.rank());
  size_t at = in_.here();
  if (!fusion_->has_mesh()) in_.fail("an annotation without a mesh", "declare one: mesh @m (tp = 2)");
  in_.expect("{", "before the layout");
  if (!in_.accept("}")) {
    do {
      in_.skip();
      size_t dim_at = in_.offset();
      int64_t dim = in_.integer("a dim");
      if (dim < 0 || dim >= static_cast<int64_t>(t.rank()))
        in_.fail_at(dim_at, fmt::format("%{}: {} has no dim {}", t.name, type_text(t), dim),
                    t.rank() ? fmt::format("dims are 0 to {}", t.rank() - 1) : "the tensor has no dims");
      auto& pieces = layout.dims[dim].pieces;
      if (!pieces.empty()) in_.fail_at(dim_at, fmt::format("dim {} is given twice", dim), "list its pieces: [tp, dp]");
      in_.expect(":", "after the dim");
      if (in_.accept("[")) {
        do read_pieces(pieces);
        while (in_.accept(","));
        in_.expect("]", "after the pieces");
      } else {
        read_pieces(pieces);
      }
    } while (in_.accept(","));
    in_.expect("}", "after the layout");
  }
  if (in_.accept("partial")) read_partial(layout);
  check_layout(t, layout, at);
  return layout;
}

void TypeParser::read_partial(Layout& layout) {
  in_.expect("(", "after `partial`");
  do {
    in_.skip();
    size_t at = in_.offset();
    std::string name = in_.word("a mesh axis");
    const Team team = guarded(at, [&] { return mesh_team(name); });
    in_.expect(":", "after the mesh axis");
    const ReduceOp reduce = read_reduce();
    for (int axis : team.axes)
      if (!layout.partial.emplace(axis, reduce).second)
        in_.fail_at(at, fmt::format("mesh axis `{}` is named twice", fusion_->mesh().axes()[axis].name),
                    "name it once");
  } while (in_.accept(","));
  in_.expect(")", "after `partial(`");
}

ReduceOp TypeParser::read_reduce() {
  in_.skip();
  size_t at = in_.offset();
  std::string text = in_.word("a reduction");
  for (ReduceOp op : kReduceOps)
    if (name(op) == text) return op;
  in_.fail_at(at, fmt::format("`{}` is no reduction", text), "known: sum, max, min, prod, logsumexp");
}

void TypeParser::check_layout(const TensorView& t, Layout& layout, size_t at) {
  for (auto& d : layout.dims) {
    for (size_t i = 0; i + 1 < d.pieces.size(); ++i)
      if (d.pieces[i].is_local() && d.pieces[i].local == 0)
        in_.fail_at(at, "`local` without a number stands last", "write [local 2, tp] or [tp, local]");
  }
  layout.normalize();
  std::set<int> used;
  auto use = [&](int axis) {
    if (!used.insert(axis).second)
      in_.fail_at(at, fmt::format("mesh axis `{}` is used twice on %{}", fusion_->mesh().axes()[axis].name, t.name),
                  "a mesh axis shards at most one dim of a tensor");
  };
  for (const auto& d : layout.dims)
    for (const auto& p : d.pieces)
      if (!p.is_local()) use(p.mesh_axis);
  for (const auto& [axis, op] : layout.partial) {
    use(axis);
    if (!may_be_pending(op, t.dtype))
      in_.fail_at(at, fmt::format("a pending {} of %{}: {}", name(op), t.name, type_text(t)),
                  op == ReduceOp::logsumexp ? "a logsumexp is of floats: drop it" : "ranks reduce numbers: drop it");
  }
}

void TypeParser::read_annotation(TensorView& t) {
  if (in_.peek() != '{') return;
  t.layout = read_layout(t);
  t.layout_source = LayoutSource::annotated;
  t.reason = "annotated";
}

int TypeParser::read_position() { return static_cast<int>(in_.integer("a loop position", 0, 1 << 20)); }

// `in 0..v`: the values of an input.
void TypeParser::read_range(TensorView& t) {
  if (!in_.accept("in")) return;
  const size_t at = in_.here();
  const sym::Expr begin = read_expression("begin");
  in_.expect("..", "after the first value of the range");
  const sym::Expr end = read_expression("end");
  guarded(at, [&] { return &t.within(begin, end); });
}

// `(1 strided, 0)`: logical dims in memory order, and which of them may have any stride.
void TypeParser::read_allocation(TensorView& t) {
  if (!in_.accept("allocation")) return;
  const size_t at = in_.here();
  std::vector<int> order, strided;
  in_.expect("(", "after `allocation`");
  do {
    order.push_back(static_cast<int>(in_.integer("a dim", 0, 1 << 20)));
    if (in_.accept("strided")) strided.push_back(order.back());
  } while (in_.accept(","));
  in_.expect(")", "or `,` after a dim");
  guarded(at, [&] { return &t.allocate(std::move(order), strided); });
}

void TypeParser::read_loops(Domain& domain) {
  in_.expect("(", "after `loops`");
  do {
    Transform t;
    in_.skip();
    size_t at = in_.offset();
    std::string kind = in_.word("a transform");
    in_.expect("(", "after the transform");
    if (kind == "reorder") {
      t.kind = Transform::Kind::reorder;
      do t.order.push_back(read_position());
      while (in_.accept(","));
    } else {
      t.position = read_position();
      if (kind == "split") {
        t.kind = Transform::Kind::split;
        in_.expect(",", "before the factor");
        t.factor = read_expression("factor");
      } else if (kind == "parallel") {
        t.kind = Transform::Kind::parallel;
        in_.expect(",", "before the parallel type");
        t.parallel = read_parallel();
      } else if (kind != "merge") {
        in_.fail_at(at, fmt::format("`{}` is no transform", kind), "known: merge, split, reorder, parallel");
      }
    }
    in_.expect(")", "after the transform");
    domain.transforms.push_back(std::move(t));
  } while (in_.accept(","));
  in_.expect(")", "after the transforms");
}

ParallelType TypeParser::read_parallel() {
  in_.skip();
  size_t at = in_.offset();
  std::string text = in_.word("a parallel type");
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(ParallelType::stream); ++i) {
    names.emplace_back(name(static_cast<ParallelType>(i)));
    if (names.back() == text) return static_cast<ParallelType>(i);
  }
  in_.fail_at(at, fmt::format("`{}` is no parallel type", text), suggestion(text, names));
}

DType TypeParser::read_dtype() {
  in_.skip();
  size_t at = in_.offset();
  std::string text = in_.word("a dtype");
  for (const auto& l : dtypes_)
    if (l.name == text) return l.value;
  if (auto dtype = parse_dtype(text)) return *dtype;
  in_.fail_at(at, fmt::format("`{}` is no dtype", text), dtype_help(text));
}

}  // namespace plait
