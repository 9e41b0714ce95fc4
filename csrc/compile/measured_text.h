#pragma once
// Measured schedules as text: on disk, and in files of programs.
#include "compile/measured_schedules.h"

namespace plait {

// A line for each: `m=2 n=4096;norm(vector = 8, ...);a note`.
std::string print(const std::vector<MeasuredSchedule>& schedules);
// What print() writes; nothing where it is anything else.
std::vector<MeasuredSchedule> parse_measured(const std::string& text);

}  // namespace plait
