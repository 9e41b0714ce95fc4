// How inputs and outputs lie in memory: what users hand over, what files say of it, what runs give back.
#include <gtest/gtest.h>

#include <cstring>

#include "base/memory_error.h"
#include "plait.h"
#include "reference/check.h"
#include "reference/evaluate.h"
#include "support/run_case.h"

namespace plait {
namespace {

using Shape = std::vector<int64_t>;

// A tensor with these strides, `offset` elements into memory in which every other byte is set.
Tensor strided(DType dtype, Shape shape, Shape strides, int64_t offset, double first) {
  int64_t reach = offset + 1;
  for (size_t d = 0; d < shape.size(); ++d) reach += std::max<int64_t>(shape[d] - 1, 0) * strides[d];
  HostAllocator allocator;
  Tensor t{dtype, shape, std::move(strides), allocator.allocate(size_t(reach) * size_of(dtype)), 0};
  std::memset(t.memory->data(), 0xFF, t.memory->bytes());
  t.byte_offset = size_t(offset) * size_of(dtype);
  const int64_t count = t.elements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0, rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d]) at += rest % shape[d] * t.strides[d];
    const Tensor one = Tensor::from_doubles(dtype, {}, {first + double(i % 50)});
    std::memcpy(static_cast<std::byte*>(t.data()) + at * int64_t(size_of(dtype)), one.data(), size_of(dtype));
  }
  return t;
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

class Allocations : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string why = testing::why_no_device(device());
    if (!why.empty()) GTEST_SKIP() << why;
  }
  std::string device() const { return GetParam(); }

  // Runs it and compares with the reference; outputs lie as the fusion says, without gaps.
  Tensors check(const std::string& text, const Tensors& inputs, int64_t ranks = 1) {
    const auto fusion = parse_fusion(text);
    CompileOptions how;
    how.device = ranks == 1 || device().rfind("sim", 0) ? device() : device() + ":2";
    how.ranks = ranks;
    const Tensors out = compile(*fusion, how).run(inputs);
    reference::EvaluateOptions evaluate;
    evaluate.ranks = ranks;
    for (const auto& [name, want] : reference::evaluate(*fusion, {inputs.begin(), inputs.end()}, evaluate)) {
      const reference::CheckResult result = reference::compare(name, want, out.at(name));
      EXPECT_TRUE(result.ok) << device() << ": " << result.message << "\n" << text;
      EXPECT_TRUE(out.at(name).lies_in(fusion->find(name)->domain.allocation)) << name << "\n" << text;
    }
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(All, Allocations, ::testing::Values("reference", "cpu", "sim:sm_90a"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find(':'));
});

TEST_P(Allocations, OrdersAndGapsOfInputsAndOrdersOfOutputs) {
  const Tensors out = check(R"(
fusion @f (
  %c: f32[a, b, 3] allocation (2, 0, 1),
  %p: f32[a, b, 3] allocation (0 strided, 1, 2),
  %e: f32[a, b, 3] allocation (0, 1 strided, 2),
  %o: f32[a, b, 3]
) -> (%y, %t, %s, %c) {
  %y: f32[a, b, 3] allocation (1, 2, 0) = add(%c, %p)
  %h = mul(%e, %o)
  %t: f32[3, a, b] allocation (2, 0, 1) = permute(%h, dims = [2, 0, 1])
  %s: f32[a, 3] allocation (1, 0) = sum(%h, dims = [1])
}
)",
                            {{"c", strided(f32, {4, 5, 3}, {5, 1, 20}, 3, 1)},
                             {"p", strided(f32, {4, 5, 3}, {24, 3, 1}, 0, 2)},
                             {"e", strided(f32, {4, 5, 3}, {3, 0, 1}, 1, 3)},
                             {"o", strided(f32, {4, 5, 3}, {1, 24, 5}, 2, 4)}});
  EXPECT_EQ(out.at("y").strides, (Shape{1, 12, 4}));
  EXPECT_EQ(out.at("t").strides, (Shape{4, 1, 12}));
  EXPECT_EQ(out.at("s").strides, (Shape{1, 4}));
  EXPECT_EQ(out.at("c").strides, (Shape{5, 1, 20}));
}

