// What `--json` writes: the same fields whatever the command and however it ends.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string kExamples = (fs::path(PLAIT_SOURCE_DIR) / "docs" / "examples").string() + "/";
const std::string kTpMlp = kExamples + "tp_mlp.plait", kAdd = kExamples + "simple_add.plait";
const char* const kFields[] = {
    "format",      "command",       "ok",          "max_error",   "max_abs_error",  "kernels",
    "launches",    "library_calls", "collectives", "bytes_moved", "bytes_least",    "arena_bytes",
    "arena_least", "bytes_copied",  "kernel_list", "wire_bytes",  "wire_bytes_min", "times",
    "outputs",     "ranks",         "device",      "versions"};

class JsonOf : public ::testing::Test {
 protected:
  CommandResult run(std::vector<std::string> words) {
    words.insert(words.begin(), (fs::path(PLAIT_BINARY_DIR) / "plait").string());
    return run_words(words, folder_.path());
  }
  // The document that stands alone on standard output; what else is printed is `words_`.
  Json json(std::vector<std::string> words, int exit = 0) {
    words.insert(words.end(), {"--json", "-"});
    const CommandResult result = run(words);
    EXPECT_EQ(exit, result.exit) << result.err;
    words_ = result.err;
    Json out = Json::parse(result.out, nullptr, false);
    EXPECT_FALSE(out.is_discarded()) << result.out;
    if (!out.is_object()) return Json::object();
    for (const char* field : kFields) EXPECT_TRUE(out.contains(field)) << field << " of " << words[0];
    EXPECT_EQ(out["format"], 1);
    return out;
  }
  ScratchFolder folder_;
  std::string words_;
};

// Bytes of rank 0: x and every activation 64 x 128, weights 128 x 128, biases 128, a seed.
constexpr int64_t kTensor = 64 * 128 * 4, kWeight = 128 * 128 * 4, kBias = 128 * 4, kSeed = 8;
constexpr int64_t kLeast = 5 * kTensor + 2 * kWeight + 2 * kBias + kSeed;
// Two products, bias and gelu, the all-reduce, bias and dropout.
constexpr int64_t kMoved =
    2 * (2 * kTensor + kWeight) + (3 * kTensor + kBias) + 2 * kTensor + (3 * kTensor + kBias + kSeed);

// Every run of the command begins with the inputs as they were.
TEST_F(JsonOf, OutputsInPlaceOfInputs) {
  std::ofstream(folder_.path() / "step.plait") << "let n = 3\nfusion @step (%p: f32[n], %g: f32[n]) -> (%q aliases %p, "
                                                  "%z) {\n  %h = mul(%g, 2)\n  %q = add(%p, %h)\n"
                                                  "  %z = sum(%g, dims = [0])\n}\n";
  for (const std::string device : {"cpu", "reference"}) {
    const Json run = json({"run", "step.plait", "--input", "p=[1,2,3]", "--input", "g=[1,1,1]", "--device", device,
                           "--repeat", "3", "--times", "--check"});
    EXPECT_EQ(run["ok"], true);
    EXPECT_NE(words_.find("q: f32[3] = [3, 4, 5]"), std::string::npos) << words_;
    EXPECT_EQ(run["bytes_copied"], device == "cpu" ? 0 : 12);
    EXPECT_EQ(run["outputs"]["q"]["in_place_of"], device == "cpu" ? Json("p") : Json(nullptr));
    EXPECT_EQ(run["outputs"]["z"]["in_place_of"], nullptr);
  }
  const CommandResult why = this->run({"explain", "step.plait", "--set", "n=3", "--segments", "--device", "cpu"});
  EXPECT_NE(why.out.find("%q lies in the memory of %p"), std::string::npos) << why.out << why.err;
}

TEST_F(JsonOf, ARun) {
  const Json run = json({"run", kTpMlp, "--ranks", "4", "--device", "cpu", "--check", "--times"});
  EXPECT_EQ(run["command"], "run");
  EXPECT_EQ(run["ok"], true);
  EXPECT_LE(run["max_error"], 1.0);
  EXPECT_TRUE(run["max_abs_error"].is_number());
  EXPECT_EQ(run["kernels"], 2);
  EXPECT_EQ(run["launches"], 2);
  EXPECT_EQ(run["kernel_list"].size(), 2u);
  EXPECT_EQ(run["library_calls"], 2);
  EXPECT_EQ(run["collectives"], 1);
  EXPECT_EQ(run["bytes_least"], kLeast);
  EXPECT_EQ(run["bytes_moved"], kMoved);
  EXPECT_EQ(run["arena_least"], 4 * (64 * 128 + 64 * 128)) << "linear2's product, and what is scattered of it";
  EXPECT_EQ(run["arena_bytes"], run["arena_least"]);
  EXPECT_EQ(run["bytes_copied"], 0);
  EXPECT_EQ(run["wire_bytes"], run["wire_bytes_min"]);
  EXPECT_TRUE(run["times"]["compile_ms"].is_number() && run["times"]["run_ms"].is_number());
  EXPECT_EQ(run["outputs"]["linear1"]["shape"], Json::array({64, 512}));
  EXPECT_EQ(run["outputs"]["linear1"]["local_shapes"][3], Json::array({64, 128}));
  EXPECT_EQ(run["outputs"]["linear1"]["dtype"], "f32");
  EXPECT_EQ(run["ranks"], 4);
  EXPECT_EQ(run["device"], "cpu");
  EXPECT_TRUE(run["versions"].contains("plait"));
  EXPECT_NE(words_.find("4 ranks on cpu: 2 launches of 2 kernels, 2 library calls, 1 collective, "), words_.npos);
  EXPECT_NE(words_.find("copied: 0 B"), words_.npos) << words_;
}

