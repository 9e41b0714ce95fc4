// What is compiled ahead of a run: the class that the run takes, without a look at its elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "plait.h"
#include "support/refusal.h"

namespace plait {
namespace {

using testing::refusal;

constexpr const char* kDoubled =
    "fusion @f (%x: f32[m, n], %w: f32[m, n]) -> (%y, %s) { %y = add(mul(%x, 2.0), %w) %s = sum(%x, dims = [1]) }";

Tensor counting(std::vector<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  std::vector<double> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0);
  return Tensor::from_doubles(DType::f32, std::move(shape), values);
}

class Prepared : public ::testing::Test {
 protected:
  // Classes after prepare() and after the run with the same arguments.
  std::pair<size_t, size_t> classes(const Tensors& inputs, const RunOptions& options) {
    program_.prepare(inputs, options);
    const size_t before = program_.classes();
    program_.run(inputs, options);
    return {before, program_.classes()};
  }

  std::unique_ptr<Fusion> fusion_ = parse_fusion(kDoubled);
  Compiled program_ = compile(*fusion_, {.device = "cpu"});
};

TEST_F(Prepared, IsWhatTheRunTakes) {
  const Tensor w = counting({3, 4});
  Tensor turned = counting({4, 3});
  std::swap(turned.shape[0], turned.shape[1]);
  turned.strides = {1, 3};
  EXPECT_EQ(classes({{"x", counting({3, 4})}, {"w", w}}, {}), std::pair(size_t{1}, size_t{1}));
  EXPECT_EQ(classes({{"x", turned}, {"w", w}}, {}), std::pair(size_t{2}, size_t{2}));
  const Tensor x = counting({3, 4});
  EXPECT_EQ(classes({{"x", x}, {"w", w}}, {.outputs = {{"y", x}}}), std::pair(size_t{3}, size_t{3}));
  EXPECT_EQ(classes({{"x", counting({3, 4})}, {"w", counting({3, 4})}}, {.donated = {"w"}}),
            std::pair(size_t{4}, size_t{4}));
  EXPECT_EQ(classes({{"x", counting({9, 2})}, {"w", counting({9, 2})}}, {.donated = {"w"}}),
            std::pair(size_t{4}, size_t{4}));
}

TEST_F(Prepared, NoElementIsTouched) {
  const Tensor x = counting({3, 4}), w = counting({3, 4});
  program_.prepare({{"x", x}, {"w", w}}, {.outputs = {{"y", x}}, .donated = {"w"}});
  EXPECT_EQ(x.to_doubles(), counting({3, 4}).to_doubles());
  EXPECT_EQ(w.to_doubles(), counting({3, 4}).to_doubles());

  const auto lookup = parse_fusion("fusion @f (%i: i64[n] in 0..7, %t: f32[7, 3]) -> (%y) { %y = embedding(%i, %t) }");
  Compiled rows = compile(*lookup, {.device = "cpu"});
  const Tensors beyond = {{"i", Tensor::from_doubles(DType::i64, {2}, {3, 1000})}, {"t", counting({7, 3})}};
  rows.prepare(beyond, {});
  EXPECT_EQ(rows.classes(), 1);
  EXPECT_THAT(refusal([&] { rows.run(beyond); }), ::testing::HasSubstr("1000"));
}

TEST_F(Prepared, RefusesWhatTheRunRefuses) {
  const Tensors inputs = {{"x", counting({3, 4})}, {"w", counting({3, 4})}};
  const std::vector<std::pair<Tensors, RunOptions>> wrong = {
      {{{"x", counting({3, 4})}}, {}},
      {{{"x", counting({3, 4})}, {"w", counting({4, 4})}}, {}},
      {inputs, {.outputs = {{"z", counting({3, 4})}}}},
      {inputs, {.outputs = {{"y", counting({3, 3})}}}},
      {inputs, {.donated = {"z"}}},
      {inputs, {.threads = -1}},
  };
  for (const auto& [given, options] : wrong) {
    const std::string of_run = refusal([&] { program_.run(given, options); });
    EXPECT_EQ(refusal([&] { program_.prepare(given, options); }), of_run);
    EXPECT_FALSE(of_run.empty());
  }
}

}  // namespace
}  // namespace plait
