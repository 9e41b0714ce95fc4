// plait run, from the outside: what it prints, writes and returns.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command/run_command.h"

namespace plait::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kExamples = fs::path(PLAIT_SOURCE_DIR) / "docs" / "examples";
constexpr const char* kPython = "/usr/bin/python3";

class Run : public ::testing::Test {
 protected:
  CommandResult run(const std::string& file, std::vector<std::string> words, const std::string& command = "run") {
    std::vector<std::string> all = {(fs::path(PLAIT_BINARY_DIR) / "plait").string(), command, file};
    all.insert(all.end(), words.begin(), words.end());
    return run_words(all, folder_.path());
  }
  CommandResult run_example(const std::string& name, const std::vector<std::string>& words) {
    return run((kExamples / (name + ".plait")).string(), words);
  }
  Json json_of(const std::string& name, std::vector<std::string> words) {
    words.insert(words.end(), {"--json", "out.json"});
    const CommandResult result = run_example(name, words);
    EXPECT_EQ(0, result.exit) << name << ": " << result.err;
    return Json::parse(read_file(folder_.path() / "out.json"));
  }
  ScratchFolder folder_;
};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

TEST_F(Run, SimpleAddPrintsTheSum) {
  for (const char* device : {"reference", "cpu"}) {
    const CommandResult result =
        run_example("simple_add", {"--device", device, "--input", "a=[1,2,3,4]", "--input", "b=[5, 6, 7, 8]"});
    EXPECT_EQ(0, result.exit) << result.err;
    EXPECT_EQ("c: f32[4] = [6, 8, 10, 12]", first_line(result.out)) << device;
  }
}

TEST_F(Run, InputsOfEveryDtypeReadBack) {
  struct Case {
    const char *type, *value, *printed;
  };
  for (const Case& c :
       {Case{"f32[2, 2]", "[[1e-3,-0],[nan,inf]]", "[[0.001, -0], [nan, inf]]"}, Case{"f64[]", "0.1", "0.1"},
        Case{"bf16[2]", "[0.1,3]", "[0.1, 3]"}, Case{"f16[1]", "[65504]", "[65500]"},
        Case{"i64[2]", "[-9223372036854775808,9223372036854775807]", "[-9223372036854775808, 9223372036854775807]"},
        Case{"u64[1]", "[18446744073709551615]", "[18446744073709551615]"},
        Case{"i8[3]", "[-128,127,0]", "[-128, 127, 0]"}, Case{"i16[2]", "[-32768,32767]", "[-32768, 32767]"},
        Case{"i32[2]", "[-2147483648,2147483647]", "[-2147483648, 2147483647]"}, Case{"u8[2]", "[255,0]", "[255, 0]"},
        Case{"u16[1]", "[65535]", "[65535]"}, Case{"f8e4m3[4]", "[0.1,448,-0,nan]", "[0.1, 450, -0, nan]"},
        Case{"f8e5m2[3]", "[0.3,-inf,57344]", "[0.3, -inf, 60000]"}, Case{"u32[1]", "[4294967295]", "[4294967295]"},
        Case{"bool[2]", "[true,0]", "[true, false]"}, Case{"f32[2, 0]", "[[],[]]", "[[], []]"},
        Case{"f32[0]", "[]", "[]"}}) {
    const std::string file =
        folder_.file("same.plait", std::string("fusion @same (%x: ") + c.type + ") -> (%x) {\n}\n");
    const CommandResult result = run(file, {"--device", "reference", "--input", std::string("x=") + c.value});
    EXPECT_EQ(0, result.exit) << c.type << ": " << result.err;
    EXPECT_EQ(std::string("x: ") + c.type + " = " + c.printed, first_line(result.out));
  }
}

TEST_F(Run, LongTensorsShowTheirHead) {
  const std::string file = folder_.file("same.plait", "fusion @same (%x: i64[65]) -> (%x) {\n}\n");
  std::string value = "x=[0";
  for (int i = 1; i < 65; ++i) value += "," + std::to_string(i);
  const CommandResult result = run(file, {"--device", "reference", "--input", value + "]"});
  EXPECT_EQ("x: i64[65] = [0, 1, 2, 3, 4, 5, ...]", first_line(result.out)) << result.err;
}