// With a shorter last piece it is still rank 0 whose bytes are counted, and an empty step counts none.
TEST_F(JsonOf, BytesOfUnevenPieces) {
  const Json run =
      json({"run", kTpMlp, "--ranks", "3", "--device", "cpu", "--set", "sb=2", "--set", "h=1", "--set", "h4=4"});
  // x [2, 1], w0 [2, 1], b0 [2], w1 [1, 2], b1 [1], a seed; linear1 and gelu [2, 2], linear2 and dropout [2, 1].
  EXPECT_EQ(run["bytes_least"], 4 * (2 + 2 + 2 + 2 + 1 + 4 + 4 + 2 + 2) + 8);
  const Json empty =
      json({"run", kTpMlp, "--ranks", "2", "--device", "cpu", "--set", "sb=0", "--set", "h=2", "--set", "h4=2"});
  EXPECT_EQ(empty["bytes_moved"], 0);
}

// A size that only an input tells.
TEST_F(JsonOf, ARunWithSizesOfItsInputs) {
  const std::string file = folder_.file("sizes.plait", "fusion @f (%x: f32[n]) -> (%y) {\n  %y = neg(%x)\n}\n");
  ASSERT_EQ(run({"run", file, "--set", "n=5", "--out", "y=y.npy"}).exit, 0);
  const Json again = json({"run", file, "--input", "x=y.npy"});
  EXPECT_EQ(again["outputs"]["y"]["shape"], Json::array({5}));
}

// Of a copy the part that is copied; of a contraction with an empty sum the result alone.
TEST_F(JsonOf, BytesOfCopiesAndEmptySums) {
  const std::string file = folder_.file(
      "slice.plait", "mesh @m (dp = 2)\nfusion @f on @m (%x: f32[8, 8]) -> (%y {0: dp}) {\n  %y = neg(%x)\n}\n");
  const Json slice = json({"run", file, "--device", "cpu"});
  EXPECT_EQ(slice["bytes_moved"], 2 * 128 + 2 * 128);
  EXPECT_EQ(slice["bytes_least"], 256 + 128);
  EXPECT_EQ(slice["launches"], 1) << "the copy is none";
  const Json empty = json({"run", kTpMlp, "--device", "cpu", "--set", "sb=2", "--set", "h=0", "--set", "h4=4"});
  EXPECT_EQ(empty["bytes_moved"], 32 + (32 + 16 + 2 * 32) + 8) << "the last launch has a seed alone";
}

TEST_F(JsonOf, LaunchesOfOneKernelAreCounted) {
  const std::string file = folder_.file("twice.plait",
                                        "fusion @twice (%x: f32[8, 8], %w: f32[8, 8]) -> (%y) {\n  %a = gelu(%x)\n"
                                        "  %b = linear(%a, %w)\n  %y = gelu(%b)\n}\n");
  const std::vector<std::string> how = {file, "--device", "cpu", "--option", "contractions=nest"};
  for (const char* command : {"run", "compile", "explain", "opt"}) {
    std::vector<std::string> words = {command};
    words.insert(words.end(), how.begin(), how.end());
    if (std::string(command) == "explain") words.push_back("--schedule");
    const Json all = json(words);
    EXPECT_EQ(all["kernels"], 2) << command;
    EXPECT_EQ(all["launches"], 3) << command;
    EXPECT_EQ(all["library_calls"], 0) << command;
    const bool tells = words_.find("3 launches of 2 kernels, 0 library calls, 0 collectives") != words_.npos;
    EXPECT_EQ(tells, std::string(command) != "opt") << words_;
  }
}

TEST_F(JsonOf, WhatIsCompiledAndNotRun) {
  const Json compiled = json({"compile", kTpMlp, "--ranks", "4", "--device", "cpu"});
  EXPECT_EQ(compiled["ok"], true);
  EXPECT_EQ(compiled["bytes_moved"], kMoved);
  EXPECT_EQ(compiled["outputs"]["dropout"]["shape"], Json::array({64, 128}));
  EXPECT_EQ(compiled["kernel_list"][0]["arch"], "cpu");
  for (const char* field : {"name", "schedule", "arch", "registers", "spill_bytes", "shared_bytes", "instructions",
                            "compile_ms", "from_disk"})
    EXPECT_TRUE(compiled["kernel_list"][0].contains(field)) << field;
  EXPECT_TRUE(compiled["times"]["compile_ms"].is_number());
  for (const Json& unknown :
       {compiled["max_error"], compiled["wire_bytes"], compiled["bytes_copied"], compiled["times"]["run_ms"]})
    EXPECT_TRUE(unknown.is_null());
}

