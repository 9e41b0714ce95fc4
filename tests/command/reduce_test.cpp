// Shrinking graphs: the library by predicates, the command by planted bugs.
#include <gtest/gtest.h>

#include "base/error.h"
#include "command/run_command.h"
#include "fuzz/text_corpus.h"
#include "reduce/reduce_graph.h"
#include "support/random_graph.h"
#include "support/sanitized.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

const std::string kExamples = (fs::path(PLAIT_SOURCE_DIR) / "docs" / "examples").string() + "/";

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// 40 ops: chains of elementwise ones around a contraction and a dropout, on a mesh, in bf16.
std::string forty_ops() {
  std::string out =
      "let s = 12, h = 24, T = bf16\nmesh @m (dp = 2, tp = t)\n"
      "fusion @big on @m (%x: T[s, h] {0: dp}, %z: T[s, h], param %w: T[h, h] {1: tp}, param %b: T[h], %seed: u64[])\n"
      "  -> (%a17, %d, %c11, %a5) {\n  %a0 = tanh(%x)\n";
  const auto chain = [&](const std::string& name, int count) {
    for (int i = 1; i <= count; ++i)
      out += i % 3 == 0 ? "  %" + name + std::to_string(i) + " = add(%" + name + std::to_string(i - 1) + ", %z)\n"
                        : "  %" + name + std::to_string(i) + " = sigmoid(%" + name + std::to_string(i - 1) + ")\n";
  };
  chain("a", 17);
  out += "  %l = linear(%a9, %w, %b)\n  %f = cast(%l, to = f32)\n  %r = cast(%f, to = bf16)\n  %c0 = mul(%r, %a17)\n";
  chain("c", 15);
  out += "  %k = where(%m, %c15, %r)\n";
  const std::string mask = "  %m = lt(%c3, %c5)\n";
  out.insert(out.find("  %k = "), mask);
  return out + "  %d = dropout(%k, p = 0.25, seed = %seed, offset = 3)\n}\n";
}

std::vector<std::string> texts() {
  std::vector<std::string> out(test::kTextCorpus.begin(), test::kTextCorpus.end());
  for (const auto& entry : fs::directory_iterator(kExamples))
    if (entry.path().extension() == ".plait") out.push_back(read_file(entry.path()));
  std::sort(out.begin(), out.end());
  for (uint64_t seed = 1; seed <= 20; ++seed) out.push_back(testing::make_random_case(seed).text);
  out.push_back(forty_ops());
  return out;
}

// Whatever is edited, alone or all together: a graph that reads back as itself, or a refusal.
TEST(Reduce, EveryEditLeavesAGraphOrIsRefused) {
  int64_t edits = 0, graphs = 0;
  for (const std::string& text : texts()) {
    const auto fusion = parse_fusion(text);
    for (const EditList& list : edit_lists()) {
      const std::vector<GraphEdit> made = list.make(*fusion);
      for (size_t i = made.size() % testing::kStride; i <= made.size(); i += testing::kStride) {
        const auto part = i < made.size() ? std::span(made).subspan(i, 1) : std::span(made);
        const auto candidate = edited(*fusion, part);
        ++edits;
        if (!candidate) continue;
        ++graphs;
        EXPECT_NO_THROW(verify(*candidate)) << list.name << "\n" << text;  // the text reads back: support/main.cpp
      }
    }
  }
  std::printf("%ld edits, %ld of them leave a graph\n", static_cast<long>(edits), static_cast<long>(graphs));
  EXPECT_GT(graphs * 2, edits);
}

TEST(Reduce, NothingRemainsWhereAnythingFails) {
  for (const std::string& text : texts()) {
    const ReducedGraph found = reduce_graph(*parse_fusion(text), [](const std::string&) { return true; });
    EXPECT_TRUE(found.complete);
    const auto size = graph_size(*parse_fusion(found.text));
    EXPECT_EQ(size[0], 0) << found.text << "\nof\n" << text;  // ops
    EXPECT_LE(size[1], 2) << found.text;                      // one input, which is the output
    EXPECT_EQ(size[3], 0) << found.text;                      // no mesh
    EXPECT_EQ(size[7], 0) << found.text;                      // all is f32
    EXPECT_FALSE(has(found.text, "given ")) << found.text;
    EXPECT_LE(found.runs, 60) << text;
  }
}

