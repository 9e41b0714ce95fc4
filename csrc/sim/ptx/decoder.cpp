#include "sim/ptx/decoder.h"

#include <algorithm>

#include "base/error.h"
#include "sim/ptx/lanes.h"

namespace plait::sim::ptx {

#define PLAIT_PTX(name, family, forms, label) void decode_##family(Decoder& d);
#include "sim/ptx/instructions.def"
#undef PLAIT_PTX

const std::vector<InstructionRow>& instruction_table() {
  static const std::vector<InstructionRow> table = {
#define PLAIT_PTX(name, family, forms, label) {name, decode_##family, forms, label},
#include "sim/ptx/instructions.def"
#undef PLAIT_PTX
  };
  return table;
}

namespace {

Decode find_decode(std::string_view mnemonic) {
  static const std::map<std::string_view, Decode> all = [] {
    std::map<std::string_view, Decode> out;
    for (const InstructionRow& row : instruction_table()) out[row.name] = row.decode;
    return out;
  }();
  const auto at = all.find(mnemonic);
  return at == all.end() ? nullptr : at->second;
}

// Adds the executing lanes to those that wrote a register.
void mark_written(Warp& warp, const Instruction& i) { warp.predicates[i.d] |= warp.exec; }

void check_written(Warp& warp, const Instruction& i) {
  const uint32_t missing = warp.exec & ~warp.predicates[i.a];
  if (missing == 0) return;
  fail(warp, i, std::countr_zero(missing), kLaunchFailed,
       fmt::format("uninitialised: reads register {} before any instruction wrote it",
                   warp.run->program->tracked[static_cast<size_t>(i.immediate)]));
}

}  // namespace

Decoder::Decoder(const TextModule& module, const TextKernel& kernel) : module_(module), kernel_(kernel) {}

// ---- Modifiers.

bool Decoder::take(std::string_view modifier) {
  const std::vector<std::string>& words = statement_->words;
  for (size_t i = 1; i < words.size(); ++i) {
    if (taken_[i] || words[i] != modifier) continue;
    taken_[i] = true;
    return true;
  }
  return false;
}

int Decoder::take_one(std::initializer_list<std::string_view> modifiers) {
  int number = 0;
  for (std::string_view each : modifiers) {
    if (take(each)) return number;
    ++number;
  }
  return -1;
}

void Decoder::skip(std::initializer_list<std::string_view> modifiers) {
  for (std::string_view each : modifiers) take(each);
}

bool Decoder::takes_prefix(std::string_view prefix) {
  const std::vector<std::string>& words = statement_->words;
  for (size_t i = 1; i < words.size(); ++i) {
    if (taken_[i] || words[i].compare(0, prefix.size(), prefix) != 0) continue;
    taken_[i] = true;
    return true;
  }
  return false;
}

std::optional<Type> Decoder::take_any_type() {
  const std::vector<std::string>& words = statement_->words;
  for (size_t i = 1; i < words.size(); ++i) {
    if (taken_[i]) continue;
    if (const auto type = parse_type(words[i])) {
      taken_[i] = true;
      return type;
    }
  }
  return {};
}

Type Decoder::take_type() {
  const auto type = take_any_type();
  if (!type) refuse("a type is missing");
  return *type;
}

void Decoder::refuse(const std::string& what) const {
  throw Fault{kInvalidPtx, fmt::format("{}\n  kernel {}, {}", what, kernel_.info.name, describe(module_, *statement_))};
}

void Decoder::need_operands(size_t least, size_t most) const {
  if (operand_count() < least || operand_count() > most)
    refuse(fmt::format("`{}` with {} operands is not modelled", mnemonic(), operand_count()));
}

void Decoder::need_operands(size_t count) const { need_operands(count, count); }

void Decoder::need_target(int least) const {
  if (std::atoi(module_.target.c_str() + std::min<size_t>(3, module_.target.size())) < least)
    refuse(fmt::format("`{}` for {}: it needs sm_{}", mnemonic(), module_.target, least));
}

// ---- Operands.

int Decoder::register_bits(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg || operand.reg < 0) return 0;
  return std::max(bits_of(kernel_.registers[operand.reg].type), 16);
}

uint32_t Decoder::target(const Operand& operand, Type type, bool wider) {
  if (operand.kind != Operand::Kind::reg || operand.negated) refuse("the result is no register");
  if (operand.reg < 0) return sink_;
  const Type own = kernel_.registers[operand.reg].type;
  const int bits = register_bits(operand);
  if (own == Type::pred || (wider ? bits < bits_of(type) : bits != bits_of(type)))
    refuse(fmt::format("register {} of {} bits for a result of type {}", operand.name, bits, name(type)));
  return register_rows_[operand.reg];
}