// A kernel that is launched twice is one kernel; each is there for every architecture.
TEST_F(JsonOf, KernelsForGpus) {
  const std::string file = folder_.file("twice.plait",
                                        "fusion @twice (%x: f32[8, 8], %w: f32[8, 8]) -> (%y) {\n  %a = gelu(%x)\n"
                                        "  %b = linear(%a, %w)\n  %y = gelu(%b)\n}\n");
  const std::vector<std::string> words = {"compile",           file,     "--device",    "reference", "--option",
                                          "contractions=nest", "--arch", "sm_80,sm_90a"};
  if (run(words).exit == 3) GTEST_SKIP() << "NVRTC is not here";
  const Json all = json(words);
  EXPECT_EQ(all["launches"], 3);
  EXPECT_EQ(all["kernels"], 2);
  ASSERT_EQ(all["kernel_list"].size(), 4u);
  EXPECT_EQ(all["kernel_list"][0]["arch"], "sm_80");
  EXPECT_GT(all["kernel_list"][3]["registers"], 0);
  EXPECT_EQ(all["library_calls"], 0);
  EXPECT_NE(words_.find("sm_90a: 3 launches of 2 kernels, "), words_.npos) << words_;
}

TEST_F(JsonOf, WhatExplainAndOptPrint) {
  const Json why = json({"explain", kTpMlp, "--ranks", "4", "--device", "reference", "--shard", "--cache"});
  EXPECT_EQ(why["explain"].size(), 2u);
  const std::string shard = why["explain"]["shard"], cache = why["explain"]["cache"];
  EXPECT_NE(shard.find("%w1"), shard.npos);
  EXPECT_EQ(words_, shard + cache);
  const Json graph = json({"opt", kTpMlp, "--until", "graph"});
  EXPECT_EQ(graph["stage"], "graph");
  EXPECT_EQ(graph["text"], words_);
  EXPECT_TRUE(graph["launches"].is_null()) << "nothing is known of it yet";
  const Json program = json({"opt", kTpMlp, "--ranks", "4", "--device", "reference"});
  EXPECT_EQ(program["stage"], "program");
  EXPECT_EQ(program["collectives"], 1);
  EXPECT_EQ(program["ranks"], 4);
  // A program that was printed is counted alike.
  const std::string file = folder_.file("program.plait", program["text"]);
  const Json again = json({"opt", file});
  for (const char* field : {"text", "launches", "kernels", "library_calls", "collectives"})
    EXPECT_EQ(again[field], program[field]) << field;
}

TEST_F(JsonOf, ErrorsAndWhatIsUndecided) {
  for (const char* command : {"run", "compile", "opt", "explain"}) {
    const Json failed = json({command, kAdd, "--set", "n=3", "--device", "reference"}, 1);
    EXPECT_EQ(failed["ok"], false);
    for (const char* part : {"what", "where", "remedy"}) EXPECT_TRUE(failed["error"][part].is_string()) << command;
  }
  const Json flag = json({"run", kAdd, "--chekc"}, 1);
  EXPECT_EQ(flag["error"]["what"], "there is no flag `--chekc`");
  const std::string file = folder_.file("nan.plait", "fusion @nan (%x: f32[2]) -> (%y) {\n  %y = log(%x)\n}\n");
  const Json open = json({"run", file, "--input", "x=[-1,-2]", "--check", "--device", "reference"}, 4);
  EXPECT_TRUE(open["ok"].is_null());
}

// None of an input whose dims lie in another order, all of an output of another order.
TEST_F(JsonOf, CopiedBytesOfARun) {
  const std::string file =
      folder_.file("turned.plait",
                   "fusion @turned (%x: f32[4, 6] allocation (1, 0), %b: f32[6]) -> (%y) {\n  %y = add(%x, %b)\n}\n");
  const Json run = json({"run", file, "--device", "cpu", "--times"});
  EXPECT_EQ(run["bytes_copied"], 0);
  EXPECT_NE(words_.find("copied: 0 B of inputs and outputs in a run\n"), words_.npos) << words_;
  const std::string out = folder_.file(
      "out.plait", "fusion @out (%x: f32[4, 6]) -> (%y) {\n  %y: f32[4, 6] allocation (1, 0) = neg(%x)\n}\n");
  EXPECT_EQ(json({"run", out, "--device", "cpu", "--times"})["bytes_copied"], 96);
  EXPECT_NE(words_.find("copied: 96 B of inputs and outputs in a run\n"), words_.npos) << words_;
}

}  // namespace
}  // namespace plait::testing
