#pragma once
// Collectives that every transport must carry out as comm/local does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "comm/comm_call.h"
#include "comm/local/local.h"
#include "device/tensor.h"

namespace plait::testing {

inline constexpr CommReduce kReduces[] = {CommReduce::sum, CommReduce::max, CommReduce::min, CommReduce::prod};

struct CommCase {
  Collective kind;
  DType dtype;
  CommReduce reduce;
  int64_t outer, inner;
  std::vector<int64_t> counts;  // all_reduce: one
  int64_t members;
  int64_t middle = 1;  // of an all_to_all, as the blocks
  std::vector<CommBlock> held = {}, taken = {};

  CommCall call() const {
    if (kind == Collective::all_to_all) return {kind, reduce, {}, {dtype, outer, middle, inner, held, taken}};
    return {kind, reduce, {dtype, outer, inner, counts}};
  }
  int64_t in_elements(int64_t position) const {
    if (kind == Collective::all_to_all) return call().blocks.elements(held[size_t(position)]);
    const bool piece = kind == Collective::all_gather;
    return outer * inner * (piece ? counts[size_t(position)] : call().pieces.total());
  }
  int64_t out_elements(int64_t position) const {
    if (kind == Collective::all_to_all) return call().blocks.elements(taken[size_t(position)]);
    const bool piece = kind == Collective::reduce_scatter;
    return outer * inner * (piece ? counts[size_t(position)] : call().pieces.total());
  }
};

// Even, uneven and empty counts of a team.
inline std::vector<std::vector<int64_t>> counts_of(int64_t members) {
  switch (members) {
    case 1:
      return {{3}, {0}};
    case 2:
      return {{2, 2}, {3, 0}, {0, 3}, {0, 0}, {5, 4}};
    case 3:
      return {{4, 4, 3}, {2, 2, 2}, {2, 2, 0}, {0, 0, 0}, {1, 0, 5}};
    default:
      return {{2, 2, 2, 2}, {2, 2, 2, 1}, {1, 1, 1, 0}, {0, 0, 0, 4}};
  }
}

// Pieces of one dim become pieces of another, on either side of it.
inline CommCase exchange_case(DType dtype, int64_t outer, int64_t middle, int64_t inner,
                              const std::vector<int64_t>& gathered, const std::vector<int64_t>& scattered,
                              bool scattered_first) {
  const auto members = int64_t(gathered.size());
  CommCase out{Collective::all_to_all, dtype, CommReduce::sum, outer, inner, {}, members, middle};
  const int64_t all = std::accumulate(gathered.begin(), gathered.end(), int64_t(0));
  const int64_t all_scattered = std::accumulate(scattered.begin(), scattered.end(), int64_t(0));
  int64_t from = 0, to = 0;
  for (size_t p = 0; p < gathered.size(); ++p) {
    CommBlock held = {{from, gathered[p]}, {0, all_scattered}}, taken = {{0, all}, {to, scattered[p]}};
    if (scattered_first) {
      std::swap(held.first, held.second);
      std::swap(taken.first, taken.second);
    }
    out.held.push_back(held);
    out.taken.push_back(taken);
    from += gathered[p];
    to += scattered[p];
  }
  return out;
}

// Each member takes its piece and an element of its neighbours': some are of no other, some of several.
inline CommCase halo_case(DType dtype, int64_t outer, int64_t inner, const std::vector<int64_t>& counts) {
  CommCase out{Collective::all_to_all, dtype, CommReduce::sum, outer, inner, {}, int64_t(counts.size())};
  const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t(0));
  int64_t from = 0;
  for (int64_t count : counts) {
    const int64_t begin = std::max<int64_t>(0, from - 1), end = std::min(all, from + count + 1);
    out.held.push_back({{from, count}, {0, 1}});
    out.taken.push_back({{begin, end - begin}, {0, 1}});
    from += count;
  }
  return out;
}

// Pieces of one tensor, or all of it, of which each member holds the range that `held` says and takes that of `taken`.
inline CommCase ranges_case(DType dtype, int64_t outer, int64_t inner, const std::vector<CommRange>& held,
                            const std::vector<CommRange>& taken) {
  CommCase out{Collective::all_to_all, dtype, CommReduce::sum, outer, inner, {}, int64_t(held.size())};
  for (const CommRange& range : held) out.held.push_back({range, {0, 1}});
  for (const CommRange& range : taken) out.taken.push_back({range, {0, 1}});
  return out;
}

// What one member and all others do with each other: broadcast, gather and scatter, of every root; and pieces that all
// go to the member behind.
inline std::vector<CommCase> root_cases(DType dtype, int64_t outer, int64_t inner, const std::vector<int64_t>& counts) {
  std::vector<CommRange> pieces;
  int64_t all = 0;
  for (int64_t count : counts) {
    pieces.push_back({all, count});
    all += count;
  }
  std::vector<CommCase> out;
  for (size_t root = 0; root < counts.size(); ++root) {
    std::vector<CommRange> whole(counts.size(), {0, 0});
    whole[root] = {0, all};
    out.push_back(ranges_case(dtype, outer, inner, whole, std::vector<CommRange>(counts.size(), {0, all})));
    out.push_back(ranges_case(dtype, outer, inner, pieces, whole));
    out.push_back(ranges_case(dtype, outer, inner, whole, pieces));
  }
  std::vector<CommRange> behind = pieces;
  std::ranges::rotate(behind, behind.begin() + 1);
  out.push_back(ranges_case(dtype, outer, inner, pieces, behind));
  return out;
}

