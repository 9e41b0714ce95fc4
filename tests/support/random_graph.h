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

// How many exact cases, and how many others, a row of cases has so far: whose turn it is among the ops of each kind.
struct Turns {
  uint64_t exact = 0, other = 0;

  void add(const RandomCase& taken) { ++(taken.exact ? exact : other); }
};

// Deterministic in its arguments. Annotations are drawn uniformly over all tensors, dims and mesh axes. Half of the ops
// are drawn by chance, the others in turn: neighbours of one kind take neighbouring words of op_words(), so none is
// rare, also where a case is drawn again with another seed.
RandomCase make_random_case(uint64_t seed, Turns turns);
// The turns are the seed's: neighbouring seeds take neighbouring words.
RandomCase make_random_case(uint64_t seed);

}  // namespace plait::testing
