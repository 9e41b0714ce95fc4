// What the command refuses: exit codes and words.
#include <gtest/gtest.h>

#include "base/sanitizers.h"
#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;

const std::string kExamples = (fs::path(PLAIT_SOURCE_DIR) / "docs" / "examples").string() + "/";
const std::string kTpMlp = kExamples + "tp_mlp.plait", kAdd = kExamples + "simple_add.plait",
                  kMlp2d = kExamples + "mlp_2d.plait";

class Failure : public ::testing::Test {
 protected:
  CommandResult run(std::vector<std::string> words) {
    words.insert(words.begin(), (fs::path(PLAIT_BINARY_DIR) / "plait").string());
    return run_words(words, folder_.path());
  }
  CommandResult run_with_bugs(std::vector<std::string> words) {
    words.insert(words.begin(), (fs::path(PLAIT_BINARY_DIR) / "plait_with_bugs").string());
    return run_words(words, folder_.path());
  }
  // Every word must stand in the error's text.
  void expect(int exit, const std::vector<std::string>& words, const std::vector<std::string>& found) {
    std::string line;
    for (const auto& word : words) line += " " + word;
    SCOPED_TRACE("plait" + line);
    const CommandResult result = run(words);
    EXPECT_EQ(exit, result.exit) << result.out << result.err;
    for (const auto& text : found) EXPECT_NE(std::string::npos, result.err.find(text)) << text << "\n" << result.err;
  }
  ScratchFolder folder_;
};

TEST_F(Failure, CommandLine) {
  expect(1, {}, {"needs a command", "run, explain, view, import, opt, compile, tune, reduce, launch"});
  expect(1, {"rnu", kAdd}, {"no command `rnu`", "did you mean `run`?"});
  expect(1, {"run", kAdd, "--chekc"}, {"no flag `--chekc`", "did you mean `--check`?"});
  expect(1, {"run", "--devcie=cpu", kAdd}, {"no flag `--devcie`", "did you mean `--device`?"});
  expect(1, {"run", kAdd, kAdd}, {"unexpected `"});
  expect(1, {"run"}, {"needs a file"});
  expect(1, {"run", kAdd, "--ranks", "x"}, {"--ranks", "x"});
  expect(1, {"run", kAdd, "--seed"}, {"--seed"});
  const std::string large = "99999999999999999999999";
  for (const auto& seed : {std::string("-1"), large, std::string("18446744073709551616"), std::string("1.5"),
                           std::string("0x10"), std::string("3 "), std::string("")})
    expect(1, {"run", kAdd, "--seed", seed}, {"--seed", "`" + seed + "`", "2^64 - 1"});
  EXPECT_EQ(0, run({"run", kAdd, "--device", "reference", "--seed", "18446744073709551615"}).exit);
  expect(1, {"run", kAdd, "--ranks", large}, {"--ranks", large});
  expect(1, {"run", kAdd, "--repeat", "0"}, {"--repeat"});
  expect(1, {"run", kAdd, "--repeat", large}, {"--repeat", large});
  expect(1, {"run", kAdd, "--option", "contractionz=nest"},
         {"no option `contractionz`", "did you mean `contractions`?"});
  expect(1, {"run", kAdd, "--option", "contractions"}, {"NAME=VALUE", "--option"});
  expect(1, {"run", kAdd, "--option", "cpu_lanes=3"}, {"cpu_lanes", "0, 1, 4, 8 or 16"});
  expect(1, {"run", kAdd, "--dump", "kri"}, {"no stage `kri`", "did you mean `kir`?"});
  expect(1, {"run", kAdd, "--comm", "mpj"}, {"no communicator `mpj`", "did you mean `mpi`?"});
  expect(1, {"run", kAdd, "--comm", "giveaway"}, {"known: local, local:SEED, local:threads, mpi, nccl\n"});
  expect(1, {"run", kAdd, "--comm", "nccl", "--device", "reference"}, {"NCCL moves memory of GPUs"});
  expect(1, {"run", kAdd, "--comm", "local:x"}, {"no communicator `local:x`"});
  expect(1, {"run", kAdd, "--device", "sim:sm_75"}, {"no simulated device `sm_75`"});
  expect(1, {"run", kAdd, "--device", "sim:sm_80:0"}, {"`0` is no number of simulated devices"});
  expect(1, {"run", kAdd, "--device", "cup"}, {"no device `cup`", "did you mean `cpu`?"});
  expect(1, {"opt", kAdd, "--until", "propagte"}, {"`propagte`", "did you mean `propagate`?"});
  expect(1, {"opt", kAdd, "--until", "lower"}, {"--until=kir"});
  expect(3, {"opt", kAdd, "--until", "sass"}, {"needs a disassembler"});
  expect(1, {"compile", kAdd, "--arch", "90a"}, {"`90a` is no architecture", "sm_90a"});
}