uint32_t Decoder::source(const Operand& operand, Type type, bool wider) {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      if (operand.reg < 0 || operand.negated) refuse("an operand that cannot be read");
      const Type own = kernel_.registers[operand.reg].type;
      const int bits = register_bits(operand);
      if (own == Type::pred || (wider ? bits < bits_of(type) : bits != bits_of(type)))
        refuse(fmt::format("register {} of {} bits for an operand of type {}", operand.name, bits, name(type)));
      return register_rows_[operand.reg];
    }
    case Operand::Kind::integer:
      if (class_of(type) == TypeClass::floating && bits_of(type) > 16) refuse("an integer literal for a float");
      return constant(bits_of(type) == 16 ? operand.bits & 0xffff : operand.bits, bits_of(type) == 64);
    case Operand::Kind::f32:
      if (bits_of(type) == 64)
        return constant(std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(operand.bits)))), true);
      return constant(operand.bits, false);
    case Operand::Kind::f64:
      if (bits_of(type) == 32)
        return constant(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits))), false);
      return constant(operand.bits, true);
    default:
      refuse(fmt::format("operand `{}` is not modelled here", operand.name));
  }
}

uint32_t Decoder::constant(uint64_t value, bool wide) {
  if (!wide) value &= 0xffffffff;
  const auto [at, added] = constants_.emplace(std::pair{value, wide}, 0);
  if (added) {
    FixedRow row;
    row.wide = wide;
    row.value = value;
    at->second = fixed(row);
  }
  return at->second;
}

uint32_t Decoder::fixed(FixedRow row) {
  for (const FixedRow& each : out_.fixed)
    if (row.kind != FixedRow::Kind::value && each.kind == row.kind && each.wide == row.wide &&
        each.value == row.value && each.global == row.global)
      return each.row;
  row.row = out_.words;
  out_.words += row.wide ? 2 * kLanes : kLanes;
  out_.fixed.push_back(row);
  return row.row;
}

bool Decoder::is_predicate(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg && operand.reg >= 0 && kernel_.registers[operand.reg].type == Type::pred;
}

uint32_t Decoder::predicate(const Operand& operand) {
  if (operand.kind == Operand::Kind::integer) return operand.bits != 0 ? kTrue : kFalse;
  if (!is_predicate(operand)) refuse("an operand that is no predicate");
  return register_rows_[operand.reg];
}

uint32_t Decoder::predicate_target(const Operand& operand) {
  if (operand.kind == Operand::Kind::reg && operand.reg < 0) return kNowhere;
  if (operand.kind != Operand::Kind::reg || operand.negated) refuse("the result is no predicate");
  return predicate(operand);
}

uint32_t Decoder::rows(const std::vector<uint32_t>& rows) {
  const uint32_t first = static_cast<uint32_t>(out_.rows.size());
  out_.rows.insert(out_.rows.end(), rows.begin(), rows.end());
  return first;
}

const Variable* Decoder::variable(std::string_view name) const {
  for (const Variable& each : kernel_.variables)
    if (each.name == name) return &each;
  return nullptr;
}

int Decoder::global(std::string_view name) const {
  for (size_t i = 0; i < module_.globals.size(); ++i)
    if (module_.globals[i].name == name) return static_cast<int>(i);
  return -1;
}

// ---- Instructions.

Instruction& Decoder::emit(Handler handler, uint32_t d, uint32_t a, uint32_t b, uint32_t c) {
  if (handler == nullptr) refuse(fmt::format("this form of `{}` is not modelled", mnemonic()));
  Instruction added;
  added.run = handler;
  added.d = d;
  added.a = a;
  added.b = b;
  added.c = c;
  if (statement_->guard >= 0) {
    added.guard = register_rows_[statement_->guard];
    added.guard_flip = statement_->guard_negated ? ~0u : 0;
  }
  added.statement = static_cast<uint32_t>(statement_ - kernel_.statements.data());
  out_.code.push_back(added);
  return out_.code.back();
}

void Decoder::branch_to(const std::string& label) {
  branches_.emplace_back(static_cast<uint32_t>(out_.code.size() - 1), label);
}

