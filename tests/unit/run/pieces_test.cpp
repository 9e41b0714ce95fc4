#include "run/pieces.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "scalar/convert.h"

namespace plait {
namespace {

using Indices = std::vector<std::vector<int64_t>>;

Tensor numbered(DType dtype, std::vector<int64_t> shape) {
  std::vector<double> values(size_t(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = dtype == DType::boolean ? double(i % 3 == 0) : double(i % 200);
  return Tensor::from_doubles(dtype, std::move(shape), values);
}

// Global linear index of the element `local` of a piece.
int64_t global_index(int64_t local, const std::vector<int64_t>& shape, const Indices& indices) {
  int64_t out = 0, scale = 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    out += indices[dim][local % int64_t(indices[dim].size())] * scale;
    local /= int64_t(indices[dim].size());
    scale *= shape[dim];
  }
  return out;
}

void check(DType dtype, const std::vector<int64_t>& shape, const Indices& indices) {
  const PieceMap map(shape, indices);
  const Tensor global = numbered(dtype, shape);
  Tensor local = Tensor::empty(dtype, map.local_shape());
  map.cut(global, local);
  Tensor back = Tensor::from_doubles(dtype, shape, std::vector<double>(size_t(element_count(shape)), 1));
  std::vector<double> expected = back.to_doubles();
  for (int64_t i = 0; i < local.elements(); ++i) {
    const int64_t g = global_index(i, shape, indices);
    ASSERT_EQ(local.at(i), global.at(g)) << name(dtype) << " element " << i;
    expected[size_t(g)] = global.at(g);
  }
  map.put(local, back);
  ASSERT_EQ(back.to_doubles(), expected);
}

TEST(PieceMap, EverySubsetOfSmallShapes) {
  for (const auto& shape : {std::vector<int64_t>{4}, {3, 2}, {2, 3, 2}, {1, 3}, {2, 1, 2}}) {
    size_t subsets = 1;
    for (int64_t extent : shape) subsets <<= extent;
    for (size_t bits = 0; bits < subsets; ++bits) {
      Indices indices;
      size_t rest = bits;
      for (int64_t extent : shape) {
        std::vector<int64_t> mine;
        for (int64_t i = 0; i < extent; ++i, rest >>= 1)
          if (rest & 1) mine.push_back(i);
        indices.push_back(mine);
      }
      check(DType::f32, shape, indices);
      EXPECT_EQ(PieceMap(shape, indices).is_whole(), bits + 1 == subsets);
    }
  }
}

TEST(PieceMap, EveryDTypeAnyOrder) {
  std::mt19937 random(3);
  for (DType dtype :
       {DType::boolean, DType::i64, DType::u32, DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<int64_t> shape;
      Indices indices;
      for (int dim = 0; dim < 1 + int(random() % 3); ++dim) {
        shape.push_back(int64_t(random() % 7));
        std::vector<int64_t> mine;
        for (int64_t i = 0; i < shape.back(); ++i)
          if (random() % 4) mine.push_back(i);
        std::shuffle(mine.begin(), mine.end(), random);
        indices.push_back(mine);
      }
      check(dtype, shape, indices);
    }
  }
}

TEST(PieceMap, ScalarIsWhole) {
  check(DType::u64, {}, {});
  EXPECT_TRUE(PieceMap({}, {}).is_whole());
}

TEST(PieceMap, UncutDimsNeedNoIndices) {
  const Tensor t = numbered(DType::f32, {3, 4, 2});
  for (const std::vector<bool>& uncut :
       {std::vector<bool>{true, false, true}, {true, false, false}, {false, false, true}}) {
    const Indices all = {{0, 1, 2}, {1, 3}, {0, 1}};
    Indices given = all;
    for (size_t d = 0; d < 3; ++d)
      if (uncut[d]) given[d].clear();
    const PieceMap want({3, 4, 2}, all), map({3, 4, 2}, given, uncut);
    ASSERT_EQ(map.local_shape(), want.local_shape());
    Tensor local = Tensor::empty(DType::f32, {3, 2, 2}), expected = Tensor::empty(DType::f32, {3, 2, 2});
    map.cut(t, local);
    want.cut(t, expected);
    EXPECT_EQ(local.to_doubles(), expected.to_doubles());
  }
  const int64_t large = int64_t(1) << 40;  // too many for a list
  EXPECT_TRUE(PieceMap({large, 0}, {{}, {}}, {true, true}).is_whole());
  EXPECT_EQ(PieceMap({large, 2, 0}, {{}, {1}, {}}, {true, false, true}).local_shape(),
            (std::vector<int64_t>{large, 1, 0}));
}

TEST(PieceMap, CutsFromStridedTensors) {
  Tensor t = numbered(DType::f32, {3, 4});
  t.shape = {4, 3};
  t.strides = {1, 4};
  const PieceMap map({4, 3}, {{1, 2}, {0, 2}});
  Tensor local = Tensor::empty(DType::f32, {2, 2});
  map.cut(t, local);
  EXPECT_EQ(local.to_doubles(), (std::vector<double>{1, 9, 2, 10}));
}

TEST(PieceMap, RefusesIndicesOutsideAndWrongTensors) {
  EXPECT_THROW(PieceMap({3}, {{3}}), InternalError);
  EXPECT_THROW(PieceMap({3}, {{-1}}), InternalError);
  EXPECT_THROW(PieceMap({3}, {}), InternalError);
  const PieceMap map({3}, {{0, 2}});
  Tensor wide = Tensor::empty(DType::f64, {2}), large = Tensor::empty(DType::f32, {3});
  EXPECT_THROW(map.cut(large, wide), InternalError);
  EXPECT_THROW(map.cut(large, large), InternalError);
  EXPECT_THROW(map.put(large, large), InternalError);
}

TEST(CopyDense, AnyStrides) {
  Tensor t = numbered(DType::bf16, {2, 3});
  t.shape = {3, 2};
  t.strides = {1, 3};
  Tensor out = Tensor::empty(DType::bf16, {3, 2});
  copy_dense(t, out.data());
  EXPECT_EQ(out.to_doubles(), t.to_doubles());
  t.shape = {0, 2};
  copy_dense(t, nullptr);
}

}  // namespace
}  // namespace plait