// Every kind, dtype, reduction and list of counts; outer extents 0, 1 and 3.
inline std::vector<CommCase> all_cases(int64_t members) {
  std::vector<CommCase> out;
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = DType(d);
    for (const auto& counts : counts_of(members))
      for (int64_t outer : {0, 1, 3})
        out.push_back({Collective::all_gather, dtype, CommReduce::sum, outer, outer == 1 ? 1 : 2, counts, members});
    const auto lists = counts_of(members);
    for (size_t i = 0; i < lists.size(); ++i)
      for (int64_t outer : {0, 1, 3}) {
        for (bool scattered_first : {false, true})
          out.push_back(exchange_case(dtype, outer, outer == 1 ? 2 : 1, outer == 1 ? 1 : 2, lists[i],
                                      lists[(i + 1) % lists.size()], scattered_first));
        out.push_back(halo_case(dtype, outer, outer == 1 ? 1 : 2, lists[i]));
        std::ranges::copy(root_cases(dtype, outer, outer == 1 ? 1 : 2, lists[i]), std::back_inserter(out));
      }
    for (CommReduce reduce : kReduces) {
      for (const auto& counts : counts_of(members))
        for (int64_t outer : {0, 1, 3})
          out.push_back({Collective::reduce_scatter, dtype, reduce, outer, outer == 1 ? 1 : 2, counts, members});
      for (int64_t elements : {0, 1, 2, 5, 8, 33})
        out.push_back({Collective::all_reduce, dtype, reduce, 1, 1, {elements}, members});
    }
  }
  return out;
}

// Small integers, exact in every dtype also summed and multiplied over four members; or normal numbers, whose sums
// depend on the order.
enum class CommValues { exact, normal };

// The members' inputs of a case; the same on every process.
inline std::vector<Tensor> inputs_of(const CommCase& test, CommValues kind, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const bool is_signed = !is_unsigned(test.dtype);
  std::vector<Tensor> out;
  for (int64_t p = 0; p < test.members; ++p) {
    std::vector<double> values(size_t(test.in_elements(p)));
    for (double& v : values) {
      if (test.dtype == DType::boolean) {
        v = double(random() % 2);
      } else if (kind == CommValues::normal && is_float(test.dtype)) {
        v = normal(random);
      } else {
        v = double(random() % 4) - (is_signed ? 2 : 0);
      }
    }
    out.push_back(Tensor::from_doubles(test.dtype, {test.in_elements(p)}, values));
  }
  return out;
}

inline Tensor blank(DType dtype, int64_t elements) {
  Tensor out = Tensor::empty(dtype, {elements});
  std::memset(out.data(), 0xee, out.bytes());
  return out;
}

// Calls the collective of a case.
inline void call(Communicator& communicator, const CommCase& test, std::span<const CommMember> members) {
  const CommPieces pieces = test.call().pieces;
  switch (test.kind) {
    case Collective::all_reduce:
      return communicator.all_reduce(test.dtype, test.reduce, test.counts[0], members);
    case Collective::all_gather:
      return communicator.all_gather(pieces, members);
    case Collective::reduce_scatter:
      return communicator.reduce_scatter(pieces, test.reduce, members);
    case Collective::all_to_all:
    case Collective::gather_range:  // these are asked for as the other
    case Collective::gather_block:
      return communicator.all_to_all(test.call().blocks, members);
  }
}

// What comm/local makes of the inputs, and what it counts.
inline std::vector<Tensor> expected_of(const CommCase& test, const std::vector<Tensor>& in, CommTraffic* traffic) {
  LocalCommunicator local(test.members, *traffic);
  std::vector<Tensor> out;
  std::vector<CommMember> members;
  for (int64_t p = 0; p < test.members; ++p) {
    out.push_back(blank(test.dtype, test.out_elements(p)));
    members.push_back({p, in[size_t(p)].data(), out.back().data()});
  }
  call(local, test, members);
  return out;
}

inline ::testing::AssertionResult same_bits(const Tensor& expected, const Tensor& found) {
  if (expected.bytes() == found.bytes() && std::memcmp(expected.data(), found.data(), found.bytes()) == 0)
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << ::testing::PrintToString(expected.to_doubles()) << " expected, found "
                                       << ::testing::PrintToString(found.to_doubles());
}

// Runs the cases as one member and compares every result with comm/local's, bit by bit, and what was counted. Every
// all_reduce runs in place, too.
inline void check_member(Communicators& all, Communicator& team, int64_t position, const std::vector<CommCase>& cases,
                         CommValues values, bool count) {
  for (size_t i = 0; i < cases.size(); ++i) {
    const CommCase& test = cases[i];
    SCOPED_TRACE(describe(test.call()) + " at position " + std::to_string(position));
    std::vector<Tensor> in = inputs_of(test, values, uint32_t(i));
    CommTraffic traffic;
    const Tensor expected = expected_of(test, in, &traffic)[size_t(position)];
    const Tensor out = blank(test.dtype, test.out_elements(position));
    if (count) all.reset_traffic();
    const CommMember member{position, in[size_t(position)].data(), out.data()};
    call(team, test, {&member, 1});
    ASSERT_TRUE(same_bits(expected, out));
    if (count) {
      ASSERT_EQ(all.traffic(), member_traffic(test.call(), test.members, position));
    }
    if (test.kind == Collective::all_reduce) {
      const CommMember in_place{position, in[size_t(position)].data(), in[size_t(position)].data()};
      call(team, test, {&in_place, 1});
      ASSERT_TRUE(same_bits(expected, in[size_t(position)])) << "in place";
    }
  }
}

}  // namespace plait::testing
