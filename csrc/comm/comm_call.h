#pragma once
// What a member asks of its team: for comparison with what the others ask, and in words.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "comm/communicator.h"
#include "mesh/collective.h"

namespace plait {

// The arguments of a collective that all members share. An all_reduce has one count: its elements, with outer and inner
// 1; an all_gather has no reduction (it is left at sum). An all_to_all has blocks instead of pieces.
struct CommCall {
  Collective kind = Collective::all_reduce;
  CommReduce reduce = CommReduce::sum;
  CommPieces pieces;
  CommBlocks blocks = {};
  bool operator==(const CommCall& other) const;
};

// "all_gather(f32, 4 x [11, 11, 10] x 64)", "all_reduce(f32, sum, 12 elements)", "all_to_all(f32, members take 8, 8, 4
// elements of 1 x 5 x 1 x 4 x 1)".
std::string describe(const CommCall& call);
std::string describe_exchange(DType dtype, std::span<const int64_t> elements);  // of each member, without the tensor
// "ranks 0, 1, 2", "rank 0".
std::string rank_list(std::span<const int64_t> ranks);

// What a member takes from other members' buffers in a collective of `size` members, and the least that the collective
// could take, counted where position 0 is. An all_reduce is a reduce-scatter and an all-gather of even chunks.
CommTraffic member_traffic(const CommCall& call, int64_t size, int64_t position);

}  // namespace plait
