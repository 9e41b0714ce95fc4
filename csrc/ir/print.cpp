#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "base/error.h"
#include "ir/fusion.h"
#include "ir/make_op.h"
#include "ir/op_fields.h"

namespace plait {

namespace {

std::string shortest(double value) {
  char buffer[40];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

std::string list(const std::vector<sym::Expr>& values) {
  std::string out = "[";
  for (size_t i = 0; i < values.size(); ++i) out += (i ? ", " : "") + sym::print(values[i]);
  return out + "]";
}

// Text of an attribute, or empty where it has its default and is not printed.
struct AttributeText {
  const Fusion& fusion;
  std::string operator()(Pointwise f) const {
    return f == Pointwise::gelu_tanh ? "approx = tanh" : "";  // the function itself is the op's name
  }
  std::string operator()(std::optional<DType> v) const { return v ? fmt::format("to = {}", name(*v)) : ""; }
  std::string operator()(std::string_view n, double v) const { return fmt::format("{} = {}", n, shortest(v)); }
  std::string operator()(std::string_view n, const Team& team) const {
    return team.axes.empty() ? "" : fmt::format("{} = {}", n, plait::print(team, fusion.mesh()));
  }
  std::string operator()(std::string_view n, ReduceOp op) const { return fmt::format("{} = {}", n, plait::name(op)); }
  std::string operator()(std::string_view n, std::optional<ReshardKind> v) const {
    return v ? fmt::format("{} = {}", n, word_of(*v)) : "";
  }
  std::string operator()(std::string_view n, sym::Expr e) const {
    return e ? fmt::format("{} = {}", n, sym::print(e)) : "";
  }
  std::string operator()(std::string_view n, const std::vector<sym::Expr>& v) const {
    return v.empty() ? "" : fmt::format("{} = {}", n, list(v));
  }
  std::string operator()(std::string_view n, std::optional<int64_t> v) const {
    return v ? fmt::format("{} = {}", n, *v) : "";
  }
  std::string operator()(std::string_view n, const Constant& c) const {
    return fmt::format("{} = {}, dtype = {}", n, c.text(), plait::name(c.dtype));
  }
  std::string operator()(std::string_view n, int64_t v) const { return fmt::format("{} = {}", n, v); }
  std::string operator()(std::string_view n, const std::vector<int64_t>& v) const {
    std::string out;
    for (int64_t e : v) out += fmt::format("{}{}", out.empty() ? "" : ", ", e);
    return v.empty() ? "" : fmt::format("{} = [{}]", n, out);
  }
  std::string operator()(std::string_view n, std::optional<double> v) const {
    return v ? fmt::format("{} = {}", n, shortest(*v)) : "";
  }
  std::string operator()(std::string_view n, DType v) const { return fmt::format("{} = {}", n, plait::name(v)); }
  std::string operator()(std::string_view n, LossReduction v) const {
    return fmt::format("{} = {}", n, plait::name(v));
  }
  std::string operator()(std::string_view n, Bounds v) const {
    return v == Bounds::check ? "" : fmt::format("{} = {}", n, plait::name(v));
  }
  std::string operator()(std::string_view n, ScatterUpdate v) const {
    return v == ScatterUpdate::set ? "" : fmt::format("{} = {}", n, plait::name(v));
  }
  std::string operator()(std::string_view n, const std::string& v) const { return fmt::format("{} = \"{}\"", n, v); }
  std::string operator()(std::string_view, Reduction) const { return ""; }  // the op's name
  std::string operator()(std::string_view, Pointwise f) const { return (*this)(f); }
  std::string operator()(std::string_view, std::optional<DType> v) const { return (*this)(v); }
};

// What a flag is where a text leaves it out.
bool initial_flag(OpKind kind, std::string_view field) {
  const std::unique_ptr<Op> blank = blank_op(kind);
  for (const FieldRef& f : fields(*blank))
    if (f.name == field) return **std::get_if<bool*>(&f.value);
  return false;
}

std::string arguments(const Op& op, const Fusion& fusion) {
  std::string out;
  auto add = [&](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : ", ") + text;
  };
  AttributeText attribute_text{fusion};
  for_each_field(op, [&](const FieldRef& field, const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, TensorView*>) {
      if (value) add((field.role == Role::named ? fmt::format("{} = %", field.name) : "%") + value->name);
    } else if constexpr (std::is_same_v<T, std::vector<TensorView*>>) {
      for (const TensorView* t : value) add("%" + t->name);
    } else if constexpr (std::is_same_v<T, std::vector<sym::Expr>>) {
      add(value.empty() && field.role == Role::required ? fmt::format("{} = []", field.name)
                                                        : attribute_text(field.name, value));
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
      // Left out, the dims of a squeeze are those that are known to be of extent 1.
      const bool shown = value.empty() && (field.role == Role::required || op.kind == OpKind::Squeeze);
      add(shown ? fmt::format("{} = []", field.name) : attribute_text(field.name, value));
    } else if constexpr (std::is_same_v<T, bool>) {
      if (value != initial_flag(op.kind, field.name)) add(fmt::format("{} = {}", field.name, value));
    } else {
      add(attribute_text(field.name, value));
    }
  });
  return out;
}

std::string layout_text(const TensorView& t) {
  const Mesh& mesh = t.fusion->mesh();
  std::string out;
  if (t.keeps_layout() || !t.layout.is_replicated()) out = " " + print(t.layout, mesh);
  if (t.stored) out += " stored " + print(*t.stored, mesh);
  return out;
}

// Where a tensor is not dense and row-major.
std::string allocation_text(const Domain& domain) {
  if (is_row_major(domain)) return "";
  std::string out;
  for (size_t i = 0; i < domain.allocation.size(); ++i)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", domain.allocation[i],
                       !domain.strided.empty() && domain.strided[i] ? " strided" : "");
  return " allocation (" + out + ")";
}

