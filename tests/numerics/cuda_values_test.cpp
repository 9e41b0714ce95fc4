// CUDA kernels without a GPU: every generated kernel of the example programs and of random graphs is scheduled for
// CUDA, written as CUDA text, compiled as host C++ behind the shim, and run on ranks against the reference.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/error.h"
#include "support/examples.h"
#include "support/host_shim.h"
#include "support/random_graph.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::example;
using testing::make_random_case;
using testing::run_case;
using Settings = std::map<std::string, std::string, std::less<>>;

Device& shim() {
  static const std::unique_ptr<Device> device = test::make_shim_device();
  return *device;
}

// Every kernel must have come from CUDA text; products too: the shim has no library.
CaseResult run(const std::string& name, int64_t ranks, Settings set) {
  CaseOptions how;
  how.device_override = &shim();
  how.ranks = ranks;
  how.set = std::move(set);
  CaseResult result = run_case(example(name), how);
  EXPECT_TRUE(result.ok) << name << ", " << ranks << " ranks: " << result.message;
  EXPECT_LE(result.max_error, 1);
  EXPECT_EQ(result.library_calls, 0);
  for (const auto& kernel : result.report.kernels) {
    EXPECT_EQ(kernel.arch, "host_cuda");
    EXPECT_NE(kernel.schedule.find("threads = "), std::string::npos) << kernel.schedule;
  }
  return result;
}

class CudaValues : public ::testing::TestWithParam<const char*> {
 protected:
  std::string dtype() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(All, CudaValues, ::testing::Values("f32", "f64", "bf16"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CudaValues, MlpBlock) {
  EXPECT_EQ(run("mlp_block", 1, {{"T", dtype()}, {"b", "2"}, {"s", "8"}}).collectives, 0);
  run("mlp_block", 1, {{"T", dtype()}, {"b", "1"}, {"s", "7"}});
}

TEST_P(CudaValues, TpMlp) {
  for (int64_t ranks = 1; ranks <= 4; ++ranks) {
    const CaseResult r = run("tp_mlp", ranks, {{"T", dtype()}, {"sb", "16"}});
    EXPECT_EQ(r.collectives, ranks > 1 ? 1 : 0);
    EXPECT_GE(r.kernels, 3);  // two elementwise, and the products' nests, which may be one kernel
    EXPECT_LE(r.kernels, 4);
    EXPECT_EQ(r.uneven, ranks == 3);
  }
}

TEST_P(CudaValues, TpMlpEmptyPieces) {
  EXPECT_TRUE(run("tp_mlp", 4, {{"T", dtype()}, {"sb", "3"}, {"h", "6"}, {"h4", "5"}}).empty);
}

TEST_P(CudaValues, TpMlpLongRows) {  // several blocks a row
  run("tp_mlp", 2, {{"T", dtype()}, {"sb", "3"}, {"h", "16"}, {"h4", "4100"}});
}

TEST_P(CudaValues, SpToy) {
  EXPECT_TRUE(run("sp_toy", 3, {{"T", dtype()}}).uneven);
  EXPECT_TRUE(run("sp_toy", 3, {{"T", dtype()}, {"s", "2"}}).empty);
}

TEST_P(CudaValues, Mlp2d) { EXPECT_EQ(run("mlp_2d", 4, {{"T", dtype()}, {"sb", "7"}}).collectives, 1); }

TEST(CudaValuesRow, A9SimpleAdd) {
  auto fusion = parse_fusion(example("simple_add"));
  CompileOptions how;
  how.device_override = &shim();
  Compiled p = compile(*fusion, how);
  auto y = p.run({{"a", Tensor::from_doubles(DType::f32, {4}, {1, 2, 3, 4})},
                  {"b", Tensor::from_doubles(DType::f32, {4}, {5, 6, 7, 8})}});
  EXPECT_EQ(y.at("c").to_doubles(), (std::vector<double>{6, 8, 10, 12}));
}

TEST(CudaValuesRow, TwentyRandomGraphs) {
  int ran = 0, collective = 0, exact = 0, failed = 0;
  testing::DrawnAgain again;
  for (uint64_t seed = 201; ran < 20 && failed < 20; ++seed) {
    const auto random = make_random_case(seed);
    CaseOptions how;
    how.device_override = &shim();
    how.ranks = random.ranks;
    how.exact = random.exact;
    how.seed = seed;
    how.interleaving = seed % 3 == 0 ? 0 : seed;
    how.options.poison = true;
    how.options.strict_rounding = seed % 4 == 1;
    how.compare_one_rank = false;  // the reference is enough, and compiling takes the time
    try {
      const CaseResult result = run_case(random.text, how);
      if (again.left_open(seed, result)) continue;
      EXPECT_TRUE(result.ok) << "seed " << seed << ": " << result.message << "\n" << random.text;
      ran += 1;
      collective += result.collectives > 0;
      exact += random.exact;
    } catch (const UserError& e) {
      const bool known = again.refused(e);
      EXPECT_TRUE(known) << "seed " << seed << "\n" << e.what() << "\n" << random.text;
      failed += !known;
    } catch (const Error& e) {
      ++failed;
      ADD_FAILURE() << "seed " << seed << "\n" << e.what() << "\n" << random.text;
    }
  }
  std::printf("%d graphs as CUDA text, %d with a collective, %d exact; drawn again: %s\n", ran, collective, exact,
              again.text().c_str());
  again.expect_few(ran);
}

}  // namespace
}  // namespace plait
