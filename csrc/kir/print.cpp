#include "base/error.h"
#include "kir/facts.h"
#include "kir/kernel.h"
#include "kir/statements.h"

namespace plait::kir {
namespace {

// Null expressions occur in statements that break invariants; they print as `null`.
std::string text(sym::Expr expr) { return expr ? sym::print(expr) : "null"; }

std::string text(const Value& value) { return fmt::format("%{}", value.id); }

std::string type_text(const Value& value) {
  return value.lanes == 1 ? std::string(name(value.dtype)) : fmt::format("{}x{}", name(value.dtype), value.lanes);
}

std::string definition(const Value& value) { return fmt::format("%{}: {} = ", value.id, type_text(value)); }

std::string definitions(const std::vector<Value>& values) {
  std::string list;
  for (const Value& value : values)
    list += fmt::format("{}%{}: {}", list.empty() ? "" : ", ", value.id, type_text(value));
  return list + " = ";
}

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
    for (const Buffer& buffer : kernel_.buffers)
      if (!buffer.is_local()) buffers += (buffers.empty() ? "" : ", ") + declaration(buffer);
    for (sym::Expr integer : kernel_.integers) integers += (integers.empty() ? "" : ", ") + text(integer);
    out_ =
        fmt::format("kernel @{}({}{}{}){} target {}{}", kernel_.name, buffers, integers.empty() ? "" : "; ", integers,
                    facts(), kernel_.target == TargetKind::cpu ? "cpu" : "cuda", kernel_.narrow ? " narrow" : "");
    if (!kernel_.schedule.empty()) out_ += " schedule " + kernel_.schedule;
    out_ += " {\n";
    for (const Phase& phase : kernel_.phases) {
      const bool one = kernel_.phases.size() == 1;
      if (!one) out_ += fmt::format("  phase{} {{\n", phase.beside ? " beside" : "");
      block(phase.body, one ? 1 : 2);
      if (!one) out_ += "  }\n";
    }
    return out_ + "}\n";
  }

  std::string line(const Stmt& stmt) const {
    return visit(stmt,
                 overloaded{
                     [&](const For& s) { return loop(s); },
                     [&](const If& s) { return "if " + text(s.condition); },
                     [&](const Alloc& s) { return alloc(s); },
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
                     [&](const Atomic& s) {
                       return fmt::format("{} {} = {}", name(s.op), element(s.buffer, s.index), text(s.in));
                     },
                     [&](const CopyAsync& s) { return copy(s); },
                     [&](const Commit&) { return std::string("commit"); },
                     [&](const LoadMatrix& s) { return matrices(s); },
                     [&](const Mma& s) { return products(s); },
                     [&](const Wait& s) { return fmt::format("wait {}", s.left); },
                     [&](const LastBlock& s) { return last_block(s); },
                     [&](const Await& s) { return await(s); },
                     [&](const Sync& s) { return fmt::format("sync {}", name(s.scope)); },
                     [&](const Shuffle& s) { return definition(s.out) + shuffle(s); },
                     [&](const LoadOfBlock& s) { return of_block(s); },
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
                     [&](const Transpose& s) { return fmt::format("{}transpose({})", definitions(s.out), text(s.in)); },
                     [&](const Running& s) { return definition(s.out) + running(s); },
                     [&](const Random& s) { return definition(s.out) + random(s); },
                     [&](const Start& s) {
                       return definitions(s.state) + "start " + std::string(name(s.combine)) + of_element(s.element);
                     },
                     [&](const Accumulate& s) {
                       return fmt::format("accumulate {}({}) with {}{}", name(s.combine), text(s.state), text(s.in),
                                          active_text(s.active));
                     },
                     [&](const Merge& s) {
                       return fmt::format("merge {}({}) with {}", name(s.combine), text(s.state), text(s.in));
                     },
                     [&](const Fold& s) { return fold(s); },
                     [&](const Prefix& s) { return prefix(s); },
                 });
  }

