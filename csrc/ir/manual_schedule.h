#pragma once
// The text of schedules by hand. Private to csrc/ir.
#include <string>
#include <string_view>

#include "ir/schedule.h"

namespace plait {

class TextReader;

// `split(1, 64), parallel(0, cpu_thread)`.
std::string print_loops(const std::vector<schedules::LoopStep>& loops);
// `%y: loops (split(0, 8)), %t: inline 1 keep 64`; empty without tensors.
std::string print_tensors(const schedules::Manual& schedule);
// Reads what print_tensors writes, up to the end. UserError.
schedules::Manual parse_tensors(std::string_view text, const std::string& where);
// `inline 1 keep 64`, in this order; nothing where neither stands.
void read_placement(TextReader& in, Choice& inline_at, Choice& keep);

}  // namespace plait
