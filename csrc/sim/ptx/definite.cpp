// Which registers may be read before they are written: a forward data flow over the kernel's blocks.
#include <algorithm>

#include "sim/ptx/program.h"

namespace plait::sim::ptx {
namespace {

using Bits = std::vector<bool>;

bool ends_block(const Statement& s) {
  return s.words[0] == "bra" || s.words[0] == "ret" || s.words[0] == "exit" || s.words[0] == "trap";
}

struct Block {
  size_t first = 0, last = 0;  // statements [first, last)
  std::vector<int> after;      // blocks
  Bits in;                     // written on every path so far; empty: not reached yet
};

std::vector<Block> blocks(const TextKernel& kernel) {
  const size_t count = kernel.statements.size();
  std::vector<bool> starts(count + 1, false);
  starts[0] = starts[count] = true;
  for (const auto& [label, at] : kernel.labels) starts[at] = true;
  for (size_t i = 0; i < count; ++i)
    if (ends_block(kernel.statements[i])) starts[i + 1] = true;
  std::vector<Block> out;
  std::vector<int> block_of(count + 1, 0);
  for (size_t i = 0; i < count; ++i) {
    if (starts[i]) out.push_back({i, i, {}, {}});
    out.back().last = i + 1;
    block_of[i] = static_cast<int>(out.size()) - 1;
  }
  block_of[count] = -1;
  for (Block& each : out) {
    const Statement& end = kernel.statements[each.last - 1];
    if (end.words[0] == "bra" && !end.operands.empty()) {
      const auto at = kernel.labels.find(end.operands[0].name);
      if (at != kernel.labels.end()) each.after.push_back(block_of[at->second]);
    }
    if (!ends_block(end) || end.guard >= 0) each.after.push_back(block_of[each.last]);
    std::erase(each.after, -1);
  }
  return out;
}

// Adds what a statement writes for certain; a guarded one may not.
void step(const Statement& s, Bits& written) {
  if (s.guard < 0 && writes_first_operand(s)) for_registers(s.operands[0], [&](int reg) { written[reg] = true; });
}

}  // namespace

bool writes_first_operand(const Statement& s) {
  static const std::vector<std::string> none = {"st",  "bra",      "ret",       "exit", "trap",
                                                "red", "prefetch", "prefetchu", "cp",   "stmatrix"};
  if (s.operands.empty()) return false;
  if (s.words[0].starts_with("bar")) return std::ranges::find(s.words, "red") != s.words.end();
  return std::ranges::find(none, s.words[0]) == none.end();
}

std::vector<int> maybe_unwritten(const TextKernel& kernel) {
  const size_t registers = kernel.registers.size();
  std::vector<Block> all = blocks(kernel);
  if (all.empty() || registers == 0) return {};
  all[0].in = Bits(registers, false);
  std::vector<int> work = {0};
  while (!work.empty()) {
    const Block& block = all[work.back()];
    work.pop_back();
    Bits written = block.in;
    for (size_t i = block.first; i < block.last; ++i) step(kernel.statements[i], written);
    for (int next : block.after) {
      Bits& in = all[next].in;
      Bits both = in.empty() ? written : in;
      for (size_t i = 0; i < registers; ++i) both[i] = both[i] && written[i];
      if (both == in && !in.empty()) continue;
      in = std::move(both);
      work.push_back(next);
    }
  }
  Bits found(registers, false);
  for (const Block& block : all) {
    if (block.in.empty()) continue;  // never reached
    Bits written = block.in;
    const auto read = [&](int reg) {
      if (!written[reg]) found[reg] = true;
    };
    for (size_t i = block.first; i < block.last; ++i) {
      const Statement& s = kernel.statements[i];
      if (s.guard >= 0) read(s.guard);
      for (size_t o = writes_first_operand(s) ? 1 : 0; o < s.operands.size(); ++o) for_registers(s.operands[o], read);
      step(s, written);
    }
  }
  std::vector<int> out;
  for (size_t i = 0; i < registers; ++i)
    if (found[i]) out.push_back(static_cast<int>(i));
  return out;
}

}  // namespace plait::sim::ptx
