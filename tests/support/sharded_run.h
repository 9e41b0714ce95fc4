#pragma once
// A tiny evaluator of localized graphs on all ranks at once, for tests: values are integers that wrap, so that sums and
// products agree bit for bit in any order. It shares no code with what it tests but owned_indices.
#include <map>
#include <string>
#include <vector>

#include "ir/fusion.h"

namespace plait::test {

struct Array {
  std::vector<int64_t> shape;
  std::vector<uint64_t> data;
  bool operator==(const Array&) const = default;
};

using Arrays = std::map<std::string, Array>;

// Elements of a global array that the rank at these coordinates holds.
Array cut(const Array& global, const Layout& layout, const DeviceMesh& mesh, const std::vector<int64_t>& coordinates,
          const std::string& name);

// Arrays of every rank: one map by tensor name per rank. Inputs are given per rank.
std::vector<Arrays> run(const Fusion& fusion, const DeviceMesh& mesh, const sym::Environment& sizes,
                        std::vector<Arrays> inputs);

// A global graph, on one rank without a mesh.
Arrays run_whole(const Fusion& fusion, const sym::Environment& sizes, const Arrays& inputs);

Array iota(const std::vector<int64_t>& shape, uint64_t seed);

std::unique_ptr<Fusion> parsed(const std::string& text);

// The layout of a tensor as text: "{0: tp} partial(dp: sum)".
std::string layout_of(const Fusion& fusion, const std::string& name);

// Reshards of a sharded graph: "all-gather tp %x -> %x_gathered", in order.
std::vector<std::string> reshards(const Fusion& fusion);
// Those that move data.
size_t collectives(const Fusion& fusion);
// What all moves of a sharded graph cost (mesh/collective_cost.h), those of parameters four times.
double plan_cost(const Fusion& fusion);

}  // namespace plait::test
