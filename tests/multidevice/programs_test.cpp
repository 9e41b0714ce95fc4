// The programs of docs/examples on threads and on simulated GPUs, against the reference, one rank and each other.
#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "support/examples.h"
#include "support/run_case.h"
#include "support/sanitized.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::example;
using testing::run_case;
using testing::why_no_device;

using Settings = std::map<std::string, std::string, std::less<>>;

// A program with its ranks and sizes: dividing, uneven, and with empty pieces.
struct Case {
  const char* name;
  int64_t ranks;
  Settings set;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"simple_add", 1, {}},
      {"mlp_block", 1, {{"b", "3"}, {"s", "7"}}},
      {"tp_mlp", 1, {{"sb", "8"}, {"h", "32"}, {"h4", "64"}}},
      {"tp_mlp", 4, {{"sb", "16"}, {"h", "32"}, {"h4", "64"}}},
      {"tp_mlp", 3, {{"sb", "5"}, {"h", "33"}, {"h4", "128"}}},
      {"tp_mlp", 4, {{"sb", "3"}, {"h", "6"}, {"h4", "5"}}},
      {"sp_toy", 3, {}},
      {"sp_toy", 3, {{"s", "2"}}},
      {"mlp_2d", 4, {{"sb", "7"}}},
      {"softmax", 4, {{"rows", "12"}, {"n", "20"}}},
      {"softmax", 3, {{"rows", "4"}, {"n", "7"}}},
      {"softmax", 4, {{"rows", "3"}, {"n", "1"}}},
      {"layer_norm", 4, {{"tokens", "8"}, {"h", "24"}}},
      {"layer_norm", 3, {{"tokens", "2"}, {"h", "5"}}},
      {"attention", 4, {{"b", "1"}, {"s", "6"}, {"d", "4"}}},
      {"attention", 3, {{"b", "1"}, {"s", "5"}, {"d", "3"}}},
      {"attention", 4, {{"heads", "3"}, {"s", "3"}, {"d", "2"}}},
      {"cross_entropy", 4, {{"tokens", "6"}, {"classes", "12"}}},
      {"cross_entropy", 3, {{"tokens", "2"}, {"classes", "4"}}},
      {"transformer_block", 4, {{"b", "1"}, {"s", "4"}, {"h", "16"}, {"n", "4"}, {"h4", "32"}}},
      {"transformer_block", 3, {{"b", "1"}, {"s", "3"}, {"h", "7"}, {"n", "2"}, {"h4", "5"}}},
  };
  return all;
}

std::string text_of(const Case& c) {
  std::string out = std::string(c.name) + " on " + std::to_string(c.ranks) + " ranks";
  for (const auto& [name, value] : c.set) out += " " + name + "=" + value;
  return out;
}

// Settings of the case with the dtype, for programs that have one to set.
Settings with_dtype(const Case& c, const std::string& dtype) {
  Settings set = c.set;
  if (example(c.name).find("T = ") != std::string::npos) set["T"] = dtype;
  return set;
}

CaseResult run(const Case& c, const std::string& device, const std::string& comm, const std::string& dtype,
               bool exact = false) {
  CaseOptions how;
  how.device = device;
  how.comm = comm;
  how.ranks = c.ranks;
  how.exact = exact;
  how.set = with_dtype(c, dtype);
  CaseResult result = run_case(example(c.name), how);
  EXPECT_TRUE(result.ok) << text_of(c) << " on " << device << ", " << comm << ", " << dtype << ": " << result.message;
  return result;
}

// Compares bit for bit.
void expect_same(const Tensors& want, const Tensors& got, const std::string& what) {
  ASSERT_EQ(want.size(), got.size()) << what;
  for (const auto& [name, tensor] : want) {
    const Tensor& other = got.at(name);
    ASSERT_EQ(tensor.shape, other.shape) << what << ", " << name;
    EXPECT_EQ(0, std::memcmp(tensor.data(), other.data(), tensor.bytes())) << what << ", " << name;
  }
}

class OnHosts : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

INSTANTIATE_TEST_SUITE_P(
    All, OnHosts, ::testing::Combine(::testing::Values("cpu", "reference"), ::testing::Values("f32", "f64", "bf16")),
    [](const auto& info) { return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param); });

TEST_P(OnHosts, ThreadsAgreeWithSteppedRanksBitForBit) {
  const auto [device, dtype] = GetParam();
  for (const Case& c : cases()) {
    const CaseResult stepped = run(c, device, "local", dtype), threads = run(c, device, "local:threads", dtype);
    expect_same(stepped.outputs, threads.outputs, text_of(c));
    EXPECT_EQ(stepped.report.wire_bytes, threads.report.wire_bytes) << text_of(c);
  }
}