TEST(Reduce, KeepsWhatFails) {
  const auto fusion = parse_fusion(forty_ops());
  ASSERT_EQ(fusion->ops().size(), 40u);
  struct Case {
    std::vector<std::string> needs;
    int64_t ops;
  };
  for (const auto& [needs, ops] : {Case{{"linear("}, 1},
                                   {{"dropout("}, 1},
                                   {{"linear(", "dropout("}, 2},
                                   {{"where(", "lt(", "bf16"}, 2},
                                   {{"add(", "mul(", "to = bf16"}, 3},
                                   {{"dp = 2", "tanh("}, 1},
                                   {{"param %w", "tp"}, 0},
                                   {{"offset = 3"}, 1}}) {
    int64_t asked = 0;
    const auto fails = [&](const std::string& text) {
      ++asked;
      return std::all_of(needs.begin(), needs.end(), [&](const auto& word) { return has(text, word); });
    };
    const ReducedGraph found = reduce_graph(*fusion, fails);
    EXPECT_TRUE(fails(found.text)) << found.text;
    EXPECT_EQ(graph_size(*parse_fusion(found.text))[0], ops) << found.text;
    EXPECT_EQ(found.runs, asked - 1);
    EXPECT_LE(found.runs, 250) << needs[0];
    const ReducedGraph again = reduce_graph(*fusion, fails);
    EXPECT_EQ(again.text, found.text);
    EXPECT_EQ(again.runs, found.runs);
  }
}

TEST(Reduce, ExtentsGoToTheSmallestThatFails) {
  const auto fusion =
      parse_fusion("let s = 100\nfusion @f (%x: f32[s, 64], %y: f32[64, 7*s]) -> (%z) {\n  %z = matmul(%x, %y)\n}\n");
  const auto fails = [](const std::string& text) {
    const auto f = parse_fusion(text);
    if (f->ops().empty()) return false;
    sym::Environment sizes;
    for (const SizeLet& let : f->size_lets) sizes[let.name] = let.value;
    return sym::evaluate(f->inputs()[0]->extent(1), sizes) >= 3 && sym::evaluate(f->inputs()[0]->extent(0), sizes) >= 2;
  };
  const ReducedGraph found = reduce_graph(*fusion, fails);
  EXPECT_EQ(found.text,
            "fusion @f (\n  %x: f32[2, 3],\n  %y: f32[3, 1]\n) -> (%z) {\n  %z: f32[2, 1] = matmul(%x, %y)\n}\n");
}

TEST(Reduce, StopsAtItsLimit) {
  const auto fusion = parse_fusion(forty_ops());
  for (int64_t limit : {1, 5, 20}) {
    std::vector<std::string> kept;
    ReduceOptions how;
    how.max_runs = limit;
    how.smaller = [&](const std::string& text) { kept.push_back(text); };
    const ReducedGraph found =
        reduce_graph(*fusion, [](const std::string& text) { return has(text, "linear(") && has(text, "where("); }, how);
    EXPECT_EQ(found.runs, limit);
    EXPECT_FALSE(found.complete);
    if (!kept.empty()) {
      EXPECT_EQ(kept.back(), found.text);
    }
  }
}

class ReduceCommand : public ::testing::Test {
 protected:
  CommandResult run(std::vector<std::string> words) {
    words.insert(words.begin(), {(fs::path(PLAIT_BINARY_DIR) / "plait_with_bugs").string(), "reduce"});
    return run_words(words, folder_.path());
  }
  void refuse(std::vector<std::string> words, const std::vector<std::string>& found) {
    const CommandResult result = run(std::move(words));
    EXPECT_EQ(1, result.exit) << result.out << result.err;
    for (const auto& part : found) EXPECT_TRUE(has(result.err, part)) << part << "\n" << result.err;
  }
  ScratchFolder folder_;
};

TEST_F(ReduceCommand, FortyOpsBecomeAtMostThree) {
  const std::string file = folder_.file("big.plait", forty_ops());
  const PlantedBug bug("dropped_bias");
  const std::vector<std::string> command = {"plait", "run", "{}", "--ranks", "4", "--device", "reference", "--check"};
  std::vector<std::string> words = {file, "--"};
  words.insert(words.end(), command.begin(), command.end());
  const CommandResult result = run(words);
  EXPECT_EQ(0, result.exit) << result.err;
  EXPECT_TRUE(has(result.out, "fails with exit code 2")) << result.out;
  EXPECT_TRUE(has(result.out, "before: ops 40, inputs 5, outputs 4")) << result.out;
  const std::string reduced = read_file(folder_.path() / "big.reduced.plait");
  const auto fusion = parse_fusion(reduced);
  EXPECT_LE(fusion->ops().size(), 3u) << reduced;
  EXPECT_TRUE(has(reduced, "linear(")) << reduced;
  EXPECT_TRUE(has(result.out, reduced)) << result.out;
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(has(entry.path().filename().string(), "plait_repro")) << entry.path();
  // The command fails on what is left.
  std::vector<std::string> replay = command;
  replay[0] = (fs::path(PLAIT_BINARY_DIR) / "plait_with_bugs").string();
  replay[2] = (folder_.path() / "big.reduced.plait").string();
  EXPECT_EQ(2, run_words(replay, folder_.path()).exit);
}

