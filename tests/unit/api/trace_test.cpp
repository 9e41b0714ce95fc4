// Traces of runs, the document of a page, the page: each says what the program says of itself.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "api/overview.h"
#include "api/step_facts.h"
#include "api/trace.h"
#include "api/view_document.h"
#include "reference/draw_inputs.h"
#include "support/fusion_files.h"
#include "support/refusal.h"
#include "support/run_case.h"

namespace plait {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::refusal;

constexpr const char* kMlp = R"(let b = 6, h = 8
mesh @m (tp = t)
fusion @mlp on @m (%x: f32[b, 4], param %w: f32[h, 4] {0: tp}, param %v: f32[4, h] {1: tp}) -> (%y, %s) {
  %g = gelu(linear(%x, %w))
  %y = linear(%g, %v)
  %s = sum(%g, dims = [1])
}
)";

Tensors drawn(const Fusion& fusion, const Sizes& sizes = {}) {
  reference::DrawOptions draw;
  draw.sizes = {sizes.begin(), sizes.end()};
  const auto inputs = reference::draw_inputs(fusion, draw);
  return {inputs.begin(), inputs.end()};
}

Compiled timed(const std::string& text, const CompileOptions& options) {
  const auto fusion = parse_fusion(text);
  Compiled compiled = compile(*fusion, options);
  compiled.set_step_timing(true);
  compiled.run(drawn(*fusion));
  return compiled;
}

std::vector<size_t> working_steps(const Program& program) {
  std::vector<size_t> out;
  for (size_t s = 0; s < program.steps.size(); ++s)
    if (is_work(*program.steps[s])) out.push_back(s);
  return out;
}

struct Drive {
  std::string device, comm;
};

class Traces : public ::testing::TestWithParam<Drive> {};

TEST_P(Traces, HoldEachStepOfEachRankOnce) {
  const auto& [device, comm] = GetParam();
  if (const std::string reason = testing::why_no_device(device); !reason.empty()) GTEST_SKIP() << reason;
  Compiled compiled = timed(kMlp, {.device = device, .ranks = 3, .comm = comm});
  for (int run = 0; run < 2; ++run) {
    const std::vector<StepTrace> trace = gather_trace(compiled);
    for (int64_t rank = 0; rank < 3; ++rank) {
      std::vector<size_t> steps;
      int64_t end = 0;
      for (const StepTrace& t : trace)
        if (t.rank == rank) {
          steps.push_back(t.step);
          EXPECT_LE(t.begin, t.end);
          EXPECT_LE(end, t.begin);
          end = t.end;
        }
      std::ranges::sort(steps);
      EXPECT_EQ(steps, working_steps(compiled.program()));
    }
    for (size_t i = 1; i < trace.size(); ++i) EXPECT_LE(trace[i - 1].begin, trace[i].begin);
    compiled.run(drawn(compiled.fusion()));  // the trace is of the last run alone
  }
}

TEST_P(Traces, AreEventsOfChromes) {
  const auto& [device, comm] = GetParam();
  if (const std::string reason = testing::why_no_device(device); !reason.empty()) GTEST_SKIP() << reason;
  Compiled compiled = timed(kMlp, {.device = device, .ranks = 3, .comm = comm});
  const std::vector<StepTrace> trace = gather_trace(compiled);
  const json file = json::parse(trace_json(compiled, trace));
  const std::vector<StepFacts> facts = step_facts(compiled);
  size_t spans = 0, passes = 0, arenas = 0;
  double compiled_at = 0;
  for (const json& event : file["traceEvents"]) {
    if (event["ph"] == "C") ++arenas;
    if (event["ph"] != "X") continue;
    if (event["pid"] == 3) {  // behind the ranks
      ++passes;
      compiled_at = event["ts"].get<double>() + event["dur"].get<double>();
      continue;
    }
    ++spans;
    const size_t step = event["args"]["step"];
    EXPECT_EQ(event["name"], facts[step].label);
    EXPECT_GE(event["dur"].get<double>(), 0);
    if (facts[step].bytes > 0 && event["pid"] == 0) EXPECT_EQ(event["args"]["bytes"], facts[step].bytes);
  }
  EXPECT_EQ(spans, trace.size());
  EXPECT_EQ(arenas, trace.size());
  EXPECT_GT(passes, 10u);
  for (const json& event : file["traceEvents"])
    if (event["ph"] == "X" && event["pid"] != 3) EXPECT_GE(event["ts"].get<double>(), compiled_at - 1e-6);
  EXPECT_EQ(file["plait"], json::parse(view_document(compiled, trace)));
}

