#pragma once
// One kernel on its way from text to instructions. Families of instructions have a decode function each, named in
// instructions.def; it takes modifiers and operands from the statement in hand and emits.
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {

class Decoder {
 public:
  Decoder(const TextModule& module, const TextKernel& kernel);
  Program run();

  // ---- The statement in hand.
  const Statement& statement() const { return *statement_; }
  std::string_view mnemonic() const { return statement_->words[0]; }
  // Takes a modifier, wherever it stands; false if it is not there. What is not taken in the end is refused.
  bool take(std::string_view modifier);
  // Takes those present; the number of the one taken, -1 if none.
  int take_one(std::initializer_list<std::string_view> modifiers);
  // Takes modifiers that say nothing about the result (hints).
  void skip(std::initializer_list<std::string_view> modifiers);
  Type take_type();                            // the first type not yet taken; refuses if there is none
  std::optional<Type> take_any_type();         // the same, if there is one
  bool takes_prefix(std::string_view prefix);  // a modifier that begins so ("L2::")
  [[noreturn]] void refuse(const std::string& what) const;
  void need_operands(size_t count) const;
  void need_operands(size_t least, size_t most) const;
  size_t operand_count() const { return statement_->operands.size(); }
  const Operand& operand(size_t index) const { return statement_->operands.at(index); }

  // ---- Rows. The register must have the type's size; `wider` admits larger ones too.
  uint32_t target(size_t index, Type type) { return target(operand(index), type); }
  uint32_t source(size_t index, Type type) { return source(operand(index), type); }
  uint32_t target(const Operand& operand, Type type, bool wider = false);
  uint32_t source(const Operand& operand, Type type, bool wider = false);
  int register_bits(const Operand& operand) const;  // 0: no register
  uint32_t constant(uint64_t value, bool wide);
  uint32_t fixed(FixedRow row);
  uint32_t predicate(const Operand& operand);  // its number; refuses anything else
  uint32_t predicate_target(const Operand& operand);
  bool is_predicate(const Operand& operand) const;
  uint32_t rows(const std::vector<uint32_t>& rows);  // where they stand in Program::rows
  const Variable* variable(std::string_view name) const;
  int global(std::string_view name) const;  // -1: none

  // Adds an instruction with the statement's guard; `handler` null is refused as a form that is not modelled.
  Instruction& emit(Handler handler, uint32_t d = 0, uint32_t a = 0, uint32_t b = 0, uint32_t c = 0);
  void branch_to(const std::string& label);
  // Warps of the kernel may wait for each other.
  void warps_wait() { out_.waits = true; }
  // So may its blocks.
  void blocks_wait() { out_.blocks_wait = true; }
  void has_fences() { out_.fences = true; }
  void has_copies() { out_.copies = true; }
  void clusters_wait() { out_.waits = out_.fences = out_.clusters_wait = true; }
  void need_target(int least) const;  // sm_90: 90

 private:
  void assign_registers();
  void check_reads();
  void mark_writes();
  void finish_statement();

  const TextModule& module_;
  const TextKernel& kernel_;
  Program out_;
  const Statement* statement_ = nullptr;
  std::vector<bool> taken_;
  std::vector<uint32_t> register_rows_;  // by register: row, or number of the predicate
  std::map<std::pair<uint64_t, bool>, uint32_t> constants_;
  std::map<int, uint32_t> tracked_;  // register -> index in Program::written
  std::vector<bool> defined_;        // registers that some instruction writes
  std::vector<uint32_t> first_;      // first instruction of every statement
  std::vector<std::pair<uint32_t, std::string>> branches_;
  uint32_t sink_ = 0;
};

// Of an instruction that the warp's loop, its block or its cluster carries out.
inline void no_lanes(Warp&, const Instruction&) {}

using Decode = void (*)(Decoder&);

// A row of instructions.def.
struct InstructionRow {
  std::string_view name;
  Decode decode;
  std::string_view forms;
  std::string_view label;  // "from the manual" or "confirmed on hardware (date)"
};
const std::vector<InstructionRow>& instruction_table();

}  // namespace plait::sim::ptx