 private:
  std::string await(const Await& s) const {
    return fmt::format("await {} from {}", buffer_name(s.buffer), text(s.from));
  }
  std::string shuffle(const Shuffle& s) const { return fmt::format("shuffle({}, by = {})", text(s.in), s.by); }
  std::string last_block(const LastBlock& s) const {
    return fmt::format("last_block {} of {}", element(s.buffer, s.index), text(s.blocks));
  }
  static std::string loop(const For& s) {
    const std::string on = s.loop == LoopKind::serial ? "" : fmt::format(" on {}", name(s.loop));
    const std::string stages = s.stages > 1 ? fmt::format(" stages {}", s.stages) : "";
    return fmt::format("for {} in 0..{}{}{}{}", text(s.var), text(s.extent), on, s.unroll ? " unroll" : "", stages);
  }
  std::string copy(const CopyAsync& s) const {
    return fmt::format("copy_async {} {} = {} {} of {}{}", element(s.to, s.to_index), name(s.to_access),
                       element(s.from, s.index), name(s.access), s.lanes, active_text(s.active));
  }
  std::string matrices(const LoadMatrix& s) const {
    return fmt::format("load_matrix {} = {} of {}{}", element(s.to, s.to_index), element(s.from, s.index), s.count,
                       s.transposed ? " transposed" : "");
  }
  std::string products(const Mma& s) const {
    return fmt::format("mma {} with {}, {}", element(s.sums, s.sums_index), element(s.a, s.a_index),
                       element(s.b, s.b_index));
  }
  static std::string of_element(std::optional<DType> element) {
    return element ? fmt::format(" of {}", name(*element)) : "";
  }
  static std::string fold(const Fold& s) {
    return fmt::format("{}fold {}({}){}{}", definitions(s.out), name(s.combine), text(s.state),
                       s.threads > 1 ? fmt::format(" over {}", s.threads) : "",
                       s.stride > 1 ? fmt::format(" by {}", s.stride) : "");
  }
  static std::string prefix(const Prefix& s) {
    std::vector<Value> out = s.before;
    out.insert(out.end(), s.all.begin(), s.all.end());
    return fmt::format("{}prefix {}({}) over {}{}", definitions(out), name(s.combine), text(s.state), s.threads,
                       of_element(s.element));
  }
  static std::string running(const Running& s) {
    return fmt::format("running {}({}) from {}", plait::name(s.function), text(s.in), text(s.before));
  }
  static std::string random(const Random& s) {
    return fmt::format("random(seed = {}, index = {}, offset = {})", text(s.seed), text(s.index), text(s.offset));
  }

  // What is known of symbols and does not follow from the text.
  std::string facts() const {
    std::string out;
    for (sym::Expr symbol : stated_symbols(kernel_))
      out += fmt::format("{}{}: {}", out.empty() ? " given " : ", ", symbol.symbol_name(),
                         facts_text(kernel_.pool->info(symbol)));
    return out;
  }

  void block(const Block& body, int depth) {
    for (const auto& stmt : body) {
      const std::string indent(size_t(2 * depth), ' ');
      const Block* inner = body_of(*stmt);
      out_ += indent + line(*stmt) + (inner ? " {\n" : "\n");
      if (inner == nullptr) continue;
      block(*inner, depth + 1);
      out_ += indent + "}\n";
    }
  }

  std::string alloc(const Alloc& s) const {
    const bool known = s.buffer < kernel_.buffers.size();
    return "alloc " + (known ? declaration(kernel_.buffers[s.buffer]) : buffer_name(s.buffer));
  }

  std::string of_block(const LoadOfBlock& s) const {
    return fmt::format("{}load_of_block {} block = {}", definition(s.out), element(s.buffer, s.index), text(s.block));
  }

  std::string element(uint32_t buffer, sym::Expr index) const {
    return fmt::format("{}[{}]", buffer_name(buffer), text(index));
  }

  std::string buffer_name(uint32_t buffer) const {
    const bool known = buffer < kernel_.buffers.size();
    return "%" + (known ? kernel_.buffers[buffer].name : fmt::format("buffer{}", buffer));
  }

  static std::string declaration(const Buffer& buffer) {
    const std::string_view use = buffer.space != Space::argument ? name(buffer.space)
                                 : buffer.updated                ? "update"
                                 : buffer.written                ? "write"
                                 : buffer.replaced               ? "replace"
                                                                 : "read";
    const std::string turned = buffer.turned > 0 ? fmt::format(" turned {}", buffer.turned) : "";
    return fmt::format("%{}: {}[{}] {}{}", buffer.name, name(buffer.dtype), text(buffer.extent), use, turned);
  }

  static std::string active_text(sym::Expr active) { return active ? " active " + text(active) : ""; }

  static std::string how(Access access, sym::Expr active) {
    return fmt::format(" {}{}", name(access), active_text(active));
  }

  const Kernel& kernel_;
  std::string out_;
};

}  // namespace

std::string print(const Kernel& kernel) { return Printer(kernel).kernel(); }

std::string print(const Kernel& kernel, const Stmt& stmt) { return Printer(kernel).line(stmt); }

}  // namespace plait::kir