TEST_P(Allocations, OtherDTypesAndProducts) {
  check(R"(
fusion @f (
  %x: bf16[m, k] allocation (1, 0),
  %w: bf16[n, k] allocation (1 strided, 0 strided),
  %i: i64[k, m],
  %b: bool[m, k] allocation (1, 0)
) -> (%y, %j, %v) {
  %y: bf16[m, n] allocation (1, 0) = linear(%x, %w)
  %t = permute(%i, dims = [1, 0])
  %j: i64[m, k] allocation (1, 0) = where(%b, %t, %t)
  %v: bool[m, k] allocation (1, 0) = logical_not(%b)
}
)",
        {{"x", strided(bf16, {6, 8}, {1, 6}, 5, -20)},
         {"w", strided(bf16, {5, 8}, {2, 16}, 0, -9)},
         {"i", strided(i64, {8, 6}, {1, 8}, 1, -3)},
         {"b", strided(DType::boolean, {6, 8}, {1, 6}, 3, 0)}});
}

TEST_P(Allocations, BoundaryShapes) {
  const std::string text = R"(
fusion @f (%s: f32[], %x: f32[a, b] allocation (1, 0), %w: f32[a, b]) -> (%y, %z) {
  %h = add(%x, %w)
  %y: f32[a, b] allocation (1, 0) = mul(%h, %s)
  %z = neg(%s)
}
)";
  const Tensor s = strided(f32, {}, {}, 7, 2.5);
  // No elements: any stride. Extents of 1: any stride. Expanded and offset ones where nothing is said.
  check(text, {{"s", s}, {"x", strided(f32, {0, 3}, {9, 9}, 0, 1)}, {"w", strided(f32, {0, 3}, {0, 0}, 0, 1)}});
  check(text, {{"s", s}, {"x", strided(f32, {3, 0}, {1, 1}, 0, 1)}, {"w", strided(f32, {3, 0}, {1, 17}, 2, 1)}});
  check(text, {{"s", s}, {"x", strided(f32, {1, 5}, {100, 1}, 0, 1)}, {"w", strided(f32, {1, 5}, {3, 2}, 2, 1)}});
  check(text, {{"s", s}, {"x", strided(f32, {5, 1}, {1, 77}, 1, 1)}, {"w", strided(f32, {5, 1}, {0, 5}, 2, 1)}});
  check(text, {{"s", s}, {"x", strided(f32, {4, 3}, {1, 4}, 1, 1)}, {"w", strided(f32, {4, 3}, {0, 0}, 9, 1)}});
}

TEST_P(Allocations, OnRanks) {
  const Tensors out = check(R"(
mesh @m (tp = 2)
fusion @f on @m (
  %x: f32[5, 6] {0: tp} allocation (1, 0),
  param %w: f32[4, 6] {1: tp} allocation (1, 0 strided),
  %o: f32[5, 6]
) -> (%y, %z) {
  %y: f32[5, 6] allocation (1, 0) = add(%x, %o)
  %z: f32[5, 4] allocation (1, 0) = linear(%o, %w)
}
)",
                            {{"x", strided(f32, {5, 6}, {1, 5}, 3, 1)},
                             {"w", strided(f32, {4, 6}, {2, 8}, 0, 2)},
                             {"o", strided(f32, {5, 6}, {1, 7}, 0, -3)}},
                            2);
  EXPECT_EQ(out.at("y").strides, (Shape{1, 5}));
  EXPECT_EQ(out.at("z").strides, (Shape{1, 5}));
}

TEST_P(Allocations, WhatDoesNotAgreeIsRefused) {
  const auto fusion = parse_fusion(R"(
fusion @f (%x: f32[3, 4] allocation (1, 0), %w: f32[3, 4] allocation (0 strided, 1)) -> (%y) {
  %y = add(%x, %w)
}
)");
  CompileOptions how;
  how.device = device();
  Compiled p = compile(*fusion, how);
  const Tensor x = strided(f32, {3, 4}, {1, 3}, 0, 1), w = strided(f32, {3, 4}, {6, 1}, 0, 1);
  const auto why = [&](const Tensor& a, const Tensor& b) { return refusal([&] { p.run({{"x", a}, {"w", b}}); }); };
  EXPECT_EQ(why(x, w), "");
  for (const auto& [wrong, strides] : {std::pair{strided(f32, {3, 4}, {4, 1}, 0, 1), "[4, 1]"},
                                       {strided(f32, {3, 4}, {1, 4}, 0, 1), "[1, 4]"},
                                       {strided(f32, {3, 4}, {0, 1}, 0, 1), "[0, 1]"}}) {
    const std::string text = why(wrong, w);
    EXPECT_NE(text.find("allocation (1, 0)"), std::string::npos) << text;
    EXPECT_NE(text.find(fmt::format("input %x: f32[3, 4], found shape [3, 4] with strides {}", strides)),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("drop the allocation"), std::string::npos) << text;
  }
  EXPECT_NE(why(x, strided(f32, {3, 4}, {1, 3}, 0, 1)).find("allocation (0 strided, 1)"), std::string::npos);
  EXPECT_NE(why(x, strided(f32, {3, 4}, {8, 2}, 0, 1)).find("allocation (0 strided, 1)"), std::string::npos);
  // Tensors that are none.
  Tensor bad = w;
  bad.strides = {1};
  EXPECT_NE(why(x, bad).find("1 strides for 2 dims"), std::string::npos);
  for (const auto& [strides, offset] : {std::pair<Shape, size_t>{{8, 1}, 0}, {{6, 1}, 4}, {{-6, 1}, 0}}) {
    bad = w;
    bad.strides = strides;
    bad.byte_offset += offset;
    EXPECT_NE(why(x, bad).find("outside of the tensor's 64 bytes of memory"), std::string::npos) << why(x, bad);
  }
  EXPECT_EQ(why(x, w), "") << "a refusal changes nothing";
}