TEST_F(Run, SeedDecidesWhatIsDrawn) {
  const auto drawn = [&](const char* seed) {
    return first_line(run_example("simple_add", {"--device", "reference", "--seed", seed}).out);
  };
  EXPECT_EQ(drawn("3"), drawn("3"));
  EXPECT_NE(drawn("3"), drawn("4"));
}

// One process per example and device: each compares itself with the reference and with one rank.
struct Expected {
  const char* name;
  std::vector<std::string> words;
  int kernels, library_calls, collectives;  // kernels: -1 where the devices share them differently
  int cpu_kernels = -1;                     // the same of the device `cpu` alone
};

class Examples : public Run, public ::testing::WithParamInterface<const char*> {};

TEST_P(Examples, AgreeWithTheReference) {
  const std::vector<Expected> all = {{"simple_add", {}, 1, 0, 0},
                                     {"mlp_block", {"--set", "b=2", "--set", "s=8"}, 2, 2, 0},
                                     {"tp_mlp", {"--ranks", "4", "--set", "sb=16"}, 2, 2, 1},
                                     {"sp_toy", {}, 2, 2, 2},
                                     {"mlp_2d", {"--set", "sb=16"}, 2, 2, 1},
                                     {"softmax", {"--ranks", "4", "--set", "n=40"}, -1, 0, 0, 1},
                                     {"layer_norm", {"--ranks", "3", "--set", "h=24"}, -1, 0, 0, 1},
                                     {"attention", {"--ranks", "4", "--set", "s=8"}, -1, 2, 0, 1},
                                     {"cross_entropy", {"--ranks", "2", "--set", "classes=30"}, -1, 0, 3},
                                     {"transformer_block", {"--ranks", "4"}, -1, 8, 2}};
  for (const Expected& e : all) {
    std::vector<std::string> words = e.words;
    words.insert(words.end(), {"--device", GetParam(), "--check"});
    const Json json = json_of(e.name, words);
    SCOPED_TRACE(e.name);
    EXPECT_TRUE(json.at("ok"));
    EXPECT_LE(json.at("max_error"), 1.0);
    if (e.kernels >= 0) {
      EXPECT_EQ(e.kernels, json.at("kernels"));
    }
    if (e.cpu_kernels >= 0 && GetParam() == std::string("cpu")) {
      EXPECT_EQ(e.cpu_kernels, json.at("kernels"));
    }
    EXPECT_EQ(e.library_calls, json.at("library_calls"));
    EXPECT_EQ(e.collectives, json.at("collectives"));
    EXPECT_EQ(json.at("wire_bytes_min"), json.at("wire_bytes"));
  }
}
INSTANTIATE_TEST_SUITE_P(Device, Examples, ::testing::Values("reference", "cpu"),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(Run, JsonHasEveryField) {
  const Json json = json_of("sp_toy", {"--device", "cpu", "--check", "--option", "disk_cache=false"});
  for (const char* key : {"ok", "max_error", "max_abs_error", "kernels", "library_calls", "collectives", "kernel_list",
                          "wire_bytes", "wire_bytes_min", "times", "outputs", "device", "versions"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ("cpu", json.at("device"));
  EXPECT_TRUE(json.at("times").at("compile_ms").is_number());
  EXPECT_TRUE(json.at("times").at("run_ms").is_number());
  const Json& y = json.at("outputs").at("y");
  EXPECT_EQ(Json({4, 12, 5}), y.at("shape"));
  EXPECT_EQ(Json({{4, 4, 5}, {4, 4, 5}, {4, 4, 5}}), y.at("local_shapes"));
  EXPECT_EQ("f32", y.at("dtype"));
  for (const Json& kernel : json.at("kernel_list")) {
    EXPECT_EQ(0u, kernel.at("schedule").get<std::string>().rfind("pointwise(", 0)) << kernel;
    for (const char* key : {"name", "schedule", "arch", "registers", "spill_bytes", "shared_bytes", "instructions",
                            "compile_ms", "from_disk"})
      EXPECT_TRUE(kernel.contains(key)) << key;
    EXPECT_TRUE(kernel.at("registers").is_null());  // a CPU kernel states none
  }
  EXPECT_TRUE(json.at("versions").contains("plait"));
  EXPECT_TRUE(json.at("versions").contains("llvm"));
}

TEST_F(Run, ExactIntegersAgreeBitForBit) {
  const std::string file = folder_.file("exact.plait", R"(let T = f32
mesh @m (tp = t)
fusion @exact on @m (%x: T[5, 8], param %w: T[6, 8] {1: tp}, param %b: T[6]) -> (%z) {
  %y = linear(%x, %w, %b)
  %z = relu(%y)
}
)");
  for (const char* type : {"f32", "bf16", "f64"}) {
    const CommandResult result =
        run(file, {"--check", "--exact", "--ranks", "3", "--json", "out.json", "--set", std::string("T=") + type});
    EXPECT_EQ(0, result.exit) << type << result.out << result.err;
    EXPECT_EQ(0, Json::parse(read_file(folder_.path() / "out.json")).at("max_abs_error")) << type;
  }
}

// What cannot be decided is neither right nor an error of plait's: exit code 4, `ok` null, no reproducer.
TEST_F(Run, ChecksThatDecideNothing) {
  const std::string nan = folder_.file("nan.plait", R"(fusion @nan (%x: f32[6]) -> (%y) {
  %a = abs(%x)
  %n = neg(%a)
  %y = log(%n)
}
)");
  // exp(x) - exp(x) lies around 0 on every backend: each element is either x or 0.
  const std::string open = folder_.file("open.plait", R"(fusion @open (%x: f32[100]) -> (%y) {
  %e = exp(%x)
  %f = exp(%x)
  %d = sub(%e, %f)
  %z = full(shape = [], value = 0, dtype = f32)
  %g = gt(%d, %z)
  %y = where(%g, %x, %z)
}
)");
  for (const auto& [file, why] : {std::pair(nan, "%y: nothing was compared, all 6 elements are NaN on both sides"),
                                  std::pair(open, "%y: 100 of 100 elements hang on a discontinuity")})
    for (const char* device : {"reference", "cpu"}) {
      const CommandResult result = run(file, {"--check", "--device", device, "--json", "out.json"});
      EXPECT_EQ(4, result.exit) << device << result.out << result.err;
      EXPECT_NE(result.out.find("check undecided: max_error = "), result.out.npos) << result.out;
      EXPECT_NE(result.out.find(why), result.out.npos) << result.out;
      EXPECT_EQ("", result.err);
      EXPECT_TRUE(Json::parse(read_file(folder_.path() / "out.json")).at("ok").is_null());
      for (const auto& entry : fs::directory_iterator(folder_.path()))
        EXPECT_EQ(entry.path().filename().string().find("repro"), std::string::npos) << entry.path();
    }
}

TEST_F(Run, ExactRunsExcuseNothing) {
  const std::string file =
      folder_.file("mask.plait", R"(fusion @mask (%x: f32[64, 128], param %w: f32[128, 128]) -> (%y) {
  %h = linear(%x, %w)
  %z = full(shape = [], value = 0, dtype = f32)
  %g = gt(%h, %z)
  %m = where(%g, %h, %z)
  %y = matmul(%m, %w)
}
)");
  const CommandResult result = run(file, {"--check", "--exact", "--device", "cpu"});
  EXPECT_EQ(0, result.exit) << result.out << result.err;
  EXPECT_EQ(result.out.find("excused"), result.out.npos) << result.out;
}