TEST_F(Failure, HelpIsNoFailure) {
  for (const auto& words :
       {std::vector<std::string>{"--help"}, {"--version"}, {"run", "--help"}, {"doctor"}, {"doctor", "--options"}}) {
    const CommandResult result = run(words);
    EXPECT_EQ(0, result.exit) << words[0];
    EXPECT_FALSE(result.out.empty());
    EXPECT_EQ("", result.err);
  }
}

TEST_F(Failure, Files) {
  expect(1, {"run", "none.plait"}, {"cannot read `none.plait`", "No such file"});
  expect(1, {"run", "."}, {"folder"});
  expect(1, {"run", folder_.file("empty.plait", "")}, {"empty.plait:1:1", "fusion"});
  expect(1, {"run", kAdd, "--input", "a=none.npy"}, {"cannot read `none.npy`", "%a"});
  expect(1, {"run", kAdd, "--out", "c=no/such/folder/c.npy"}, {"cannot write `no/such/folder/c.npy`"});
  expect(1, {"run", kAdd, "--device", "reference", "--dump", "program@/proc/x"}, {"/proc/x", "help: "});
  expect(1, {"run", kAdd, "--json", "no/such/folder/c.json"}, {"cannot write `no/such/folder/c.json`"});
}

TEST_F(Failure, Names) {
  expect(1, {"run", kTpMlp, "--set", "h5=4"}, {"no size or dtype `h5`", "did you mean `h"});
  expect(1, {"run", kTpMlp, "--set", "h=4", "--set", "h=8"}, {"`h` is set twice"});
  expect(1, {"run", kTpMlp, "--set", "h=-1"}, {"-1", "set h"});
  expect(1, {"run", kTpMlp, "--set", "h=4x"}, {"4x", "set h"});
  expect(1, {"run", kTpMlp, "--set", "T=f33"}, {"`f33` is no dtype", "set T"});
  expect(1, {"run", kTpMlp, "--set", "t=x"}, {"`x` is no size", "set t"});
  expect(1, {"run", kAdd, "--input", "d=[1]"}, {"no input `d`"});
  expect(1, {"run", kAdd, "--input", "a=[1,2,3,4]", "--input", "a=[1,2,3,4]"}, {"`a` is given twice"});
  expect(1, {"run", kAdd, "--out", "a=a.npy"}, {"no output `a`", "`c`"});
}

