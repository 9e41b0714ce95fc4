// Kernels around scatters as compiled: by ranges and without, in every dtype, on any number of threads, with several
// sizes of one specialization; what a run says of indices outside.
#include <gtest/gtest.h>

#include "reference/draw_inputs.h"
#include "support/run_case.h"

namespace plait {
namespace {

using testing::CaseOptions;
using testing::CaseResult;
using testing::run_case;

// Rows that one index names, with what comes before and behind; `pin`: the schedule of all of it.
std::string rows_of(const std::string& update, const std::string& pin, bool is_bool) {
  const std::string body = fmt::format(
      "    %at = broadcast(%i, shape = [u, 3, c], dims = [0])\n"
      "    %a = scatter(%x, %at, {}(%s, %t), dim = 0, update = {})\n    %y = {}(%a, %e)\n",
      is_bool ? "logical_or" : "max", update, is_bool ? "logical_and" : "min");
  const std::string head =
      "let v = 70, u = 300, c = 37, T = f32\nfusion @f (%x: T[v, 3, c], %i: i32[u] in 0..v, %s: T[u, 3, c], %t: T[c], "
      "%e: T[v, 1, c]) -> (%a, %y) {\n";
  if (pin.empty()) return head + body + "}\n";
  return head + "  segment @s (%x, %i, %s, %t, %e) -> (%a, %y) schedule " + pin + " {\n" + body + "  }\n}\n";
}

TEST(ScatterKernels, AreThoseOfTheReferenceInEveryDtype) {
  for (const char* update : {"set", "add", "max", "min", "mul"})
    for (const char* dtype : {"f32", "f64", "f16", "bf16", "i32", "i64", "u8", "bool"}) {
      const bool rounds = update[0] == 'a' || update[1] == 'u',
                 narrow = std::string(dtype).find("f16") != std::string::npos;
      const bool is_bool = std::string(dtype) == "bool";
      if (rounds && is_bool) continue;
      CaseOptions how;
      how.set["T"] = dtype;
      Tensors first;
      for (const char* pin : {"", "scatter(rows = 0)", "scatter(rows = 16, columns = 8, chunk = 64)",
                              "scatter(rows = 3, columns = 0, chunk = 100)", "scatter(rows = 128)"}) {
        // A sum or product of narrow floats is a scatter of wide ones, which the file does not name.
        if (*pin != 0 && narrow && rounds) continue;
        const CaseResult result = run_case(rows_of(update, pin, is_bool), how);
        EXPECT_TRUE(result.ok) << update << " of " << dtype << ", " << pin << ": " << result.message;
        EXPECT_EQ(result.kernels, 1) << update << " of " << dtype << ", " << pin;
        if (first.empty()) first = result.outputs;
        for (const auto& [name, tensor] : result.outputs)
          EXPECT_EQ(tensor.to_doubles(), first.at(name).to_doubles()) << name << ", " << update << ", " << pin;
      }
    }
}

constexpr const char* kMeans =
    "let r = 20000, c = 9, v = 500, T = f32\n"
    "fusion @f (%x: T[r, c], %id: i64[r] in 0..v) -> (%y) {\n"
    "  %ids = broadcast(%id, shape = [r, c], dims = [0])\n"
    "  %sums = scatter(full(shape = [v, c], value = 0.0, dtype = T), %ids, %x, dim = 0, update = add)\n"
    "  %counts = scatter(full(shape = [v], value = 0.0, dtype = f32), %id, full(shape = [r], value = 1.0, dtype = "
    "f32), dim = 0, update = add)\n"
    "  %y = div(%sums, cast(unsqueeze(max(%counts, 1.0), dims = [1]), to = T))\n}\n";

TEST(ScatterKernels, MeansAreOneKernel) {
  for (const char* dtype : {"f32", "bf16"})
    for (const char* sizes : {"1", "7", "500", "3000"}) {
      CaseOptions how;
      how.set["T"] = dtype;
      how.set["v"] = sizes;
      const CaseResult result = run_case(kMeans, how);
      EXPECT_TRUE(result.ok) << dtype << ", " << sizes << ": " << result.message;
      EXPECT_EQ(result.kernels, 1) << dtype << ", " << sizes;
    }
}

std::vector<double> drawn_run(Compiled& p, const Fusion& fusion, const sym::Environment& sizes, int threads) {
  reference::DrawOptions draw;
  draw.seed = 5;
  draw.sizes = sizes;
  const auto drawn = reference::draw_inputs(fusion, draw);
  RunOptions run;
  run.threads = threads;
  return p.run(Tensors(drawn.begin(), drawn.end()), run).at("y").to_doubles();
}

TEST(ScatterKernels, AreTheSameBitsOnAnyNumberOfThreads) {
  for (const char* update : {"set", "add", "max", "mul"})
    for (const char* sizes : {"let n = 70, c = 500, m = 3000", "let n = 90000, c = 1, m = 50000",
                              "let n = 1, c = 300, m = 5000", "let n = 6000, c = 33, m = 3"}) {
      const auto fusion =
          parse_fusion(fmt::format("{}\nfusion @f (%x: f32[n, c], %i: i64[m] in 0..n, %s: f32[m, c]) -> (%y) {{\n"
                                   "  %at = broadcast(%i, shape = [m, c], dims = [0])\n"
                                   "  %z = scatter(%x, %at, mul(%s, 0.3), dim = 0, update = {})\n  %y = neg(%z)\n}}\n",
                                   sizes, update));
      Compiled p = compile(*fusion, {.device = "cpu"});
      const std::vector<double> first = drawn_run(p, *fusion, {}, 1);
      for (int threads = 2; threads <= 8; ++threads)
        EXPECT_EQ(drawn_run(p, *fusion, {}, threads), first) << update << ", " << sizes << ", " << threads;
    }
}

// The first index outside is told, of the scatter that comes first.
TEST(ScatterKernels, NameTheFirstIndexOutside) {
  for (const char* pin : {"", "scatter(rows = 0)", "scatter(rows = 4, chunk = 64)"}) {
    const std::string body =
        "    %at = broadcast(%i, shape = [m, c], dims = [0])\n"
        "    %y = scatter(%x, %at, %s, dim = 0, update = add)\n"
        "    %n = scatter(%b, %i, %w, dim = 0, update = add)\n";
    const std::string head =
        "fusion @f (%x: f32[n, c], %i: i64[m], %s: f32[m, c], %b: f32[n], %w: f32[m]) -> (%y, %n) {\n";
    const auto fusion = parse_fusion(*pin == 0 ? head + body + "}\n"
                                               : head + "  segment @s (%x, %i, %s, %b, %w) -> (%y, %n) schedule " +
                                                     pin + " {\n" + body + "  }\n}\n");
    Compiled p = compile(*fusion, {.device = "cpu"});
    const auto run = [&](int64_t n, int64_t c, std::vector<double> index, int threads) -> std::string {
      const auto m = static_cast<int64_t>(index.size());
      const auto ones = [](std::vector<int64_t> shape) {
        int64_t count = 1;
        for (int64_t e : shape) count *= e;
        return Tensor::from_doubles(DType::f32, shape, std::vector<double>(size_t(count), 1));
      };
      try {
        const Tensors out = p.run({{"x", ones({n, c})},
                                   {"i", Tensor::from_doubles(DType::i64, {m}, index)},
                                   {"s", ones({m, c})},
                                   {"b", ones({n})},
                                   {"w", ones({m})}},
                                  {.threads = threads});
        double sum = 0;
        for (const char* name : {"y", "n"})
          for (double v : out.at(name).to_doubles()) sum += v;
        return fmt::format("{}", sum);
      } catch (const UserError& e) {
        return std::string(e.message());
      }
    };
    std::vector<double> index(300, 8);
    EXPECT_EQ(run(9, 5, index, 2), fmt::format("{}", 9 * 6 + 300 * 6)) << pin;
    index[41] = 9, index[170] = -2, index[250] = 1e12;
    for (int threads : {1, 4}) {
      EXPECT_EQ(run(9, 5, index, threads), "index 9 at [41, 0] of %at lies outside of the 9 places along dim 0 of %x")
          << pin;
      EXPECT_EQ(run(9, 0, index, threads), "index 9 at [41] of %i lies outside of the 9 places along dim 0 of %b")
          << pin;
    }
    EXPECT_EQ(run(0, 5, {}, 2), "0") << pin;
    EXPECT_EQ(run(0, 5, {0}, 2), "index 0 at [0, 0] of %at lies outside of the 0 places along dim 0 of %x") << pin;
    EXPECT_EQ(run(3, 1, {}, 2), "6") << pin;
    EXPECT_EQ(run(1, 1, {0, 0, 0}, 2), "8") << pin;
  }
}

// Lookups of what is in memory, random numbers and elementwise ops in front, of the index too.
std::string messages(const std::string& pin) {
  const std::string body =
      "    %j = add(index_select(%order, %from, dim = 0), 0)\n"
      "    %m = mul(index_select(%x, %j, dim = 0), broadcast(%w, shape = [m, c], dims = [0]))\n"
      "    %d = dropout(%m, seed = %seed, p = 0.25)\n"
      "    %at = broadcast(index_select(%order, %to, dim = 0), shape = [m, c], dims = [0])\n"
      "    %y = scatter(full(shape = [n, c], value = 0.0, dtype = T), %at, %d, dim = 0, update = add)\n";
  const std::string head =
      "let n = 40, m = 500, c = 19, T = f32\nfusion @f (%x: T[n, c], %order: i64[n] in 0..n, %from: i64[m] in 0..n, "
      "%to: i64[m] in 0..n, %w: T[m], %seed: u64[]) -> (%y) {\n";
  if (pin.empty()) return head + body + "}\n";
  return head + "  segment @s (%x, %order, %from, %to, %w, %seed) -> (%y) schedule " + pin + " {\n" + body + "  }\n}\n";
}

TEST(ScatterKernels, LookupsAndRandomNumbersStandInFront) {
  for (const char* pin : {"", "scatter(rows = 0)", "scatter(rows = 4, columns = 8, chunk = 64)"})
    for (const char* sizes : {"19", "1", "64"})
      for (const char* device : {"cpu", "sim:sm_80"}) {
        const bool sim = device[0] == 's';
        if (sim && (!testing::why_no_device(device).empty() || *pin != 0)) continue;
        CaseOptions how;
        how.device = device;
        how.set["c"] = sizes;
        if (sim) how.set["m"] = "40";
        const CaseResult result = run_case(messages(pin), how);
        EXPECT_TRUE(result.ok) << pin << ", " << sizes << ": " << result.message;
        EXPECT_EQ(result.kernels, 1) << pin << ", " << sizes;
      }
}

TEST(ScatterKernels, NameIndicesOfLookupsInFront) {
  const auto fusion = parse_fusion(
      "fusion @f (%x: f32[n, c], %i: i64[m], %j: i64[m]) -> (%y) {\n"
      "  %at = broadcast(%j, shape = [m, c], dims = [0])\n"
      "  %y = scatter(%x, %at, index_select(%x, %i, dim = 0), dim = 0, update = add)\n}\n");
  Compiled p = compile(*fusion, {.device = "cpu"});
  const auto run = [&](std::vector<double> i, std::vector<double> j) -> std::string {
    const auto m = static_cast<int64_t>(i.size());
    try {
      const Tensors out = p.run({{"x", Tensor::from_doubles(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6})},
                                 {"i", Tensor::from_doubles(DType::i64, {m}, i)},
                                 {"j", Tensor::from_doubles(DType::i64, {m}, j)}});
      EXPECT_EQ(p.report().kernels.size(), 1u);
      return fmt::format("{}", out.at("y").to_doubles().back());
    } catch (const UserError& e) {
      return std::string(e.message());
    }
  };
  EXPECT_EQ(run({0, 2, 1}, {2, 2, 0}), "14");
  EXPECT_EQ(run({0, 3, 1}, {2, 2, 0}), "index 3 at [1] of %i lies outside of the 3 places along dim 0 of %x");
  EXPECT_EQ(run({0, 2, 1}, {2, -1, 0}), "index -1 at [1, 0] of %at lies outside of the 3 places along dim 0 of %x");
}

// What the kernel would compute first is looked up from memory, and a lookup of a scatter's result stands behind it.
TEST(ScatterKernels, LookupsOfComputedTensorsAreApart) {
  for (const char* body : {"%z = sin(%x)\n%s = index_select(%z, %i, dim = 0)\n%y = scatter(%x, %at, %s, dim = 0)\n",
                           "%z = scatter(%x, %at, %x, dim = 0)\n%y = index_select(%z, %i, dim = 0)\n"}) {
    const CaseResult result =
        run_case(fmt::format("let n = 9, c = 5\nfusion @f (%x: f32[n, c], %i: i64[n] in 0..n) -> (%y) {{\n"
                             "%at = broadcast(%i, shape = [n, c], dims = [0])\n{}}}\n",
                             body),
                 {});
    EXPECT_TRUE(result.ok) << result.message;
    EXPECT_GT(result.report.launches, 1);
  }
}

// On GPUs: rows of a range by the threads of a block, what has no columns by a thread; updates go in the order of the
// index, so that sums are those of a CPU, bit for bit.
TEST(ScatterKernelsOnSim, AreThoseOfACpu) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  int number = 0;
  for (const char* update : {"set", "add", "max", "mul"})
    for (const char* dtype : {"f32", "bf16", "i64", "bool"}) {
      const bool rounds = update[0] == 'a' || update[1] == 'u', is_bool = std::string(dtype) == "bool";
      if (rounds && (is_bool || std::string(dtype) == "bf16")) continue;
      CaseOptions how;
      how.set["T"] = dtype;
      how.compare_one_rank = false;
      how.options.poison = true;
      const CaseResult of_cpu = run_case(rows_of(update, "", is_bool), how);
      for (const char* pin : {"", "scatter(rows = 0)", "scatter(rows = 4, chunk = 64)",
                              "scatter(vector = 1, rows = 1, columns = 32, chunk = 100)"}) {
        how.device = ++number % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
        const CaseResult result = run_case(rows_of(update, pin, is_bool), how);
        EXPECT_TRUE(result.ok) << update << " of " << dtype << ", " << pin << ": " << result.message;
        EXPECT_EQ(result.kernels, 1) << update << " of " << dtype << ", " << pin;
        for (const auto& [name, tensor] : result.outputs)
          EXPECT_EQ(tensor.to_doubles(), of_cpu.outputs.at(name).to_doubles()) << name << ", " << update << ", " << pin;
      }
    }
}

