// Outputs that are written into tensors of the caller: which are written where they lie, which are copied, which are
// refused and stay as they were.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "plait.h"
#include "reference/draw_inputs.h"
#include "support/run_case.h"

namespace plait {
namespace {

using Shape = std::vector<int64_t>;

constexpr const char* kTwoOutputs = R"(
fusion @f (%x: f32[m, n], %b: f32[n]) -> (%y, %s) {
  %h = add(%x, %b)
  %y = gelu(%h)
  %s = sum(%x, dims = [1])
}
)";

// Elements of a number of their own, with `strides` and `offset` elements into their memory.
Tensor filled(DType dtype, const Shape& shape, Shape strides = {}, int64_t offset = 0, double value = -77) {
  if (strides.empty()) strides = row_major_strides(shape);
  int64_t reach = offset + 1;
  for (size_t d = 0; d < shape.size(); ++d) reach += std::max<int64_t>(shape[d] - 1, 0) * strides[d];
  Tensor out = Tensor::from_doubles(dtype, {reach}, std::vector<double>(size_t(reach), value));
  out.shape = shape, out.strides = strides, out.byte_offset = size_t(offset) * size_of(dtype);
  return out;
}

std::vector<double> whole(const Tensor& t) {  // all of its memory
  return Tensor::wrap(t.dtype, {int64_t(t.memory->bytes() / size_of(t.dtype))}, t.memory->data()).to_doubles();
}

Tensors drawn(const Fusion& f, const Sizes& sizes) {
  reference::DrawOptions how;
  for (const auto& [name, value] : sizes) how.sizes[name] = value;
  const auto inputs = reference::draw_inputs(f, how);
  return {inputs.begin(), inputs.end()};
}

class GivenOutputs : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string why = testing::why_no_device(GetParam());
    if (!why.empty()) GTEST_SKIP() << why;
  }
  Compiled compiled(const Fusion& f) const { return compile(f, {.device = GetParam()}); }
  bool on_gpu() const { return std::string(GetParam()).starts_with("sim"); }
};

INSTANTIATE_TEST_SUITE_P(All, GivenOutputs, ::testing::Values("reference", "cpu", "sim:sm_90a"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find(':'));
});

TEST_P(GivenOutputs, AreWrittenWhereTheyLie) {
  const auto f = parse_fusion(kTwoOutputs);
  auto p = compiled(*f);
  for (int64_t m : {5, 1, 0, 33}) {
    const Tensors inputs = drawn(*f, {{"m", m}, {"n", 24}});
    const Tensors want = p.run(inputs);
    for (int64_t offset : {0, 1, 3}) {  // elements into memory: no vector begins at a multiple of itself
      RunOptions how;
      HostAllocator counted;
      if (!on_gpu()) how.allocator = &counted;
      how.outputs = {{"y", filled(f32, {m, 24}, {}, offset)}, {"s", filled(f32, {m}, {}, offset)}};
      const Tensors got = p.run(inputs, how);
      for (const char* name : {"y", "s"}) {
        EXPECT_EQ(got.at(name).data(), how.outputs.at(name).data()) << name;
        EXPECT_EQ(how.outputs.at(name).to_doubles(), want.at(name).to_doubles()) << name << " " << m;
        const auto all = whole(how.outputs.at(name));
        for (int64_t i = 0; i < offset; ++i) EXPECT_EQ(all[size_t(i)], -77);
      }
      EXPECT_EQ(p.report().bytes_copied, 0) << m;
      EXPECT_EQ(counted.allocations(), 0) << "both outputs were given";
    }
  }
}

TEST_P(GivenOutputs, StridedOnesAreCopiedAndWhatLiesBetweenStays) {
  const auto f = parse_fusion(kTwoOutputs);
  auto p = compiled(*f);
  const Tensors inputs = drawn(*f, {{"m", 6}, {"n", 10}}), want = p.run(inputs);
  for (const Shape& strides : {Shape{12, 1}, Shape{1, 6}, Shape{2, 13}, Shape{-10, 1}}) {
    RunOptions how;
    Tensor y = filled(f32, {6, 10}, {std::abs(strides[0]), strides[1]}, 2);
    if (strides[0] < 0) y.strides[0] = strides[0], y.byte_offset += 5 * 10 * 4;
    how.outputs = {{"y", y}};
    const Tensors got = p.run(inputs, how);
    EXPECT_EQ(y.to_doubles(), want.at("y").to_doubles());
    EXPECT_EQ(got.at("y").strides, y.strides);
    EXPECT_EQ(got.at("s").to_doubles(), want.at("s").to_doubles());
    EXPECT_EQ(p.report().bytes_copied, 240);
    const auto all = whole(y);
    EXPECT_EQ(std::count(all.begin(), all.end(), -77.0), int64_t(all.size()) - 60);
  }
}

