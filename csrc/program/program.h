#pragma once
// A program: the steps over buffers that every rank of a mesh runs. Text form: docs/ir.md.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.h"
#include "mesh/mesh.h"
#include "program/step.h"

namespace plait {

// Whose memory a value has: the caller's, or the program's.
enum class ProgramValueKind : uint8_t { input, output, temporary };

// A buffer by name; `shape` holds the extents on this rank.
struct ProgramValue {
  std::string name;
  DType dtype = DType::f32;
  std::vector<sym::Expr> shape;
  ProgramValueKind kind = ProgramValueKind::temporary;
  std::optional<ValueId> in_place_of = {};  // of an output: the input in whose memory it lies
};

// A generated kernel. Without an executable the program can be printed and verified, not run.
struct KernelSlot {
  KernelText code;
  std::string schedule;  // `pointwise(vector = 8)`
  // How often a launch goes over each of its operands (inputs, outputs, workspaces), where segments that share it do so
  // one after the other; empty: once.
  std::vector<int64_t> taken;
  KernelFacts facts;
  std::shared_ptr<Executable> executable;
};
struct LibrarySlot {
  LibraryContraction contraction;
  std::shared_ptr<Executable> executable;
  std::string result = {};  // name of what it makes, in the fusion; no part of the text
};

// Movable; a stage's result is not edited once verified.
struct Program {
  std::string name = "program";
  std::shared_ptr<sym::Pool> pool;  // of every expression
  Mesh mesh;                        // axes and their names
  DeviceMesh devices;               // their sizes
  std::vector<ProgramValue> values;
  std::vector<ValueId> inputs, outputs;  // in the order of run's arguments and results
  std::vector<KernelSlot> kernels;
  std::vector<LibrarySlot> libraries;
  std::vector<std::unique_ptr<Step>> steps;

  // Adds a value; an input or output also goes to the end of its list.
  ValueId add_value(std::string value_name, DType dtype, std::vector<sym::Expr> shape, ProgramValueKind kind);
  // Adds a step at the end. Fill in its fields afterwards.
  template <class T>
  T& add_step(ProgramStream stream = ProgramStream::compute) {
    auto step = std::make_unique<T>();
    T& added = *step;
    added.stream = stream;
    steps.push_back(std::move(step));
    return added;
  }
  const ProgramValue& value(ValueId id) const { return values[id.index]; }
  // Extents and strides of a view, also where it does not spell them.
  std::vector<sym::Expr> extents(const View& view) const;
  std::vector<sym::Expr> strides(const View& view) const;
  // The shortest view that says the same: nothing is spelled that follows from the value.
  View shortened(View view) const;
  // Steps of a kind: what `library_calls` and `collectives` of the report count.
  size_t count(StepKind kind) const;
  // Launches of kernels by all launch steps: of a GPU, each phase is one.
  size_t launches() const;
};

// Text of the program, one step a line.
std::string print(const Program& program);
// Text of one step: "launch @k1(%h) -> (%g) on compute".
std::string describe(const Program& program, const Step& step);

// Throws InternalError naming the step or value that breaks an invariant (listed at the top of program/verify.cpp).
void verify(const Program& program);

// What verify would throw: the invariant and what breaks it, and the step, or the number of steps where it is none.
struct ProgramProblem {
  std::string what;
  size_t step = 0;
};
std::optional<ProgramProblem> find_problem(const Program& program);

// Whether a text is that of a program, by its first words.
bool is_program_text(std::string_view text);
// Reads what print() wrote: a verified program whose kernels and contractions have neither code nor executables.
// UserError with `file`:line:column.
Program parse_program(std::string_view text, const std::string& file = "program");

}  // namespace plait
