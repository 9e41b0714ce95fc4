#include "device/tensor.h"
#include "base/sanitizers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>

#include "base/bounds_error.h"

namespace plait {
namespace {

using Shape = std::vector<int64_t>;

TEST(Memory, ReleasesOnceWhenTheLastHandleGoes) {
  int released = 0;
  int value = 0;
  auto memory = std::make_shared<Memory>(&value, sizeof value, [&] { ++released; });
  auto second = memory;
  memory.reset();
  EXPECT_EQ(released, 0);
  second.reset();
  EXPECT_EQ(released, 1);
}

TEST(Memory, RefusesNoAddress) { EXPECT_THROW(Memory(nullptr, 0, {}), InternalError); }

TEST(HostAllocator, AlignsAndCounts) {
  HostAllocator allocator;
  std::vector<std::shared_ptr<Memory>> held;
  for (size_t bytes : {0, 1, 63, 64, 65, 100000}) {
    held.push_back(allocator.allocate(bytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(held.back()->data()) % kBufferAlignment, 0u);
    EXPECT_EQ(held.back()->bytes(), bytes);
  }
  EXPECT_EQ(allocator.allocations(), 6);
  EXPECT_EQ(allocator.allocated_bytes(), 100193);
}

TEST(HostAllocator, RefusesWhatTheMachineLacks) {
#if PLAIT_ASAN || PLAIT_TSAN
  GTEST_SKIP() << "sanitizers end the process at such a request";
#endif
  HostAllocator allocator;
  EXPECT_THROW(allocator.allocate(size_t(1) << 62), MissingError);
  EXPECT_EQ(allocator.allocations(), 0);
}

TEST(Shape, CountsAndStrides) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 4, 5}), 60);
  EXPECT_EQ(element_count({3, 0, 5}), 0);
  EXPECT_EQ(row_major_strides({}), Shape{});
  EXPECT_EQ(row_major_strides({3, 4, 5}), (Shape{20, 5, 1}));
  EXPECT_EQ(row_major_strides({3, 0, 5}), (Shape{5, 5, 1}));
}

TEST(Shape, RefusesOverflowAndNegativeExtents) {
  const int64_t big = int64_t(1) << 32;
  EXPECT_EQ(element_count({std::numeric_limits<int64_t>::max()}), std::numeric_limits<int64_t>::max());
  EXPECT_THROW(element_count({big, big}), UserError);
  EXPECT_THROW(element_count({big, big, 0}), UserError);
  EXPECT_THROW(element_count({2, -1}), UserError);
  EXPECT_THROW(Tensor::empty(DType::f64, {std::numeric_limits<int64_t>::max() / 4}), UserError);
}