TEST_P(Allocations, OnlyOfInputsAndOutputs) {
  const auto why = [&](const char* text) {
    CompileOptions how;
    how.device = device();
    return refusal([&] { compile(*parse_fusion(text), how); });
  };
  EXPECT_NE(why("fusion @f (%x: f32[3, 4]) -> (%y) {\n  %h: f32[3, 4] allocation (1, 0) = neg(%x)\n  %y = exp(%h)\n}\n")
                .find("%h is neither input nor output and has an allocation"),
            std::string::npos);
  EXPECT_NE(why("fusion @f (%x: f32[3, 4]) -> (%y) {\n  %y: f32[3, 4] allocation (1 strided, 0) = neg(%x)\n}\n")
                .find("output %y is strided"),
            std::string::npos);
}

// Outputs are the caller's memory, those that are put into another order too.
TEST(AllocationsOnTheHost, OutputsComeFromTheCallersAllocator) {
  const auto fusion =
      parse_fusion("fusion @f (%x: f32[3, 4]) -> (%y) {\n  %y: f32[3, 4] allocation (1, 0) = neg(%x)\n}\n");
  CompileOptions how;
  how.device = "reference";
  HostAllocator mine;
  RunOptions run;
  run.allocator = &mine;
  const Tensors out = compile(*fusion, how).run({{"x", strided(f32, {3, 4}, {4, 1}, 0, 1)}}, run);
  EXPECT_EQ(out.at("y").strides, (Shape{1, 3}));
  EXPECT_EQ(out.at("y").at(1), -2);
  EXPECT_GE(mine.allocations(), 2);
}

// Host memory until it has none left.
struct LimitedAllocator : HostAllocator {
  int left = 0;
  std::shared_ptr<Memory> allocate(size_t bytes) override {
    return left-- > 0 ? HostAllocator::allocate(bytes) : nullptr;
  }
};

// Whichever allocation of the run it is, of an output, of a copy of an input, or of an output's order.
TEST(AllocationsOnTheHost, AnAllocatorWithoutMemoryIsNoMistakeOfTheUser) {
  const auto fusion = parse_fusion(
      "fusion @f (%x: f32[3, 4]) -> (%y, %z) {\n  %y: f32[3, 4] allocation (1, 0) = neg(%x)\n  %z = exp(%x)\n}\n");
  for (const char* device : {"reference", "cpu"}) {
    SCOPED_TRACE(device);
    CompileOptions how;
    how.device = device;
    auto program = compile(*fusion, how);
    const Tensors inputs = {{"x", strided(f32, {3, 4}, {1, 3}, 0, 1)}};
    int refused = 0;
    for (int left = 0;; ++left) {
      ASSERT_LT(left, 20);
      LimitedAllocator mine;
      mine.left = left;
      RunOptions run;
      run.allocator = &mine;
      try {
        EXPECT_EQ(program.run(inputs, run).at("y").to_doubles(), program.run(inputs).at("y").to_doubles());
        break;
      } catch (const MemoryError& e) {
        EXPECT_NE(e.message().find("has no"), std::string::npos) << e.what();
        EXPECT_FALSE(e.remedy().empty());
        ++refused;
      }
      EXPECT_EQ(program.run(inputs).at("z").elements(), 12);
    }
    EXPECT_GE(refused, 2);
  }
}

}  // namespace
}  // namespace plait
