#pragma once
// How tensors cross the boundary of a run. Inside of it all of them are dense and row-major (graph/drop_allocations);
// an input of host memory whose dims lie in another order is one of that order (graph/lay_inputs), and one with gaps is
// copied when it is bound (run/rank_memory).
#include <set>

#include "compile/options.h"
#include "graph/passes.h"
#include "ir/fusion.h"
#include "session/arguments.h"

namespace plait {

// UserError naming the tensor: an allocation of one that is neither input nor output, strided dims of an output, which
// is made dense.
void check_allocations(const Fusion& fusion);

// UserError naming the input: strides of another rank than the shape's, elements outside of the tensor's memory, dims
// that do not lie in memory as the fusion says. Inputs of which it says nothing may lie in any way.
void check_inputs(const Fusion& fusion, const Tensors& inputs);

// Of host tensors whose dims lie in another order than theirs, without gaps, that order: those that kernels may read
// where they lie. Not of inputs that are outputs, or that outputs alias.
InputOrders orders_of(const Fusion& fusion, const Tensors& inputs);
// Outputs that the caller gives the very tensor of an input, which none aliases yet, by name: as if the text had said
// so.
std::map<std::string, std::string> called_aliases(const Fusion& fusion, const Tensors& inputs, const Tensors& outputs);

// UserError naming the input: one that is given up and is none of the fusion's, or shares memory with another input or
// a given output. Outputs that alias inputs in the fusion may end in these.
void check_donated(const Fusion& fusion, const Tensors& inputs, const Tensors& given,
                   const std::set<std::string, std::less<>>& donated);
// Those of the donated inputs in whose memory no given output ends: any output may be made there.
std::set<std::string, std::less<>> free_donations(const Tensors& inputs, const Tensors& given,
                                                  const std::set<std::string, std::less<>>& donated);
// Of host tensors that are given up, dense and row-major, the first output of the same type that nothing is given for
// and that no other one took, by output: candidates for kernels that write in place. `taken` are such pairs already;
// not what `refused` has.
std::map<std::string, std::string> donated_aliases(const Fusion& fusion, const Tensors& inputs, const Tensors& given,
                                                   const std::set<std::string, std::less<>>& donated,
                                                   const std::map<std::string, std::string>& taken,
                                                   const std::set<std::pair<std::string, std::string>>& refused);

// What a class is compiled for, beside sizes: how the tensors of a call lie.
struct CallPlaces {
  InputOrders orders;
  std::map<std::string, std::string> aliases;
  bool operator==(const CallPlaces&) const = default;
};
// ` %x in (1, 0)`, ` %y in place of %x`, of each.
std::string print(const CallPlaces& places);
// The same memory with dims in these orders.
Tensors in_orders(const Tensors& inputs, const InputOrders& orders);

// Where outputs of a run end: those that the caller gives, and those that alias inputs in these. Errors of
// check_outputs; UserError where an output that aliases an input is given other memory.
Tensors given_outputs(const Fusion& fusion, const Tensors& inputs, const Tensors& outputs);

// The inputs, but that those which outputs alias are copies: what a run on them changes is no one's.
Tensors with_own_copies(const Fusion& fusion, const Tensors& inputs);

// UserError naming the output: there is none of the name, the wrong dtype or number of dims, strides as above, elements
// outside of its memory, several in one place or in that of another output, dims that do not lie as the fusion says.
void check_outputs(const Fusion& fusion, const Tensors& outputs);

// UserError naming the input, the element, its value and the range: an integer outside of the range that the fusion
// states. What lies in a GPU's memory is not read.
void check_ranges(const Fusion& fusion, const Sizes& sizes, const Tensors& inputs);

// Puts outputs in the order in which the fusion allocates them, in host memory of `allocator`; returns the bytes that
// it copied. UserError: such an output is in a GPU's memory.
int64_t order_outputs(const Fusion& fusion, Tensors& outputs, Allocator& allocator);

}  // namespace plait