void Decoder::assign_registers() {
  out_.predicates = kCarry + 1;
  for (const Register& each : kernel_.registers) {
    if (each.type == Type::pred) {
      register_rows_.push_back(out_.predicates++);
    } else {
      register_rows_.push_back(out_.words);
      out_.words += bits_of(each.type) == 64 ? 2 * kLanes : kLanes;
    }
  }
  sink_ = out_.words;
  out_.words += 2 * kLanes;
  for (int reg : maybe_unwritten(kernel_)) {
    tracked_[reg] = static_cast<uint32_t>(out_.written.size());
    out_.written.push_back(out_.predicates++);
    out_.tracked.push_back(kernel_.registers[reg].name);
  }
  if (tracked_.empty()) return;
  defined_.resize(kernel_.registers.size());
  for (const Statement& each : kernel_.statements)
    if (writes_first_operand(each)) for_registers(each.operands[0], [&](int reg) { defined_[size_t(reg)] = true; });
}

void Decoder::check_reads() {
  if (tracked_.empty()) return;
  std::set<int> read;
  const size_t first = writes_first_operand(*statement_) ? 1 : 0;
  for (size_t i = first; i < operand_count(); ++i) for_registers(operand(i), [&](int reg) { read.insert(reg); });
  const auto check = [&](int reg, bool guarded) {
    const auto at = tracked_.find(reg);
    if (at == tracked_.end()) return;
    Instruction& added = emit(check_written, 0, out_.written[at->second]);
    added.immediate = at->second;
    if (guarded) return;
    added.guard = kTrue;
    added.guard_flip = 0;
  };
  if (statement_->guard >= 0) check(statement_->guard, false);
  // Compilers put two halves together where they need one alone: the other is a register that nothing ever writes.
  const bool packs = mnemonic() == "mov" && operand_count() == 2 && operand(1).kind == Operand::Kind::vector;
  for (int reg : read)
    if (!packs || defined_[size_t(reg)]) check(reg, true);
}

void Decoder::mark_writes() {
  if (tracked_.empty() || !writes_first_operand(*statement_)) return;
  for_registers(operand(0), [&](int reg) {
    if (const auto at = tracked_.find(reg); at != tracked_.end()) emit(mark_written, out_.written[at->second]);
  });
}

namespace {

InstructionKind kind_of(const Statement& statement) {
  using enum InstructionKind;
  static const std::map<InstructionKind, std::set<std::string_view>> names = {
      {memory, {"ld", "st", "atom", "red", "cp", "ldmatrix", "stmatrix"}},
      {control, {"bra", "ret", "exit", "trap"}},
      {together,
       {"shfl", "vote", "match", "redux", "elect", "activemask", "bar", "barrier", "membar", "fence", "griddepcontrol",
        "mapa", "getctarank"}},
      {other, {"mov", "cvta", "cvt", "selp", "setp", "testp"}}};
  const std::vector<std::string>& words = statement.words;
  const auto has = [&](auto test) { return std::any_of(words.begin() + 1, words.end(), test); };
  for (const auto& [kind, all] : names)
    if (all.contains(words[0]))
      return kind == memory && has([](const std::string& word) { return word == "param"; }) ? other : kind;
  const auto is_float = [](const std::string& word) {
    return word.starts_with("f16") || word.starts_with("f32") || word.starts_with("f64") || word.starts_with("bf16");
  };
  return has(is_float) ? floats : integers;
}

}  // namespace

void Decoder::finish_statement() {
  const InstructionKind kind = kind_of(*statement_);
  for (size_t i = first_.back(); i < out_.code.size(); ++i) out_.code[i].kind = kind;
  for (size_t i = 1; i < taken_.size(); ++i)
    if (!taken_[i]) refuse(fmt::format("`.{}` of `{}` is not modelled", statement_->words[i], mnemonic()));
}

Program Decoder::run() {
  assign_registers();
  for (const Statement& each : kernel_.statements) {
    statement_ = &each;
    taken_.assign(each.words.size(), false);
    first_.push_back(static_cast<uint32_t>(out_.code.size()));
    const Decode decode = find_decode(mnemonic());
    if (decode == nullptr) refuse(fmt::format("the instruction `{}` is not modelled", mnemonic()));
    check_reads();
    decode(*this);
    finish_statement();
    mark_writes();
  }
  // The end of the body returns.
  first_.push_back(static_cast<uint32_t>(out_.code.size()));
  Instruction end;
  end.control = Control::leave;
  end.statement = kernel_.statements.empty() ? 0 : static_cast<uint32_t>(kernel_.statements.size() - 1);
  out_.code.push_back(end);
  for (const auto& [instruction, label] : branches_) {
    const auto at = kernel_.labels.find(label);
    statement_ = &kernel_.statements[out_.code[instruction].statement];
    if (at == kernel_.labels.end()) refuse(fmt::format("the label {} is not there", label));
    out_.code[instruction].target = first_[at->second];
  }
  return std::move(out_);
}

Program decode(const TextModule& module, const TextKernel& kernel) { return Decoder(module, kernel).run(); }

}  // namespace plait::sim::ptx
