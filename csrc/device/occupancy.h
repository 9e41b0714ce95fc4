#pragma once
// How many blocks of a kernel a multiprocessor holds at once.
#include <cstdint>
#include <string_view>

#include "device/target.h"

namespace plait {

struct BlockNeeds {
  int threads = 0;           // 1 to 1024
  int registers = 0;         // of a thread, as the assembler says; 0: unknown, not counted
  int64_t shared_bytes = 0;  // static and dynamic
};

struct Occupancy {
  int blocks = 0;               // on a multiprocessor; 0: not one fits
  double share = 0;             // of the threads that it holds, 0 to 1
  std::string_view limit = "";  // what allows no more: "threads", "blocks", "registers", "shared memory"
};

// Of a GPU; an architecture that is not in the table has the numbers of the nearest earlier one. Source: CUDA C++
// programming guide, technical specifications per compute capability; allocation in units of the occupancy calculator.
Occupancy occupancy(const Target& target, const BlockNeeds& block);

}  // namespace plait
