// Loads of device memory that a thread has under way at once.
#include <algorithm>
#include <set>

#include "sim/ptx/program.h"
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
    if (const auto type = parse_type(word)) bytes = static_cast<size_t>(bits_of(*type)) / 8;
  }
  return count * bytes;
}

// Memory may change there, or another path join or leave: loads are not moved across.
bool is_border(const Statement& statement) {
  static const std::set<std::string_view> names = {"st",  "atom", "red",  "bar",    "barrier",       "fence",
                                                   "bra", "ret",  "exit", "membar", "griddepcontrol"};
  return names.contains(statement.words[0]);
}

// Of copies to shared memory: the bytes of the largest group, as often as groups may be under way.
size_t copied_in_flight(const TextKernel& kernel) {
  size_t group = 0, largest = 0, kept = 0;
  for (const Statement& each : kernel.statements) {
    if (each.words[0] != "cp") continue;
    if (each.operands.size() >= 3) group += static_cast<size_t>(each.operands[2].bits);
    if (each.words.back() == "commit_group" || each.words.back() == "wait_all") group = 0;
    if (each.words.back() == "wait_group") kept = std::max(kept, static_cast<size_t>(each.operands[0].bits));
    largest = std::max(largest, group);
  }
  return largest * (kept + 1);
}

}  // namespace

// Between borders an assembler may put all loads in front whose addresses do not come of loaded values.
size_t bytes_in_flight(const TextKernel& kernel) {
  std::set<int> loaded;  // registers that come of loads since the last border
  std::set<int> labels;
  for (const auto& [name, statement] : kernel.labels) labels.insert(statement);
  size_t now = 0, most = 0;
  for (size_t i = 0; i < kernel.statements.size(); ++i) {
    const Statement& each = kernel.statements[i];
    const size_t bytes = loaded_bytes(each);
    bool comes_of_loads = each.guard >= 0 && loaded.contains(each.guard);
    const size_t first = writes_first_operand(each) ? 1 : 0;
    for (size_t k = first; k < each.operands.size(); ++k)
      for_registers(each.operands[k], [&](int reg) { comes_of_loads |= loaded.contains(reg); });
    if (is_border(each) || labels.contains(static_cast<int>(i)) || (bytes > 0 && comes_of_loads)) {
      loaded.clear();
      now = 0;
    }
    const auto write = [&](int reg) {
      if (bytes > 0 || comes_of_loads)
        loaded.insert(reg);
      else
        loaded.erase(reg);
    };
    if (first == 1) for_registers(each.operands[0], write);
    most = std::max(most, now += bytes);
  }
  return most + copied_in_flight(kernel);
}

}  // namespace plait::sim::ptx
