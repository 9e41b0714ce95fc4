// Which tensors share memory: ranges, blocks of columns, strides of all kinds, against a count of every byte.
#include "device/overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace plait {
namespace {

using Shape = std::vector<int64_t>;

std::shared_ptr<Memory> room() {
  static const auto memory = Tensor::empty(DType::u8, {4096}).memory;
  return memory;
}

Tensor at(int64_t byte, Shape shape, Shape strides, DType dtype = DType::f32) {
  return {dtype, std::move(shape), std::move(strides), room(), size_t(byte)};
}

// Bytes of the elements; nothing where one stands twice.
std::optional<std::set<int64_t>> bytes_of(const Tensor& t) {
  std::set<int64_t> out;
  const int64_t size = int64_t(size_of(t.dtype));
  for (int64_t i = 0; i < t.elements(); ++i) {
    int64_t element = 0, rest = i;
    for (size_t d = t.shape.size(); d-- > 0; rest /= t.shape[d]) element += rest % t.shape[d] * t.strides[d];
    for (int64_t b = 0; b < size; ++b)
      if (!out.insert(int64_t(t.byte_offset) + element * size + b).second) return std::nullopt;
  }
  return out;
}

TEST(Overlap, RangesAndBlocksOfColumns) {
  const Tensor rows = at(0, {4, 8}, {8, 1}), left = at(0, {4, 3}, {8, 1}), right = at(12, {4, 5}, {8, 1});
  EXPECT_TRUE(may_overlap(rows, left));
  EXPECT_FALSE(may_overlap(left, right));
  EXPECT_TRUE(may_overlap(at(8, {4, 3}, {8, 1}), right));
  EXPECT_FALSE(may_overlap(rows, at(128, {4, 8}, {8, 1})));
  EXPECT_TRUE(may_overlap(rows, at(124, {1}, {1})));
  EXPECT_FALSE(may_overlap(at(0, {4, 4}, {2, 16}), at(4, {4, 4}, {2, 16})));               // every other element
  EXPECT_FALSE(may_overlap(at(0, {2, 3, 4}, {64, 8, 1}), at(16, {2, 3, 4}, {64, 8, 1})));  // heads
  EXPECT_FALSE(may_overlap(at(0, {2, 8}, {16, 1}), at(32, {2, 8}, {16, 1})));              // every other row
  EXPECT_TRUE(may_overlap(at(0, {2, 2}, {1, 2}), at(0, {2, 2}, {2, 1})));
  // A block that goes around the end of a row.
  EXPECT_FALSE(may_overlap(at(24, {4, 4}, {8, 1}), at(40, {4, 4}, {8, 1})));
  EXPECT_TRUE(may_overlap(at(24, {4, 5}, {8, 1}), at(40, {4, 4}, {8, 1})));
  // Backwards, of nothing, of one element, of unlike dtypes.
  EXPECT_TRUE(may_overlap(at(28, {8}, {-1}), at(0, {1}, {1})));
  EXPECT_FALSE(may_overlap(at(28, {7}, {-1}), at(0, {1}, {1})));
  EXPECT_FALSE(may_overlap(at(0, {0, 8}, {8, 1}), rows));
  EXPECT_TRUE(may_overlap(at(64, {}, {}, DType::u8), rows));
  const Tensor elsewhere = Tensor::wrap(DType::f32, {4, 8}, room()->data(), {false, 0});
  EXPECT_FALSE(may_overlap(elsewhere, rows));
}

TEST(Overlap, WithinOneTensor) {
  EXPECT_FALSE(may_overlap_itself(at(0, {4, 8}, {8, 1})));
  EXPECT_FALSE(may_overlap_itself(at(0, {8, 4}, {1, 8})));
  EXPECT_FALSE(may_overlap_itself(at(128, {4, 8}, {-8, 1})));
  EXPECT_FALSE(may_overlap_itself(at(0, {1, 8}, {0, 1})));
  EXPECT_FALSE(may_overlap_itself(at(0, {0, 8}, {0, 0})));
  EXPECT_TRUE(may_overlap_itself(at(0, {4, 8}, {0, 1})));
  EXPECT_TRUE(may_overlap_itself(at(0, {4, 8}, {7, 1})));
  EXPECT_FALSE(may_overlap_itself(at(0, {}, {})));
}

TEST(Overlap, SameElements) {
  const Tensor rows = at(0, {4, 8}, {8, 1});
  EXPECT_TRUE(same_elements(rows, at(0, {4, 8}, {8, 1})));
  EXPECT_FALSE(same_elements(rows, at(4, {4, 8}, {8, 1})));
  EXPECT_FALSE(same_elements(rows, at(0, {4, 8}, {1, 4})));
  EXPECT_FALSE(same_elements(rows, at(0, {4, 8}, {8, 1}, DType::i32)));
  EXPECT_TRUE(same_elements(at(0, {1, 8}, {8, 1}), at(0, {1, 8}, {99, 1})));
}

TEST(Overlap, NeverMissesAByte) {
  std::mt19937 random(7);
  const auto draw = [&](int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random); };
  int apart = 0, beside = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto tensor = [&] {
      Shape shape, strides;
      for (int64_t d = draw(0, 3); d > 0; --d) shape.push_back(draw(1, 4)), strides.push_back(draw(0, 12));
      return at(4 * draw(0, 30), shape, strides, draw(0, 1) ? DType::f32 : DType::bf16);
    };
    const Tensor a = tensor(), b = tensor();
    const auto of_a = bytes_of(a), of_b = bytes_of(b);
    EXPECT_TRUE(of_a || may_overlap_itself(a));
    if (!of_a || !of_b || may_overlap(a, b)) continue;
    ++apart;
    beside += *of_a->begin() < *of_b->rbegin() && *of_b->begin() < *of_a->rbegin();
    for (int64_t byte : *of_a) EXPECT_FALSE(of_b->contains(byte));
  }
  EXPECT_GT(apart, 2000);
  EXPECT_GT(beside, 50);
}

}  // namespace
}  // namespace plait
