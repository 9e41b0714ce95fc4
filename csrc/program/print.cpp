// Text of programs, derived from the fields of the steps.
#include <fmt/ranges.h>

#include "base/error.h"
#include "program/program.h"

namespace plait {
namespace {

struct Printer {
  const Program& program;

  std::string type(const ProgramValue& value) const {
    return fmt::format("{}[{}]", name(value.dtype), list(value.shape));
  }
  std::string text(ValueId id) const {
    return id.index < program.values.size() ? "%" + program.values[id.index].name : fmt::format("%?{}", id.index);
  }
  std::string in_place(const ProgramValue& value) const {
    return value.in_place_of ? " in " + text(*value.in_place_of) : "";
  }
  std::string text(const View& view) const {
    std::string out = text(view.value);
    if (!view.extents.empty()) out += fmt::format("[{}]", list(view.extents));
    if (!view.strides.empty()) out += fmt::format(" strides [{}]", list(view.strides));
    if (view.offset) out += " at " + text(view.offset);
    return out;
  }
  std::string text(EventId event) const { return fmt::format("%e{}", uint64_t(event.index) + 1); }
  std::string text(const sym::Expr& expr) const { return expr ? sym::print(expr) : "1"; }
  std::string text(CommReduce reduce) const { return std::string(name(reduce)); }
  template <class Items>
  std::string list(const Items& items) const {
    std::string out;
    for (const auto& item : items) out += (out.empty() ? "" : ", ") + text(item);
    return out;
  }

  // `name = value, ` of an attribute; nothing where it says nothing.
  std::string attribute(std::string_view name, const sym::Expr& expr) const {
    return expr ? fmt::format(", {} = {}", name, text(expr)) : "";
  }
  std::string attribute(std::string_view name, const std::vector<sym::Expr>& exprs) const {
    return exprs.empty() ? "" : fmt::format(", {} = [{}]", name, list(exprs));
  }
  // One extent without brackets.
  std::string attribute(std::string_view name, const PhaseExtents& extents) const {
    if (extents.phases.size() == 1) return attribute(name, extents.phases[0]);
    return attribute(name, extents.phases);
  }
  std::string attribute(std::string_view name, const std::array<sym::Expr, 3>& exprs) const {
    const bool given = exprs[0] || exprs[1] || exprs[2];
    return given ? fmt::format(", {} = [{}]", name, list(exprs)) : "";
  }
  std::string attribute(std::string_view name, const std::optional<CommReduce>& reduce) const {
    return reduce ? fmt::format(", {} = {}", name, text(*reduce)) : "";
  }
  std::string attribute(std::string_view name, bool set) const { return set ? fmt::format(", {} = true", name) : ""; }
  std::string attribute(std::string_view name, const Team& team) const {
    return fmt::format(", {} = {}", name, plait::print(team, program.mesh));
  }

  // What the head of the line says is no attribute.
  std::string attribute(std::string_view, KernelId) const { return ""; }
  std::string attribute(std::string_view, LibraryId) const { return ""; }
  std::string attribute(std::string_view, Collective) const { return ""; }
  std::string attribute(std::string_view, EventId) const { return ""; }
  std::string attribute(std::string_view, ValueId) const { return ""; }
  std::string attribute(std::string_view, const View&) const { return ""; }
  std::string attribute(std::string_view, const std::vector<View>&) const { return ""; }

  template <class T>
  std::string attributes(const T& step) const {
    std::string out;
    for_each_field(step, [&](const auto& field, const auto& member) {
      if (field.role == Role::attribute) out += attribute(field.name, member);
    });
    return out.empty() ? "" : " (" + out.substr(2) + ")";
  }

  std::string kernel(KernelId id) const {
    return id.index < program.kernels.size() ? program.kernels[id.index].code.name : fmt::format("?{}", id.index);
  }

