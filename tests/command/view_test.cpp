// plait explain FILE, run --trace, view: what people look at.
#include <fstream>
#include <nlohmann/json.hpp>

#include "command/shell_test.h"

namespace plait::testing {
namespace {

using nlohmann::json;

class Looks : public ShellTest {
 protected:
  json file(const std::string& name) {
    std::ifstream in(scratch_ / name);
    return json::parse(in, nullptr, false);
  }
  // The document in a page.
  json page(const std::string& name) {
    std::ifstream in(scratch_ / name);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const std::string opening = "id=\"document\">";
    const size_t at = text.find(opening);
    if (at == text.npos) return nullptr;
    return json::parse(text.substr(at + opening.size(), text.find("</script>", at) - at - opening.size()), nullptr,
                       false);
  }
};

TEST_F(Looks, ExplainShowsTheWholeOnAScreen) {
  const CommandResult result = shell("$plait explain $mlp --ranks 4 --device cpu");
  EXPECT_EQ(result.exit, 0) << result.err;
  for (const char* part : {"@tp_mlp", "4 ranks (tp = 4) on cpu", "%w0: T[h4, h]", "2 launches of 2 kernels",
                           "all_reduce %linear2_product_reduced", "apart, refused by", "collective  2 boundaries"})
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  EXPECT_LT(std::count(result.out.begin(), result.out.end(), '\n'), 40);
  expect_says("$plait explain $mlp --device cpu --json - | grep -c '\"overview\"'", "1");
}

// Of a graph with many steps the first ones, and how many more.
TEST_F(Looks, ExplainKeepsToAScreen) {
  expect_says(
      "(echo 'fusion @f (%x: f32[8, 8]) -> (%y99) {'; p=x; for i in $(seq 0 99); do echo \"%y$i = matmul(%$p, %x)\"; "
      "p=y$i; "
      "done; echo '}') > many.plait; $plait explain many.plait --device reference",
      "and 76 more steps");
}

TEST_F(Looks, TracesAreOfAllRanks) {
  expect_says("$plait run $mlp --ranks 4 --device cpu --trace t.json", "4 ranks on cpu");
  const json trace = file("t.json");
  ASSERT_TRUE(trace.is_object());
  std::map<int, size_t> steps;
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X") ++steps[event["pid"]];
  EXPECT_EQ(steps.size(), 5u);  // ranks, and the passes
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(steps[rank], 5u);
  expect_says("$plait run $mlp --ranks 2 --device cpu --trace - | python3 -c 'import json, sys; json.load(sys.stdin)'",
              "2 ranks on cpu");
}

TEST_F(Looks, TracesOfProcessesAreMerged) {
  const CommandResult result = shell("$plait launch -n 2 -- run $mlp --device cpu --set sb=8 --trace t.json");
  ASSERT_EQ(result.exit, 0) << result.err;
  std::map<int, std::pair<double, double>> collective;  // by rank
  const json trace = file("t.json");
  ASSERT_TRUE(trace.is_object());
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == "collective")
      collective[event["pid"]] = {event["ts"], event["ts"].get<double>() + event["dur"].get<double>()};
  ASSERT_EQ(collective.size(), 2u);
  // One clock: no rank is out of an all-reduce before the other is in it.
  EXPECT_LT(collective[0].first, collective[1].second);
  EXPECT_LT(collective[1].first, collective[0].second);
}

TEST_F(Looks, PagesAreOfFilesProgramsAndTraces) {
  expect_says("$plait view $mlp --ranks 4 --device cpu -o a.html", "wrote a.html");
  const json ran = page("a.html");
  ASSERT_TRUE(ran.is_object());
  EXPECT_EQ(ran["title"], "tp_mlp");
  EXPECT_EQ(ran["ranks"], 4);
  EXPECT_EQ(ran["timeline"]["spans"].size(), 20u);
  EXPECT_NE(ran["layouts_svg"].get<std::string>().find("<svg"), std::string::npos);
  expect_says("$plait view $mlp --ranks 4 --device cpu --no-run", "wrote tp_mlp.view.html");
  EXPECT_TRUE(page("tp_mlp.view.html")["timeline"].is_null());
  expect_says("$plait run $mlp --ranks 4 --device cpu --trace t.json && $plait view t.json -o b.html", "wrote b.html");
  EXPECT_EQ(page("b.html"), file("t.json")["plait"]);
  expect_says("$plait compile $mlp --ranks 4 --device cpu --save m.plaitc && $plait view m.plaitc -o c.html",
              "wrote c.html");
  EXPECT_EQ(page("c.html")["counts"]["kernels"], 2);
  EXPECT_EQ(page("c.html")["segments"].size(), ran["segments"].size());
  expect_says("$plait view - -o - < $mlp | grep -c '<!doctype html>'", "1");
  expect_says("$plait view $mlp --device sim:sm_80 --no-run -o d.html", "wrote d.html");
  EXPECT_EQ(page("d.html")["kernels"][0]["stages"][1]["name"], "cuda");
}

TEST_F(Looks, PagesAreWrittenWholeOrNotAtAll) {
  expect_refuses("cp $mlp m.plait; $plait view m.plait --device cpu -o m.plait", "would be overwritten");
  expect_refuses("$plait view $mlp --device cpu -o nowhere/x", "cannot write `nowhere/x`");
  expect_refuses("$plait run $mlp --device cpu --trace a --json a", "is to hold two outputs");
  expect_refuses("$plait run $mlp --device cpu --trace /dev/full", "cannot write `/dev/full`");
  expect_refuses("echo '{}' > x.json; $plait view x.json", "it is no document of a program");
  expect_refuses("echo '{' > x.json; $plait view x.json", "it is no document of a program");
  expect_refuses("$plait view none.plait", "`none.plait`");
}

// What a launch moves is counted once, whatever shares it.
TEST_F(Looks, SegmentsOfOneLaunchShareItsBytes) {
  expect_says(
      "printf 'fusion @j (%%x: f32[64, 256]) -> (%%s, %%m) {\\n  %%s = softmax(%%x, dim = 1)\\n  %%m = "
      "amax(%%s)\\n}\\n' "
      "> j.plait; $plait view j.plait -o j.html --device cpu",
      "wrote j.html");
  const json document = page("j.html");
  ASSERT_EQ(document["segments"].size(), 2u);
  EXPECT_EQ(document["segments"][0]["launch"], document["segments"][1]["launch"]);
  int64_t bytes = 0;
  for (const json& segment : document["segments"]) bytes += segment["bytes"].get<int64_t>();
  const int64_t moved = document["counts"]["bytes_moved"].get<int64_t>();
  EXPECT_LE(bytes, moved);
  EXPECT_GE(bytes, moved - 2);
}

}  // namespace
}  // namespace plait::testing