std::string range_text(const TensorView& t) {
  return t.range ? fmt::format(" in {}..{}", sym::print(t.range->begin), sym::print(t.range->end)) : "";
}

std::string loops_text(const Domain& domain) {
  if (domain.transforms.empty()) return "";
  std::string out;
  for (const auto& t : domain.transforms) {
    if (!out.empty()) out += ", ";
    switch (t.kind) {
      case Transform::Kind::merge:
        out += fmt::format("merge({})", t.position);
        break;
      case Transform::Kind::split:
        out += fmt::format("split({}, {})", t.position, sym::print(t.factor));
        break;
      case Transform::Kind::parallel:
        out += fmt::format("parallel({}, {})", t.position, name(t.parallel));
        break;
      case Transform::Kind::reorder: {
        std::string order;
        for (int p : t.order) order += fmt::format("{}{}", order.empty() ? "" : ", ", p);
        out += fmt::format("reorder({})", order);
        break;
      }
    }
  }
  return " loops (" + out + ")";
}

std::string schedule_text(const TensorView& t) {
  std::string out = loops_text(t.domain);
  if (t.inline_position) out += fmt::format(" inline {}", *t.inline_position);
  if (t.kept) out += fmt::format(" keep {}", *t.kept);
  return out;
}

std::string names(const std::vector<TensorView*>& tensors) {
  std::string out;
  for (const TensorView* t : tensors) out += (out.empty() ? "%" : ", %") + t->name;
  return "(" + out + ")";
}

std::string lets(const Fusion& fusion) {
  std::string out;
  for (const auto& l : fusion.size_lets) out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", l.name, l.value);
  for (const auto& l : fusion.dtype_lets)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", l.name, name(l.value));
  return out.empty() ? "" : "let " + out + "\n";
}

std::string mesh_text(const Mesh& mesh) {
  std::string out;
  for (const auto& a : mesh.axes()) {
    out +=
        fmt::format("{}{} = {}", out.empty() ? "" : ", ", a.name, a.symbol.empty() ? std::to_string(a.size) : a.symbol);
    if (a.bandwidth > 0) out += fmt::format(" bandwidth {} latency {}", a.bandwidth, a.latency);
  }
  std::string groups;
  for (const auto& g : mesh.groups())
    groups += fmt::format("{}{} = [{}]", groups.empty() ? " with " : ", ", g.name, fmt::join(g.axes, ", "));
  return fmt::format("mesh @{} ({}){}\n", mesh.name(), out, groups);
}

}  // namespace

std::string print(const Op& op, const Fusion& fusion) {
  std::string out;
  for (const TensorView* t : op.results) {
    if (!out.empty()) out += ", ";
    if (op.results.size() > 1 && fusion.segments.empty() && fusion.readers(t).empty() && !fusion.is_output(t))
      out += "_";
    else
      out += fmt::format("%{}: {}{}{}{}", t->name, type_text(*t), layout_text(*t), allocation_text(t->domain),
                         schedule_text(*t));
  }
  return fmt::format("{} = {}({})", out, text_name(op), arguments(op, fusion));
}

static std::string output_list(const Fusion& fusion) {
  std::string out;
  for (const TensorView* t : fusion.outputs()) {
    out += fmt::format("{}%{}", out.empty() ? "" : ", ", t->name);
    if (const auto it = fusion.aliases.find(t->name); it != fusion.aliases.end()) out += " aliases %" + it->second;
  }
  return "(" + out + ")";
}

std::string print(const Fusion& fusion) {
  std::string out = lets(fusion);
  if (const sym::Facts facts = fusion.given(); !facts.rows().empty()) out += "given " + print(facts) + "\n";
  if (fusion.has_mesh()) out += mesh_text(fusion.mesh());
  if (!out.empty()) out += "\n";
  out += "fusion @" + fusion.name();
  if (fusion.has_mesh()) out += " on @" + fusion.mesh().name();
  out += " (";
  for (size_t i = 0; i < fusion.inputs().size(); ++i) {
    const TensorView* t = fusion.inputs()[i];
    out += fmt::format("{}\n  {}%{}: {}{}{}{}", i ? "," : "", t->role == TensorRole::parameter ? "param " : "", t->name,
                       type_text(*t), range_text(*t), layout_text(*t), allocation_text(t->domain));
  }
  out += (fusion.inputs().empty() ? ") -> " : "\n) -> ") + output_list(fusion) + " {\n";
  if (fusion.segments.empty()) {
    for (const Op* op : fusion.ops()) out += "  " + print(*op, fusion) + "\n";
  } else {
    for (const auto& s : fusion.segments) {
      out += fmt::format("  segment @{} {} -> {}", s.name, names(s.inputs), names(s.outputs));
      if (!is_open(s.schedule)) out += " schedule " + print(s.schedule);
      if (!s.joins.empty()) out += " joins @" + s.joins;
      out += " {\n";
      for (const Op* op : s.ops) out += "    " + print(*op, fusion) + "\n";
      out += "  }\n";
    }
  }
  return out + "}\n";
}

}  // namespace plait
