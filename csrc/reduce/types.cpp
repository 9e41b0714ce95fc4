// Edits of reduce_graph that make types smaller: mesh, extents, dtypes, attributes.
#include <set>

#include "base/error.h"
#include "reduce/fields.h"

namespace plait {

namespace {

// ---- The mesh, which is edited in the text: the graph's symbols hang on it.

std::string mesh_line(const std::string& name, const std::vector<MeshAxis>& axes) {
  std::string out;
  for (const MeshAxis& a : axes)
    out +=
        fmt::format("{}{} = {}", out.empty() ? "" : ", ", a.name, a.symbol.empty() ? std::to_string(a.size) : a.symbol);
  return axes.empty() ? "" : fmt::format("mesh @{} ({})\n", name, out);
}

std::string with_mesh(const std::string& text, const std::string& name, const std::vector<MeshAxis>& axes) {
  const std::string mark = "mesh @" + name + " (";
  const size_t begin = text.find(mark);
  if (begin == text.npos) return text;
  std::string out = text.substr(0, begin) + mesh_line(name, axes) + text.substr(text.find('\n', begin) + 1);
  const std::string use = " on @" + name + " (";
  if (const size_t at = out.find(use); axes.empty() && at != out.npos) out.replace(at, use.size(), " (");
  return out;
}

void drop_axis(Layout& layout, int axis) {
  for (DimLayout& d : layout.dims) std::erase_if(d.pieces, [&](const Piece& p) { return p.mesh_axis == axis; });
  layout.partial.erase(axis);
  layout.normalize();
}

Edits drop_mesh_axes(const Fusion& fusion) {
  Edits out;
  const Mesh& mesh = fusion.mesh();
  for (size_t i = 0; i < mesh.axes().size(); ++i) {
    std::vector<MeshAxis> left = mesh.axes();
    left.erase(left.begin() + static_cast<long>(i));
    out.push_back({[i, last = left.empty()](Fusion& f) {
                     for (TensorView* t : f.tensors()) {
                       drop_axis(t->layout, static_cast<int>(i));
                       if (t->stored) drop_axis(*t->stored, static_cast<int>(i));
                       if (last || t->layout.is_replicated()) t->layout_source = LayoutSource::open;
                       if (last) t->stored.reset();
                     }
                   },
                   [name = mesh.name(), left](const std::string& text) { return with_mesh(text, name, left); },
                   {}});
  }
  return out;
}

Edits smaller_mesh_axes(const Fusion& fusion) {
  Edits out;
  const Mesh& mesh = fusion.mesh();
  for (size_t i = 0; i < mesh.axes().size(); ++i) {
    const MeshAxis& axis = mesh.axes()[i];
    const int64_t* let = fusion.size_let(axis.symbol);
    const int64_t size = axis.symbol.empty() ? axis.size : let ? *let : 0;
    for (int64_t value : {int64_t{1}, int64_t{2}, int64_t{3}, size}) {
      if (value < 1 || value > size || (value == size && axis.symbol.empty())) continue;
      std::vector<MeshAxis> axes = mesh.axes();
      axes[i] = {axis.name, value, ""};
      GraphEdit edit{
          nullptr, [name = mesh.name(), axes](const std::string& text) { return with_mesh(text, name, axes); }, {}};
      if (!axis.symbol.empty()) {
        edit.constants[axis.symbol] = value;
        edit.apply = [symbol = axis.symbol](Fusion& f) {
          std::erase_if(f.size_lets, [&](const SizeLet& l) { return l.name == symbol; });
        };
      }
      out.push_back(std::move(edit));
    }
  }
  return out;
}

// ---- Extents.

template <int64_t kTo>
Edits lets_to(const Fusion& fusion) {
  Edits out;
  for (const SizeLet& let : fusion.size_lets) {
    const int64_t value = kTo > 0 ? kTo : let.value / 2;
    if (value >= 1 && value < let.value)
      out.push_back({[name = let.name, to = value](Fusion& f) { f.let(name, to); }, nullptr, {}});
  }
  return out;
}

// A number, wherever it stands as an extent.
template <int64_t kTo>
Edits extents_to(const Fusion& fusion) {
  std::set<int64_t> found;
  const auto add = [&](sym::Expr e) {
    if (e.is_constant()) found.insert(e.value());
  };
  for (const TensorView* t : fusion.inputs())
    for (sym::Expr e : t->shape()) add(e);
  for (Op* op : fusion.ops()) for_each_extent(*op, add);
  Edits out;
  for (int64_t from : found) {
    const int64_t value = kTo > 0 ? kTo : from / 2;
    if (value < 1 || value >= from) continue;
    out.push_back({[from, extent = value](Fusion& f) {
                     const sym::Expr to = f.pool().constant(extent);
                     for (TensorView* t : f.inputs()) {
                       std::vector<sym::Expr> shape = t->shape();
                       for (sym::Expr& e : shape)
                         if (e.constant() == from) e = to;
                       set_shape(*t, shape);
                     }
                     for (Op* op : f.ops())
                       for_each_extent(*op, [&](sym::Expr& e) {
                         if (e.constant() == from) e = to;
                       });
                   },
                   nullptr,
                   {}});
  }
  return out;
}

// Single extents of inputs, expressions among them.
Edits single_extents(const Fusion& fusion) {
  Edits out;
  for (const TensorView* t : fusion.inputs())
    for (size_t d = 0; d < t->rank(); ++d)
      for (int64_t value : {1, 2, 3})
        if (!t->extent(d).is_constant() || t->extent(d).value() > value)
          out.push_back(on_tensor(*t, [d, value](Fusion& f, TensorView& x) {
            std::vector<sym::Expr> shape = x.shape();
            if (d >= shape.size()) return;
            shape[d] = f.pool().constant(value);
            set_shape(x, shape);
          }));
  return out;
}

Edits drop_lets(const Fusion& fusion) {
  Edits out;
  for (const SizeLet& let : fusion.size_lets) {
    const auto& axes = fusion.mesh().axes();
    if (std::any_of(axes.begin(), axes.end(), [&](const MeshAxis& a) { return a.symbol == let.name; })) continue;
    out.push_back(
        {[name = let.name](Fusion& f) { std::erase_if(f.size_lets, [&](const SizeLet& l) { return l.name == name; }); },
         nullptr,
         {{let.name, let.value}}});
  }
  for (const DTypeLet& let : fusion.dtype_lets)
    out.push_back({[name = let.name](Fusion& f) {
                     std::erase_if(f.dtype_lets, [&](const DTypeLet& l) { return l.name == name; });
                     for (TensorView* t : f.tensors())
                       if (t->dtype_alias == name) t->dtype_alias.clear();
                   },
                   nullptr,
                   {}});
  return out;
}

// Facts about one symbol, in the text: what is built on them is built anew.
Edits drop_facts(const Fusion& fusion) {
  Edits out;
  const sym::Facts all = fusion.given();
  for (const auto& [symbol, row] : all.rows()) {
    const auto without = [symbol = symbol](std::string text) {
      const std::string mark = "given ";
      const size_t line = text.starts_with(mark) ? 0 : text.find("\n" + mark) + 1;
      const size_t begin = line + mark.size(), end = text.find('\n', begin);
      sym::Pool pool;
      sym::Facts left;
      const sym::Facts stated = sym::parse_facts(text.substr(begin, end - begin));
      stated.apply(pool);
      for (const auto& [name, facts] : stated.rows())
        if (name != symbol) left.state(name, pool.info(pool.find_symbol(name)));
      if (left.rows().empty()) return text.erase(line, end + 1 - line);
      return text.replace(begin, end - begin, print(left));
    };
    out.push_back({nullptr, without, {}});
  }
  return out;
}

// ---- Dtypes and attributes.

void dtypes_to_f32(Fusion& f, DType from) {
  for (DTypeLet& let : f.dtype_lets)
    if (let.value == from) let.value = DType::f32;
  for (TensorView* t : f.inputs())
    if (t->dtype == from) t->dtype = DType::f32;
  for (Op* op : f.ops())
    for_each_dtype(*op, [&](DType& d) {
      if (d == from) d = DType::f32;
    });
}

Edits simpler_dtypes(const Fusion& fusion) {
  std::set<DType> found;
  for (const TensorView* t : fusion.tensors())
    if (t->dtype != DType::f32) found.insert(t->dtype);
  Edits out;
  for (DType from : found) out.push_back({[from](Fusion& f) { dtypes_to_f32(f, from); }, nullptr, {}});
  for (const TensorView* t : fusion.inputs())
    if (t->dtype != DType::f32)
      out.push_back(on_tensor(*t, [](Fusion&, TensorView& x) {
        x.dtype = DType::f32;
        x.dtype_alias.clear();
      }));
  for (const Op* op : fusion.ops())
    out.push_back(on_op(*op, [](Fusion&, Op& o) { for_each_dtype(o, [](DType& d) { d = DType::f32; }); }));
  return out;
}

Edits simpler_attributes(const Fusion& fusion) {
  Edits out;
  for (Op* op : fusion.ops()) {
    size_t count = 0;
    for_each_attribute(*op, [&](const auto&, const auto&) { ++count; });
    for (size_t k = 0; k < count; ++k)
      out.push_back(on_op(*op, [k](Fusion&, Op& o) {
        size_t i = 0;
        for_each_attribute(o, [&](auto& value, const auto& initial) {
          if (i++ == k) value = initial;
        });
      }));
  }
  return out;
}

int64_t saturated(int64_t value) { return std::min<int64_t>(value, int64_t{1} << 40); }

int64_t annotation_count(const TensorView& t) {
  int64_t out = annotated(t) + t.stored.has_value() + (t.role == TensorRole::parameter) + !is_row_major(t.domain) +
                !t.domain.strided.empty() + !t.domain.transforms.empty();
  for (const Layout* layout : {&t.layout, t.stored ? &*t.stored : nullptr}) {
    if (!layout) continue;
    out += static_cast<int64_t>(layout->partial.size());
    for (const DimLayout& d : layout->dims)
      for (const Piece& p : d.pieces) out += 1 + (p.granule != 1);
  }
  return out;
}

}  // namespace

std::vector<int64_t> graph_size(const Fusion& fusion) {
  int64_t operands = 0, scheduled = 0, annotations = 0, attributes = 0, dtypes = 0, extents = 0;
  for (Op* op : fusion.ops()) {
    operands += static_cast<int64_t>(inputs(*op).size());
    for_each_attribute(*op, [&](const auto& value, const auto& initial) { attributes += !(value == initial); });
    for_each_extent(*op, [&](sym::Expr e) { extents += e.is_constant() ? saturated(e.value()) : 1000; });
    for_each_dtype(*op, [&](DType& d) { dtypes += d != DType::f32; });
  }
  for (const Segment& s : fusion.segments) scheduled += 1 + !is_open(s.schedule);
  for (const TensorView* t : fusion.tensors()) {
    annotations += annotation_count(*t);
    dtypes += t->dtype != DType::f32;
  }
  for (const TensorView* t : fusion.inputs())
    for (sym::Expr e : t->shape()) extents += e.is_constant() ? saturated(e.value()) : 1000;
  for (const SizeLet& let : fusion.size_lets) extents += saturated(let.value);
  int64_t ranks = 0;
  for (const MeshAxis& a : fusion.mesh().axes()) ranks += a.symbol.empty() ? saturated(a.size) : 1000;
  return {static_cast<int64_t>(fusion.ops().size()),
          static_cast<int64_t>(fusion.inputs().size() + fusion.outputs().size()),
          operands,
          static_cast<int64_t>(fusion.mesh().axes().size()),
          scheduled,
          annotations,
          attributes,
          dtypes,
          static_cast<int64_t>(fusion.size_lets.size() + fusion.dtype_lets.size() + fusion.given().rows().size()),
          ranks,
          extents};
}

std::span<const EditList> type_edit_lists() {
  static const EditList lists[] = {
      {"mesh", false, drop_mesh_axes},    {"mesh", false, smaller_mesh_axes}, {"lets", true, lets_to<1>},
      {"lets", true, lets_to<2>},         {"lets", true, lets_to<3>},         {"lets", true, lets_to<0>},
      {"facts", true, drop_facts},        {"lets", true, drop_lets},          {"extents", true, extents_to<1>},
      {"extents", true, extents_to<2>},   {"extents", true, extents_to<3>},   {"extents", true, extents_to<0>},
      {"extents", false, single_extents}, {"dtypes", true, simpler_dtypes},   {"attributes", true, simpler_attributes},
  };
  return lists;
}

}  // namespace plait