struct ShapeCase {
  const char* name;
  const char* inputs;
  const char* body;
  int kernels = 1;
};

const ShapeCase kShapes[] = {
    {"one_dim", "%x: T[n], %i: i64[m] in 0..n, %s: T[m]", "%y = scatter(%x, %i, mul(%s, 2), dim = 0, update = add)"},
    {"index_of_each", "%x: T[n, c], %i: i64[m, c] in 0..n, %s: T[m, c]",
     "%z = scatter(%x, %i, %s, dim = 0, update = add)\n%y = max(%z, 0)"},
    {"behind_a_batch", "%x: T[c, n], %i: i64[c, m] in 0..n, %s: T[c, m]",
     "%y = scatter(%x, %i, %s, dim = 1, update = max)"},
    {"added_behind_a_batch", "%x: T[c, n, 4], %i: i64[c, m, 1] in 0..n, %s: T[c, m, 4]",
     "%at = broadcast(%i, shape = [c, m, 4], dims = [0, 1, 2])\n%y = scatter(%x, %at, %s, dim = 1, update = add)"},
    {"fewer_than_places", "%x: T[n, c + 3], %i: i64[m, c] in 0..n, %s: T[m, c]",
     "%y = scatter(%x, %i, %s, dim = 0, update = add)"},
    {"inner_dims", "%x: T[n, 3, c], %i: i64[m] in 0..n, %s: T[m, 3, c]",
     "%at = broadcast(%i, shape = [m, 3, c], dims = [0])\n%y = scatter(%x, %at, %s, dim = 0, update = add)"},
    {"two_of_one_index", "%x: T[n, c], %i: i64[m] in 0..n, %s: T[m, c]",
     "%at = broadcast(%i, shape = [m, c], dims = [0])\n%a = scatter(%x, %at, %s, dim = 0, update = add)\n"
     "%b = scatter(%x, %at, abs(%s), dim = 0, update = max)\n%y = sub(%a, %b)"},
    {"two_sums", "%x: T[n, c], %i: i64[m] in 0..n, %s: T[m, c]",
     "%at = broadcast(%i, shape = [m, c], dims = [0])\n%a = scatter(%x, %at, %s, dim = 0, update = add)\n"
     "%b = scatter(neg(%x), %at, abs(%s), dim = 0, update = add)\n%y = sub(%a, %b)"},
    {"means", "%i: i64[m] in 0..n, %s: T[m, c]",
     "%at = broadcast(%i, shape = [m, c], dims = [0])\n"
     "%a = scatter(full(shape = [n, c], value = 0, dtype = T), %at, %s, dim = 0, update = add)\n"
     "%b = scatter(full(shape = [n], value = 0, dtype = T), %i, full(shape = [m], value = 1, dtype = T), dim "
     "= 0, update = add)\n%y = sub(%a, unsqueeze(max(%b, 1), dims = [1]))",
     0},
};

