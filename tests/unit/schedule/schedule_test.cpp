#include <gtest/gtest.h>

#include "base/error.h"
#include "build/build.h"
#include "build/ops.h"
#include "schedule/pointwise.h"
#include "schedule/scheduler.h"

namespace plait {
namespace {

const Target kCpu = {};
const Target kGpu = target_named("sm_90a");

std::string refusal(const std::string& text) {
  try {
    parse_schedule(text, "segment @s1");
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Schedules, TextRoundTrip) {
  for (const char* text :
       {"pointwise(vector = 8, unroll = 1, split = 1)", "pointwise(vector = 4, threads = 256)", "pointwise()", "nest()",
        "nest(vector = 8)", "nest(vector = 4, rows = 3)", "nest(threads = 32)", "nest(vector = 1, ranges = 8)",
        "library", "collective", "copy", "alias"}) {
    const Schedule schedule = parse_schedule(text);
    EXPECT_EQ(print(schedule), text);
    EXPECT_EQ(parse_schedule(print(schedule)), schedule);
    EXPECT_EQ(name(schedule), std::string(text).substr(0, std::string(text).find('('))) << text;
    EXPECT_EQ(is_generated(schedule), std::string(text).find('(') != std::string::npos) << text;
  }
  EXPECT_EQ(print(parse_schedule("  pointwise ( split= 0, vector=8 ) ")), "pointwise(vector = 8, split = 0)");
  EXPECT_EQ(print(parse_schedule("nest")), "nest()");
  EXPECT_EQ(print(Schedule()), "");
  EXPECT_NE(parse_schedule("nest(vector = 8)"), parse_schedule("nest(vector = 4)"));
  EXPECT_NE(parse_schedule("nest(vector = 8)"), parse_schedule("pointwise(vector = 8)"));
}

TEST(Schedules, BadTextIsRefused) {
  for (const char* text :
       {"", "8", "pointwise(", "pointwise(vector)", "pointwise(vector = x)", "nest() nest()", "pointwise(vector = 8,)",
        "nest(vector = 1, vector = 2)", "nest(vector = 99999999999999999999)", "library(vector = 8)"})
    EXPECT_NE(refusal(text), "") << text;
  EXPECT_NE(refusal("nets(vector = 8)").find("there is no scheduler nets"), std::string::npos);
  EXPECT_NE(refusal("nets(vector = 8)").find("nest"), std::string::npos);
  EXPECT_NE(refusal("nest(vectors = 8)").find("did you mean"), std::string::npos) << refusal("nest(vectors = 8)");
  EXPECT_NE(refusal("nest(vector = 3)").find("powers of two from 1 to 64"), std::string::npos);
  EXPECT_NE(refusal("pointwise(split = 65)").find("0 to 64"), std::string::npos);
  EXPECT_NE(refusal("nest(target = cuda)").find("leave it out"), std::string::npos);
  EXPECT_NE(refusal("nest(rows = 99)").find("segment @s1"), std::string::npos);
}

Segment one_segment(const Fusion& f) {
  Segment s;
  s.name = "s1";
  s.inputs = f.inputs();
  s.ops = f.ops();
  s.outputs = f.outputs();
  return s;
}

std::string chosen(const Fusion& f, const Target& target = kCpu, const char* pin = "") {
  const Segment s = one_segment(f);
  return print(choose_schedule({f, s}, target, *pin == 0 ? Schedule() : parse_schedule(pin)));
}

TEST(PointwiseScheduler, BroadcastOperandsDecideTheSplit) {
  Fusion flat;
  flat.output("y", relu(flat.input("x", {"b", "h"}, f32)));
  EXPECT_EQ(chosen(flat), "pointwise(vector = 8, unroll = 1, split = 0, block = 4096)");
  Fusion bias;
  bias.output("y", add(bias.input("x", {"b", "s", 64}, f32), bias.input("b", {64}, f32)));
  EXPECT_EQ(chosen(bias), "pointwise(vector = 8, unroll = 1, split = 2, block = 0)");
  Fusion rows;
  rows.output("y", mul(rows.input("x", {"b", "s", "h"}, f32), rows.input("r", {"b", 1, 1}, f32)));
  EXPECT_EQ(chosen(rows), "pointwise(vector = 8, unroll = 1, split = 1, block = 8192)");
  const Segment s = one_segment(bias);
  EXPECT_NE(explain_split({bias, s}).find("%b: f32[64] is not contiguous"), std::string::npos)
      << explain_split({bias, s});
}

TEST(PointwiseScheduler, TypesAndTargetsDecideTheVector) {
  Fusion f;
  f.output("y", relu(f.input("x", {"n"}, f64)));
  EXPECT_EQ(chosen(f), "pointwise(vector = 4, unroll = 1, split = 0, block = 4096)");
  EXPECT_EQ(chosen(f, kGpu), "pointwise(vector = 2, unroll = 1, split = 0, threads = 256)");
  Fusion g;
  g.output("y", relu(g.input("x", {"n"}, bf16)));
  EXPECT_EQ(chosen(g, {.vector_lanes = 16}), "pointwise(vector = 16, unroll = 1, split = 0, block = 4096)");
  EXPECT_EQ(chosen(g, kGpu), "pointwise(vector = 8, unroll = 1, split = 0, threads = 256)");
  Fusion scalar;
  scalar.output("y", relu(scalar.input("x", {}, f32)));
  EXPECT_EQ(chosen(scalar), "pointwise(vector = 1, unroll = 1, split = 0, block = 0)");
}

TEST(Schedulers, PinnedNumbersAreObeyedOrRefused) {
  Fusion f;
  f.output("y", linear(f.input("x", {"b", 64}, f32), f.input("w", {32, 64}, f32)));
  EXPECT_EQ(chosen(f, kCpu, "nest(vector = 4)"), "nest(vector = 4, rows = 8)");
  EXPECT_EQ(chosen(f, kGpu), "nest(threads = 256)");
  Fusion few;
  few.output("y", matmul(few.input("x", {16, 3, 64}, f32), few.input("w", {64, 32}, f32)));
  EXPECT_EQ(chosen(few), "nest(vector = 8, rows = 3)");
  EXPECT_THROW(chosen(f, kCpu, "nest(threads = 32)"), UserError);
  EXPECT_THROW(chosen(f, kGpu, "nest(rows = 2)"), UserError);
  EXPECT_THROW(chosen(f, kGpu, "nest(vector = 2)"), UserError);
  EXPECT_THROW(chosen(f, kCpu, "copy"), UserError);
  EXPECT_THROW(chosen(f, kCpu, "pointwise()"), UserError);
  Fusion g;
  g.output("y", relu(g.input("x", {"b", 64}, f32)));
  EXPECT_THROW(chosen(g, kCpu, "pointwise(split = 2)"), UserError);
  EXPECT_THROW(chosen(g, kCpu, "pointwise(block = 12)"), UserError);
  EXPECT_THROW(chosen(g, kCpu, "nest(rows = 2)"), UserError);
  EXPECT_EQ(chosen(g, kCpu, "nest(vector = 2)"), "nest(vector = 2)");
}

// Vectors run along the last dim of the result where neighbours in it are neighbours in the operand.
TEST(NestScheduler, LanesOfOtherOps) {
  const auto of = [](auto&& build, const char* pin = "") {
    Fusion f;
    TensorView* x = f.input("x", {"a", "b", 64}, f32);
    TensorView* index = f.input("index", {"n"}, i64);
    f.output("y", build(x, index));
    return chosen(f, kCpu, pin);
  };
  using T = TensorView*;
  EXPECT_EQ(of([](T x, T) { return sum(x, {1}); }, "nest()"), "nest(vector = 8)");
  EXPECT_EQ(of([](T x, T) { return argmax(x, {0}); }, "nest()"), "nest(vector = 4)");
  EXPECT_EQ(of([](T x, T) { return sum(x, {2}); }, "nest()"), "nest(vector = 8)");
  EXPECT_EQ(of([](T x, T) { return var(x, {2}, 0); }, "nest()"), "nest(vector = 8)");
  EXPECT_EQ(of([](T x, T) { return argmax(x, {2}); }, "nest()"), "nest(vector = 1)");
  EXPECT_EQ(of([](T x, T) { return sum(x); }, "nest()"), "nest(vector = 8)");
  EXPECT_EQ(of([](T x, T) { return cumsum(x, 0); }, "nest()"), "nest(vector = 1)");
  EXPECT_EQ(of([](T x, T) { return permute(x, {1, 0, 2}); }, "nest()"), "nest(vector = 8)");
  EXPECT_EQ(of([](T x, T) { return permute(x, {2, 0, 1}); }, "nest()"), "nest(vector = 1)");
  EXPECT_EQ(of([](T x, T) { return cat({x, x}, 1); }, "nest()"), "nest(vector = 8)");
  EXPECT_EQ(of([](T x, T) { return cat({x, x}, 2); }, "nest()"), "nest(vector = 1)");
  EXPECT_EQ(of([](T x, T index) { return index_select(x, index, 1); }, "nest()"), "nest(vector = 8)");
  EXPECT_EQ(of([](T x, T index) { return index_select(x, index, 2); }, "nest()"), "nest(vector = 1)");
  try {
    of([](T x, T) { return flip(x, {2}); }, "nest(vector = 4)");
    ADD_FAILURE() << "vectors that run backwards";
  } catch (const UserError& error) {
    EXPECT_EQ(error.message(), "vector does not apply: neighbours in its last dim are no neighbours in the operand");
  }
  EXPECT_THROW(of([](T x, T) { return sum(x); }, "nest(rows = 2)"), UserError);
}

// Ranges stand where the other dims give few parallel iterations and walking the index again is cheap.
TEST(NestScheduler, RangesOfScatters) {
  const auto of = [](std::vector<Fusion::Extent> x, std::vector<Fusion::Extent> i, int64_t dim,
                     const Target& target = kCpu, const char* pin = "nest()") {
    Fusion f;
    f.output("y", scatter(f.input("x", x, f32), f.input("i", i, i64), f.input("s", i, f32), dim));
    return chosen(f, target, pin);
  };
  const auto nest = [](int ranges) { return fmt::format("nest(vector = 1, ranges = {})", ranges); };
  EXPECT_EQ(of({1 << 20}, {1000}, 0), nest(8));
  EXPECT_EQ(of({1 << 20}, {1 << 20}, 0), nest(1)) << "8 visits of each index would cost more than all";
  EXPECT_EQ(of({1000}, {10}, 0), nest(1)) << "one task is soon done";
  EXPECT_EQ(of({32000, 1024}, {8192, 1024}, 0), nest(1)) << "1024 columns are 64 tasks";
  EXPECT_EQ(of({32000, 64}, {100, 64}, 0), nest(4)) << "4 tasks of 16 columns each";
  EXPECT_EQ(of({8, 1 << 20}, {8, 100}, 1), nest(2)) << "8 rows";
  EXPECT_EQ(of({40, 1 << 20}, {40, 100}, 1), nest(1));
  EXPECT_EQ(of({64, 100, 1000}, {3, 100, 1000}, 0), nest(1));
  EXPECT_EQ(of({100, 1000, 10}, {100, 7, 10}, 1), nest(1));
  EXPECT_EQ(of({"n"}, {"m"}, 0), nest(1)) << "nobody says how large they are";
  EXPECT_EQ(of({1 << 20}, {1 << 20}, 0, kGpu), "nest(ranges = 256, threads = 256)");
  EXPECT_EQ(of({40, 5000}, {900, 5000}, 0, kGpu), "nest(ranges = 1, threads = 256)");
  EXPECT_EQ(of({500}, {9}, 0, kCpu, "nest(ranges = 5)"), nest(5));
  EXPECT_THROW(of({500}, {9}, 0, kCpu, "nest(ranges = 501)"), UserError);
  EXPECT_THROW(of({"n"}, {9}, 0, kCpu, "nest(ranges = 2)"), UserError) << "no range is empty";
  Fusion g;
  g.output("y", sum(g.input("x", {8, 64}, f32)));
  EXPECT_THROW(chosen(g, kCpu, "nest(ranges = 2)"), UserError);
}

// Ranges stand where an index names whole rows and there is much to do; their places by their number.
TEST(ScatterScheduler, RangesAndTiles) {
  const auto of = [](std::vector<Fusion::Extent> x, std::vector<Fusion::Extent> i, int64_t dim, bool rows = true) {
    Fusion f;
    TensorView* index = f.input("i", rows ? std::vector{i[size_t(dim)]} : i, i64);
    if (rows && i.size() > 1) index = broadcast(index, i, {dim});
    f.output("y", scatter(f.input("x", x, f32), index, f.input("s", i, f32), dim));
    Segment s;
    for (Op* op : f.ops()) s.ops.push_back(op);
    s.inputs = f.inputs();
    s.outputs = f.outputs();
    return print(choose_schedule({f, s}, kCpu));
  };
  EXPECT_EQ(of({1000}, {10}, 0), "scatter(vector = 8, rows = 0, columns = 0)") << "one task is soon done";
  EXPECT_EQ(of({1 << 20}, {1 << 20}, 0), "scatter(vector = 8, rows = 0, columns = 0)") << "sorting would take longer";
  EXPECT_EQ(of({1 << 20, 4}, {1 << 20, 4}, 0), "scatter(vector = 4, rows = 512, columns = 256, chunk = 32768)");
  EXPECT_EQ(of({1 << 20}, {1000}, 0), "scatter(vector = 8, rows = 4096, columns = 0, chunk = 4096)");
  EXPECT_EQ(of({1 << 24}, {1 << 20}, 0), "scatter(vector = 8, rows = 16384, columns = 0, chunk = 32768)");
  EXPECT_EQ(of({32000, 1024}, {8192, 1024}, 0), "scatter(vector = 8, rows = 256, columns = 512, chunk = 4096)");
  EXPECT_EQ(of({8, 1024}, {8192, 1024}, 0), "scatter(vector = 8, rows = 1, columns = 256, chunk = 4096)");
  EXPECT_EQ(of({32000, 1024}, {8192, 1024}, 0, false), "scatter(vector = 8, rows = 0, columns = 16)");
  EXPECT_EQ(of({40, 1 << 20}, {40, 100}, 1), "scatter(vector = 8, rows = 0, columns = 0)") << "40 rows are tasks";
  EXPECT_EQ(of({4, 1000, 600}, {4, 70, 600}, 1), "scatter(vector = 8, rows = 0, columns = 256)");
  EXPECT_EQ(of({"n"}, {"m"}, 0), "scatter(vector = 8, rows = 0, columns = 0)") << "nobody says how large they are";
  EXPECT_EQ(of({9}, {4}, 0), "scatter(vector = 8, rows = 0, columns = 0)");
  EXPECT_EQ(of({3}, {4}, 0), "scatter(vector = 2, rows = 0, columns = 0)");
}

TEST(Schedulers, ApplyIsIdempotent) {
  Fusion f;
  TensorView* y = f.output("y", linear(f.input("x", {2, "b", 64}, f32), f.input("w", {32, 64}, f32)));
  Segment s = one_segment(f);
  s.schedule = parse_schedule(chosen(f));
  apply_schedule(f, s);
  const Domain once = y->domain;
  apply_schedule(f, s);
  EXPECT_EQ(once, y->domain);
  EXPECT_EQ(loop_axes(y->domain).size(), 5u);
}

}  // namespace
}  // namespace plait