// All of them; under sanitizers a part, each combination of parameters its own.
std::vector<Case> chosen(const std::vector<Case>& all, const std::string& parameters) {
  std::vector<Case> out;
  for (size_t i = std::hash<std::string>()(parameters) % testing::kStride; i < all.size(); i += testing::kStride)
    out.push_back(all[i]);
  return out;
}

class OnSimulated : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {
 protected:
  void SetUp() override {
    if (auto why = why_no_device(std::get<0>(GetParam())); !why.empty()) GTEST_SKIP() << why;
  }
};

INSTANTIATE_TEST_SUITE_P(All, OnSimulated,
                         ::testing::Combine(::testing::Values("sim:sm_80", "sim:sm_90a"),
                                            ::testing::Values("local", "local:threads"),
                                            ::testing::Values("f32", "f64", "bf16")),
                         [](const auto& info) {
                           std::string name = std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param) +
                                              "_" + std::get<2>(info.param);
                           for (char& ch : name)
                             if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
                           return name;
                         });

TEST_P(OnSimulated, ProgramsAgreeWithTheReference) {
  const auto [device, comm, dtype] = GetParam();
  for (const Case& c : chosen(cases(), std::string(device) + comm + dtype)) {
    const std::string devices = c.ranks == 1 ? std::string(device) : std::string(device) + ":4";  // one a rank
    const CaseResult result = run(c, devices, comm, dtype);
    // Uneven pieces may be padded.
    EXPECT_GE(result.report.wire_bytes, result.report.wire_bytes_min) << text_of(c);
    if (!result.uneven) {
      EXPECT_EQ(result.report.wire_bytes, result.report.wire_bytes_min) << text_of(c);
    }
  }
}

TEST(Exact, AllDevicesAgreeBitForBit) {
  for (const char* name : {"simple_add", "sp_toy"}) {
    const Case c{name, std::string(name) == "sp_toy" ? 3 : 1, {}};
    for (const char* dtype : {"f32", "bf16"}) {
      const CaseResult want = run(c, "cpu", "local", dtype, true);
      for (const char* device : {"reference", "sim:sm_90a:4"}) {
        if (auto why = why_no_device(device); !why.empty()) GTEST_SKIP() << why;
        for (const char* comm : {"local", "local:threads"})
          expect_same(want.outputs, run(c, device, comm, dtype, true).outputs, text_of(c) + " on " + device);
      }
    }
  }
}

// One exchange a mesh axis, of one number a row, which %y shares with %z; rows of infinities and NaN, ranks without
// terms, narrow parts.
class LogSumExp : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (auto why = why_no_device(GetParam()); !why.empty()) GTEST_SKIP() << why;
  }
};

INSTANTIATE_TEST_SUITE_P(On, LogSumExp, ::testing::Values("cpu", "reference", "sim:sm_80:6"), [](const auto& info) {
  return std::string(info.param).substr(0, std::string(info.param).find(':'));
});

TEST_P(LogSumExp, OverCutTerms) {
  const char* kText = R"(
let T = f32, n = 7
mesh @m (dp = 2, tp = 3)
fusion @f on @m (%x: T[5, n] {1: [tp, dp]}, %a: T[5]) -> (%y, %z {0: tp}, %all, %low, %ends, %none) {
  %y = logsumexp(%x, dims = [1])
  %z = logsumexp(%x, dims = [1])
  %b = unsqueeze(%a, dims = [1])
  %c = mul(%x, %b)
  %all = logsumexp(%c, dims = [0, 1])
  %r = relu(%x)
  %l = log(%r)                                # -inf
  %low = logsumexp(%l, dims = [1])
  %big = full(shape = [], value = inf, dtype = T)
  %e = mul(%x, %big)                          # inf and -inf
  %ends = logsumexp(%e, dims = [1])
  %s = sqrt(%x)                               # NaN
  %none = logsumexp(%s, dims = [1])
}
)";
  int number = 0;
  for (const char* dtype : {"f32", "f64", "bf16", "f16"})
    for (const char* n : {"7", "1", "0", "24"}) {
      const int diagonal = number + number / 4;  // every dtype and every n has its turn
      ++number;
      if (diagonal % testing::kStride != 0) continue;
      CaseOptions how;
      how.device = GetParam();
      how.ranks = 6;
      how.set = {{"T", dtype}, {"n", n}};
      const CaseResult result = run_case(kText, how);
      EXPECT_TRUE(result.ok || result.undecided) << dtype << " n = " << n << ": " << result.message;  // %none is NaN
      EXPECT_EQ(result.collectives, 5) << dtype << " n = " << n;
    }
}

TEST(Comm, WordsThatDoNotFitAreRefused) {
  const Case c{"sp_toy", 3, {}};
  EXPECT_THROW(run(c, "cpu", "lokal", "f32"), UserError);
  EXPECT_THROW(run(c, "cpu", "nccl", "f32"), UserError);  // NCCL moves memory of GPUs
}

}  // namespace
}  // namespace plait
