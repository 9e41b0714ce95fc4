// The executors on simulated GPUs: graphs that run again, ranks on threads.
#include <gtest/gtest.h>

#include <cstring>

#include "plait.h"
#include "reference/draw_inputs.h"
#include "support/examples.h"
#include "support/run_case.h"

namespace plait {
namespace {

// Outputs of three runs with other inputs each.
std::vector<std::string> runs(const std::string& device, int64_t ranks, const std::string& comm, bool graph) {
  ParseOptions small;
  small.set = {{"sb", "6"}, {"h", "8"}, {"h4", "16"}};
  auto fusion = parse_fusion(testing::example("tp_mlp"), small);
  CompileOptions how;
  how.device = device;
  how.ranks = ranks;
  how.comm = comm;
  how.options.cuda_graph = graph;
  Compiled p = compile(*fusion, how);
  std::vector<std::string> out;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    reference::DrawOptions draw;
    draw.seed = seed;
    auto drawn = reference::draw_inputs(*fusion, draw);
    std::string& bytes = out.emplace_back();
    for (const auto& [name, t] : p.run(Tensors{drawn.begin(), drawn.end()}))
      bytes.append(static_cast<const char*>(t.data()), t.bytes());
  }
  EXPECT_NE(out[0], out[1]);
  return out;
}

TEST(StandIn, AGraphGivesWhatItsStepsGive) {
  if (const std::string why = testing::why_no_device("sim:sm_80:1"); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(runs("sim:sm_80:1", 1, "local", true), runs("sim:sm_80:1", 1, "local", false));
}

TEST(StandIn, ThreadsGiveWhatSteppedRanksGive) {
  if (const std::string why = testing::why_no_device("sim:sm_80:2"); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(runs("sim:sm_80:2", 2, "local:threads", false), runs("sim:sm_80:2", 2, "local", false));
}

}  // namespace
}  // namespace plait