TEST_F(Failure, Inputs) {
  expect(1, {"run", kAdd, "--input", "a=[1,2,3]"}, {"%a: f32[4]", "f32[3]", "help: "});
  expect(1, {"run", kAdd, "--input", "a=[[1,2,3,4]]"},
         {"expected 1 dims, got 2: the tensor is f32[1, 4]", "%a: f32[4]"});
  expect(1, {"run", kAdd, "--input", "a=[1,2,3]"},
         {"dim 0: expected 4, got 3: the tensor is f32[3]", "give a tensor f32[4]"});
  expect(1, {"run", kAdd, "--input", "a=[1,2,3,x]"}, {"%a", "`x` is no value of f32"});
  expect(1, {"run", kAdd, "--input", "a=[[1,2],[3]]"}, {"%a", "lists of dim 1 have 2 and 1 elements"});
  expect(1, {"run", kAdd, "--input", "a=[1,[2]]"}, {"%a", "different depths"});
  expect(1, {"run", kAdd, "--input", "a=[[],1]"}, {"%a", "different depths"});
  expect(1, {"run", kAdd, "--input", "a=[1,2"}, {"%a", "ends early"});
  expect(1, {"run", kAdd, "--input", "a=[1]]"}, {"%a", "`]` behind the value"});
  expect(1, {"run", kAdd, "--input", "a="}, {"%a"});
  expect(1, {"run", kAdd, "--input", "a=" + std::string(100000, '[')}, {"%a", "deeper than 32"});
  expect(1, {"run", kAdd, "--input", "a=[1e39,0,0,0]"}, {"%a", "`1e39` is no value of f32"});
  expect(1, {"run", kTpMlp, "--input", "seed=-1"}, {"%seed", "`-1` is no value of u64"});
  expect(1, {"run", kTpMlp, "--input", "b0=[1,2]", "--set", "h4=3"}, {"%b0", "dim 0", "2", "3"});
  expect(1, {"run", folder_.file("open.plait", "fusion @f (%x: f32[n]) -> (%x) {\n}\n")},
         {"size n has no value", "--set n"});
  expect(1, {"run", kTpMlp, "--exact"}, {"gelu"});
}

TEST_F(Failure, Ranks) {
  expect(1, {"run", kMlp2d, "--ranks", "3"}, {"3 ranks", "dp = 2", "tp = 2", "4"});
  expect(1, {"run", kTpMlp, "--ranks", "4", "--set", "t=2"}, {"4 ranks", "tp = t"});
  expect(1, {"run", kTpMlp, "--ranks", "0"}, {"0"});
  expect(1, {"run", kTpMlp, "--set", "t=0"}, {"tp", "0"});
  expect(1, {"run", kAdd, "--ranks", "2"}, {"2 ranks"});
}

std::string npy(const std::string& header, size_t bytes, char version = 1) {
  std::string out = "\x93NUMPY";
  out += {version, '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return out + header + std::string(bytes, '\0');
}

TEST_F(Failure, MalformedNpy) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n";
  const auto refuse = [&](const std::string& content, const std::vector<std::string>& found) {
    folder_.file("a.npy", content);
    std::vector<std::string> all = found;
    all.insert(all.end(), {"%a", "a.npy", "help: "});
    expect(1, {"run", kAdd, "--input", "a=a.npy"}, all);
  };
  folder_.file("a.npy", npy(good, 16));
  EXPECT_EQ(0, run({"run", kAdd, "--input", "a=a.npy"}).exit);
  refuse("", {"too short"});
  refuse("PK\3\4 not an array", {"not .npy"});
  refuse(npy(good, 16, 3), {"version 3.0"});
  refuse(npy(good, 15), {"15 bytes of data", "needs 16"});
  refuse(npy(good, 17), {"17 bytes of data", "needs 16"});
  refuse(npy(good, 16).substr(0, 30), {"ends early", "header"});
  refuse(npy(good, 16).substr(0, 9), {"ends early"});
  refuse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4,)}", 32),
         {"f64[4], not f32", "astype(numpy.float32)"});
  refuse(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (4,)}", 16), {"big endian"});
  refuse(npy("{'descr': '<c8', 'fortran_order': False, 'shape': (4,)}", 32), {"`<c8`", "no type"});
  refuse(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (4,)}", 16), {"records"});
  refuse(npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4,)}", 16), {"neither True nor False"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}", 16), {"expected an extent"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4)}", 16), {"not a tuple"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 16), {"64 bits"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2)}", 16), {"a.npy"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2305843009213693951, 4)}", 16), {"16 bytes of data"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False}", 16), {"needs the keys"});
  refuse(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", 16), {"`descr`", "twice"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), 'x': 1}", 16), {"`x` is unknown"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)} + exit()", 16), {"behind the dict"});
  refuse(npy("{'descr': '<f4", 16), {"string without end"});
  refuse(npy("(4,)", 16), {"expected `{`"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", 16), {"f32[2, 2]"});
  refuse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}", 20), {"f32[5]"});
}