// In order, and by atomics: of integers, and of floats that may be added in any order.
TEST(ScatterKernelsOnSim, Shapes) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const std::pair<const char*, bool> ways[] = {{"f32", false}, {"f32", true},  {"f64", true},
                                               {"i32", false}, {"u64", false}, {"bf16", true}};
  int number = 0;
  for (const ShapeCase& c : kShapes)
    for (const auto& [dtype, unordered] : ways)
      for (const char* sizes :
           {"n = 5, m = 9, c = 3", "n = 1, m = 300, c = 70", "n = 3000, m = 200, c = 33", "n = 40, m = 0, c = 5",
            "n = 7, m = 4, c = 0", "n = 70000, m = 130, c = 1", "n = 700, m = 700, c = 8"}) {
        if (std::string(dtype) != "f32" && ++number % 3 != 0) continue;
        CaseOptions how;
        how.device = number % 2 == 0 ? "sim:sm_80" : "sim:sm_90a";
        how.compare_one_rank = false;
        how.options.poison = true;
        how.options.unordered_sums = unordered;
        const CaseResult result = run_case(
            fmt::format("let {}, T = {}\nfusion @f ({}) -> (%y) {{\n{}\n}}\n", sizes, dtype, c.inputs, c.body), how);
        const std::string what = fmt::format("{} of {}{}, {}", c.name, dtype, unordered ? " in any order" : "", sizes);
        EXPECT_TRUE(result.ok || result.undecided) << what << ": " << result.message;
        EXPECT_TRUE(c.kernels == 0 || result.kernels == c.kernels) << what << ": " << result.kernels;
      }
}