INSTANTIATE_TEST_SUITE_P(On, Traces,
                         ::testing::Values(Drive{"reference", "local"}, Drive{"cpu", "local"},
                                           Drive{"cpu", "local:threads"}, Drive{"sim:sm_80:3", "local"}),
                         [](const auto& info) {
                           std::string out = info.param.device + "_" + info.param.comm;
                           std::ranges::replace_if(out, [](char c) { return !std::isalnum(c); }, '_');
                           return out;
                         });

TEST(Traces, AreOfTimedRuns) {
  const auto fusion = parse_fusion(kMlp);
  Compiled compiled = compile(*fusion, {.device = "reference", .ranks = 2});
  EXPECT_THAT(refusal([&] { (void)gather_trace(compiled); }), HasSubstr("nothing is compiled yet"));
  compiled.run(drawn(*fusion));
  EXPECT_THAT(refusal([&] { (void)gather_trace(compiled); }), HasSubstr("no run was timed"));
  compiled.set_step_timing(true);
  compiled.run(drawn(*fusion));
  EXPECT_FALSE(gather_trace(compiled).empty());
  compiled.set_step_timing(false);
  compiled.run(drawn(*fusion));  // what was seen stays
  EXPECT_FALSE(gather_trace(compiled).empty());
}

// Indices of the document lie inside of what they are indices of, and numbers are those of the report.
void check_document(const Compiled& compiled, const json& d) {
  EXPECT_EQ(d["format"], kViewFormat);
  const size_t tensors = d["tensors"].size(), ops = d["ops"].size(), segments = d["segments"].size();
  const auto below = [](const json& numbers, size_t most) {
    for (const json& n : numbers) EXPECT_LT(n.get<size_t>(), most);
  };
  std::vector<int> made(ops);
  for (const json& op : d["ops"]) {
    below(op["inputs"], tensors);
    below(op["outputs"], tensors);
    if (!op["segment"].is_null()) EXPECT_LT(op["segment"].get<size_t>(), segments);
  }
  for (const json& s : d["segments"]) {
    below(s["inputs"], tensors);
    below(s["outputs"], tensors);
    below(s["ops"], ops);
    for (const json& op : s["ops"]) ++made[op.get<size_t>()];
    EXPECT_EQ(s["kind"] == "kernel", !s["kernel"].is_null()) << s;
    EXPECT_EQ(s["kind"] != "alias", s["bytes"].get<int64_t>() > 0) << s;
  }
  for (int count : made) EXPECT_EQ(count, 1);
  for (const json& b : d["boundaries"]) {
    below(json::array({b["from"], b["to"]}), segments);
    EXPECT_FALSE(b["refusers"].empty());
  }
  const Report& report = compiled.report();
  EXPECT_EQ(d["kernels"].size(), report.kernels.size());
  for (const json& kernel : d["kernels"])
    for (const json& stage : kernel["stages"])
      EXPECT_NE(stage["text"].get<std::string>().find(kernel["name"]), std::string::npos);
  int64_t bytes = 0;
  for (const json& step : d["steps"]) bytes += step["bytes"].get<int64_t>();
  EXPECT_EQ(bytes, report.bytes_moved);
  EXPECT_EQ(d["counts"]["bytes_moved"], report.bytes_moved);
  EXPECT_EQ(d["memory"][0]["arena_bytes"], report.arena_bytes);
  EXPECT_EQ(d["stages"].front()["text"], print(compiled.fusion()));
}

