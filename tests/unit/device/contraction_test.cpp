#include "device/contraction.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/contraction_numbers.h"

namespace plait {
namespace {

// "batch 2, m 3, n 4, k 5: a 5 1 15, b ...": the strides of an operand along rows, columns, then the batch.
std::string described(std::span<const int64_t> integers) {
  const ContractionArguments all(integers);
  std::string out = all.text() + ":";
  for (const auto& [name, operand] : {std::pair("a", &all.a), {"b", &all.b}, {"out", &all.out}}) {
    out += fmt::format(" {} {} {}", name, operand->row, operand->column);
    for (int64_t stride : operand->batch) out += fmt::format(" {}", stride);
    if (operand->offset != 0) out += fmt::format(" at {}", operand->offset);
  }
  return out;
}

TEST(SimplifyContraction, DenseBatches) {
  using test::DenseContraction;
  EXPECT_EQ(described(DenseContraction().integers(2, 3, 4, 5)), "batch 2, m 3, n 4, k 5: a 5 1 15 b 4 1 20 out 4 1 12");
  EXPECT_EQ(described(DenseContraction{true, true}.integers(1, 3, 4, 5)),
            "batch 1, m 3, n 4, k 5: a 1 3 b 1 5 out 4 1");
  EXPECT_EQ(described(DenseContraction::linear().integers(2, 3, 4, 5)), "batch 1, m 6, n 4, k 5: a 5 1 b 1 5 out 4 1");
}

TEST(SimplifyContraction, KeepsWhatDoesNotLieAsOne) {
  std::map<std::string, std::string> got;
  for (const test::StridedContraction& of : test::strided_contractions()) got[of.name] = described(of.integers());
  EXPECT_EQ(got["heads_interleaved"], "batch 2 x 4, m 5, n 6, k 8: a 32 1 160 8 b 1 32 192 8 out 6 1 120 30");
  EXPECT_EQ(got["grouped_dense"], "batch 6, m 20, n 6, k 8: a 8 1 160 b 1 8 48 out 6 1 120") << "rows of a group";
  EXPECT_EQ(got["grouped_one_token"], "batch 6, m 4, n 6, k 8: a 8 1 32 b 1 8 48 out 6 1 24");
  EXPECT_EQ(got["grouped_interleaved"],
            "batch 2 x 3 x 4, m 5, n 6, k 8: a 96 1 480 32 8 b 1 24 144 8 0 out 6 1 360 120 30");
  EXPECT_EQ(got["batch_sliced"], "batch 3, m 5, n 6, k 8: a 8 1 80 at 40 b 6 1 96 out 6 1 30");
}

TEST(SimplifyContraction, RepeatedDimsComeFirst) {
  const int64_t batch[] = {2, 3, 4}, a[] = {40, 0, 80}, b[] = {500, 0, 100}, out[] = {240, 80, 20};
  ContractionArguments all;
  all.batch = batch;
  all.m = 4, all.n = 5, all.k = 6;
  all.a = {6, 1, 0, a}, all.b = {5, 1, 0, b}, all.out = {5, 1, 0, out};
  EXPECT_EQ(described(simplify_contraction(all.integers())),
            "batch 3 x 2 x 4, m 4, n 5, k 6: a 6 1 0 40 80 b 5 1 0 500 100 out 5 1 80 240 20");
}

TEST(ContractionArguments, RefuseWhatIsNone) {
  std::vector<int64_t> integers = test::DenseContraction().integers(2, 3, 4, 5);
  EXPECT_NO_THROW(ContractionArguments{integers});
  EXPECT_THROW(ContractionArguments(std::span(integers).first(3)), InternalError);
  EXPECT_THROW(ContractionArguments(std::span(integers).first(integers.size() - 1)), InternalError);
  integers[0] = -1;
  EXPECT_THROW(ContractionArguments{integers}, InternalError);
}

}  // namespace
}  // namespace plait