TEST_P(GivenOutputs, BlocksOfOneBuffer) {
  const auto f = parse_fusion("fusion @f (%x: f32[m]) -> (%a, %b) {\n  %a = neg(%x)\n  %b = mul(%x, 2)\n}\n");
  auto p = compiled(*f);
  const Tensors inputs = drawn(*f, {{"m", 8}}), want = p.run(inputs);
  const Tensor room = filled(f32, {16});
  RunOptions how;
  for (bool beside : {true, false}) {  // one after the other; every other element
    Tensor a = room, b = room;
    a.shape = b.shape = {8};
    if (!beside) a.strides = b.strides = {2};
    b.byte_offset = beside ? 32 : 4;
    how.outputs = {{"a", a}, {"b", b}};
    p.run(inputs, how);
    EXPECT_EQ(a.to_doubles(), want.at("a").to_doubles());
    EXPECT_EQ(b.to_doubles(), want.at("b").to_doubles());
    EXPECT_EQ(p.report().bytes_copied, beside ? 0 : 64);
  }
}

// Memory of an input: readers see the old values, and the output ends there.
TEST_P(GivenOutputs, InMemoryOfAnInput) {
  const auto f = parse_fusion(kTwoOutputs);
  auto p = compiled(*f);
  const Tensors inputs = drawn(*f, {{"m", 6}, {"n", 10}}), want = p.run(inputs);
  Tensor room = filled(f32, {12, 10});
  Tensor x = room, y = room;
  x.shape = y.shape = {6, 10};
  for (int64_t rows : {0, 1, 5, 6}) {  // y begins behind x
    std::memcpy(x.data(), inputs.at("x").data(), 240);
    y.byte_offset = size_t(rows) * 40;
    RunOptions how;
    how.outputs = {{"y", y}};
    const Tensors got = p.run({{"x", x}, {"b", inputs.at("b")}}, how);
    EXPECT_EQ(y.to_doubles(), want.at("y").to_doubles()) << rows;
    EXPECT_EQ(got.at("s").to_doubles(), want.at("s").to_doubles()) << rows;
    if (rows == 0) continue;  // in place where a kernel can: aliases_test.cpp
    EXPECT_EQ(p.report().bytes_copied, rows == 6 || on_gpu() ? 0 : 240) << rows;
  }
}

// An output that is an input, one that another output is too, an allocation.
TEST_P(GivenOutputs, CopiesAndOrders) {
  const auto f = parse_fusion(R"(
fusion @f (%x: f32[m, 3]) -> (%x, %y, %z, %t) {
  %y = neg(%x)
  %z = reshape(%y, shape = [3, m])
  %t: f32[m, 3] allocation (1, 0) = mul(%x, 2)
}
)");
  auto p = compiled(*f);
  const Tensors inputs = drawn(*f, {{"m", 4}}), want = p.run(inputs);
  RunOptions how;
  how.outputs = {{"x", filled(f32, {4, 3})},
                 {"y", filled(f32, {4, 3})},
                 {"z", filled(f32, {3, 4})},
                 {"t", filled(f32, {4, 3}, {1, 4})}};
  p.run(inputs, how);
  for (const auto& [name, tensor] : how.outputs) EXPECT_EQ(tensor.to_doubles(), want.at(name).to_doubles()) << name;
  EXPECT_EQ(p.report().bytes_copied, 48) << "of %t, which is made row-major";
  how.outputs = {{"x", inputs.at("x")}};  // its own memory
  EXPECT_EQ(p.run(inputs, how).at("x").to_doubles(), want.at("x").to_doubles());
  how.outputs = {{"t", filled(f32, {4, 3})}};
  EXPECT_THROW(p.run(inputs, how), UserError) << "not in the order of the allocation";
}