TEST_F(Run, ReluBackwardPassesItsCheck) {
  const std::string file = folder_.file("backward.plait", R"(fusion @backward (
  %x: f32[64, 256], param %w: f32[512, 256], %dh: f32[64, 512]) -> (%y) {
  %h = linear(%x, %w)
  %z = full(shape = [], value = 0, dtype = f32)
  %g = gt(%h, %z)
  %m = cast(%g, to = f32)
  %d = mul(%dh, %m)
  %y = matmul(%d, %w)
}
)");
  const CommandResult result = run(file, {"--check", "--device", "cpu"});
  EXPECT_EQ(0, result.exit) << result.out << result.err;
}

// Values outside of the range that the file states are refused by place and value; drawn ones keep it.
TEST_F(Run, StatedRangesAreChecked) {
  const std::string file = folder_.file("range.plait", R"(let v = 8
fusion @range (%t: f32[v, 2], %i: i64[2, 3] in 0..v) -> (%y) {
  %y = index_select(%t, %i, dim = 0)
}
)");
  for (const char* device : {"reference", "cpu"}) {
    EXPECT_EQ(0, run(file, {"--check", "--device", device}).exit);
    const CommandResult result = run(file, {"--device", device, "--input", "i=[[0,1,7],[2,8,9]]"});
    EXPECT_EQ(1, result.exit) << result.out;
    EXPECT_EQ(
        "error: element [1, 1] is 8, outside of 0..8\n  at: input %i: i64[2, 3] in 0..v\n"
        "  help: give values from 0 to 7\n",
        result.err);
  }
  EXPECT_EQ(0, run(file, {"--device", "reference", "--set", "v=9", "--input", "i=[[0,1,7],[2,8,8]]"}).exit);
}

