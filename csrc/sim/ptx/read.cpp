// Reader of PTX text.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/error.h"
#include "sim/ptx/lexer.h"
#include "sim/ptx/text.h"

namespace plait::sim::ptx {

void refuse(int line, const std::string& what) { throw Fault{kInvalidPtx, fmt::format("PTX line {}: {}", line, what)}; }

namespace {

using Registers = std::map<std::string, int, std::less<>>;  // registers by name

class Reader {
 public:
  Reader(std::string_view ptx, TextModule& module) : in_(ptx), module_(module) {}

  void read() {
    while (in_.kind() != Lexer::Kind::end) directive();
    if (module_.target.empty()) refuse(in_.line(), "no .target");
    for (size_t i = 0; i < bodies_.size(); ++i) {  // after the functions that they call
      TextKernel& kernel = module_.kernels[i];
      in_ = bodies_[i];
      location_ = -1;
      frames_.assign(1, {});
      body(kernel);
      place_shared(shared_, kernel);
      kernel.info.registers = static_cast<int>(kernel.registers.size());
    }
  }

 private:
  // Slow paths of CUDA's math library are functions. Each call gets a copy of the body with registers and labels of its
  // own; parameters and results are local variables of the kernel.
  struct Function {
    std::vector<Variable> results, parameters;
    Lexer body;
  };
  // The kernel, then the functions that are being copied.
  struct Frame {
    int number = 0;                                         // 0: the kernel
    std::map<std::string, std::string, std::less<>> names;  // of what .param declares, or is bound to, in the kernel
  };

  // ---- Module.
  void directive();
  void module_variable();
  void kernel();
  void attribute(TextKernel& kernel);
  void skip_braces(const std::string& what);
  void function();
  std::vector<Variable> formals();
  void file();
  Variable variable(Space space);
  void initializer(Variable& variable, Type element, size_t count);
  void add_parameter(TextKernel& kernel);
  // ---- Kernel.
  void body(TextKernel& kernel);
  void body_directive(TextKernel& kernel);
  void registers(TextKernel& kernel);
  void call_parameter(TextKernel& kernel);
  void location();
  void statement(TextKernel& kernel);
  void call(TextKernel& kernel, const Statement& at);
  std::vector<std::string> actuals();
  void bind(Frame& frame, const TextKernel& kernel, const std::vector<Variable>& formals,
            const std::vector<std::string>& actuals) const;
  void name_within_frame(Statement& statement) const;
  std::string end_label() const { return fmt::format("end@{}", frames_.back().number); }
  Operand operand();
  Operand primary();
  Operand literal(bool negative);
  Operand address();
  Operand vector();
  int find_register(std::string_view name) const;

