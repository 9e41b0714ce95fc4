#pragma once
// Which outputs lie in the memory of the inputs that they alias (Fusion::aliases), and why others are copied there at
// the end of a run.
//
// Requires a localized fusion with segments. An output can where the segment that makes it is the last one to read the
// input, and no collective reads that, whose order against the segment is none. Whether the segment's own kernel may is
// asked when it is lowered (kir/passes/in_place.h).
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait {

struct InPlace {
  const TensorView* output = nullptr;
  const TensorView* input = nullptr;
  const TensorView* root = nullptr;  // what the segment makes: the output, or what it is a view of
  size_t segment = 0;                // the first one of the launch that makes it
  std::vector<size_t> read;          // which of the launch's inputs are the input or views of it
  size_t made = 0;                   // which of its outputs is the root
  std::string why_not;               // empty where it lies in the input's memory
};

// One for each alias of the fusion, in the order of its outputs.
std::vector<InPlace> find_in_place(const Fusion& localized);

// A line for each: `%y lies in the memory of %x`, or that it is copied there, and why.
std::string print(const std::vector<InPlace>& outputs);

}  // namespace plait