TEST_P(GivenOutputs, OfEveryDType) {
  for (const DType dtype : {f32, f64, bf16, f16, f8e4m3, DType::i8, DType::i32, DType::i64, DType::u16, boolean}) {
    ParseOptions parse;
    parse.set["T"] = name(dtype);
    const std::string op = dtype == boolean ? "logical_not(%x)" : "add(%x, %x)";
    const auto f = parse_fusion("let T = f32\nfusion @f (%x: T[m]) -> (%y) {\n  %y = " + op + "\n}\n", parse);
    auto p = compiled(*f);
    const Tensors inputs = drawn(*f, {{"m", 37}}), want = p.run(inputs);
    for (int64_t offset : {1, 2}) {
      RunOptions how;
      how.outputs = {{"y", filled(dtype, {37}, {offset}, offset, 1)}};
      p.run(inputs, how);
      EXPECT_EQ(how.outputs.at("y").to_doubles(), want.at("y").to_doubles()) << name(dtype);
    }
  }
}

TEST_P(GivenOutputs, WhatDoesNotFitIsRefusedAndStaysAsItWas) {
  const auto f = parse_fusion(kTwoOutputs);
  auto p = compiled(*f);
  const Tensors inputs = drawn(*f, {{"m", 6}, {"n", 10}}), want = p.run(inputs);
  const Tensor y = filled(f32, {6, 10}), s = filled(f32, {6});
  Tensor repeated = filled(f32, {6, 10});
  repeated.strides = {0, 1};
  Tensor outside = filled(f32, {6, 10});
  outside.byte_offset = 4;
  Tensor few = filled(f32, {6, 10});
  few.strides = {10};
  Tensor over = y;
  over.shape = {6}, over.strides = {1}, over.byte_offset = 16;
  const std::vector<std::pair<Tensors, std::string>> cases = {
      {{{"z", y}}, "no output `z`"},
      {{{"x", y}}, "no output `x`"},
      {{{"y", Tensor()}}, "no memory"},
      {{{"y", filled(f32, {6, 9})}}, "the given tensor has shape [6, 9], the output [6, 10]"},
      {{{"y", filled(f32, {60})}}, "expected 2 dims, got 1"},
      {{{"y", filled(f64, {6, 10})}}, "dtype f64 does not fit"},
      {{{"y", repeated}}, "elements of the tensor share memory"},
      {{{"y", outside}}, "outside of the tensor's 240 bytes"},
      {{{"y", few}}, "1 strides for 2 dims"},
      {{{"y", y}, {"s", over}}, "shares memory with that of output %s"},
      {{{"y", Tensor::wrap(f32, {6, 10}, y.data(), {false, 0})}, {"s", s}}, ""},
  };
  for (const auto& [outputs, words] : cases) {
    RunOptions how;
    how.outputs = outputs;
    how.outputs.emplace("s", s);
    try {
      p.run(inputs, how);
      ADD_FAILURE() << words;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
    }
    for (const Tensor& t : {y, s})
      for (double value : whole(t)) EXPECT_EQ(value, -77) << words;
  }
  RunOptions how;
  how.outputs = {{"y", y}, {"s", s}};
  p.run(inputs, how);
  EXPECT_EQ(y.to_doubles(), want.at("y").to_doubles());
  EXPECT_EQ(s.to_doubles(), want.at("s").to_doubles());
}