// Ranks round at other places than one rank does: each side has its own bound.
TEST_F(Run, NarrowProgramsOnRanksPassTheirCheck) {
  const std::string file = folder_.file("rd.plait", R"(let T = bf16
mesh @m (tp = t)
fusion @rd on @m (%x: T[64, 16], param %w: T[48, 16] {1: tp}, param %b: T[48]) -> (%y) {
  %y = linear(%x, %w, %b)
}
)");
  for (const char* device : {"cpu", "reference"})
    for (const char* type : {"bf16", "f16"})
      for (const char* ranks : {"2", "4"}) {
        const CommandResult result = run(
            file, {"--device", device, "--set", std::string("T=") + type, "--ranks", ranks, "--check", "--seed", "1"});
        EXPECT_EQ(0, result.exit) << device << " " << type << " " << ranks << result.out << result.err;
        EXPECT_NE(std::string::npos, result.out.find("check y against one rank: ")) << result.out;
      }
}

TEST_F(Run, MeshSymbolsInShapesAreSolved) {
  const std::string file = folder_.file("t.plait", R"(mesh @m (tp = t)
fusion @f on @m (%x: f32[t, 4] {0: tp}) -> (%y) {
  %y = relu(%x)
}
)");
  const CommandResult result = run(file, {"--ranks", "3", "--check"});
  EXPECT_EQ(0, result.exit) << result.out << result.err;
  EXPECT_NE(std::string::npos, result.out.find("y: f32[3, 4]")) << result.out;
  EXPECT_NE(std::string::npos, result.out.find("check against one rank: skipped, mesh symbol t")) << result.out;
  EXPECT_EQ(0, run(file, {"--set", "t=2", "--check"}).exit);
  EXPECT_EQ(0, run(file, {"--ranks", "3"}, "compile").exit);
}

TEST_F(Run, OrderOfRanksChangesNothing) {
  const auto out = [&](const char* comm) {
    const CommandResult result = run_example("sp_toy", {"--comm", comm, "--out", "y=y.npy", "--device", "reference"});
    EXPECT_EQ(0, result.exit) << result.err;
    return read_file(folder_.path() / "y.npy");
  };
  EXPECT_EQ(out("local"), out("local:12345"));
}