// Phases of atomics and of others share no launch: sizes are numbers, as many updates as places, one block of updates,
// one block that finishes.
TEST(ScatterKernelsOnSim, AtomicsAreLaunchesOfTheirOwn) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const char* text : {"fusion @f (%x: i32[3000], %i: i64[3000] in 0..3000, %s: i32[3000]) -> (%y) {\n"
                           "  %y = scatter(%x, %i, %s, dim = 0, update = add)\n}\n",
                           "fusion @f (%x: i32[500, 8], %i: i64[500, 8] in 0..500, %s: i32[500, 8]) -> (%y) {\n"
                           "  %y = scatter(%x, %i, %s, dim = 0, update = max)\n}\n",
                           "fusion @f (%x: i32[5000], %i: i64[100] in 0..5000, %s: i32[100]) -> (%y) {\n"
                           "  %y = scatter(%x, %i, %s, dim = 0, update = add)\n}\n",
                           "fusion @f (%x: i32[100], %i: i64[3000] in 0..100, %s: i32[3000]) -> (%y) {\n"
                           "  %y = mul(scatter(%x, %i, %s, dim = 0, update = add), 2)\n}\n"}) {
    CaseOptions how;
    how.device = "sim:sm_80";
    how.exact = true;
    how.compare_one_rank = false;
    how.options.poison = true;
    const CaseResult result = run_case(text, how);
    EXPECT_TRUE(result.ok) << text << result.message;
    EXPECT_NE(result.report.kernels.at(0).schedule.find("atomics = 1"), std::string::npos) << text;
  }
}