  Lexer in_;
  TextModule& module_;
  std::vector<Variable> shared_;  // of the module
  std::vector<Registers> scopes_;
  std::vector<Frame> frames_;
  std::map<std::string, Function, std::less<>> functions_;
  std::vector<Lexer> bodies_;  // of the kernels
  int location_ = -1, copies_ = 0;
};

// ---- Module.

void Reader::directive() {
  const int line = in_.line();
  if (in_.accept(".version")) {
    in_.advance();
  } else if (in_.accept(".target")) {
    module_.target = in_.expect_word("a target");
    while (in_.accept(",")) in_.expect_word("a target's option");
  } else if (in_.accept(".address_size")) {
    if (in_.expect_number("64") != 64) refuse(line, "only 64-bit addresses are modelled");
  } else if (in_.accept(".file")) {
    file();
  } else if (in_.accept(".section")) {
    skip_braces("a section");
  } else if (in_.accept(".pragma")) {
    in_.advance();
    in_.expect(";");
  } else if (in_.accept(".visible") || in_.accept(".weak") || in_.accept(".extern")) {
  } else if (in_.accept(".entry")) {
    kernel();
  } else if (in_.accept(".func")) {
    function();
  } else if (in_.is(".global") || in_.is(".const") || in_.is(".shared")) {
    module_variable();
  } else {
    refuse(line, fmt::format("`{}` is not modelled here", in_.token()));
  }
}

void Reader::file() {
  const int number = static_cast<int>(in_.expect_number("a file's number"));
  std::string path(in_.token());
  const size_t slash = path.rfind('/');
  if (slash != path.npos) path.erase(0, slash + 1);
  module_.files[number] = path;
  in_.advance();
  while (in_.accept(",")) in_.advance();  // time stamp and size
}

void Reader::skip_braces(const std::string& what) {
  const int line = in_.line();
  while (!in_.is("{") && in_.kind() != Lexer::Kind::end) in_.advance();
  for (int depth = 0; in_.kind() != Lexer::Kind::end;) {
    depth += in_.is("{") - in_.is("}");
    in_.advance();
    if (depth == 0) return;
  }
  refuse(line, what + " does not end");
}

std::vector<Variable> Reader::formals() {
  std::vector<Variable> out;
  if (!in_.accept("(") || in_.accept(")")) return out;
  do {
    in_.expect(".param");
    out.push_back(variable(Space::param));
  } while (in_.accept(","));
  in_.expect(")");
  return out;
}

// [(results)] name [(parameters)] and a body, or a declaration of it.
void Reader::function() {
  std::vector<Variable> results = formals();
  const std::string name = in_.expect_word("a function's name");
  std::vector<Variable> parameters = formals();
  while (in_.accept(".noinline")) {}
  if (in_.accept(";")) return;
  if (!in_.is("{")) refuse(in_.line(), fmt::format("`{}` is not modelled at a function", in_.token()));
  functions_.emplace(name, Function{std::move(results), std::move(parameters), in_});
  skip_braces("the body of " + name);
}

// [.align n] type name [count]; the space is read.
Variable Reader::variable(Space space) {
  Variable out;
  out.space = space;
  const int line = in_.line();
  Type type = Type::none;
  size_t alignment = 0;
  while (in_.kind() == Lexer::Kind::word && in_.token()[0] == '.') {
    if (in_.accept(".align")) {
      alignment = in_.expect_number("an alignment");
    } else if (in_.accept(".ptr") || in_.accept(".global") || in_.accept(".const") || in_.accept(".local") ||
               in_.accept(".shared")) {  // what a pointer's bits point to
      if (in_.accept(".align")) in_.expect_number("an alignment");
    } else if (const auto found = parse_type(in_.token().substr(1)); found && bits_of(*found) >= 8) {
      type = *found;
      in_.advance();
    } else {
      refuse(line, fmt::format("`{}` is not modelled in a declaration", in_.token()));
    }
  }
  if (type == Type::none) refuse(line, "a declaration without a type");
  out.name = in_.expect_word("a name");
  size_t count = 1;
  bool unsized = false;
  while (in_.accept("[")) {
    unsized = space == Space::shared && in_.is("]");
    count *= unsized ? 0 : in_.expect_number("a length");
    in_.expect("]");
  }
  out.bytes = count * static_cast<size_t>(bits_of(type) / 8);
  out.alignment = alignment != 0 ? alignment : static_cast<size_t>(bits_of(type) / 8);
  if ((out.alignment & (out.alignment - 1)) != 0 || (out.bytes == 0 && !unsized) || out.bytes > size_t(1) << 30)
    refuse(line, fmt::format("size or alignment of {}", out.name));
  if (in_.accept("=")) initializer(out, type, count);
  return out;
}

void Reader::initializer(Variable& variable, Type element, size_t count) {
  const size_t size = static_cast<size_t>(bits_of(element) / 8);
  variable.initial.assign(variable.bytes, 0);
  const bool list = in_.accept("{");
  for (size_t i = 0; !in_.is("}"); ++i) {
    const bool negative = in_.accept("-");
    const Operand value = literal(negative);
    if (i >= count) refuse(in_.line(), fmt::format("too many values for {}", variable.name));
    if (value.kind != Operand::Kind::integer && bits_of(element) != (value.kind == Operand::Kind::f32 ? 32 : 64))
      refuse(in_.line(), "a float literal of another size than its variable");
    std::memcpy(variable.initial.data() + i * size, &value.bits, size);
    if (!list || !in_.accept(",")) break;
  }
  if (list) in_.expect("}");
}

void Reader::module_variable() {
  const Space space = in_.is(".const") ? Space::constant : in_.is(".shared") ? Space::shared : Space::global;
  in_.advance();
  (space == Space::shared ? shared_ : module_.globals).push_back(variable(space));
  in_.expect(";");
}

void Reader::add_parameter(TextKernel& kernel) {
  in_.expect(".param");
  Variable parameter = variable(Space::param);
  KernelInfo& info = kernel.info;
  parameter.offset = (info.parameter_bytes + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
  info.parameter_bytes = parameter.offset + parameter.bytes;
  info.parameters.push_back({parameter.offset, parameter.bytes});
  kernel.variables.push_back(std::move(parameter));
}

void Reader::attribute(TextKernel& kernel) {
  const auto extents = [&](std::array<uint32_t, 3>& out) {
    out = {1, 1, 1};
    size_t i = 0;
    do {
      if (i == 3) refuse(in_.line(), "more than three extents");
      out[i++] = static_cast<uint32_t>(in_.expect_number("an extent"));
    } while (in_.accept(","));
  };
  if (in_.accept(".maxntid"))
    extents(kernel.info.max_threads);
  else if (in_.accept(".reqntid"))
    extents(kernel.info.required_threads);
  else if (in_.accept(".reqnctapercluster"))
    extents(kernel.info.cluster);
  else if (in_.accept(".explicitcluster"))
    return;
  else if (in_.accept(".minnctapersm") || in_.accept(".maxnreg") || in_.accept(".maxclusterrank"))
    in_.expect_number("a number");  // for the assembler's choice of registers; bounds of launches
  else
    refuse(in_.line(), fmt::format("the kernel attribute `{}` is not modelled", in_.token()));
}

void Reader::kernel() {
  module_.kernels.emplace_back();
  TextKernel& kernel = module_.kernels.back();
  kernel.info.name = in_.expect_word("a kernel's name");
  if (in_.accept("(") && !in_.accept(")")) {
    do {
      add_parameter(kernel);
    } while (in_.accept(","));
    in_.expect(")");
  }
  while (!in_.is("{")) attribute(kernel);
  bodies_.push_back(in_);
  skip_braces("the body of " + kernel.info.name);
}

// ---- Kernel.

void Reader::body(TextKernel& kernel) {
  std::vector<Registers> outside;
  outside.swap(scopes_);
  do {
    if (in_.accept("{")) {
      scopes_.emplace_back();
    } else if (in_.accept("}")) {
      scopes_.pop_back();
    } else if (in_.kind() == Lexer::Kind::end) {
      refuse(in_.line(), fmt::format("the body of {} does not end", kernel.info.name));
    } else if (in_.token()[0] == '.') {
      body_directive(kernel);
    } else {
      statement(kernel);
    }
  } while (!scopes_.empty());
  scopes_.swap(outside);
}

void Reader::body_directive(TextKernel& kernel) {
  if (in_.accept(".reg")) {
    registers(kernel);
  } else if (in_.is(".loc")) {
    location();
  } else if (in_.accept(".pragma")) {
    in_.advance();
    in_.expect(";");
  } else if (in_.accept(".param")) {
    call_parameter(kernel);
  } else if (in_.is(".local") || in_.is(".shared")) {
    const Space space = in_.is(".local") ? Space::local : Space::shared;
    in_.advance();
    Variable added = variable(space);
    const auto same = [&](const Variable& each) { return each.name == added.name; };
    if (frames_.back().number != 0 && std::any_of(kernel.variables.begin(), kernel.variables.end(), same)) {
      in_.expect(";");  // of an earlier copy
      return;
    }
    size_t& total = space == Space::local ? kernel.info.local_bytes : kernel.info.shared_bytes;
    added.offset = (total + added.alignment - 1) / added.alignment * added.alignment;
    total = added.offset + added.bytes;
    kernel.variables.push_back(std::move(added));
    in_.expect(";");
  } else {
    refuse(in_.line(), fmt::format("`{}` is not modelled in a kernel", in_.token()));
  }
}

// A variable through which a call passes a parameter or its result; each is one of the kernel's own.
void Reader::call_parameter(TextKernel& kernel) {
  Variable added = variable(Space::local);
  in_.expect(";");
  size_t& total = kernel.info.local_bytes;
  added.offset = (total + added.alignment - 1) / added.alignment * added.alignment;
  total = added.offset + added.bytes;
  const std::string own = fmt::format("{}@{}", added.name, kernel.variables.size());
  frames_.back().names[added.name] = own;
  added.name = own;
  kernel.variables.push_back(std::move(added));
}

void Reader::registers(TextKernel& kernel) {
  const int line = in_.line();
  const std::string type_word = in_.expect_word("a type");
  const auto type = type_word[0] == '.' ? parse_type(std::string_view(type_word).substr(1)) : std::nullopt;
  if (!type) refuse(line, fmt::format("`{}` is no type of registers", type_word));
  const auto add = [&](const std::string& name) {
    if (!scopes_.back().emplace(name, static_cast<int>(kernel.registers.size())).second)
      refuse(line, fmt::format("{} is declared twice", name));
    kernel.registers.push_back({name, *type});
  };
  do {
    const std::string name = in_.expect_word("a register");
    if (in_.accept("<")) {
      const uint64_t count = in_.expect_number("a number of registers");
      if (count > 1 << 20) refuse(line, "too many registers");
      for (uint64_t i = 0; i < count; ++i) add(fmt::format("{}{}", name, i));
      in_.expect(">");
    } else {
      add(name);
    }
  } while (in_.accept(","));
  in_.expect(";");
}

// .loc file line column [, function_name label, inlined_at file line column]
void Reader::location() {
  const std::string text(in_.rest_of_line());
  Location added;
  if (std::sscanf(text.c_str(), ".loc %d %d %d", &added.file, &added.line, &added.column) != 3)
    refuse(in_.line(), "malformed .loc");
  std::vector<Location>& all = module_.locations;
  if (const size_t at = text.find("inlined_at"); at != text.npos) {
    Location call;
    std::sscanf(text.c_str() + at, "inlined_at %d %d %d", &call.file, &call.line, &call.column);
    for (size_t i = all.size(); i-- > 0 && added.parent < 0;)  // the latest of that place is its own context
      if (all[i].file == call.file && all[i].line == call.line && all[i].column == call.column)
        added.parent = static_cast<int>(i);
    if (added.parent < 0) {
      added.parent = static_cast<int>(all.size());
      all.push_back(call);
    }
  }
  location_ = static_cast<int>(all.size());
  all.push_back(added);
}

int Reader::find_register(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;)
    if (const auto at = scopes_[i].find(name); at != scopes_[i].end()) return at->second;
  return -1;
}

void Reader::statement(TextKernel& kernel) {
  Statement out;
  out.line = in_.line();
  if (in_.accept("@")) {
    out.guard_negated = in_.accept("!");
    const std::string name = in_.expect_word("a predicate");
    out.guard = find_register(name);
    if (out.guard < 0 || kernel.registers[out.guard].type != Type::pred)
      refuse(out.line, fmt::format("{} is no predicate", name));
  }
  std::string opcode = in_.expect_word("an instruction");
  if (out.guard < 0 && in_.accept(":")) {
    if (frames_.back().number != 0) opcode += fmt::format("@{}", frames_.back().number);
    if (!kernel.labels.emplace(opcode, static_cast<int>(kernel.statements.size())).second)
      refuse(out.line, fmt::format("the label {} is there twice", opcode));
    return;
  }
  for (size_t at = 0; at <= opcode.size();) {
    const size_t end = std::min(opcode.find('.', at), opcode.size());
    out.words.push_back(opcode.substr(at, end - at));
    at = end + 1;
  }
  out.location = location_;
  if (out.words[0] == "call") return call(kernel, out);
  if (!in_.is(";")) {
    do {
      out.operands.push_back(operand());
    } while (in_.accept(","));
  }
  in_.expect(";");
  name_within_frame(out);
  kernel.statements.push_back(std::move(out));
}

// Parameters of calls, labels of copies; a copy's return goes to its end.
void Reader::name_within_frame(Statement& statement) const {
  const Frame& frame = frames_.back();
  std::vector<std::string>& words = statement.words;
  if ((words[0] == "ld" || words[0] == "st") && words.size() > 1 && words[1] == "param") {
    for (Operand& each : statement.operands) {
      if (each.kind != Operand::Kind::address || each.elements.empty()) continue;
      const auto own = frame.names.find(each.elements[0].name);
      if (own == frame.names.end()) continue;
      each.elements[0].name = own->second;
      words[1] = "local";
    }
  }
  if (frame.number == 0) return;
  if (words[0] == "ret") {
    words = {"bra"};
    statement.operands.emplace_back();
    statement.operands[0].name = end_label();
  } else if (words[0] == "bra" && statement.operands.size() == 1) {
    statement.operands[0].name += fmt::format("@{}", frame.number);
  }
}

std::vector<std::string> Reader::actuals() {
  std::vector<std::string> out;
  if (!in_.accept("(") || in_.accept(")")) return out;
  do {
    out.push_back(in_.expect_word("a parameter"));
  } while (in_.accept(","));
  in_.expect(")");
  return out;
}

void Reader::bind(Frame& frame, const TextKernel& kernel, const std::vector<Variable>& formals,
                  const std::vector<std::string>& actuals) const {
  if (formals.size() != actuals.size())
    refuse(in_.line(), fmt::format("{} parameters or results of {}", actuals.size(), formals.size()));
  for (size_t i = 0; i < formals.size(); ++i) {
    const auto own = frames_.back().names.find(actuals[i]);
    const auto known = [&](const Variable& each) {
      return own != frames_.back().names.end() && each.name == own->second;
    };
    const auto variable = std::find_if(kernel.variables.begin(), kernel.variables.end(), known);
    if (variable == kernel.variables.end() || variable->bytes != formals[i].bytes)
      refuse(in_.line(), fmt::format("{} for {} is no variable of its size", actuals[i], formals[i].name));
    frame.names[formals[i].name] = variable->name;
  }
}

// call[.uni] [(results),] name [, (parameters)];
void Reader::call(TextKernel& kernel, const Statement& at) {
  if (at.guard >= 0) refuse(at.line, "a call under a predicate is not modelled");
  constexpr size_t kDeepest = 16;
  const std::vector<std::string> results = actuals();
  if (!results.empty()) in_.expect(",");
  const std::string name = in_.expect_word("a function");
  const std::vector<std::string> parameters = in_.accept(",") ? actuals() : std::vector<std::string>();
  in_.expect(";");
  const auto function = functions_.find(name);
  if (function == functions_.end()) refuse(at.line, fmt::format("the function {} is not there", name));
  if (frames_.size() > kDeepest) refuse(at.line, fmt::format("{} is called too deep, or by itself", name));
  Frame frame;
  frame.number = ++copies_;
  bind(frame, kernel, function->second.results, results);
  bind(frame, kernel, function->second.parameters, parameters);
  const Lexer behind = in_;
  const int location = location_;
  frames_.push_back(std::move(frame));
  in_ = function->second.body;
  body(kernel);
  kernel.labels.emplace(end_label(), static_cast<int>(kernel.statements.size()));
  frames_.pop_back();
  in_ = behind;
  location_ = location;
}

Operand Reader::operand() {
  Operand first = primary();
  if (!in_.accept("|")) return first;
  Operand out;
  out.kind = Operand::Kind::predicates;
  out.elements.push_back(std::move(first));
  out.elements.push_back(primary());
  return out;
}

Operand Reader::primary() {
  if (in_.accept("[")) return address();
  if (in_.accept("{")) return vector();
  const bool negated = in_.accept("!");
  const bool negative = !negated && in_.accept("-");
  if (in_.kind() == Lexer::Kind::number) return literal(negative);
  Operand out;
  out.negated = negated;
  const int line = in_.line();
  out.name = in_.expect_word("an operand");
  out.reg = find_register(out.name);
  if (negative) refuse(line, "a minus sign before a name");
  if (out.reg >= 0 || out.name == "_") {
    out.kind = Operand::Kind::reg;
  } else if (in_.is("+") || in_.is("-")) {
    const bool minus = in_.is("-");
    in_.advance();
    const int64_t offset = static_cast<int64_t>(in_.expect_number("an offset"));
    out.offset = minus ? -offset : offset;
  }
  return out;
}

Operand Reader::literal(bool negative) {
  Operand out;
  const std::string text(in_.token());
  const char form = text.size() > 1 && text[0] == '0' ? text[1] : '0';
  const bool single = form == 'f' || form == 'F', wide = form == 'd' || form == 'D';
  if (single || wide) {
    out.kind = single ? Operand::Kind::f32 : Operand::Kind::f64;
    if (text.size() != (single ? 10u : 18u) || !parse_integer("0x" + text.substr(2), &out.bits))
      refuse(in_.line(), fmt::format("malformed literal `{}`", text));
    if (negative) out.bits ^= uint64_t(1) << (single ? 31 : 63);
  } else {
    out.kind = Operand::Kind::integer;
    if (in_.kind() != Lexer::Kind::number || !parse_integer(text, &out.bits))
      refuse(in_.line(), fmt::format("expected a literal, found `{}`", text));
    if (negative) out.bits = -out.bits;
  }
  in_.advance();
  return out;
}

Operand Reader::address() {
  Operand out;
  out.kind = Operand::Kind::address;
  if (in_.kind() == Lexer::Kind::number) {
    out.offset = static_cast<int64_t>(in_.expect_number("an address"));
  } else {
    Operand base;
    base.name = in_.expect_word("an address");
    base.reg = find_register(base.name);
    if (base.reg >= 0) base.kind = Operand::Kind::reg;
    out.elements.push_back(std::move(base));
    bool minus = in_.accept("-");
    if (minus || in_.accept("+")) {
      if (in_.accept("-")) minus = !minus;
      const int64_t offset = static_cast<int64_t>(in_.expect_number("an offset"));
      out.offset = minus ? -offset : offset;
    }
  }
  in_.expect("]");
  return out;
}

Operand Reader::vector() {
  Operand out;
  out.kind = Operand::Kind::vector;
  do {
    out.elements.push_back(primary());
  } while (in_.accept(","));
  in_.expect("}");
  return out;
}

}  // namespace

TextModule read(std::string_view ptx, std::string_view cuda_text) {
  TextModule module;
  while (!ptx.empty() && ptx.back() == '\0') ptx.remove_suffix(1);
  module.lines = split_lines(ptx);
  find_cuda_lines(cuda_text, module);
  Reader(ptx, module).read();
  return module;
}

}  // namespace plait::sim::ptx