// NumPy writes, plait reads and writes, NumPy compares.
TEST_F(Run, NumpyReadsAndWritesTheSame) {
  const char* write = R"(
import numpy as np
v = np.arange(24).reshape(2, 3, 4) - 5
for t in ('f8', 'f4', 'f2', 'i8', 'i1', 'i2', 'i4'):
    np.save(t, v.astype(t)); np.save(t + '_f', np.asfortranarray(v.astype(t)))
for t in ('u1', 'u2', 'u4', 'u8'):
    np.save(t, (v + 5).astype(t)); np.save(t + '_f', np.asfortranarray((v + 5).astype(t)))
np.save('b1', v % 3 == 0); np.save('b1_f', np.asfortranarray(v % 3 == 0))
with open('v2.npy', 'wb') as f: np.lib.format.write_array(f, v.astype('f4'), version=(2, 0))
np.save('bf', np.float32([[[1.00390625, 3.14159265, -2.5, 1e-40]]])); np.save('scalar', np.float32(2.5))
np.save('e4m3', np.float32([1.0625, 449, -1e9, 0.001, -0.0, np.nan]))
np.save('e5m2', np.float32([1.125, 449, -1e9, 1e-6, -0.0, np.nan]))
)";
  ASSERT_EQ(0, run_words({kPython, "-c", write}, folder_.path()).exit);
  struct Case {
    const char *file, *type;
  };
  const std::vector<Case> cases = {
      {"f8", "f64[2, 3, 4]"},   {"f8_f", "f64[2, 3, 4]"},  {"f4", "f32[2, 3, 4]"},  {"f4_f", "f32[2, 3, 4]"},
      {"f2", "f16[2, 3, 4]"},   {"f2_f", "f16[2, 3, 4]"},  {"i8", "i64[2, 3, 4]"},  {"i8_f", "i64[2, 3, 4]"},
      {"u4", "u32[2, 3, 4]"},   {"u4_f", "u32[2, 3, 4]"},  {"u8", "u64[2, 3, 4]"},  {"u8_f", "u64[2, 3, 4]"},
      {"b1", "bool[2, 3, 4]"},  {"b1_f", "bool[2, 3, 4]"}, {"v2", "f32[2, 3, 4]"},  {"i1", "i8[2, 3, 4]"},
      {"i2_f", "i16[2, 3, 4]"}, {"i4", "i32[2, 3, 4]"},    {"u1_f", "u8[2, 3, 4]"}, {"u2", "u16[2, 3, 4]"},
      {"e4m3", "f8e4m3[6]"},    {"bf", "bf16[1, 1, 4]"},   {"scalar", "f32[]"},     {"e5m2", "f8e5m2[6]"}};
  for (const Case& c : cases) {
    const std::string text = std::string("fusion @same (%x: ") + c.type + ") -> (%x) {\n}\n", name = c.file;
    const CommandResult result =
        run(folder_.file("same.plait", text),
            {"--device", "reference", "--input", "x=" + name + ".npy", "--out", "x=out_" + name + ".npy"});
    EXPECT_EQ(0, result.exit) << name << ": " << result.err;
  }
  const char* compare = R"(
import numpy as np, glob
for path in sorted(glob.glob('out_*.npy')):
    a, b = np.load(path[4:]), np.load(path)
    if path == 'out_bf.npy':
        a = ((a.view('u4') + 0x7fff + ((a.view('u4') >> 16) & 1)) & 0xffff0000).astype('u4').view('f4')
    if path == 'out_e4m3.npy': a = np.float32([1, 448, -448, 2**-9, -0.0, np.nan])
    if path == 'out_e5m2.npy': a = np.float32([1, 448, -np.inf, 0, -0.0, np.nan])
    assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), path
print(len(glob.glob('out_*.npy')))
)";
  const CommandResult compared = run_words({kPython, "-c", compare}, folder_.path());
  EXPECT_EQ(0, compared.exit) << compared.err;
  EXPECT_EQ(std::to_string(cases.size()) + "\n", compared.out);
}