// After an error in the run the program goes on, and keeps nothing of the caller's.
TEST_P(GivenOutputs, AfterAnErrorOfTheRun) {
  const auto f = parse_fusion(
      "fusion @f (%t: f32[v, 4], %i: i64[n]) -> (%y, %z) {\n  %y = index_select(%t, %i, dim = 0)\n  %z = neg(%t)\n}\n");
  auto p = compiled(*f);
  const Tensor t = Tensor::from_doubles(f32, {3, 4}, std::vector<double>(12, 2));
  RunOptions how;
  const std::weak_ptr<Memory> held = [&] {
    how.outputs = {{"y", filled(f32, {2, 4})}, {"z", filled(f32, {3, 4})}};
    EXPECT_THROW(p.run({{"t", t}, {"i", Tensor::from_doubles(DType::i64, {2}, {1, 3})}}, how), UserError);
    const std::weak_ptr<Memory> out = how.outputs.at("y").memory;
    how.outputs.clear();
    return out;
  }();
  EXPECT_TRUE(held.expired());
  how.outputs = {{"y", filled(f32, {2, 4})}};
  const Tensors got = p.run({{"t", t}, {"i", Tensor::from_doubles(DType::i64, {2}, {1, 2})}}, how);
  EXPECT_EQ(how.outputs.at("y").to_doubles(), std::vector<double>(8, 2));
  EXPECT_EQ(got.at("z").to_doubles(), std::vector<double>(12, -2));
  EXPECT_EQ(p.run({{"t", t}, {"i", Tensor::from_doubles(DType::i64, {2}, {0, 0})}}).at("y").to_doubles(),
            std::vector<double>(8, 2));
}

// Products by the library, into memory that is aligned to its elements only.
TEST_P(GivenOutputs, OfProducts) {
  const auto f =
      parse_fusion("let T = f32\nfusion @f (%x: T[m, k], %w: T[n, k]) -> (%y) {\n  %y = linear(%x, %w)\n}\n", [] {
        ParseOptions parse;
        parse.set["T"] = "bf16";
        return parse;
      }());
  auto p = compiled(*f);
  const Tensors inputs = drawn(*f, {{"m", 7}, {"k", 16}, {"n", 9}}), want = p.run(inputs);
  for (int64_t offset : {0, 1, 5}) {
    RunOptions how;
    how.outputs = {{"y", filled(bf16, {7, 9}, {}, offset)}};
    p.run(inputs, how);
    EXPECT_EQ(how.outputs.at("y").to_doubles(), want.at("y").to_doubles());
    EXPECT_EQ(p.report().bytes_copied, 0);
  }
}

TEST_P(GivenOutputs, OfShardedPrograms) {
  const auto f = parse_fusion(R"(
mesh @m (tp = 2)
fusion @f on @m (%x: f32[m, 6] {0: tp}, %w: f32[m, 6]) -> (%y {0: tp}, %z, %s) {
  %y = neg(%x)
  %z = add(%w, %w)
  %s = sum(%x, dims = [0])
}
)");
  for (const char* comm : {"local", "local:threads"}) {
    const std::string device = on_gpu() ? "sim:sm_90a:2" : GetParam();
    auto p = compile(*f, {.device = device, .comm = on_gpu() ? "nccl" : comm});
    const Tensors inputs = drawn(*f, {{"m", 5}}), want = p.run(inputs);
    for (int i = 0; i < 2; ++i) {
      RunOptions how;
      how.outputs = {{"y", filled(f32, {5, 6})}, {"z", filled(f32, {5, 6}, {1, 5})}, {"s", filled(f32, {6}, {}, 1)}};
      if (i > 0) how.outputs["y"] = inputs.at("x");
      const Tensors got = p.run(inputs, how);
      for (const auto& [name, tensor] : how.outputs) {
        EXPECT_EQ(tensor.to_doubles(), want.at(name).to_doubles()) << name;
        EXPECT_EQ(got.at(name).data(), tensor.data()) << name;
      }
      EXPECT_EQ(p.report().bytes_copied, 120) << "of %z, in columns";
    }
    EXPECT_EQ(p.run(drawn(*f, {{"m", 5}})).size(), 3u);
  }
}

TEST(GivenOutputsOfThreads, AtOnce) {
  const auto f = parse_fusion(kTwoOutputs);
  auto p = compile(*f, {.device = "cpu"});
  const Tensors inputs = drawn(*f, {{"m", 16}, {"n", 24}}), want = p.run(inputs);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      RunOptions how;
      how.outputs = {{"y", filled(f32, {16, 24}, t % 2 ? Shape{24, 1} : Shape{1, 16}, t)}};
      for (int i = 0; i < 20; ++i) {
        std::memset(how.outputs.at("y").memory->data(), 0, how.outputs.at("y").memory->bytes());
        p.run(inputs, how);
        wrong += how.outputs.at("y").to_doubles() != want.at("y").to_doubles();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace plait
