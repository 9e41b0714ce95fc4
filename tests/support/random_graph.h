#pragma once
// Random graphs with random annotations on random meshes, as text: what fails can be replayed by `plait run`.
#include <cstdint>
#include <string>

namespace plait::testing {

struct RandomCase {
  std::string text;    // a Fusion with lets for its sizes
  int64_t ranks = 1;   // product of the mesh
  bool exact = false;  // only ops that keep integers
};

// Deterministic in the seed. Annotations are drawn uniformly over all tensors, dims and mesh axes. Half of the ops are
// drawn by chance, the others in turn: neighbouring seeds take neighbouring words of op_words(), so none is rare.
RandomCase make_random_case(uint64_t seed);

}  // namespace plait::testing
