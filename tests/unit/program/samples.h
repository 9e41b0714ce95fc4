#pragma once
// Programs that several tests run.
#include "base/error.h"
#include "unit/program/build.h"

namespace plait::test {

inline std::string text_of(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

// x [n] in pieces -> h = x + 1 -> gathered g -> q = 2 g' (whole) -> reduce-scattered to pieces and all-reduced.
struct Tour : Builder {
  ValueId x, h, g, s, r;
  explicit Tour(int64_t ranks) : Builder({{"tp", 0, "t"}}, {ranks}) {
    const std::string piece = "chunk(n, t, rank.tp)";
    x = input("x", {piece});
    h = alloc("h", {piece});
    combine({x}, h, piece, 1);
    g = alloc("g", {"n"});
    pieces(Collective::all_gather, h, g, {"1", piece, "n", "1"});
    const ValueId q = alloc("q", {"n"});
    combine({g, g}, q, "n", 0);
    s = output("s", {piece});
    pieces(Collective::reduce_scatter, q, s, {"1", piece, "n", "1"});
    r = output("r", {"n"});
    all_reduce(q, r, CommReduce::max);
  }
  static std::vector<RankTensors> inputs(int64_t n, int64_t ranks) {
    std::vector<RankTensors> out;
    const int64_t chunk = (n + ranks - 1) / ranks;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const int64_t start = std::min(n, rank * chunk), count = std::min(chunk, n - start);
      std::vector<double> values;
      for (int64_t i = 0; i < count; ++i) values.push_back(double(start + i));
      out.push_back({tensor({count}, values)});
    }
    return out;
  }
};

// y = x on each of 3 ranks, then a sum; the kernel fails on the rank whose x is negative.
struct Failing : Builder {
  explicit Failing(std::function<void()> fail) : Builder({{"tp", 3, ""}}, {3}) {
    const ValueId x = input("x", {"1"}), h = alloc("h", {"1"}), y = output("y", {"1"});
    launch("bad", {x}, {h}, {}, [fail](const LaunchArguments& args) {
      *static_cast<float*>(args.buffers[1]) = *static_cast<float*>(args.buffers[0]);
      if (*static_cast<float*>(args.buffers[0]) < 0) fail();
    });
    all_reduce(h, y);
  }
  static std::vector<RankTensors> inputs(double second) {
    return {{tensor({1}, {1})}, {tensor({1}, {second})}, {tensor({1}, {3})}};
  }
};

}  // namespace plait::test