TEST(ViewDocument, IsWholeOfEveryFusion) {
  for (const testing::FusionFile& file :
       testing::read_fusions(std::filesystem::path(PLAIT_SOURCE_DIR) / "tests/fusions")) {
    SCOPED_TRACE(file.name);
    for (const char* device : {"reference", "cpu"}) {
      if (!testing::why_no_device(device).empty()) continue;
      const auto fusion = parse_fusion(file.text, {.file = file.name, .set = file.small});
      CompileOptions options{.device = device};
      for (const auto& let : fusion->size_lets) options.sizes[let.name] = let.value;
      Compiled compiled = compile(*fusion, options);
      Metadata metadata;
      for (const auto& [name, tensor] : drawn(*fusion, options.sizes)) metadata[name] = {tensor.dtype, tensor.shape};
      compiled.compile_for(metadata);
      check_document(compiled, json::parse(view_document(compiled, {})));
      EXPECT_THAT(overview(compiled), HasSubstr("@" + fusion->name()));
    }
  }
}

TEST(ViewPage, HoldsTheDocument) {
  Compiled compiled = timed(kMlp, {.device = "reference", .ranks = 2});
  json document = json::parse(view_document(compiled, gather_trace(compiled)));
  document["title"] = "</script><img src=x onerror=alert(1)>\u2028";
  const std::string page = view_page(document.dump());
  const std::string opening = "<script type=\"application/json\" id=\"document\">";
  const size_t at = page.find(opening) + opening.size();
  ASSERT_NE(page.find(opening), page.npos);
  EXPECT_EQ(json::parse(page.substr(at, page.find("</script>", at) - at)), document);
  EXPECT_EQ(page.find("<img src=x"), page.npos);
  // Nothing is fetched, nothing is left open.
  std::string rest = page.substr(0, at) + page.substr(page.find("</script>", at));
  for (const std::string space = "http://www.w3.org/"; rest.find(space) != rest.npos;) rest.erase(rest.find(space), 8);
  for (const char* other : {"http:", "https:", "/*STYLE*/", "/*SCRIPT*/", "/*DOCUMENT*/"})
    EXPECT_EQ(rest.find(other), rest.npos) << other;
}

TEST(ViewPage, RefusesWhatIsNoDocument) {
  EXPECT_THAT(refusal([] { (void)view_page("{"); }), HasSubstr("it is no document of a program"));
  EXPECT_THAT(refusal([] { (void)view_page("[1]"); }), HasSubstr("it is no document of a program"));
  EXPECT_THAT(refusal([] { (void)view_page("{\"format\": \"1\"}"); }), HasSubstr("it is no document of a program"));
  EXPECT_THAT(refusal([] { (void)view_page("{\"traceEvents\": []}"); }), HasSubstr("it is no document of a program"));
  EXPECT_THAT(refusal([] { (void)view_page("{\"format\": 2}"); }), HasSubstr("has format 2, this plait shows 1"));
  EXPECT_THAT(refusal([] { (void)view_page("{\"format\": 1}"); }), HasSubstr("it is no document of a program"));
  EXPECT_THAT(refusal([] { (void)view_page("{\"format\": 18446744073709551615}"); }),
              HasSubstr("has format 18446744073709551615"));
  const std::string deep = "{\"format\": 1, \"a\": " + std::string(400000, '[') + std::string(400000, ']') + "}";
  EXPECT_THAT(refusal([&] { (void)view_page(deep); }), HasSubstr("it is no document of a program"));
  json document = json::parse(view_document(timed(kMlp, {.device = "reference", .ranks = 2}), {}));
  for (const char* field : {"stages", "title", "counts", "ranks", "timeline"}) {
    json broken = document;
    broken.erase(field);
    EXPECT_THAT(refusal([&] { (void)view_page(broken.dump()); }), HasSubstr("it is no document of a program")) << field;
  }
}

}  // namespace
}  // namespace plait
