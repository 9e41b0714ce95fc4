// Reader of PTX text.
#include <cstdio>
#include <cstring>
#include <set>

#include "base/error.h"
#include "sim/ptx/lexer.h"
#include "sim/ptx/text.h"

namespace plait::sim::ptx {

void refuse(int line, const std::string& what) { throw Fault{kInvalidPtx, fmt::format("PTX line {}: {}", line, what)}; }

namespace {

using Scope = std::map<std::string, int, std::less<>>;  // registers by name

class Reader {
 public:
  Reader(std::string_view ptx, TextModule& module) : in_(ptx), module_(module) {}

  void read() {
    while (in_.kind() != Lexer::Kind::end) directive();
    if (module_.target.empty()) refuse(in_.line(), "no .target");
  }

 private:
  // ---- Module.
  void directive();
  void module_variable();
  void kernel();
  void attribute(TextKernel& kernel);
  void skip_section();
  void file();
  Variable variable(Space space);
  void initializer(Variable& variable, Type element, size_t count);
  void add_parameter(TextKernel& kernel);
  // ---- Kernel.
  void body(TextKernel& kernel);
  void body_directive(TextKernel& kernel);
  void registers(TextKernel& kernel);
  void location();
  void statement(TextKernel& kernel);
  Operand operand();
  Operand primary();
  Operand literal(bool negative);
  Operand address();
  Operand vector();
  int find_register(std::string_view name) const;

  Lexer in_;
  TextModule& module_;
  std::vector<Scope> scopes_;
  int location_ = -1;
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
    skip_section();
  } else if (in_.accept(".pragma")) {
    in_.advance();
    in_.expect(";");
  } else if (in_.accept(".visible") || in_.accept(".weak")) {
  } else if (in_.accept(".entry")) {
    kernel();
  } else if (in_.is(".global") || in_.is(".const")) {
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

void Reader::skip_section() {
  const int line = in_.line();
  while (!in_.is("{") && in_.kind() != Lexer::Kind::end) in_.advance();
  for (int depth = 0; in_.kind() != Lexer::Kind::end;) {
    depth += in_.is("{") - in_.is("}");
    in_.advance();
    if (depth == 0) return;
  }
  refuse(line, "a section without its end");
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
  while (in_.accept("[")) {
    count *= in_.expect_number("a length");
    in_.expect("]");
  }
  out.bytes = count * static_cast<size_t>(bits_of(type) / 8);
  out.alignment = alignment != 0 ? alignment : static_cast<size_t>(bits_of(type) / 8);
  if ((out.alignment & (out.alignment - 1)) != 0 || out.bytes == 0 || out.bytes > size_t(1) << 30)
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
  const Space space = in_.is(".const") ? Space::constant : Space::global;
  in_.advance();
  module_.globals.push_back(variable(space));
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
  else if (in_.accept(".minnctapersm") || in_.accept(".maxnreg"))
    in_.expect_number("a number");  // for the assembler's choice of registers
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
  location_ = -1;
  body(kernel);
  kernel.info.registers = static_cast<int>(kernel.registers.size());
}

// ---- Kernel.

void Reader::body(TextKernel& kernel) {
  scopes_.clear();
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
}

void Reader::body_directive(TextKernel& kernel) {
  if (in_.accept(".reg")) {
    registers(kernel);
  } else if (in_.is(".loc")) {
    location();
  } else if (in_.accept(".pragma")) {
    in_.advance();
    in_.expect(";");
  } else if (in_.is(".local") || in_.is(".shared")) {
    const Space space = in_.is(".local") ? Space::local : Space::shared;
    in_.advance();
    Variable added = variable(space);
    size_t& total = space == Space::local ? kernel.info.local_bytes : kernel.info.shared_bytes;
    added.offset = (total + added.alignment - 1) / added.alignment * added.alignment;
    total = added.offset + added.bytes;
    kernel.variables.push_back(std::move(added));
    in_.expect(";");
  } else {
    refuse(in_.line(), fmt::format("`{}` is not modelled in a kernel", in_.token()));
  }
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
  const std::string opcode = in_.expect_word("an instruction");
  if (out.guard < 0 && in_.accept(":")) {
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
  if (!in_.is(";")) {
    do {
      out.operands.push_back(operand());
    } while (in_.accept(","));
  }
  in_.expect(";");
  kernel.statements.push_back(std::move(out));
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

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

constexpr std::string_view kSourceMark = "//cuda ";  // FILE|LINE

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// The text of a line; empty where it is not known.
std::string_view cuda_line(const TextModule& module, const Location& place) {
  const auto file = module.files.find(place.file);
  auto lines = file == module.files.end() ? module.cuda_lines.end() : module.cuda_lines.find(file->second);
  if (lines == module.cuda_lines.end() && module.files.size() <= 1) lines = module.cuda_lines.find("");
  if (lines == module.cuda_lines.end() || place.line < 1) return {};
  const size_t index = static_cast<size_t>(place.line) - 1;
  return index < lines->second.size() ? trimmed(lines->second[index]) : std::string_view();
}

std::string describe_place(const TextModule& module, int index) {
  const Location& it = module.locations[index];
  const auto file = module.files.find(it.file);
  std::string out = fmt::format("CUDA line {}", it.line);
  if (module.files.size() > 1 && file != module.files.end()) out += fmt::format(" of {}", file->second);
  if (const std::string_view text = cuda_line(module, it); !text.empty()) out += fmt::format(": `{}`", text);
  return out;
}

}  // namespace

TextModule read(std::string_view ptx, std::string_view cuda_text) {
  TextModule module;
  while (!ptx.empty() && ptx.back() == '\0') ptx.remove_suffix(1);
  module.lines = split_lines(ptx);
  for (const std::string& line : module.lines) {
    const size_t bar = line.find('|');
    if (line.compare(0, kSourceMark.size(), kSourceMark) != 0 || bar == line.npos) continue;
    module.cuda_lines[line.substr(kSourceMark.size(), bar - kSourceMark.size())].push_back(line.substr(bar + 1));
  }
  if (!cuda_text.empty()) module.cuda_lines[""] = split_lines(cuda_text);
  Reader(ptx, module).read();
  return module;
}

std::string describe(const TextModule& module, const Statement& statement) {
  std::string out = fmt::format("PTX line {}: `{}`", statement.line, trimmed(module.lines[statement.line - 1]));
  std::string places;
  for (int at = statement.location; at >= 0; at = module.locations[at].parent) {
    if (module.locations[at].line == 0) continue;
    const std::string place = describe_place(module, at);
    places = places.empty() ? place : place + ", inlined " + places;
  }
  return places.empty() ? out : out + "\n  " + places;
}

}  // namespace plait::sim::ptx

namespace plait::sim {

std::string with_source(std::string_view ptx, std::string_view cuda_text, std::string_view file) {
  while (!ptx.empty() && ptx.back() == '\0') ptx.remove_suffix(1);
  std::string out(ptx);
  if (!out.empty() && out.back() != '\n') out += '\n';
  for (const std::string& line : ptx::split_lines(cuda_text))
    out += fmt::format("{}{}|{}\n", ptx::kSourceMark, file, line);
  return out;
}

}  // namespace plait::sim