  std::string step(const Step& step) const {
    std::string text = visit(
        step, overloaded{[&](const AllocStep& s) {
                           const bool known = s.value.index < program.values.size();
                           return fmt::format("{} = alloc {}", this->text(s.value),
                                              known ? type(program.value(s.value)) : "?");
                         },
                         [&](const LaunchStep& s) {
                           const bool own = !s.workspaces.empty();
                           return fmt::format("launch @{}({}) -> ({}){}{}", kernel(s.kernel), list(s.inputs),
                                              list(s.outputs), own ? " using (" + list(s.workspaces) + ")" : "",
                                              attributes(s));
                         },
                         [&](const LibraryStep& s) {
                           return fmt::format("library @l{}({}, {}) -> ({}){}", s.library.index + 1, this->text(s.a),
                                              this->text(s.b), this->text(s.out), attributes(s));
                         },
                         [&](const CopyStep& s) {
                           return fmt::format("copy {} -> {}{}", this->text(s.in), this->text(s.out), attributes(s));
                         },
                         [&](const CollectiveStep& s) {
                           return fmt::format("{} {} -> {}{}", name(s.collective), this->text(s.in), this->text(s.out),
                                              attributes(s));
                         },
                         [&](const RecordStep& s) { return "record " + this->text(s.event); },
                         [&](const WaitStep& s) { return "wait " + this->text(s.event); }});
    return step.kind == StepKind::AllocStep ? text : fmt::format("{} on {}", text, name(step.stream));
  }
};

std::string print_mesh(const Program& program) {
  if (program.mesh.axes().empty()) return "";
  std::string axes;
  for (size_t i = 0; i < program.mesh.axes().size(); ++i) {
    const MeshAxis& axis = program.mesh.axes()[i];
    axes += fmt::format("{}{} = {}", axes.empty() ? "" : ", ", axis.name,
                        axis.symbol.empty() ? std::to_string(axis.size) : axis.symbol);
    if (axis.bandwidth > 0) axes += fmt::format(" bandwidth {} latency {}", axis.bandwidth, axis.latency);
  }
  return fmt::format("mesh @{} ({})\n", program.mesh.name(), axes);
}

}  // namespace

std::string describe(const Program& program, const Step& step) { return Printer{program}.step(step); }

std::string print(const Program& program) {
  const Printer printer{program};
  std::string out = print_mesh(program);
  out += fmt::format("program @{}", program.name);
  if (!program.mesh.axes().empty()) {
    std::string sizes;
    for (int64_t size : program.devices.sizes()) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size);
    out += fmt::format(" on @{}[{}]", program.mesh.name(), sizes);
  }
  auto values = [&](const std::vector<ValueId>& ids) {
    std::string text;
    for (ValueId id : ids)
      text += fmt::format("{}\n  {}: {}{}", text.empty() ? "" : ",", printer.text(id), printer.type(program.value(id)),
                          printer.in_place(program.value(id)));
    return text.empty() ? "()" : "(" + text + "\n)";
  };
  // `, phases = 3`, with those that run at once as sums: `, phases = 2+1`.
  auto phases = [](const KernelText& code) {
    if (code.phases() == 1) return std::string();
    if (code.waves.size() == code.phases()) return fmt::format(", phases = {}", code.phases());
    return fmt::format(", phases = {}", fmt::join(code.waves, "+"));
  };
  out += fmt::format(" {} -> {} {{\n", values(program.inputs), values(program.outputs));
  for (const KernelSlot& kernel : program.kernels)
    out += fmt::format("  kernel @{} (buffers = {}, integers = {}{}{}{}{}{}){}{}\n", kernel.code.name,
                       kernel.code.buffers, kernel.code.integers, kernel.code.status ? ", status" : "",
                       kernel.code.workspaces > 0 ? fmt::format(", workspaces = {}", kernel.code.workspaces) : "",
                       kernel.code.counters > 0 ? fmt::format(", counters = {}", kernel.code.counters) : "",
                       phases(kernel.code),
                       kernel.taken.empty() ? "" : fmt::format(", taken = [{}]", fmt::join(kernel.taken, ", ")),
                       kernel.schedule.empty() ? "" : " schedule ", kernel.schedule);
  for (size_t i = 0; i < program.libraries.size(); ++i) {
    const LibraryContraction& contraction = program.libraries[i].contraction;
    out += fmt::format("  contraction @l{} {} {} -> {}\n", i + 1, form_text(contraction), name(contraction.in),
                       name(contraction.out));
  }
  for (const auto& step : program.steps) out += fmt::format("  {}\n", printer.step(*step));
  return out + "}\n";
}

}  // namespace plait
