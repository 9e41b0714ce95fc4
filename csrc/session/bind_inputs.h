#pragma once
// From input metadata to numbers and facts.
#include <set>

#include "compile/options.h"
#include "ir/fusion.h"
#include "session/arguments.h"
#include "sym/facts.h"

namespace plait {

// Values of all size symbols of the inputs. `given` holds mesh symbols and sizes that no input has as a plain dim.
// UserError naming input, dim, what was found and what was expected.
Sizes bind_sizes(const Fusion& fusion, const Metadata& metadata, const Sizes& given);

// What every compilation knows of its sizes: extent 0 is a value, any other symbol has a range. Whoever needs more asks
// (sym/guards.h).
struct Specialization {
  sym::Facts facts;
  std::string key;     // their text: `b: 1 in 1..2147483647, s = 0`
  CloneOptions clone;  // values and facts
};
Specialization specialize(const Sizes& sizes, const Sizes& mesh_symbols);

// Symbols of the mesh.
std::set<std::string> mesh_symbols(const Mesh& mesh);
// Symbols that sizes may be given for: of the mesh, and of the shapes of the graph.
std::set<std::string> size_symbols(const Fusion& fusion);
// Lets of the symbols that neither an input nor the mesh gives.
Sizes lets_of_open_symbols(const Fusion& fusion);

// UserError where one of the settings names neither a size nor a dtype that may be set: symbols of the graph and its
// mesh, and lets. `place`: what stands in front of the name in where(), "--set ".
void check_settings(const Fusion& fusion, const std::map<std::string, std::string, std::less<>>& settings,
                    const std::string& place);
// The same, of a fusion that was parsed with these settings: sizes that its text does not let are let now. UserError,
// too, where such a value is no size.
void let_settings(Fusion& fusion, const std::map<std::string, std::string, std::less<>>& settings,
                  const std::string& place);

// Sizes that a caller gives, into `out`, and the lets of those that nothing else gives. UserError: a name that the
// fusion does not have.
void give_sizes(Sizes& out, const Fusion& fusion, const Sizes& given);

// Values of every mesh symbol, from the resolved sizes.
Sizes mesh_symbols(const Mesh& mesh, const DeviceMesh& devices);

}  // namespace plait
