#include "analysis/cost.h"

#include <gtest/gtest.h>

#include "build/build.h"

namespace plait {
namespace {

TEST(Cost, BytesAndOperationsInTheSizes) {
  Fusion f;
  TensorView *x = f.input("x", {"m", "k"}, bf16), *w = f.input("w", {8, "k"}, bf16);
  TensorView* p = linear(x, w);
  TensorView* y = f.output("y", exp(cast(p, f32)));
  const Cost c = cost_of(f, f.ops(), f.inputs(), f.outputs());
  EXPECT_EQ(c.bytes_read, sym::parse(f.pool(), "2*m*k + 16*k"));
  EXPECT_EQ(c.bytes_written, sym::parse(f.pool(), "32*m"));
  EXPECT_EQ(c.flops, sym::parse(f.pool(), "16*m*k + 8*m + 128*m"));
  EXPECT_EQ(y->dtype, f32);
}

}  // namespace
}  // namespace plait