TEST_F(Failure, BoolsAreZeroOrOne) {
  const std::string file = folder_.file("b.plait", "fusion @b (%x: bool[2]) -> (%x) {\n}\n");
  std::string content = npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", 2);
  content.back() = 2;
  folder_.file("x.npy", content);
  expect(1, {"run", file, "--input", "x=x.npy"}, {"element 1 is 2", "x.npy"});
}

TEST_F(Failure, MissingPartsExitThree) { expect(3, {"run", kAdd, "--device", "cuda"}, {"cuda", "help: "}); }

TEST_F(Failure, JsonTellsOfTheError) {
  EXPECT_EQ(1, run({"run", kAdd, "--json", "out.json", "--input", "d=[1]"}).exit);
  const std::string json = read_file(folder_.path() / "out.json");
  EXPECT_NE(std::string::npos, json.find("\"ok\": false")) << json;
  EXPECT_NE(std::string::npos, json.find("no input `d`")) << json;
}

// Without NVRTC the reason and what to do; with it a table.
TEST_F(Failure, CompilesForGpusOrSaysWhatIsMissing) {
  const CommandResult result = run({"compile", kTpMlp, "--ranks", "4", "--arch", "sm_80,sm_90a", "--arch", "sm_100a"});
  if (result.exit == 3) {
    EXPECT_NE(std::string::npos, result.err.find("NVRTC")) << result.err;
    EXPECT_NE(std::string::npos, result.err.find("help: ")) << result.err;
    return;
  }
  EXPECT_EQ(0, result.exit) << result.err;
  for (const char* text : {"tp_mlp_s2", "tp_mlp_s5", "registers", "sm_80", "sm_90a", "sm_100a", "threads = 32"})
    EXPECT_NE(std::string::npos, result.out.find(text)) << text << "\n" << result.out;
}

struct Reproduced {
  std::string file, replay;
};

Reproduced read_report(const std::string& text) {
  Reproduced out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("  reproducer: ", 0) == 0) out.file = line.substr(14);
    if (line.rfind("  replay: ", 0) == 0) out.replay = line.substr(10);
  }
  return out;
}

// An internal error leaves the text, the dumps and the command that replays it.
TEST_F(Failure, InternalErrorLeavesAReproducer) {
  const PlantedBug bug("internal_error");
  const std::vector<std::string> words = {"run",     kTpMlp,     "--device",       "reference", "--ranks",
                                          "2",       "--option", "comm_timeout=9", "--seed",    "9",
                                          "--input", "b1=[1]",   "--set",          "h=1"};
  const CommandResult first = run_with_bugs(words);
  ASSERT_EQ(2, first.exit) << first.out << first.err;
  const auto [file, replay] = read_report(first.err);
  ASSERT_FALSE(file.empty() || replay.empty()) << first.err;
  const std::string text = read_file(folder_.path() / file);
  for (const char* part :
       {"# message: a planted internal error", "# at: ", "# seed: 9", "# ranks: 2", "# device: reference", "# set: h=1",
        "# option: comm_timeout=9", "# replay: ", "fusion @tp_mlp on @m ("})
    EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
  const CommandResult second = run_words({"/bin/sh", "-c", replay}, folder_.path());
  EXPECT_EQ(2, second.exit) << second.err;
  EXPECT_EQ(first.err, second.err) << "the replay leaves the same file";
  EXPECT_EQ(text, read_file(folder_.path() / file));
}