TEST_F(Run, DumpsGoToTheirFolder) {
  const CommandResult result =
      run_example("simple_add", {"--device", "cpu", "--dump=kir,program@d", "--dump", "segments@d"});
  EXPECT_EQ(0, result.exit) << result.err;
  EXPECT_NE(std::string::npos, result.out.find("---- kir simple_add_s1")) << result.out;
  int files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_.path() / "d")) ++files;
  EXPECT_EQ(2, files);
}

TEST_F(Run, StagesOfGpusAreShownOfEveryDevice) {
  for (const char* device : {"cpu", "reference", "sim:sm_80"}) {
    const std::string file = (kExamples / "simple_add.plait").string();
    const CommandResult result = run(file, {"--device", device, "--until", "ptx"}, "opt");
    if (result.exit == 3) GTEST_SKIP() << result.err;
    EXPECT_EQ(0, result.exit) << device << ": " << result.err;
    EXPECT_NE(std::string::npos, result.out.find(".entry simple_add_s1(")) << device << "\n" << result.out;
  }
  const CommandResult none =
      run((kExamples / "simple_add.plait").string(), {"--device", "reference", "--until", "llvm"}, "opt");
  EXPECT_EQ(1, none.exit) << none.out;
  EXPECT_NE(std::string::npos, none.err.find("stage `llvm` has no text")) << none.err;
}

TEST_F(Run, TimesListTheSteps) {
  const CommandResult result = run_example("sp_toy", {"--device", "reference", "--times", "--repeat", "3"});
  EXPECT_EQ(0, result.exit) << result.err;
  for (const char* word : {"compile: ", "of 3 runs: ", "all_gather ", "reduce_scatter "})
    EXPECT_NE(std::string::npos, result.out.find(word)) << word << "\n" << result.out;
}

TEST_F(Run, DoctorSaysWhatFoundEachLibraryAndItsOwnVersion) {
  const CommandResult result = run_words({(fs::path(PLAIT_BINARY_DIR) / "plait").string(), "doctor"}, folder_.path());
  ASSERT_EQ(result.exit, 0) << result.err;
  std::map<std::string, std::string> rows;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) rows[line.substr(0, line.find("  "))] = line;
  for (const char* name : {"LLVM", "oneDNN", "MPI", "CUDA driver", "NVRTC", "cuBLASLt", "NCCL"}) {
    ASSERT_TRUE(rows.contains(name)) << name << "\n" << result.out;
    if (rows[name].find("missing") != std::string::npos) continue;
    EXPECT_EQ(rows[name].back(), ')') << rows[name];  // the rule
    EXPECT_NE(rows[name].find('/'), std::string::npos) << rows[name];
    const bool two = name == std::string("LLVM") || name == std::string("oneDNN") || name == std::string("MPI");
    EXPECT_EQ(std::count(rows[name].begin(), rows[name].end(), '('), two ? 2 : 1) << "a rule of each file";
  }
  ASSERT_TRUE(rows.contains("parts")) << result.out;
  const std::string parts = rows["parts"], without = parts.substr(std::min(parts.size(), parts.find("built without")));
  const std::pair<const char*, const char*> rows_of[] = {{"cuda", "NVRTC"}, {"cublaslt", "cuBLASLt"}, {"nccl", "NCCL"}};
  for (const auto& [part, row] : rows_of) {
    EXPECT_NE(parts.find(part), std::string::npos) << parts;
    EXPECT_EQ(without.find(fmt::format("{} (", part)) != std::string::npos,
              rows[row].find("built without") != std::string::npos)
        << result.out;
  }
  for (const char* part : {"llvm", "onednn", "mpi"}) EXPECT_NE(parts.find(part), std::string::npos) << parts;
  const std::string mpi = rows["MPI"];
  EXPECT_TRUE(mpi.find("missing") != mpi.npos || mpi.find("Open MPI v") != mpi.npos || mpi.find("MPICH") != mpi.npos)
      << mpi;
}

