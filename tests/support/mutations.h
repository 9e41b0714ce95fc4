#pragma once
// Mutations: small changes of a kernel that make it wrong, nearly always. What runs and checks a mutated kernel must
// say so; one of which nothing is said is a hole in the checks, or changes nothing that anybody can see.
#include <string>
#include <string_view>
#include <vector>

#include "kir/kernel.h"

namespace plait::testing {

struct Mutation {
  std::string kind;   // "barrier deleted"
  std::string where;  // the statement or line, as it was
  friend bool operator==(const Mutation&, const Mutation&) = default;
};

// All mutations of a kernel whose passes are done, in the order of its statements.
std::vector<Mutation> mutations(const kir::Kernel& kernel);
// Makes the one of that number. Where `traps`, what runs there is ended instead, so that it is known whether anything
// does.
void mutate(kir::Kernel& kernel, size_t which, bool traps = false);

// The same of PTX, in the order of its lines.
std::vector<Mutation> mutations(std::string_view ptx);
std::string mutated(std::string_view ptx, size_t which, bool traps = false);

// Up to `most` of them, drawn by the seed: from every kind in turn, so that those of which there are few have their
// share. In ascending order.
std::vector<size_t> draw_mutations(const std::vector<Mutation>& from, size_t most, uint64_t seed);

}  // namespace plait::testing
