#pragma once
// The programs of docs/examples.
#include <cstdint>
#include <string>
#include <vector>

namespace plait::testing {

// Text of docs/examples/NAME.plait. InternalError where there is no such file.
std::string example(const std::string& name);

// A program of docs/examples/sharded, with what its header says an expert's collectives do.
struct ShardedExample {
  std::string name, text;
  int64_t ranks = 0, collectives = 0, bytes = 0;
};
// All of them, by name. InternalError where a header says not what it moves.
std::vector<ShardedExample> sharded_examples();

}  // namespace plait::testing
