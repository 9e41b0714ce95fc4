#pragma once
// A PTX module as it is written: statements with operands, not yet decoded.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ptx/ptx.h"
#include "sim/ptx/types.h"

namespace plait::sim::ptx {

struct Operand {
  enum class Kind : uint8_t {
    reg,        // `reg`
    integer,    // `bits`
    f32,        // `bits`: 0f...
    f64,        // `bits`: 0d...
    vector,     // `elements`
    address,    // [elements[0] + offset]: a register, a name, or nothing
    name,       // variable, label or special register: `name`, with `offset`
    predicates  // p|q: `elements`
  };
  Kind kind = Kind::name;
  bool negated = false;  // !%p
  int reg = -1;          // in TextKernel::registers; -1: the sink `_`
  uint64_t bits = 0;
  int64_t offset = 0;
  std::string name;
  std::vector<Operand> elements;
};

// Calls fn(reg) for the registers of an operand and of its elements.
template <class Fn>
void for_registers(const Operand& operand, Fn fn) {
  if (operand.kind == Operand::Kind::reg && operand.reg >= 0) fn(operand.reg);
  for (const Operand& each : operand.elements) for_registers(each, fn);
}

struct Register {
  std::string name;
  Type type = Type::b32;
};

// Where in the CUDA text a statement comes from; a function inlined there has the place of its call as parent.
struct Location {
  int file = 0, line = 0, column = 0;
  int parent = -1;  // in TextModule::locations
};

struct Statement {
  int line = 0;       // of the PTX, from 1
  int location = -1;  // in TextModule::locations; -1: none was given
  int guard = -1;     // register; -1: always
  bool guard_negated = false;
  std::vector<std::string> words;  // "ld.global.v4.f32" at its dots
  std::vector<Operand> operands;
};

enum class Space : uint8_t { generic, param, global, constant, local, shared };

struct Variable {
  Space space = Space::global;
  std::string name;
  size_t bytes = 0, alignment = 1;
  size_t offset = 0;  // within the kernel's parameters or local memory
  std::vector<uint8_t> initial;
};

struct TextKernel {
  KernelInfo info;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // parameters first, then local and shared ones
  std::vector<Statement> statements;
  std::map<std::string, int, std::less<>> labels;  // index of the statement behind; may be their number
};

struct TextModule {
  std::string target;
  std::vector<Variable> globals;
  std::vector<TextKernel> kernels;
  std::map<int, std::string> files;  // by the number in .loc
  std::vector<Location> locations;
  std::vector<std::string> lines;  // of the PTX
  // Lines of the CUDA text by file; under "" those of a module of one file. Empty: unknown.
  std::map<std::string, std::vector<std::string>, std::less<>> cuda_lines;
};

// Fault kInvalidPtx with the line.
TextModule read(std::string_view ptx, std::string_view cuda_text);
[[noreturn]] void refuse(int line, const std::string& what);

// Bytes of device memory that a thread may have asked for at once, at most.
size_t bytes_in_flight(const TextKernel& kernel);

// Gives a kernel the shared variables of the module that it names. One without a length is what a launch asks for,
// behind all others; those are all one.
void place_shared(const std::vector<Variable>& of_module, TextKernel& kernel);

std::vector<std::string> split_lines(std::string_view text);
// The lines of the CUDA text: from what with_source() appended to the PTX, and `cuda_text` where it is given.
void find_cuda_lines(std::string_view cuda_text, TextModule& module);

// "PTX line 84: `ld.global.f32 %f1, [%rd4];`", then the CUDA lines from the kernel inwards; two lines of text.
std::string describe(const TextModule& module, const Statement& statement);

}  // namespace plait::sim::ptx