Report report_of(const std::string& body, const char* dtype, bool unordered) {
  const auto fusion = parse_fusion(
      fmt::format("let n = 500, m = 3000, c = 8, T = {}\nfusion @f (%x: T[n, c], %i: i64[m] in 0..n, %s: T[m, c]) -> "
                  "(%y) {{\n  %at = broadcast(%i, shape = [m, c], dims = [0])\n{}\n}}\n",
                  dtype, body));
  CompileOptions how{.device = "sim:sm_80"};
  how.options.unordered_sums = unordered;
  Compiled program = compile(*fusion, how);
  program.prepare(testing::metadata_of(*fusion));
  return program.report();
}

// Launches, of whose schedule some say that they have atomics.
TEST(ScatterKernelsOnSim, TakeAtomicsWhereTheOrderIsOfNoMatter) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto seen = [](const std::string& body, const char* dtype, bool unordered) {
    const Report report = report_of(body, dtype, unordered);
    const bool atomics = report.kernels.at(0).schedule.find("atomics = 1") != std::string::npos;
    return fmt::format("{} {}", report.launches, atomics ? "atomics" : "in order");
  };
  const std::string add = "  %y = scatter(%x, %at, %s, dim = 0, update = add)";
  EXPECT_EQ(seen(add, "i32", false), "2 atomics");
  EXPECT_EQ(seen(add, "u64", false), "2 atomics");
  EXPECT_EQ(seen(add, "f32", true), "2 atomics");
  EXPECT_EQ(seen(add, "bf16", true), "3 atomics");  // added in f32, rounded once
  EXPECT_EQ(seen(add, "f32", false), "3 in order");
  EXPECT_EQ(seen(add, "u8", true), "3 in order");
  const std::string max = "  %y = scatter(%x, %at, %s, dim = 0, update = max)";
  EXPECT_EQ(seen(max, "i64", false), "2 atomics");
  EXPECT_EQ(seen(max, "f32", true), "3 in order");
  EXPECT_EQ(seen("  %y = scatter(%x, %at, %s, dim = 0)", "i32", true), "3 in order");
}