TEST_F(ReduceCommand, KeepsToOneText) {
  const std::string file = folder_.file("big.plait", forty_ops());
  const CommandResult result =
      run({file, "--out", "small.plait", "--match", "no op `sinking`", "--exit=1", "--", "sh", "-c",
           "sed s/dropout/sinking/ $0 > c.plait; \"$1\" opt c.plait --ranks 2 --device reference", "{}",
           (fs::path(PLAIT_BINARY_DIR) / "plait").string()});
  EXPECT_EQ(0, result.exit) << result.err;
  const std::string reduced = read_file(folder_.path() / "small.plait");
  EXPECT_EQ(parse_fusion(reduced)->ops().size(), 1u) << reduced;
  EXPECT_TRUE(has(reduced, "dropout(")) << reduced;
}

TEST_F(ReduceCommand, ReducesHangs) {
  const std::string file = folder_.file("hang.plait", "fusion @f (%x: f32[4]) -> (%y) {\n  %y = exp(%x)\n}\n");
  const CommandResult result = run({file, "--exit", "timeout", "--timeout", "0.3", "--max-runs", "2", "--", "sh", "-c",
                                    "grep -q exp $0 && sleep 20"});
  EXPECT_EQ(0, result.exit) << result.err;
  EXPECT_TRUE(has(read_file(folder_.path() / "hang.reduced.plait"), "exp(")) << result.out;
  refuse({file, "--timeout", "0.2", "--", "sh", "-c", "sleep 20"}, {"does not end within 0.2 s", "--timeout"});
  refuse({file, "--exit", "timeout", "--", "false"}, {"the command ends, with exit code 1"});
}

TEST_F(ReduceCommand, Refusals) {
  const std::string file = folder_.file("f.plait", "fusion @f (%x: f32[4]) -> (%y) {\n  %y = exp(%x)\n}\n");
  refuse({}, {"needs a file", "plait reduce FILE"});
  refuse({file}, {"which command fails?", "-- COMMAND"});
  refuse({file, "--"}, {"which command fails?"});
  refuse({file, file, "--", "false"}, {"unexpected"});
  refuse({file, "--ot", "x", "--", "false"}, {"no flag `--ot`", "did you mean `--out`?"});
  refuse({file, "--out"}, {"--out needs a value"});
  refuse({file, "--max-runs", "0", "--", "false"}, {"--max-runs"});
  refuse({file, "--timeout", "x", "--", "false"}, {"--timeout"});
  refuse({file, "--exit", "0", "--", "false"}, {"--exit", "1 to 255"});
  refuse({file, "--", "true"}, {"does not fail", "exit code 0"});
  refuse({file, "--exit", "7", "--", "false"}, {"exit code 1, not 7"});
  refuse({file, "--match", "words", "--", "false"}, {"does not print `words`"});
  refuse({file, "--", "no_such_program_here"}, {"cannot run `no_such_program_here`"});
  refuse({"none.plait", "--", "false"}, {"cannot read `none.plait`"});
  refuse({folder_.file("bad.plait", "fusion"), "--", "false"}, {"bad.plait:1:7"});
  refuse({file, "--out", "no/such/folder/x", "--", "false"}, {"cannot write `no/such/folder/x`"});
  refuse({file, "--", "sh", "-c", "grep -q '# mark' $0 && exit 1 || grep -q '%y = exp' $0 && exit 1 || exit 0"},
         {"not on the same graph printed anew"});
  refuse({folder_.file("p.plait", "program @p (%a: f32[4]) -> (%c: f32[4]) {\n}\n"), "--", "false"},
         {"holds a program"});
  EXPECT_EQ(0, run({"--help"}).exit);
}

}  // namespace
}  // namespace plait::testing
