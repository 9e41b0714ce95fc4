#include "base/error.h"
#include "kir/kernel.h"

namespace plait::kir {
namespace {

// Null expressions occur in statements that break invariants; they print as `null`.
std::string text(sym::Expr expr) { return expr ? sym::print(expr) : "null"; }

std::string text(const Value& value) { return fmt::format("%{}", value.id); }

std::string type_text(const Value& value) {
  return value.lanes == 1 ? std::string(name(value.dtype)) : fmt::format("{}x{}", name(value.dtype), value.lanes);
}

std::string definition(const Value& value) { return fmt::format("%{}: {} = ", value.id, type_text(value)); }

std::string text(const std::vector<Value>& values) {
  std::string list;
  for (const Value& value : values) list += (list.empty() ? "" : ", ") + text(value);
  return list;
}

class Printer {
 public:
  explicit Printer(const Kernel& kernel) : kernel_(kernel) {}

  std::string kernel() {
    std::string buffers, integers;
    for (const Buffer& buffer : kernel_.buffers) {
      buffers += fmt::format("{}%{}: {}[{}] {}", buffers.empty() ? "" : ", ", buffer.name, name(buffer.dtype),
                             text(buffer.extent),
                             buffer.updated   ? "update"
                             : buffer.written ? "write"
                                              : "read");
    }
    for (sym::Expr integer : kernel_.integers) integers += (integers.empty() ? "" : ", ") + text(integer);
    out_ = fmt::format("kernel @{}({}{}{}) target {}", kernel_.name, buffers, integers.empty() ? "" : "; ", integers,
                       kernel_.target == TargetKind::cpu ? "cpu" : "cuda");
    if (!kernel_.schedule.empty()) out_ += " schedule " + kernel_.schedule;
    out_ += " {\n";
    block(kernel_.body, 1);
    return out_ + "}\n";
  }

  std::string line(const Stmt& stmt) const {
    return visit(stmt,
                 overloaded{
                     [&](const For& s) {
                       const std::string on = s.loop == LoopKind::serial ? "" : fmt::format(" on {}", name(s.loop));
                       return fmt::format("for {} in 0..{}{}", text(s.var), text(s.extent), on);
                     },
                     [&](const If& s) { return "if " + text(s.condition); },
                     [&](const Variable& s) { return definition(s.out) + "variable " + s.initial.text(); },
                     [&](const Assign& s) { return fmt::format("assign {} = {}", text(s.variable), text(s.in)); },
                     [&](const Literal& s) { return definition(s.out) + "literal " + s.constant.text(); },
                     [&](const Coordinate& s) { return definition(s.out) + "coordinate " + text(s.index); },
                     [&](const Bind& s) { return fmt::format("bind {} = {}", text(s.var), text(s.in)); },
                     [&](const Load& s) {
                       return definition(s.out) + "load " + element(s.buffer, s.index) + how(s.access, s.active);
                     },
                     [&](const Store& s) {
                       return "store " + element(s.buffer, s.index) + " = " + text(s.in) + how(s.access, s.active);
                     },
                     [&](const AtomicMin& s) {
                       return fmt::format("atomic_min {} = {}", element(s.buffer, s.index), text(s.in));
                     },
                     [&](const Compute& s) {
                       return fmt::format("{}{}({})", definition(s.out), plait::name(s.function), text(s.in));
                     },
                     [&](const Convert& s) { return fmt::format("{}convert({})", definition(s.out), text(s.in)); },
                     [&](const Round& s) {
                       return fmt::format("{}round({}, to = {})", definition(s.out), text(s.in), name(s.to));
                     },
                     [&](const Half& s) {
                       return fmt::format("{}half({}, upper = {})", definition(s.out), text(s.in), s.upper);
                     },
                     [&](const Random& s) {
                       return fmt::format("{}random(seed = {}, index = {}, offset = {})", definition(s.out),
                                          text(s.seed), text(s.index), text(s.offset));
                     },
                 });
  }

 private:
  void block(const Block& body, int depth) {
    for (const auto& stmt : body) {
      const std::string indent(size_t(2 * depth), ' ');
      const Block* inner = nullptr;
      if (const For* loop = as<For>(*stmt)) inner = &loop->body;
      if (const If* branch = as<If>(*stmt)) inner = &branch->body;
      out_ += indent + line(*stmt) + (inner ? " {\n" : "\n");
      if (inner == nullptr) continue;
      block(*inner, depth + 1);
      out_ += indent + "}\n";
    }
  }

  std::string element(uint32_t buffer, sym::Expr index) const {
    const bool known = buffer < kernel_.buffers.size();
    return fmt::format("%{}[{}]", known ? kernel_.buffers[buffer].name : fmt::format("buffer{}", buffer), text(index));
  }

  static std::string how(Access access, sym::Expr active) {
    return fmt::format(" {}{}", name(access), active ? " active " + text(active) : "");
  }

  const Kernel& kernel_;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).kernel(); }

std::string print(const Kernel& kernel, const Stmt& stmt) { return Printer(kernel).line(stmt); }

}  // namespace plait::kir
