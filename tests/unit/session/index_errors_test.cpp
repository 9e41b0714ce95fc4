// Indices outside of their extent: what the run says, on every device, for every number of threads and every sharding.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "plait.h"
#include "session/devices.h"
#include "support/run_case.h"

namespace plait {
namespace {

Tensor i64(std::vector<int64_t> shape, const std::vector<double>& values) {
  return Tensor::from_doubles(DType::i64, std::move(shape), values);
}

Tensor f32(std::vector<int64_t> shape) {
  std::vector<double> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  return Tensor::from_doubles(DType::f32, std::move(shape), values);
}

// The error of a run as `where: message`, or "no error".
std::string error_of(Compiled& p, const Tensors& inputs, const RunOptions& options = {}) {
  try {
    p.run(inputs, options);
  } catch (const UserError& e) {
    return e.where() + ": " + e.message();
  }
  return "no error";
}

class IndexErrors : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const auto why = testing::why_no_device(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
  CompileOptions how() const {
    CompileOptions out;
    out.device = GetParam();
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(All, IndexErrors, ::testing::Values("cpu", "reference", "sim:sm_80"), [](const auto& info) {
  const std::string name = info.param;
  return name.substr(0, name.find(':'));
});

struct Row {
  const char* call;
  std::vector<double> index;  // of 2 x 3
  const char* error;          // of the message, what matters
};

const Row kRows[] = {
    {"gather(%x, %i, dim = 0)",
     {0, 1, 2, 3, 4, 5},
     "index 5 at [1, 2] of %i lies outside of the 5 places along dim 0 of %x"},
    {"gather(%x, %i, dim = 0)", {0, 1, 2, -1, 4, 5}, "index -1 at [1, 0] of %i"},
    {"gather(%x, %i, dim = 0)", {0, 1, 2, 3, 4, 4}, nullptr},
    {"gather(%x, %i, dim = 0, bounds = assume)", {0, 1, 2, 3, 4, 5}, nullptr},
    {"take_along(%x, %i, dim = 0)", {0, 9, 2, 3, 8, 5}, "index 9 at [0, 1] of %i lies outside of the 5 places"},
    {"index_select(%x, %i, dim = 1)",
     {0, 1, 2, 3, 2, 1},
     "index 3 at [1, 0] of %i lies outside of the 3 places along dim 1"},
    {"embedding(%i, %x)", {0, 1, 2, 3, 4, 1099511627781}, "index 1099511627781 at [1, 2] of %i"},
    {"embedding(%i, %x)", {0, -9223372036854775807.0, 7, 3, 4, 4}, "index -9223372036854775808 at [0, 1] of %i"},
    {"scatter(%x, %i, %s, dim = 0, update = add)",
     {4, 4, 4, 4, 4, 5},
     "index 5 at [1, 2] of %i lies outside of the 5 places along dim 0"},
    {"scatter(%x, %i, %s, dim = 1, update = add)",
     {0, 1, 2, 0, 1, -3},
     "index -3 at [1, 2] of %i lies outside of the 3 places"},
    {"scatter(%x, %i, %s, dim = 0)", {4, 4, 9, 4, 7, 5}, "index 9 at [0, 2] of %i lies outside of the 5 places"},
    {"scatter(%x, %i, %s, dim = 0, update = max)", {4, -1, 4, 4, 4, 4}, "index -1 at [0, 1] of %i"},
    {"scatter(%x, %i, %s, dim = 1, update = add, bounds = assume)", {0, 1, 2, 0, 1, -3}, nullptr},
};

TEST_P(IndexErrors, NameOpTensorPositionValueAndExtent) {
  for (const Row& row : kRows) {
    auto fusion = parse_fusion(
        fmt::format("fusion @f (%x: f32[5, 3], %i: i64[2, 3], %s: f32[2, 3]) -> (%y) {{\n  %y = {}\n}}\n", row.call));
    Compiled p = compile(*fusion, how());
    const Tensors inputs = {{"x", f32({5, 3})}, {"i", i64({2, 3}, row.index)}, {"s", f32({2, 3})}};
    const Tensors good = {{"x", f32({5, 3})}, {"i", i64({2, 3}, {0, 1, 2, 2, 1, 0})}, {"s", f32({2, 3})}};
    const std::string error = error_of(p, inputs);
    if (row.error == nullptr) {
      EXPECT_EQ(error, "no error") << row.call;
      continue;
    }
    EXPECT_NE(error.find(row.error), std::string::npos) << row.call << "\n" << error;
    EXPECT_NE(error.find("%y"), std::string::npos) << error;
    EXPECT_EQ(error_of(p, good), "no error") << row.call;  // the next run starts afresh
    EXPECT_EQ(error_of(p, inputs), error) << row.call;
  }
}

// Of several offences the one of the first op, and of that the first position.
TEST_P(IndexErrors, SmallestOpThenSmallestPosition) {
  auto fusion = parse_fusion(
      "fusion @f (%x: f32[n, 4], %i: i64[m], %j: i64[m]) -> (%b, %a) {\n  %unread = index_select(%x, %j, dim = 0)\n"
      "  %a = index_select(%x, %i, dim = 0)\n  %b = embedding(%j, %x)\n}\n");
  Compiled p = compile(*fusion, how());
  const int64_t m = std::string(GetParam()) == "cpu" ? 20000 : 600;
  std::vector<double> good(static_cast<size_t>(m), 1), bad = good;
  for (int64_t k = 300; k < m; ++k) bad[static_cast<size_t>(k)] = static_cast<double>(10 + k);
  RunOptions one;
  if (std::string(GetParam()) == "cpu") one.threads = 1;
  const auto error = [&](const std::vector<double>& i, const std::vector<double>& j, const RunOptions& run) {
    return error_of(p, {{"x", f32({7, 4})}, {"i", i64({m}, i)}, {"j", i64({m}, j)}}, run);
  };
  for (int round = 0; round < 3; ++round) {
    for (const RunOptions& run : {RunOptions(), one}) {
      EXPECT_NE(error(bad, bad, run).find("%a: f32[m, 4] = index_select(%x, %i, dim = 0): index 310 at [300] of %i"),
                std::string::npos)
          << error(bad, bad, run);
      EXPECT_NE(error(good, bad, run).find("%b: f32[m, 4] = embedding(%j, %x): index 310 at [300] of %j"),
                std::string::npos)
          << error(good, bad, run);
      EXPECT_EQ(error(good, good, run), "no error");
    }
  }
}

// A result that nothing stores has no offences.
TEST_P(IndexErrors, OnlyWhatIsStoredCounts) {
  auto fusion = parse_fusion(
      "fusion @f (%x: f32[4, c], %i: i64[2]) -> (%y) {\n  %dead = index_select(%x, %i, dim = 0)\n"
      "  %y = index_select(%x, %i, dim = 0)\n}\n");
  Compiled p = compile(*fusion, how());
  EXPECT_EQ(error_of(p, {{"x", f32({4, 0})}, {"i", i64({2}, {9, 9})}}), "no error");
  EXPECT_NE(error_of(p, {{"x", f32({4, 1})}, {"i", i64({2}, {1, 9})}}).find("index 9 at [1] of %i"), std::string::npos);
  auto unread = parse_fusion(
      "fusion @f (%x: f32[4, c], %i: i64[2]) -> (%y) {\n  %dead = index_select(%x, %i, dim = 0)\n  %y = neg(%x)\n}\n");
  Compiled q = compile(*unread, how());
  EXPECT_EQ(error_of(q, {{"x", f32({4, 1})}, {"i", i64({2}, {1, 9})}}), "no error");
}

// Positions are those of the whole index, however it is cut.
TEST(IndexErrorsOfRanks, AreTheSameForEverySharding) {
  for (const char* device : {"cpu", "reference"})
    for (const char* cut : {"", " {0: tp}", " {1: tp}"})
      for (int64_t ranks : {1, 2, 3}) {
        if (*cut == 0 && ranks > 1) continue;
        auto fusion = parse_fusion(
            fmt::format("mesh @m (tp = t)\nfusion @f on @m (%x: f32[9, 4], %i: i64[6, 4]{}) -> (%y, %z) {{\n"
                        "  %y = gather(%x, %i, dim = 0)\n  %z = embedding(%i, %x)\n}}\n",
                        cut));
        std::vector<double> index(24, 3);
        index[10] = 77;  // [2, 2]
        index[21] = -5;
        for (const char* comm : {"local", "local:threads"}) {
          CompileOptions how;
          how.device = device;
          how.ranks = ranks;
          how.comm = comm;
          Compiled p = compile(*fusion, how);
          const Tensors inputs = {{"x", f32({9, 4})}, {"i", i64({6, 4}, index)}};
          const std::string error = error_of(p, inputs);
          EXPECT_NE(error.find("index 77 at [2, 2] of %i lies outside of the 9 places along dim 0 of %x"),
                    std::string::npos)
              << error << "\n"
              << device << cut << " on " << ranks << ", " << comm;
          index[10] = index[21] = 0;
          EXPECT_EQ(error_of(p, {{"x", f32({9, 4})}, {"i", i64({6, 4}, index)}}), "no error");
          index[10] = 77, index[21] = -5;
        }
      }
}

// Runs that go on at once have offences of their own.
TEST(IndexErrorsOfThreads, AreThoseOfTheRun) {
  for (const char* device : {"cpu", "reference"}) {
    auto fusion =
        parse_fusion("fusion @f (%x: f32[5, 3], %i: i64[m]) -> (%y) {\n  %y = index_select(%x, %i, dim = 0)\n}\n");
    CompileOptions how;
    how.device = device;
    Compiled p = compile(*fusion, how);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        std::vector<double> index(400, 1);
        if (t > 0) index[static_cast<size_t>(t)] = 10 + t;
        const Tensors inputs = {{"x", f32({5, 3})}, {"i", i64({400}, index)}};
        const std::string error = t > 0 ? fmt::format("index {} at [{}] of %i", 10 + t, t) : "no error";
        for (int run = 0; run < 200; ++run)
          if (error_of(p, inputs).find(error) == std::string::npos) ++wrong;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << device;
  }
}

// A caller's stream is not waited for: a later run tells of it.
TEST(IndexErrorsOfGuests, ComeWithALaterRun) {
  constexpr const char* kDevice = "sim:sm_80";
  if (const auto why = testing::why_no_device(kDevice); !why.empty()) GTEST_SKIP() << why;
  Device& device = find_device(kDevice, {});
  const auto stream = device.make_stream();
  auto fusion =
      parse_fusion("fusion @f (%x: f32[5, 3], %i: i64[4]) -> (%y) {\n  %y = index_select(%x, %i, dim = 0)\n}\n");
  CompileOptions how;
  how.device = kDevice;
  Compiled p = compile(*fusion, how);
  const Tensors good = {{"x", f32({5, 3})}, {"i", i64({4}, {0, 1, 2, 3})}};
  const Tensors bad = {{"x", f32({5, 3})}, {"i", i64({4}, {0, 1, 2, 8})}};
  RunOptions lent;
  lent.stream = stream->native();
  EXPECT_EQ(error_of(p, bad, lent), "no error");
  stream->synchronize();
  EXPECT_NE(error_of(p, good, lent).find("index 8 at [3] of %i"), std::string::npos);
  EXPECT_EQ(error_of(p, good, lent), "no error");
  stream->synchronize();
}

}  // namespace
}  // namespace plait