TEST_F(Run, OtherCommandsPrintTheirTables) {
  const std::string file = (kExamples / "tp_mlp.plait").string();
  const auto expect = [&](const std::string& command, const std::vector<std::string>& words,
                          const std::vector<std::string>& found) {
    const CommandResult result = run(file, words, command);
    EXPECT_EQ(0, result.exit) << command << ": " << result.err;
    for (const auto& text : found) EXPECT_NE(std::string::npos, result.out.find(text)) << text << "\n" << result.out;
  };
  expect("compile", {"--ranks", "4"},
         {"tp_mlp_s2", "pointwise(vector = ", "2 launches of 2 kernels, 2 library calls, 1 collective"});
  expect("compile", {"--ranks", "4", "--dump", "llvm"}, {"; buffers 0 = %", "; integers 0 = "});
  expect("compile", {"--arch", "sm_80", "--ranks", "4", "--dump", "cuda"},
         {"// b0 = %linear1_product: T[", "// n0 = "});
  expect("explain", {"--shard", "--ranks", "4"},
         {"%linear1", "{1: tp}", "all_reduce %linear2_product -> %linear2_product_reduced  tp    49152 B",
          "      1 in all "});
  expect("explain", {"--segments", "--schedule", "--ranks", "4"}, {"collective", "library", "pointwise(vector = "});
  expect("explain", {"--cache", "--ranks", "4"},
         {"sizes:   h, h4, sb any from 1 on\n", "sb: 1 in 1..2147483647",
          "guard:   mod(h, 16) == 0 (asked by rows of %x)\n", "costs:   h = 128, h4 = 512, sb = 64\n", "mesh:    4\n"});
}

// What a file pins for another device is the user's mistake, and says so; what both have goes for both.
TEST_F(Run, PinnedSchedulesOfAnotherTarget) {
  const auto pinned = [&](const std::string& schedule) {
    return folder_.file("pin.plait", "fusion @f (%x: f32[4096]) -> (%y) {\n  segment @s (%x) -> (%y) schedule " +
                                         schedule + " {\n    %y = neg(%x)\n  }\n}\n");
  };
  const CommandResult cuda = run(pinned("pointwise(threads = 64)"), {"--device", "cpu"});
  EXPECT_EQ(1, cuda.exit) << cuda.err;
  EXPECT_NE(cuda.err.find("threads does not apply to CPUs"), std::string::npos) << cuda.err;
  const CommandResult named = run(pinned("pointwise(target = cuda)"), {"--device", "cpu"});
  EXPECT_EQ(1, named.exit) << named.err;
  EXPECT_NE(named.err.find("states a target"), std::string::npos) << named.err;
  EXPECT_EQ(0, run(pinned("pointwise(block = 512)"), {"--device", "cpu", "--check"}).exit);
  const CommandResult dump = run(pinned("pointwise(block = 512)"), {"--device", "cpu", "--until", "cuda"}, "opt");
  EXPECT_EQ(0, dump.exit) << dump.err;
  EXPECT_NE(dump.out.find("__global__"), std::string::npos) << dump.out;
  const std::string product = folder_.file(
      "product.plait",
      "fusion @f (%x: f32[8, 8], %w: f32[8, 8]) -> (%y) {\n  segment @s (%x, %w) -> (%y) schedule nest(vector = 4) {\n"
      "    %y = linear(%x, %w)\n  }\n}\n");
  EXPECT_EQ(0, run(product, {"--device", "cpu", "--until", "cuda"}, "opt").exit);
}

TEST_F(Run, RanksAreTheCompilersMatter) {
  const char* head = "mesh @m (a = 2)\nfusion @f on @m (%x: f32[4]) -> (%y) {\n  %y = ";
  for (const char* call : {"size(value = rank.a)", "slice(%x, dim = 0, start = rank.a)",
                           "full(shape = [rank.a], value = 1, dtype = f32)"}) {
    const CommandResult result = run(folder_.file("rank.plait", head + std::string(call) + "\n}\n"), {"--ranks", "2"});
    EXPECT_EQ(1, result.exit) << call << result.err;
    EXPECT_NE(result.err.find("speaks of rank.a"), std::string::npos) << result.err;
  }
  const std::string text = "mesh @m (a = 2)\nfusion @f on @m (%x: f32[rank.a]) -> (%x) {\n}\n";
  EXPECT_NE(run(folder_.file("in.plait", text), {"--ranks", "2"}).err.find("speaks of rank.a"), std::string::npos);
}

