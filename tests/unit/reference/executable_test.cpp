// Segments of a localized fusion as executables: buffers in order, symbols by name, results in their dtypes.
#include "reference/executable.h"

#include <thread>

#include "helpers.h"

namespace plait::reference {
namespace {

// A fusion with one segment over all of its ops.
std::shared_ptr<Fusion> one_segment(const std::string& text) {
  std::shared_ptr<Fusion> f = parse_fusion(text);
  f->segments.push_back({"s1", f->inputs(), f->outputs(), f->ops(), {}});
  return f;
}

const char* kChunked =
    "let n = 10\nmesh @m (tp = 3)\n"
    "fusion @t on @m (%x: bf16[2, n], %w: bf16[chunk(5, 3, rank.tp), n], %s: u64[]) -> (%y, %u, %c) {\n"
    "  %y = linear(%x, %w, accumulate = true)\n"
    "  %u = uniform(shape = [chunk(5, 3, rank.tp)], seed = %s, global = [5], start = [chunk_start(5, 3, rank.tp)])\n"
    "  %c: bf16[2, 4] = local_slice(%x, outer = 2, start = n - 4, count = 4, total = n, inner = 1)\n"
    "}\n";

TEST(Executable, NamesItsSymbols) {
  auto f = one_segment(kChunked);
  EXPECT_EQ(segment_symbols(*f, f->segments[0]), (std::vector<std::string>{"n", "rank.tp"}));
}

TEST(Executable, ComputesOneRank) {
  auto f = one_segment(kChunked);
  const auto executable = make_executable(f, 0);
  Values ones(20, 1), weights;
  ones[19] = 3;
  for (int64_t rank = 0; rank < 3; ++rank) {
    const int64_t rows = rank < 2 ? 2 : 1, n = 10;
    weights.assign(rows * n, double(rank + 1));
    Tensor x = Tensor::from_doubles(DType::bf16, {2, n}, ones),
           w = Tensor::from_doubles(DType::bf16, {rows, n}, weights);
    Tensor s = Tensor::from_doubles(DType::u64, {}, {9});
    Tensor y = Tensor::empty(DType::f32, {2, rows}), u = Tensor::empty(DType::f32, {rows}),
           c = Tensor::empty(DType::bf16, {2, 4});
    void* buffers[] = {x.data(), w.data(), s.data(), y.data(), u.data(), c.data()};
    const int64_t integers[] = {n, rank};
    executable->launch({.buffers = buffers, .integers = integers});
    EXPECT_EQ(y.at(0), 10.0 * double(rank + 1));
    EXPECT_EQ(y.at(rows), 12.0 * double(rank + 1));
    EXPECT_EQ(c.to_doubles(), (Values{1, 1, 1, 1, 1, 1, 1, 3}));
    const Array whole = run("%s: u64[]", "%y = uniform(shape = [5], seed = %s)", {{"s", s}});
    for (int64_t i = 0; i < rows; ++i) EXPECT_EQ(u.at(i), whole.value[rank * 2 + i]);
  }
}

TEST(Executable, EmptyPieceAndThreads) {
  auto f =
      one_segment("mesh @m (tp = 4)\nfusion @t on @m (%x: f32[chunk(5, 4, rank.tp)]) -> (%y) {\n  %y = exp(%x)\n}\n");
  const auto executable = make_executable(f, 0);
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (int64_t rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      const int64_t count = rank < 2 ? 2 : rank == 2 ? 1 : 0;
      Tensor x = Tensor::from_doubles(DType::f32, {count}, Values(count, 0)), y = Tensor::empty(DType::f32, {count});
      void* buffers[] = {x.data(), y.data()};
      executable->launch({.buffers = buffers, .integers = std::span<const int64_t>(&rank, 1)});
      results[rank] = y;
    });
  for (auto& t : threads) t.join();
  for (int64_t rank = 0; rank < 4; ++rank)
    for (double v : results[rank].to_doubles()) EXPECT_EQ(v, 1);
}

TEST(Executable, RefusesCollectivesAndWrongArguments) {
  auto f = one_segment(
      "mesh @m (tp = 2)\nfusion @t on @m (%a: f32[4]) -> (%y) {\n%y = all_reduce(%a, team = tp, reduce = sum)\n}\n");
  EXPECT_THROW(make_executable(f, 0), InternalError);
  auto g = one_segment("fusion @t (%a: f32[4]) -> (%y) {\n%y = neg(%a)\n}\n");
  EXPECT_THROW(make_executable(g, 0)->launch({}), InternalError);
}

}  // namespace
}  // namespace plait::reference
