#pragma once
// From input metadata to numbers and facts.
#include <set>

#include "compile/options.h"
#include "ir/fusion.h"
#include "session/arguments.h"

namespace plait {

// Values of all size symbols of the inputs. `given` holds mesh symbols and sizes that no input has as a plain dim.
// UserError naming input, dim, what was found and what was expected.
Sizes bind_sizes(const Fusion& fusion, const Metadata& metadata, const Sizes& given);

// The class within which nothing recompiles: extent 0 is a value, any other symbol has its divisibility and a range.
struct Specialization {
  std::string key;     // text of the sym::Facts: `b: 4 in 4..2147483644, s = 1`
  CloneOptions clone;  // values and facts
};
// `divisors`: ascending; a symbol is known to be a multiple of the largest one that divides it.
Specialization specialize(const Sizes& sizes, const Sizes& mesh_symbols, const std::vector<int64_t>& divisors);

// The powers of two up to 16 whose multiples are worth a class: the lanes of vectors (8 and 16, of a GPU 4 too); those
// that the mesh shards by; all of them where an extent is divided.
std::vector<int64_t> class_divisors(const Fusion& fusion, const DeviceMesh& mesh, const Target& target);

// Symbols of the mesh.
std::set<std::string> mesh_symbols(const Mesh& mesh);
// Symbols that sizes may be given for: of the mesh, and of the shapes of the graph.
std::set<std::string> size_symbols(const Fusion& fusion);
// Lets of the symbols that neither an input nor the mesh gives.
Sizes lets_of_open_symbols(const Fusion& fusion);

// Sizes that a caller gives, into `out`, and the lets of those that nothing else gives. UserError: a name that the
// fusion does not have.
void give_sizes(Sizes& out, const Fusion& fusion, const Sizes& given);

// Values of every mesh symbol, from the resolved sizes.
Sizes mesh_symbols(const Mesh& mesh, const DeviceMesh& devices);

}  // namespace plait