TEST(Tensor, RoundsValuesToItsDType) {
  const Tensor t = Tensor::from_doubles(DType::bf16, {2, 2}, {1, 1.0 / 3, -2, 1e300});
  EXPECT_EQ(t.to_doubles(), (std::vector<double>{1, 0.333984375, -2, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(t.bytes(), 8u);
  EXPECT_EQ(t.at(2), -2);
  EXPECT_THROW(t.at(4), BoundsError);
  EXPECT_THROW(t.at(-1), BoundsError);
  EXPECT_THROW(Tensor::from_doubles(DType::f32, {3}, {1, 2}), UserError);
}

TEST(Tensor, LiesInAnOrder) {
  const auto lies = [](Shape shape, Shape strides, std::vector<int> order, std::vector<bool> strided = {}) {
    Tensor t;
    t.shape = std::move(shape);
    t.strides = std::move(strides);
    return t.lies_in(order, strided);
  };
  EXPECT_TRUE(lies({}, {}, {}));
  EXPECT_TRUE(lies({3, 4}, {4, 1}, {0, 1}));
  EXPECT_FALSE(lies({3, 4}, {4, 1}, {1, 0}));
  EXPECT_TRUE(lies({3, 4}, {1, 3}, {1, 0}));
  EXPECT_FALSE(lies({3, 4}, {1, 4}, {1, 0})) << "a gap";
  EXPECT_TRUE(lies({3, 4}, {1, 4}, {1, 0}, {true, false}));
  EXPECT_FALSE(lies({3, 4}, {2, 8}, {1, 0}, {true, false})) << "the inner dim is not free";
  EXPECT_TRUE(lies({3, 4}, {2, 8}, {1, 0}, {true, true}));
  EXPECT_FALSE(lies({3, 4}, {2, 1}, {1, 0}, {true, true})) << "the other order";
  EXPECT_TRUE(lies({2, 3, 4}, {16, 4, 1}, {0, 1, 2}, {true, false, false}));
  EXPECT_FALSE(lies({2, 3, 4}, {16, 5, 1}, {0, 1, 2}, {true, false, false}));
  // Extents of 1 have any stride, tensors without elements any at all.
  EXPECT_TRUE(lies({3, 1, 4}, {4, 999, 1}, {0, 1, 2}));
  EXPECT_TRUE(lies({1, 1}, {7, -7}, {1, 0}));
  EXPECT_TRUE(lies({3, 0}, {17, 5}, {1, 0}));
  // A stride of 0 only where strides are free; the dim then spans nothing.
  EXPECT_FALSE(lies({3, 4}, {0, 1}, {0, 1}));
  EXPECT_TRUE(lies({3, 4}, {0, 1}, {0, 1}, {true, false}));
  EXPECT_TRUE(lies({2, 3, 4}, {4, 0, 1}, {0, 1, 2}, {false, true, false}));
  EXPECT_FALSE(lies({3, 4}, {-4, 1}, {0, 1}, {true, false}));
}

TEST(Tensor, IsCopiedIntoAnOrder) {
  HostAllocator allocator;
  const Tensor t = Tensor::from_doubles(DType::bf16, {2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  for (std::vector<int> order : {std::vector<int>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}}) {
    const Tensor moved = t.in_order(order, allocator);
    EXPECT_TRUE(moved.lies_in(order));
    EXPECT_EQ(moved.to_doubles(), t.to_doubles());
    EXPECT_EQ(moved.in_order(order, allocator).data(), moved.data());
    EXPECT_EQ(moved.in_order({0, 1, 2}, allocator).to_doubles(), t.to_doubles());
  }
  EXPECT_EQ(t.in_order({2, 1, 0}, allocator).strides, (Shape{1, 2, 6}));
  EXPECT_EQ(t.in_order({0, 1, 2}, allocator).data(), t.data());
  const Tensor scalar = Tensor::from_doubles(DType::f32, {}, {4});
  EXPECT_EQ(scalar.in_order({}, allocator).data(), scalar.data());
  EXPECT_EQ(Tensor::empty(DType::f32, {0, 5}).in_order({1, 0}, allocator).elements(), 0);
}

TEST(Tensor, ReadsFloatsThatAreNotAligned) {
  std::vector<std::byte> bytes(13);
  const float values[3] = {1.5f, -2, 3};
  std::memcpy(bytes.data() + 1, values, sizeof values);
  EXPECT_EQ(Tensor::wrap(DType::f32, {3}, bytes.data() + 1).to_doubles(), (std::vector<double>{1.5, -2, 3}));
}

TEST(Tensor, WrapsACallersMemory) {
  int64_t values[3] = {5, 6, 7};
  Tensor t = Tensor::wrap(DType::i64, {3}, values);
  EXPECT_EQ(t.data(), values);
  values[1] = -6;
  EXPECT_EQ(t.at(1), -6);
}

TEST(Tensor, ReadsThroughStrides) {
  Tensor t = Tensor::from_doubles(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor transposed = t;
  transposed.shape = {3, 2};
  transposed.strides = {1, 3};
  EXPECT_FALSE(transposed.is_contiguous());
  EXPECT_EQ(transposed.to_doubles(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(transposed.at(3), 5);
  const Tensor copy = transposed.contiguous();
  EXPECT_TRUE(copy.is_contiguous());
  EXPECT_EQ(copy.to_doubles(), transposed.to_doubles());
  EXPECT_NE(copy.data(), t.data());
  EXPECT_EQ(t.contiguous().data(), t.data());
  Tensor row = t;  // second row
  row.shape = {3};
  row.strides = {1};
  row.byte_offset = 12;
  EXPECT_EQ(row.to_doubles(), (std::vector<double>{4, 5, 6}));
}

TEST(Tensor, ContiguityIgnoresExtentsOfOneAndEmptyTensors) {
  Tensor t = Tensor::empty(DType::f32, {1, 4});
  t.strides = {99, 1};
  EXPECT_TRUE(t.is_contiguous());
  Tensor e = Tensor::empty(DType::f32, {2, 0, 3});
  e.strides = {7, 7, 7};
  EXPECT_TRUE(e.is_contiguous());
  EXPECT_TRUE(e.to_doubles().empty());
  Tensor broadcast = Tensor::empty(DType::f32, {2, 2});
  broadcast.strides = {0, 1};
  EXPECT_FALSE(broadcast.is_contiguous());
}

TEST(Tensor, ScalarHasOneElement) {
  const Tensor t = Tensor::from_doubles(DType::u64, {}, {42});
  EXPECT_EQ(t.elements(), 1);
  EXPECT_EQ(t.at(0), 42);
}

template <class Fn>
std::string words_of(Fn&& fn) {
  try {
    fn();
  } catch (const UserError& e) {
    return e.message() + " | " + e.where() + " | " + e.remedy();
  }
  return "";
}

TEST(Tensor, MistakesOfUsersAreTold) {
  EXPECT_EQ(words_of([] { Tensor::wrap(DType::f32, {2}, nullptr); }),
            "the address of its elements is null | tensor f32[2] | give the memory, or make a tensor that has its own: "
            "Tensor::empty");
  EXPECT_EQ(Tensor::wrap(DType::f32, {2, 0}, nullptr).to_doubles(), std::vector<double>());
  EXPECT_NE(words_of([] { Tensor::wrap(DType::f64, {int64_t{1} << 61}, nullptr); }).find("2^63 - 1 bytes"),
            std::string::npos);
  const Tensor t = Tensor::from_doubles(DType::f32, {2}, {1, 2});
  EXPECT_EQ(words_of([&] { t.at(9); }), "there is no element 9 | tensor f32[2] | elements are 0 to 1");
  EXPECT_EQ(words_of([&] { t.at(-1); }), "there is no element -1 | tensor f32[2] | elements are 0 to 1");
  EXPECT_EQ(words_of([] { Tensor::empty(DType::i8, {0}).at(0); }),
            "there is no element 0 | tensor i8[0] | it has none");
  const std::string none =
      "the tensor has no memory | tensor f32[] | make it by Tensor::empty, Tensor::wrap or Tensor::from_doubles";
  EXPECT_EQ(words_of([] { Tensor().data(); }), none);
  EXPECT_EQ(words_of([] { Tensor().to_doubles(); }), none);
  EXPECT_EQ(words_of([] { Tensor().at(0); }), none);
}

}  // namespace
}  // namespace plait