TEST_F(Run, WarnsOfInputsThatNothingReads) {
  const std::string file =
      folder_.file("unused.plait", "fusion @f (%x: f32[2], %z: f32[3], %o: f32[1]) -> (%y, %o) {\n  %y = neg(%x)\n}\n");
  const CommandResult result = run(file, {"--device", "reference"});
  EXPECT_EQ(0, result.exit) << result.err;
  EXPECT_EQ(result.err, "warning: no op reads input %z: f32[3]\n");
}

TEST_F(Run, WarnsOfOpsThatNoOutputComesOf) {
  std::string body = "  %y = neg(%x)\n  _, %place = sort(%x)\n  %z = exp(%x)\n  %w = add(%z, %x)\n";
  const auto file = [&] {
    return folder_.file("dead.plait", "fusion @f (%x: f32[2]) -> (%y, %place) {\n" + body + "}\n");
  };
  const std::string first = "warning: no output comes of %z: exp is not computed\n";
  EXPECT_EQ(run(file(), {"--device", "reference"}).err,
            first + "warning: no output comes of %w: add is not computed\n");
  for (int i = 0; i < 9; ++i) body += fmt::format("  %d{} = neg(%x)\n", i);
  const std::string many = run(file(), {"--device", "reference"}).err;
  EXPECT_EQ(std::ranges::count(many, '\n'), 9);
  EXPECT_NE(many.find("warning: nor of the results of 3 more ops\n"), many.npos) << many;
}

// Integers become narrow floats by way of f32, wherever they run.
TEST_F(Run, CastsOfLargeIntegersRoundByWayOfF32) {
  const std::string file =
      folder_.file("cast.plait",
                   "fusion @f (%x: i64[1], %u: u64[1], %i: i32[1]) -> (%b, %h, %v, %n) {\n  %b = cast(%x, to = bf16)\n"
                   "  %h = cast(%i, to = f16)\n  %v = cast(%u, to = bf16)\n  %n = cast(%i, to = bf16)\n}\n");
  std::string first;
  for (const char* device : {"reference", "cpu"}) {
    const CommandResult result =
        run(file, {"--device", device, "--input", "x=[1029072537317363174]", "--input", "u=[1029072537317363174]",
                   "--input", "i=[16842753]", "--option", "strict_rounding=true"});
    EXPECT_EQ(0, result.exit) << result.err;
    const std::string values = result.out.substr(0, result.out.find("\n1 rank"));
    if (first.empty()) first = values;
    EXPECT_EQ(values, first) << device;
  }
}

TEST_F(Run, SaysWhichExtentIsExpected) {
  const std::string file = folder_.file("e.plait", "fusion @f (%x: f32[2, 256]) -> (%y) {\n  %y = neg(%x)\n}\n");
  const CommandResult result = run(file, {"--device", "reference", "--input", "x=[1, 2]"});
  EXPECT_EQ(1, result.exit);
  EXPECT_NE(result.err.find("expected 2 dims"), std::string::npos) << result.err;
}

TEST_F(Run, MetersOfSimulatedGpus) {
  const CommandResult result = run_example("softmax", {"--device", "sim:sm_90a", "--stats"});
  if (result.exit == 3) GTEST_SKIP() << result.err;
  EXPECT_EQ(0, result.exit) << result.err;
  for (const char* word : {"softmax_s1", "over the least", "1.000", "occupancy, by", "in flight of a thread"})
    EXPECT_NE(std::string::npos, result.out.find(word)) << word << "\n" << result.out;
  const CommandResult none = run_example("softmax", {"--device", "reference", "--stats"});
  EXPECT_EQ(1, none.exit) << none.out;
  EXPECT_NE(std::string::npos, none.err.find("--stats is for simulated GPUs")) << none.err;
}

}  // namespace
}  // namespace plait::testing