TEST(ScatterKernelsOnSim, NumbersThatDoNotApplyAreRefused) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  const auto refused = [](const char* pin) {
    CaseOptions how;
    how.device = "sim:sm_80";
    try {
      run_case(rows_of("add", pin, false), how);
      return std::string("taken");
    } catch (const UserError& e) {
      return std::string(e.message());
    }
  };
  EXPECT_NE(refused("scatter(columns = 48, vector = 1)").find("for a power of two of threads"), std::string::npos);
  EXPECT_NE(refused("scatter(columns = 2048, vector = 1)").find("for a power of two of threads"), std::string::npos);
  EXPECT_NE(refused("scatter(rows = 0, chunk = 64)").find("nothing is sorted"), std::string::npos);
  EXPECT_NE(refused("scatter(atomics = 1)").find("sums of floats keep the order"), std::string::npos);
}

// The first index outside is told, whichever chunk or block it is in.
TEST(ScatterKernelsOnSim, NameTheFirstIndexOutside) {
  if (const std::string why = testing::why_no_device("sim:sm_80"); !why.empty()) GTEST_SKIP() << why;
  for (const char* pin : {"scatter(rows = 0)", "scatter(rows = 1, chunk = 64)", "scatter(atomics = 1)"}) {
    const auto fusion = parse_fusion(
        fmt::format("let n = 9, m = 300, c = 5\nfusion @f (%x: f32[n, c], %i: i64[m], %s: f32[m, c]) -> (%y) {{\n"
                    "  segment @s (%x, %i, %s) -> (%y) schedule {} {{\n"
                    "    %at = broadcast(%i, shape = [m, c], dims = [0])\n"
                    "    %y = scatter(%x, %at, %s, dim = 0, update = add)\n  }}\n}}\n",
                    pin));
    CompileOptions how{.device = "sim:sm_80"};
    how.options.unordered_sums = true;
    Compiled p = compile(*fusion, how);
    std::vector<double> index(300, 8);
    index[41] = 9, index[170] = -2, index[250] = 1e12;
    try {
      p.run({{"x", Tensor::from_doubles(DType::f32, {9, 5}, std::vector<double>(45, 1))},
             {"i", Tensor::from_doubles(DType::i64, {300}, index)},
             {"s", Tensor::from_doubles(DType::f32, {300, 5}, std::vector<double>(1500, 1))}});
      ADD_FAILURE() << "nothing is told, " << pin;
    } catch (const UserError& e) {
      EXPECT_EQ(std::string(e.message()), "index 9 at [41, 0] of %at lies outside of the 9 places along dim 0 of %x")
          << pin;
    }
  }
}

}  // namespace
}  // namespace plait
