// Loads of device memory that a thread has under way at once.
#include <algorithm>
#include <set>

#include "sim/ptx/text.h"

namespace plait::sim::ptx {

namespace {

// Bytes that a statement loads from device memory for each thread; 0: it is no such load.
size_t loaded_bytes(const Statement& statement) {
  if (statement.words[0] != "ld") return 0;
  size_t count = 1, bytes = 0;
  for (const std::string& word : statement.words) {
    if (word == "param" || word == "local" || word.starts_with("shared") || word == "const") return 0;
    if (word == "v2" || word == "v4" || word == "v8") count = static_cast<size_t>(word[1] - '0');
    if (const auto type = parse_type(word); type && word != "ld") bytes = static_cast<size_t>(bits_of(*type)) / 8;
  }
  return count * bytes;
}

}  // namespace

// Statements in their order; the first use of a loaded value waits for all loads before. Assemblers may move loads
// forward, so that more are under way.
size_t bytes_in_flight(const TextKernel& kernel) {
  std::set<int> pending;  // registers of loads
  size_t now = 0, most = 0;
  for (const Statement& each : kernel.statements) {
    const size_t bytes = loaded_bytes(each);
    bool waits = each.guard >= 0 && pending.contains(each.guard);
    for (size_t i = 0; i < each.operands.size(); ++i)
      for_registers(each.operands[i], [&](int reg) { waits |= pending.contains(reg); });
    if (waits) {
      pending.clear();
      now = 0;
    }
    if (bytes == 0) continue;
    for_registers(each.operands[0], [&](int reg) { pending.insert(reg); });
    most = std::max(most, now += bytes);
  }
  return most;
}

}  // namespace plait::sim::ptx
