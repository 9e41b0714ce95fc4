#pragma once
// How the statements of a block become text: alone, or together in one loop over the lanes of a vector.
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "kir/kernel.h"

namespace plait::codegen::cuda {

// How a statement is written.
enum class Form : uint8_t {
  nothing,    // a literal: stands where it is used
  single,     // once: control, variables, and whatever is the same in all lanes
  wide,       // one helper call for the whole vector: aligned accesses, random numbers from a multiple of 4 on
  lanes,      // lane by lane, reading memory or computing
  lane_store  // lane by lane, writing memory
};

// What the text of a value looks like.
struct ValueForm {
  bool uniform = false;   // one scalar for all lanes
  bool array = false;     // an array over the lanes; otherwise a scalar within one lane loop
  bool vector = false;    // an array that moves between registers and memory as a whole
  bool variable = false;  // may be assigned again
  const kir::Literal* literal = nullptr;
};

// Consecutive statements of one block written together: several only for the forms of lane loops.
struct Run {
  Form form = Form::single;
  int lanes = 1;
  std::vector<const kir::Stmt*> statements;
};

// Forms of all statements and values of a kernel.
class Plan {
 public:
  explicit Plan(const kir::Kernel& kernel);
  // The runs of a block, in order; literals are left out.
  const std::vector<Run>& runs(const kir::Block& block) const { return runs_.at(&block); }
  const ValueForm& value(const kir::Value& value) const { return values_.at(value.id); }
  // Whether the buffer is words of matrices, two elements in each.
  bool is_fragment(uint32_t buffer) const { return fragments_.contains(buffer); }

 private:
  void find_fragments(const kir::Block& block);
  void block(const kir::Block& block);
  void add(std::vector<Run>& runs, const kir::Stmt& stmt, Form form, int lanes);
  bool is_pure(const kir::Stmt& stmt) const;
  void use(const kir::Value& value, Form form);
  void define(const kir::Value& value, bool uniform, Form form);

  const kir::Kernel& kernel_;
  std::set<uint32_t> fragments_;
  std::map<const kir::Block*, std::vector<Run>> runs_;
  std::map<uint32_t, ValueForm> values_;
  std::map<uint32_t, int> run_of_;  // number of the run that defines a value
  int run_ = 0;                     // number of the current run
};

// Whether an iteration of the loop may read what one before stored, in memory: NVRTC 13.0 leaves out the last turns of
// such loops with a known extent where it unrolls them in part.
bool carries_memory(const kir::Kernel& kernel, const kir::For& loop);

}  // namespace plait::codegen::cuda