// In every stage, on one rank and on several; the replay fails in the same place.
TEST_F(Failure, InternalErrorsOfAllStagesReplay) {
  const bool cpu = run({"run", kAdd, "--device", "cpu"}).exit == 0;
  struct Planted {
    const char *name, *where;
  };
  for (const auto& [name, where] : {Planted{"propagate", " in sharded/propagate"},
                                    {"segment", " in segments/segment"},
                                    {"lower", " in kir/lower"},
                                    {"build_program", " in program/build_program"},
                                    {"compile", " in kir/compile"},
                                    {"bind", "at: a planted bug\n"},
                                    {"run", "rank 0, step "}}) {
    const PlantedBug bug(std::string("internal_error_") + name);
    for (const char* command : {"run", "compile"}) {
      if (std::string(name) == "run" && std::string(command) != "run") continue;
      const ScratchFolder folder;
      const std::vector<std::string> words = {(fs::path(PLAIT_BINARY_DIR) / "plait_with_bugs").string(),
                                              command,
                                              kTpMlp,
                                              "--set",
                                              "sb=8",
                                              "--set",
                                              "h=4",
                                              "--ranks",
                                              "3",
                                              "--device",
                                              cpu ? "cpu" : "reference"};
      const CommandResult first = run_words(words, folder.path());
      SCOPED_TRACE(std::string(command) + " " + name + "\n" + first.err);
      EXPECT_EQ(2, first.exit);
      EXPECT_NE(std::string::npos, first.err.find("a planted internal error"));
      EXPECT_NE(std::string::npos, first.err.find(where));
      const auto [file, replay] = read_report(first.err);
      ASSERT_FALSE(file.empty() || replay.empty());
      EXPECT_NE(std::string::npos, read_file(folder.path() / file).find("fusion @tp_mlp"));
      const CommandResult second = run_words({"/bin/sh", "-c", replay}, folder.path());
      EXPECT_EQ(2, second.exit);
      EXPECT_EQ(first.err, second.err);
    }
  }
}

// A signal leaves no less.
TEST_F(Failure, CrashLeavesAReproducer) {
#if PLAIT_ASAN || PLAIT_TSAN
  GTEST_SKIP() << "the sanitizer reports signals itself";
#endif
  const PlantedBug bug("internal_error_crash");
  const CommandResult first = run_with_bugs({"opt", kTpMlp, "--ranks", "2"});
  EXPECT_EQ(2, first.exit) << first.err;
  EXPECT_NE(std::string::npos, first.err.find("internal error: Segmentation fault")) << first.err;
  const auto [file, replay] = read_report(first.err);
  ASSERT_FALSE(file.empty() || replay.empty()) << first.err;
  const std::string text = read_file(folder_.path() / file);
  for (const char* part : {"# message: a crash", "# ranks: 2", "fusion @tp_mlp on @m ("})
    EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
  const CommandResult second = run_words({"/bin/sh", "-c", replay}, folder_.path());
  EXPECT_EQ(2, second.exit);
  EXPECT_EQ(first.err, second.err);
}

// A wrong result is our error too.
TEST_F(Failure, FailedCheckIsOurs) {
  const PlantedBug bug("dropped_bias");
  const CommandResult result = run_with_bugs(
      {"run", kTpMlp, "--ranks", "4", "--set", "sb=4", "--device", "reference", "--check", "--json", "out.json"});
  EXPECT_EQ(2, result.exit) << result.err;
  EXPECT_NE(std::string::npos, result.err.find("the check failed: %linear1 at [")) << result.err;
  EXPECT_NE(std::string::npos, result.err.find("  replay: ")) << result.err;
  EXPECT_NE(std::string::npos, read_file(folder_.path() / "out.json").find("\"ok\": false"));
}

}  // namespace
}  // namespace plait::testing
