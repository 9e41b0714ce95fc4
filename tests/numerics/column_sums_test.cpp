// Sums over the rows of a kernel beside what it computes of each row: states of every column in a task, then over
// tasks.
#include <gtest/gtest.h>

#include <cmath>

#include "api/check_program.h"
#include "axes/loop_tree.h"
#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "graph/passes.h"
#include "reference/draw_inputs.h"
#include "support/run_case.h"
#include "support/tensor_bits.h"

namespace plait {
namespace {

struct ColumnCase {
  const char* name;
  const char* head;
  const char* body;
  const char* results;
  bool floats_only = false;
};

// Of rows a * b, more than 256, and n columns.
const std::vector<ColumnCase>& column_cases() {
  static const std::vector<ColumnCase> cases = {
      {"both", "%x: T[a, n]", "%r = sum(%x, dims = [1])\n%c = sum(%x, dims = [0])\n", "%r, %c"},
      {"columns_first", "%x: T[a, n]", "%c = sum(%x, dims = [0], keepdim = true)\n%r = amax(%x, dims = [1])\n",
       "%c, %r"},
      {"extrema", "%x: T[a, b, n]",
       "%r = amax(%x, dims = [2], keepdim = true)\n%y = sub(%x, %r)\n%g = amax(%y, dims = [0, 1])\n"
       "%l = amin(%x, dims = [0, 1])\n",
       "%y, %g, %l"},
      {"gradient", "%x: T[a, b, n], %dy: T[a, b, n], %w: T[n]",
       "%m, %v = var_mean(%x, dims = [2], correction = 0, keepdim = true)\n"
       "%h = mul(sub(%x, %m), rsqrt(add(%v, 1e-05)))\n%g = mul(%dy, %w)\n%p = mean(%g, dims = [2], keepdim = true)\n"
       "%q = mean(mul(%g, %h), dims = [2], keepdim = true)\n%dx = sub(sub(%g, %p), mul(%h, %q))\n"
       "%dw = sum(mul(%dy, %h), dims = [0, 1])\n%db = sum(%dy, dims = [0, 1])\n",
       "%dx, %dw, %db", true},
      {"two_dims_of_a_row", "%x: T[a, b, 4, n]",
       "%s = sum(exp(%x), dims = [2, 3], keepdim = true)\n%y = div(%x, %s)\n%c = sum(%y, dims = [0, 1])\n", "%y, %c",
       true},
  };
  return cases;
}

// `numbers` empty: as the scheduler chooses.
std::string column_text(const ColumnCase& c, const std::string& numbers) {
  std::string inputs;
  for (const char* name : {"%x", "%dy", "%w"})
    if (std::string(c.head).find(name) != std::string::npos) inputs += (inputs.empty() ? "" : ", ") + std::string(name);
  const std::string open =
      numbers.empty() ? "" : fmt::format("segment @s ({}) -> ({}) schedule norm({}) {{\n", inputs, c.results, numbers);
  return fmt::format("let T = f32\nfusion @{} ({}) -> ({}) {{\n{}{}{}}}\n", c.name, c.head, c.results, open, c.body,
                     numbers.empty() ? "" : "}\n");
}

struct ColumnRun {
  std::unique_ptr<Fusion> fusion;
  Compiled program;
};

ColumnRun compile_columns(const std::string& text, const std::string& dtype, const CompileOptions& how) {
  ParseOptions parse;
  parse.set = {{"T", dtype}};
  auto fusion = parse_fusion(text, parse);
  Compiled program = compile(*fusion, how);
  return {std::move(fusion), std::move(program)};
}

using ColumnSizes = std::array<int64_t, 3>;  // a, b, n

Tensors draw_columns(const Fusion& fusion, const ColumnSizes& s, bool exact = false) {
  reference::DrawOptions how;
  how.sizes = {{"a", s[0]}, {"b", s[1]}, {"n", s[2]}};
  how.seed = static_cast<uint64_t>(s[0] * 31 + s[2]);
  how.exact = exact;
  const auto drawn = reference::draw_inputs(fusion, how);
  return {drawn.begin(), drawn.end()};
}

void expect_columns(const ColumnRun& run, const Tensors& inputs, const Tensors& outputs, bool exact = false) {
  CompileOptions how;
  how.device = "cpu";
  for (const OutputCheck& output :
       check_program(*run.fusion, how, run.program, inputs, outputs, {.exact = exact, .one_rank = false}).outputs)
    EXPECT_TRUE(output.reference.ok) << output.reference.message;
}

void check_columns(const std::string& numbers, const std::string& dtype, const std::vector<ColumnSizes>& sizes,
                   bool exact = false) {
  for (const ColumnCase& c : column_cases()) {
    if (c.floats_only && (dtype[0] == 'i' || exact)) continue;
    CompileOptions how;
    how.device = "cpu";
    how.hook = [&](std::string_view, std::string_view, const PassSubject& subject) {
      const auto* tree = subject.as<LoopTree>();
      if (tree == nullptr) return;
      EXPECT_FALSE(tree->parts.empty()) << c.name;  // by tasks, whose states a second phase merges
      EXPECT_FALSE(tree->later.empty()) << c.name;
      EXPECT_LE(tree->later.size(), tree->parts.size()) << c.name;
    };
    ColumnRun run = compile_columns(column_text(c, numbers), dtype, how);
    for (const ColumnSizes& s : sizes) {
      SCOPED_TRACE(fmt::format("{} of {}, {}, a = {}, b = {}, n = {}", c.name, dtype, numbers, s[0], s[1], s[2]));
      const Tensors inputs = draw_columns(*run.fusion, s, exact);
      const Tensors outputs = run.program.run(inputs);
      ASSERT_EQ(run.program.report().launches, 1);
      ASSERT_EQ(run.program.report().kernels.size(), 1u);
      EXPECT_NE(run.program.report().kernels[0].schedule.find("norm("), std::string::npos);
      expect_columns(run, inputs, outputs, exact);
    }
  }
}

// Rows and columns that are no multiples of what a task or a vector has, one less and one more; the fewest rows.
const std::vector<ColumnSizes> kColumnSizes = {{257, 1, 1}, {259, 1, 7}, {257, 2, 16}, {258, 3, 17}, {301, 1, 33}};

class ColumnSums : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, ColumnSums, ::testing::Values("f32", "f64", "bf16", "i32"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(ColumnSums, Boundaries) { check_columns("vector = 8, parts = 2, rows = 5", GetParam(), kColumnSizes); }

TEST(ColumnSumsOfOneRowATask, Cpu) { check_columns("vector = 1, parts = 1, rows = 1", "f32", kColumnSizes); }

TEST(ColumnSumsOfKeptRows, Cpu) {
  check_columns("vector = 8, parts = 1, rows = 16, keep = 512", "f32", {{257, 1, 9}, {259, 2, 31}});
}

TEST(ColumnSumsAsChosen, Cpu) {
  check_columns("", "f32", {{257, 1, 5}, {260, 2, 300}, {1030, 1, 65}, {2100, 2, 3}, {270, 1, 2048}});
}

// Outputs and reductions of other passes beside the sum, which all stand in the loops of its rows.
TEST(ColumnSumsBesideOtherPasses, Cpu) {
  const std::vector<ColumnCase> cases = {
      {"maximum_first", "%x: T[a, n]",
       "%t = sub(%x, amax(%x, dims = [1], keepdim = true))\n%y = sub(%t, sum(%t, dims = [1], keepdim = true))\n"
       "%c = sum(%t, dims = [0])\n",
       "%t, %y, %c"},
      {"statistic", "%x: T[a, n]",
       "%m = amax(%x, dims = [1], keepdim = true)\n%t = sub(%x, %m)\n"
       "%y = sub(%t, sum(%t, dims = [1], keepdim = true))\n%c = sum(%t, dims = [0])\n",
       "%m, %y, %c"},
      {"residual", "%x: T[a, n], %dy: T[a, n], %w: T[a, n]",
       "%h = add(%x, add(%dy, %w))\n%s = rsqrt(add(mean(mul(%h, %h), dims = [1], keepdim = true), 1.0))\n"
       "%y = mul(%h, %s)\n%c = sum(%h, dims = [0])\n",
       "%h, %y, %c"},
      {"two_kinds", "%x: T[a, n]",
       "%r = sum(exp(%x), dims = [1])\n%y = sub(%x, amax(%x, dims = [1], keepdim = true))\n%z = exp(%x)\n"
       "%c = sum(%x, dims = [0])\n",
       "%r, %y, %z, %c"},
      {"rows_turned", "%x: T[a, b, n]",
       "%y = sub(%x, amax(%x, dims = [2], keepdim = true))\n"
       "%c = sum(permute(%y, dims = [1, 0, 2]), dims = [0, 1])\n",
       "%c, %y"},
      {"sum_of_rows_turned", "%x: T[a, b, n]",
       "%r = sum(%x, dims = [2], keepdim = true)\n%y = sub(%x, %r)\n"
       "%c = sum(permute(%x, dims = [1, 0, 2]), dims = [0, 1])\n",
       "%r, %c, %y"}};
  for (const ColumnCase& c : cases) {
    SCOPED_TRACE(c.name);
    const bool turned = std::string(c.name).find("turned") != std::string::npos;
    int tasks = 0;
    CompileOptions how;
    how.device = "cpu";
    how.hook = [&](std::string_view, std::string_view, const PassSubject& subject) {
      if (const auto* tree = subject.as<LoopTree>()) tasks += !tree->parts.empty();
    };
    ColumnRun run = compile_columns(column_text(c, ""), "f32", how);
    for (const ColumnSizes& s : std::vector<ColumnSizes>{{300, 2, 37}, {20, 30, 70}}) {
      const Tensors inputs = draw_columns(*run.fusion, s);
      expect_columns(run, inputs, run.program.run(inputs));
    }
    if (!turned) EXPECT_GT(tasks, 0);
  }
}

TEST(ColumnSumsOfExactIntegers, Cpu) { check_columns("", "f32", {{261, 3, 130}}, true); }

TEST(ColumnSumsOnThreads, GiveEqualBits) {
  for (const ColumnCase& c : column_cases()) {
    std::vector<char> first;
    for (int threads = 1; threads <= 8; ++threads) {
      const auto device = make_cpu_device({.threads = threads});
      CompileOptions how;
      how.device_override = device.get();
      ColumnRun run = compile_columns(column_text(c, ""), "f32", how);
      const std::vector<char> found = testing::bits_of(run.program.run(draw_columns(*run.fusion, {262, 2, 70})));
      if (first.empty()) first = found;
      EXPECT_TRUE(found == first) << c.name << " on " << threads << " threads";
    }
  }
}

// A NaN in a row shows in its row and its column alone.
TEST(ColumnSumsOfNoNumbers, AreAsTheReferenceSays) {
  CompileOptions how;
  how.device = "cpu";
  ColumnRun run = compile_columns(column_text(column_cases()[0], ""), "f32", how);
  for (const float bad : {NAN, INFINITY}) {
    Tensors inputs = draw_columns(*run.fusion, {290, 1, 40});
    static_cast<float*>(inputs.at("x").data())[40 * 77 + 39] = bad;
    const Tensors outputs = run.program.run(inputs);
    const std::vector<double> rows = outputs.at("r").to_doubles(), columns = outputs.at("c").to_doubles();
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(std::isfinite(rows[i]), i != 77) << i;
    for (size_t i = 0; i < columns.size(); ++i) EXPECT_EQ(std::isfinite(columns[i]), i != 39) << i;
  }
}

// Too few rows, more columns than a task has states of: kernels of their own, as right.
TEST(ColumnSumsThatDoNotFit, AreKernelsOfTheirOwn) {
  CompileOptions how;
  how.device = "cpu";
  for (const ColumnSizes& s : {ColumnSizes{256, 1, 20}, {257, 1, 8193}}) {
    ColumnRun run = compile_columns(column_text(column_cases()[0], ""), "f32", how);
    const Tensors inputs = draw_columns(*run.fusion, s);
    expect_columns(run, inputs, run.program.run(inputs));
    ASSERT_EQ(run.program.report().kernels.size(), 1u);
    const std::string& schedule = run.program.report().kernels[0].schedule;
    EXPECT_NE(schedule.find("norm("), schedule.rfind("norm(")) << schedule;  // two phases of their own
  }
}

// The rows of so many ops and the sum of what they give: two kernels.
TEST(ColumnSumsThatDoNotFit, OfManyOps) {
  for (const int ops : {50, 70}) {
    std::string body = "%t0 = sub(%x, amax(%x, dims = [1], keepdim = true))\n";
    for (int i = 1; i < ops; ++i) body += fmt::format("%t{} = neg(%t{})\n", i, i - 1);
    body += fmt::format("%y = abs(%t{0})\n%c = sum(%t{0}, dims = [0])\n", ops - 1);
    const ColumnCase c = {"many", "%x: T[a, n]", body.c_str(), "%y, %c"};
    CompileOptions how;
    how.device = "cpu";
    ColumnRun run = compile_columns(column_text(c, ""), "f32", how);
    const Tensors inputs = draw_columns(*run.fusion, {260, 1, 20});
    expect_columns(run, inputs, run.program.run(inputs));
    std::string schedules;
    for (const KernelReport& k : run.program.report().kernels) schedules += k.schedule;
    EXPECT_EQ(schedules.find("rows = 16") != std::string::npos, ops == 50) << schedules;
  }
}

TEST(ColumnSumsBySplit, AreRefused) {
  CompileOptions how;
  how.device = "cpu";
  try {
    ColumnRun run = compile_columns(column_text(column_cases()[0], "split = 64"), "f32", how);
    run.program.run(draw_columns(*run.fusion, {300, 1, 100}));
    ADD_FAILURE();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("tasks have whole rows"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace plait
