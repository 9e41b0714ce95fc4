#include "comm/local/local.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "comm_cases.h"
#include "device/tensor.h"
#include "scalar/convert.h"

namespace plait {
namespace {

const std::vector<DType> kDTypes = [] {
  std::vector<DType> all;
  for (int d = 0; d < kDTypeCount; ++d) all.push_back(DType(d));
  return all;
}();
const CommReduce kReduces[] = {CommReduce::sum, CommReduce::max, CommReduce::min, CommReduce::prod};

std::vector<CommMember> members_of(const std::vector<Tensor>& in, std::vector<Tensor>& out) {
  std::vector<CommMember> members;
  for (size_t p = 0; p < in.size(); ++p) members.push_back({int64_t(p), in[p].data(), out[p].data()});
  return members;
}

// Small integers, exact in every dtype, also summed and multiplied over four members.
Tensor draw(DType dtype, std::vector<int64_t> shape, std::mt19937& random) {
  std::vector<double> values(size_t(element_count(shape)));
  const bool is_signed = !is_unsigned(dtype);
  for (double& v : values) {
    if (dtype == DType::boolean) {
      v = double(random() % 2);
    } else {
      v = double(random() % 4) - (is_signed ? 2 : 0);
    }
  }
  return Tensor::from_doubles(dtype, std::move(shape), values);
}

double reduce_exactly(DType dtype, CommReduce reduce, const std::vector<double>& values) {
  double out = values[0];
  for (size_t i = 1; i < values.size(); ++i) {
    switch (reduce) {
      case CommReduce::sum:
        out += values[i];
        break;
      case CommReduce::prod:
        out *= values[i];
        break;
      case CommReduce::max:
        out = std::max(out, values[i]);
        break;
      case CommReduce::min:
        out = std::min(out, values[i]);
        break;
    }
  }
  return dtype == DType::boolean ? double(out != 0) : out;
}

std::vector<std::vector<int64_t>> all_counts() {
  return {{3},       {0},       {2, 2},    {3, 0},       {0, 3},       {4, 4, 3},
          {2, 2, 0}, {0, 0, 0}, {1, 0, 5}, {2, 2, 2, 1}, {1, 1, 1, 0}, {0, 0, 0, 4}};
}

TEST(LocalCommunicator, GathersUnevenAndEmptyPiecesOfEveryDType) {
  std::mt19937 random(1);
  for (DType dtype : kDTypes) {
    for (const auto& counts : all_counts()) {
      for (int64_t outer : {0, 1, 3}) {
        for (int64_t inner : {0, 1, 2}) {
          const int64_t n = int64_t(counts.size());
          CommTraffic traffic;
          LocalCommunicator comm(n, traffic);
          CommPieces pieces{dtype, outer, inner, counts};
          std::vector<Tensor> in, out;
          for (int64_t p = 0; p < n; ++p) {
            in.push_back(draw(dtype, {outer, counts[p], inner}, random));
            out.push_back(Tensor::empty(dtype, {outer, pieces.total(), inner}));
          }
          comm.all_gather(pieces, members_of(in, out));
          std::vector<double> expected;
          for (int64_t o = 0; o < outer; ++o)
            for (int64_t p = 0; p < n; ++p)
              for (int64_t i = 0; i < counts[p] * inner; ++i) expected.push_back(in[p].at(o * counts[p] * inner + i));
          for (int64_t p = 0; p < n; ++p) ASSERT_EQ(out[p].to_doubles(), expected) << name(dtype) << " member " << p;
          const int64_t bytes = (n - 1) * outer * pieces.total() * inner * int64_t(size_of(dtype));
          ASSERT_EQ(traffic, (CommTraffic{bytes, bytes}));
        }
      }
    }
  }
}

// Element i of the whole tensor, by its five coordinates, is i; each member holds and takes what its blocks say.
TEST(LocalCommunicator, ExchangesPiecesOfOneDimForPiecesOfAnother) {
  const int64_t outer = 2, middle = 3, inner = 2;
  for (const auto& gathered : all_counts())
    for (const auto& scattered : all_counts())
      for (bool scattered_first : {false, true}) {
        if (gathered.size() != scattered.size()) continue;
        const auto test =
            testing::exchange_case(DType::i32, outer, middle, inner, gathered, scattered, scattered_first);
        const int64_t first = std::accumulate((scattered_first ? scattered : gathered).begin(),
                                              (scattered_first ? scattered : gathered).end(), int64_t(0));
        const int64_t second = std::accumulate((scattered_first ? gathered : scattered).begin(),
                                               (scattered_first ? gathered : scattered).end(), int64_t(0));
        const auto block_of = [&](const CommBlock& block) {
          std::vector<double> out;
          for (int64_t o = 0; o < outer; ++o)
            for (int64_t f = block.first.start; f < block.first.start + block.first.count; ++f)
              for (int64_t m = 0; m < middle; ++m)
                for (int64_t s = block.second.start; s < block.second.start + block.second.count; ++s)
                  for (int64_t n = 0; n < inner; ++n)
                    out.push_back(double((((o * first + f) * middle + m) * second + s) * inner + n));
          return out;
        };
        std::vector<Tensor> in, out;
        int64_t missing = 0;  // of the gathered dim, what others hold
        for (int64_t p = 0; p < test.members; ++p) {
          in.push_back(Tensor::from_doubles(DType::i32, {test.in_elements(p)}, block_of(test.held[size_t(p)])));
          out.push_back(Tensor::empty(DType::i32, {test.out_elements(p)}));
          const int64_t others = (scattered_first ? second : first) - gathered[size_t(p)];
          missing += outer * middle * inner * others * scattered[size_t(p)] * 4;
        }
        CommTraffic traffic;
        LocalCommunicator comm(test.members, traffic);
        comm.all_to_all(test.call().blocks, members_of(in, out));
        for (int64_t p = 0; p < test.members; ++p)
          ASSERT_EQ(out[size_t(p)].to_doubles(), block_of(test.taken[size_t(p)])) << describe(test.call()) << p;
        ASSERT_EQ(traffic, (CommTraffic{missing, missing}));
      }
}

TEST(LocalCommunicator, BlocksMayOverlapWhereTheyAreTaken) {
  const std::vector<int64_t> counts = {2, 0, 3};
  const auto test = testing::halo_case(DType::f32, 1, 1, counts);
  std::vector<Tensor> in, out;
  const std::vector<std::vector<double>> held = {{10, 11}, {}, {12, 13, 14}};
  for (int64_t p = 0; p < 3; ++p) {
    in.push_back(Tensor::from_doubles(DType::f32, {counts[size_t(p)]}, held[size_t(p)]));
    out.push_back(Tensor::empty(DType::f32, {test.out_elements(p)}));
  }
  CommTraffic traffic;
  LocalCommunicator(3, traffic).all_to_all(test.call().blocks, members_of(in, out));
  EXPECT_EQ(out[0].to_doubles(), (std::vector<double>{10, 11, 12}));
  EXPECT_EQ(out[1].to_doubles(), (std::vector<double>{11, 12}));
  EXPECT_EQ(out[2].to_doubles(), (std::vector<double>{11, 12, 13, 14}));
  EXPECT_EQ(traffic, (CommTraffic{16, 16}));
}

TEST(LocalCommunicator, ReduceScattersUnevenAndEmptyPiecesOfEveryDType) {
  std::mt19937 random(2);
  for (DType dtype : kDTypes) {
    for (CommReduce reduce : kReduces) {
      for (const auto& counts : all_counts()) {
        for (int64_t outer : {0, 1, 3}) {
          const int64_t n = int64_t(counts.size()), inner = 2;
          CommTraffic traffic;
          LocalCommunicator comm(n, traffic);
          CommPieces pieces{dtype, outer, inner, counts};
          std::vector<Tensor> in, out;
          for (int64_t p = 0; p < n; ++p) {
            in.push_back(draw(dtype, {outer, pieces.total(), inner}, random));
            out.push_back(Tensor::empty(dtype, {outer, counts[p], inner}));
          }
          comm.reduce_scatter(pieces, reduce, members_of(in, out));
          int64_t start = 0;
          for (int64_t p = 0; p < n; ++p) {
            std::vector<double> expected;
            for (int64_t o = 0; o < outer; ++o)
              for (int64_t i = 0; i < counts[p] * inner; ++i) {
                std::vector<double> terms;
                for (const Tensor& t : in) terms.push_back(t.at((o * pieces.total() + start) * inner + i));
                expected.push_back(reduce_exactly(dtype, reduce, terms));
              }
            ASSERT_EQ(out[p].to_doubles(), expected) << name(dtype) << " " << name(reduce) << " member " << p;
            start += counts[p];
          }
          const int64_t bytes = (n - 1) * outer * pieces.total() * inner * int64_t(size_of(dtype));
          ASSERT_EQ(traffic, (CommTraffic{bytes, bytes}));
        }
      }
    }
  }
}

TEST(LocalCommunicator, AllReducesEveryDTypeAlsoInPlace) {
  std::mt19937 random(3);
  for (DType dtype : kDTypes) {
    for (CommReduce reduce : kReduces) {
      for (int64_t n : {1, 2, 3, 4}) {
        for (int64_t elements : {0, 1, 2, 3, 5, 8, 1025}) {
          std::vector<Tensor> in, out;
          for (int64_t p = 0; p < n; ++p) {
            in.push_back(draw(dtype, {elements}, random));
            out.push_back(Tensor::empty(dtype, {elements}));
          }
          std::vector<double> expected;
          for (int64_t i = 0; i < elements; ++i) {
            std::vector<double> terms;
            for (const Tensor& t : in) terms.push_back(t.at(i));
            expected.push_back(reduce_exactly(dtype, reduce, terms));
          }
          CommTraffic traffic;
          LocalCommunicator comm(n, traffic);
          comm.all_reduce(dtype, reduce, elements, members_of(in, out));
          for (const Tensor& t : out) ASSERT_EQ(t.to_doubles(), expected) << name(dtype) << " " << name(reduce);
          const int64_t bytes = 2 * (n - 1) * elements * int64_t(size_of(dtype));
          ASSERT_EQ(traffic, (CommTraffic{bytes, bytes})) << n << " members, " << elements << " elements";
          comm.all_reduce(dtype, reduce, elements, members_of(in, in));
          for (const Tensor& t : in) ASSERT_EQ(t.to_doubles(), expected) << "in place, " << name(dtype);
        }
      }
    }
  }
}

double sum_of(DType dtype, const std::vector<double>& terms, CommReduce reduce = CommReduce::sum) {
  CommTraffic traffic;
  LocalCommunicator comm(int64_t(terms.size()), traffic);
  std::vector<Tensor> in, out;
  for (double term : terms) {
    in.push_back(Tensor::from_doubles(dtype, {1}, {term}));
    out.push_back(Tensor::empty(dtype, {1}));
  }
  comm.all_reduce(dtype, reduce, 1, members_of(in, out));
  return out.back().at(0);
}

TEST(LocalCommunicator, AddsInRankOrderInF32AndRoundsOnce) {
  for (DType dtype : {DType::bf16, DType::f32}) {
    EXPECT_EQ(sum_of(dtype, {16777216, 1, -16777216}), 0) << "the 1 is lost in f32";
    EXPECT_EQ(sum_of(dtype, {16777216, -16777216, 1}), 1);
    EXPECT_EQ(sum_of(dtype, {1, 16777216, -16777216}), 0);
  }
  EXPECT_EQ(sum_of(DType::f64, {16777216, 1, -16777216}), 1);
  EXPECT_EQ(sum_of(DType::bf16, {256, 1, 1}), 258) << "rounding at every step would stay at 256";
  EXPECT_EQ(sum_of(DType::f16, {2048, 1, 1}), 2050);
  EXPECT_EQ(sum_of(DType::f16, {60000, 60000, -60000}), 60000) << "no overflow on the way";
}

TEST(LocalCommunicator, KeepsSignsOfZeroAndPropagatesNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    EXPECT_TRUE(std::signbit(sum_of(dtype, {-0.0, -0.0})));
    for (CommReduce reduce : kReduces) {
      EXPECT_TRUE(std::isnan(sum_of(dtype, {nan, 1, 2}, reduce))) << name(dtype) << " " << name(reduce);
      EXPECT_TRUE(std::isnan(sum_of(dtype, {1, nan, 2}, reduce)));
      EXPECT_TRUE(std::isnan(sum_of(dtype, {1, 2, nan}, reduce)));
    }
    EXPECT_EQ(sum_of(dtype, {1, -inf, 2}, CommReduce::min), -inf);
    EXPECT_EQ(sum_of(dtype, {1, inf, 2}, CommReduce::max), inf);
  }
}

TEST(LocalCommunicator, IntegersWrapAndCompareAsTheirType) {
  auto reduce_words = [](DType dtype, CommReduce reduce, uint64_t a, uint64_t b) {
    uint64_t in[2] = {a, b}, out[2] = {0, 0};
    CommTraffic traffic;
    LocalCommunicator comm(2, traffic);
    const CommMember members[2] = {{0, &in[0], &out[0]}, {1, &in[1], &out[1]}};
    comm.all_reduce(dtype, reduce, 1, members);
    EXPECT_EQ(out[0], out[1]);
    return out[0];
  };
  const uint64_t all = ~uint64_t(0), top = uint64_t(1) << 63;
  EXPECT_EQ(reduce_words(DType::u64, CommReduce::sum, all, 2), 1u);
  EXPECT_EQ(reduce_words(DType::i64, CommReduce::sum, top - 1, 2), top + 1);
  EXPECT_EQ(reduce_words(DType::i64, CommReduce::prod, top, 2), 0u);
  EXPECT_EQ(reduce_words(DType::u64, CommReduce::max, all, 2), all);
  EXPECT_EQ(reduce_words(DType::i64, CommReduce::max, all, 2), 2u);
  EXPECT_EQ(reduce_words(DType::i64, CommReduce::min, all, 2), all);
  EXPECT_EQ(reduce_words(DType::u32, CommReduce::sum, 0xffffffff, 2), 1u);
  EXPECT_EQ(reduce_words(DType::u32, CommReduce::max, 0xffffffff, 2), 0xffffffffu);
}

TEST(LocalCommunicators, MakesATeamOnceAndCountsForAll) {
  LocalCommunicators comms;
  const int64_t first[] = {0, 1}, second[] = {2, 3, 4};
  Communicator& a = comms.team(first);
  EXPECT_EQ(a.size(), 2);
  EXPECT_EQ(comms.team(second).size(), 3);
  EXPECT_EQ(&comms.team(first), &a);
  std::vector<Tensor> two, three;
  for (int i = 0; i < 3; ++i) three.push_back(Tensor::from_doubles(DType::f32, {5}, {1, 2, 3, 4, 5}));
  for (int i = 0; i < 2; ++i) two.push_back(Tensor::from_doubles(DType::f32, {5}, {1, 2, 3, 4, 5}));
  a.all_reduce(DType::f32, CommReduce::sum, 5, members_of(two, two));
  comms.team(second).all_reduce(DType::f32, CommReduce::sum, 5, members_of(three, three));
  EXPECT_EQ(comms.traffic(), (CommTraffic{40 + 80, 40 + 80}));
  comms.reset_traffic();
  EXPECT_EQ(comms.traffic(), CommTraffic{});
}

TEST(LocalCommunicator, RefusesMissingAndMisplacedMembers) {
  CommTraffic traffic;
  LocalCommunicator comm(2, traffic);
  float x = 0;
  const CommMember one[] = {{0, &x, &x}}, twice[] = {{0, &x, &x}, {0, &x, &x}};
  EXPECT_THROW(comm.all_reduce(DType::f32, CommReduce::sum, 1, one), InternalError);
  EXPECT_THROW(comm.all_reduce(DType::f32, CommReduce::sum, 1, twice), InternalError);
}

}  // namespace
}  // namespace plait
