#include <gtest/gtest.h>

#include "unit/program/example_programs.h"
#include "unit/program/random_program.h"
#include "unit/program/samples.h"

namespace plait {
namespace {

using test::Builder;

// Everything that a text carries, with values by name.
std::string described(const Program& p) {
  std::string out = p.name + " " + p.mesh.name();
  for (const MeshAxis& axis : p.mesh.axes()) out += fmt::format(" {}={}{}", axis.name, axis.size, axis.symbol);
  for (int64_t size : p.devices.sizes()) out += fmt::format(" {}", size);
  auto value = [&](ValueId id) {
    const ProgramValue& v = p.value(id);
    std::string shape;
    for (auto extent : v.shape) shape += sym::print(extent) + ",";
    return fmt::format("{}:{}[{}]{} ", v.name, name(v.dtype), shape, int(v.kind));
  };
  for (ValueId id : p.inputs) out += value(id);
  for (ValueId id : p.outputs) out += value(id);
  for (const KernelSlot& k : p.kernels)
    out += fmt::format("\n{} {} {} {}", k.code.name, k.code.buffers, k.code.integers, k.schedule);
  for (const LibrarySlot& l : p.libraries)
    out += fmt::format("\n{} {} {}", name(l.contraction.in), name(l.contraction.out), l.contraction.linear);
  for (const auto& step : p.steps) {
    out += fmt::format("\n{} on {}: ", name(step->kind), name(step->stream));
    if (const auto* alloc = as<AllocStep>(*step)) out += value(alloc->value);
    for (ValueId id : reads(*step)) out += value(id);
    for (ValueId id : writes(*step)) out += value(id);
    out += describe(p, *step);
    if (const auto* launch = as<LaunchStep>(*step)) out += fmt::format(" k{}", launch->kernel.index);
    if (const auto* record = as<RecordStep>(*step)) out += fmt::format(" e{}", record->event.index);
    if (const auto* wait = as<WaitStep>(*step)) out += fmt::format(" e{}", wait->event.index);
  }
  return out;
}

void expect_round_trip(const Program& program) {
  const std::string text = print(program);
  EXPECT_TRUE(is_program_text(text));
  const Program read = parse_program(text);
  EXPECT_EQ(described(read), described(program));
  EXPECT_EQ(print(read), text);
}

TEST(ParseProgram, ReadsWhatIsPrinted) {
  expect_round_trip(*test::Tour(3).done());
  expect_round_trip(*test::Failing([] {}).done());
  for (uint32_t seed = 0; seed < 100; ++seed)
    expect_round_trip(*test::RandomProgram(seed, 1 + seed % 4, 8).builder.done());
}

// Views of operands: strides, an offset, both, other extents of what is dense.
const char* kViews = R"(program @views (
  %x: f32[b, 2*k],
  %w: f32[n, k]
) -> (
  %y: f32[b*n]
) {
  kernel @k1 (buffers = 2, integers = 0)
  contraction @l1 matmul f32 -> f32
  %h = alloc f32[b, n]
  library @l1(%x[b, k] strides [2*k, 1] at k, %w[k, n] strides [1, k]) -> (%h) on compute
  %y = alloc f32[b*n]
  launch @k1(%h[b*n]) -> (%y[1, b*n]) on compute
}
)";

TEST(ParseProgram, ReadsWorkspacesAndPhases) {
  const std::string text = R"(program @sums (
  %x: f32[m, n]
) -> (
  %y: f32[n]
) {
  kernel @k1 (buffers = 4, integers = 2, status, workspaces = 1, phases = 2) schedule reduction(split = 16)
  %y = alloc f32[n]
  %parts = alloc f32[floordiv(m + 15, 16), n]
  launch @k1(%x) -> (%y) using (%parts) (integers = [m, n], threads = [floordiv(m + 15, 16), 1]) on compute
}
)";
  const Program p = parse_program(text);
  EXPECT_EQ(print(p), text);
  EXPECT_EQ(p.kernels[0].code.workspaces, 1u);
  EXPECT_EQ(p.kernels[0].code.phases(), 2u);
  EXPECT_TRUE(p.kernels[0].code.status);
  expect_round_trip(p);
}

TEST(ParseProgram, ReadsViews) {
  const Program p = parse_program(kViews);
  EXPECT_EQ(print(p), kViews);
  expect_round_trip(p);
  const auto& step = static_cast<const LibraryStep&>(*p.steps[1]);
  EXPECT_EQ(sym::print(step.a.offset), "k");
  EXPECT_EQ(p.strides(step.out).size(), 2u);
  EXPECT_EQ(step.out, View(step.out.value));
  EXPECT_EQ(p.shortened({step.out.value, p.pool->constant(0), p.extents(step.out), p.strides(step.out)}), step.out);
}

TEST(ParseProgram, RefusesViewsThatAreNone) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kViews;
    text.replace(text.find(from), from.size(), to);
    try {
      parse_program(text, "f");
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(with("strides [2*k, 1]", "strides [1]").find("1 strides for 2 extents"), std::string::npos);
  EXPECT_NE(with("strides [2*k, 1]", "strides 3").find("expected `[`"), std::string::npos);
  EXPECT_NE(with("at k", "at -1").find("P15"), std::string::npos);
  EXPECT_NE(with("%h[b*n]", "%h[b*n] strides [1]").find("P15"), std::string::npos);
  EXPECT_NE(with("%y[1, b*n]", "%y[1, b*n] at 1").find("P4"), std::string::npos);
}

TEST(ParseProgram, ReadsTheProgramsOfTheExamples) {
  for (const test::ExampleProgram& example : test::example_programs()) {
    SCOPED_TRACE(example.name);
    expect_round_trip(example.program());
  }
}

TEST(ParseProgram, WhatTheLawLeavesOpen) {
  const Program p = parse_program(R"(
# a comment
mesh @m (tp = t)   # another
program @p on @m[2] (%x: f32[ n ]) -> (%y: f32[n],
  %z: f32[]) {
  kernel @k (buffers = 1, integers = 0)
  %y = alloc f32[n]
  all_reduce %x -> %y (team = tp, op = max) on comm
  %z = alloc f32[]
  launch @k() -> (%z) (grid = [1, n, 1]) on compute
}
)");
  EXPECT_EQ(print(p), R"(mesh @m (tp = t)
program @p on @m[2] (
  %x: f32[n]
) -> (
  %y: f32[n],
  %z: f32[]
) {
  kernel @k (buffers = 1, integers = 0)
  %y = alloc f32[n]
  all_reduce %x -> %y (op = max, team = tp) on comm
  %z = alloc f32[]
  launch @k() -> (%z) (grid = [1, n, 1]) on compute
}
)");
  EXPECT_FALSE(p.kernels[0].executable);
  EXPECT_EQ(p.values.size(), 3u);
}

TEST(ParseProgram, TellsProgramsFromFusions) {
  EXPECT_TRUE(is_program_text("# mesh ) fusion\nmesh @m (tp = 2 # )\n)\n program @p"));
  EXPECT_TRUE(is_program_text("program @p () -> () {}"));
  EXPECT_FALSE(is_program_text("mesh @m (tp = 2)\nfusion @f"));
  EXPECT_FALSE(is_program_text("fusion @program"));
  EXPECT_FALSE(is_program_text("programs"));
  EXPECT_FALSE(is_program_text("mesh @m (tp = 2"));
  EXPECT_FALSE(is_program_text(""));
}

// What each text is refused with, and where.
TEST(ParseProgram, RefusesWithPosition) {
  const std::string head = "mesh @m (tp = 2)\nprogram @p on @m[2] (%x: f32[n]) -> (%y: f32[n]) {\n";
  const std::string kernel = "kernel @k (buffers = 2, integers = 0)\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "found the end of the text\n  at: p:1:1"},
      {"mesh @m ()", "found `)`\n  at: p:1:10"},
      {"mesh @m (tp = 0) program @p", "p:1:7"},
      {"mesh @m (tp = 2) program @p () -> () {}", "program @p does not use mesh @m\n  at: p:1:18"},
      {"program @p on @m[2] () -> () {}", "there is no mesh @m\n  at: p:1:16"},
      {"mesh @m (tp = 2) program @p on @m[2, 2] () -> () {}", "2 sizes for 1 mesh axes\n  at: p:1:33"},
      {"mesh @m (tp = 2) program @p on @m[3] () -> () {}", "P1: mesh axis `tp` has size 2, not 3\n  at: p:1:18"},
      {"mesh @m (a = x, b = y) program @p on @m[1048576, 2] () -> () {}", "more than 1048576 ranks\n  at: p:1:50"},
      {"program @p (%x: f33[n]) -> () {}", "`f33` is no dtype\n  at: p:1:17"},
      {"program @p (%x: f32[n], %x: f32[n]) -> () {}", "%x is defined twice\n  at: p:1:25"},
      {"program @p (%x: f32[rank.tp]) -> () {}", "p:1:21"},
      {"program @p (%x: f32[n +]) -> () {}", "p:1:24"},
      {"program @p () -> () {", "the program is never closed\n  at: p:1:22"},
      {"program @p () -> () {} x", "text after the program\n  at: p:1:24"},
      {head + "lunch @k() -> () on compute\n}", "there is no step `lunch`\n  at: p:3:1\n  help: did you mean `launch`"},
      {head + "launch @k(%x) -> (%y) on compute\n}", "there is no kernel @k\n  at: p:3:9"},
      {head + "kernel @k (buffers = -1, integers = 0)\n}", "-1 is out of range\n  at: p:3:22"},
      {head + kernel + kernel + "}", "kernel @k is listed twice\n  at: p:4:9"},
      {head + "%y = alloc f32[n]\n" + kernel + "}", "a kernel behind a step\n  at: p:4:1"},
      {head + "contraction @l2 linear f32 -> f32\n}", "expected `l1`"},
      {head + "%y = alloc f32[m]\n}", "%y is allocated with another type than before\n  at: p:3:1"},
      {head + "%x = alloc f32[n]\n}", "P3: input %x is allocated\n  at: p:3:1"},
      {head + "copy %x -> %h on compute\n%h = alloc f32[n]\n}",
       "%h is used before it is allocated at p:4:1\n  at: p:3:12"},
      {head + "copy %x -> %q on compute\n}", "%q is not defined\n  at: p:3:12"},
      {head + "%y = alloc f32[n]\ncopy %x -> %y (outer = 1, outer = 2) on compute\n}", "given twice\n  at: p:4:27"},
      {head + "%y = alloc f32[n]\ncopy %x -> %y (inter = 1) on compute\n}",
       "copy has no attribute `inter`\n  at: p:4:16"},
      {head + "%y = alloc f32[n]\ncopy %x -> %y on side\n}", "found `side`\n  at: p:4:18"},
      {head + "%y = alloc f32[n]\nall_reduce %x -> %y (op = sum) on comm\n}", "all_reduce lacks `team`\n  at: p:4:1"},
      {head + "%y = alloc f32[n]\nall_reduce %x -> %y (op = mean, team = tp) on comm\n}",
       "`mean` is no reduction\n  at: p:4:27"},
      {head + "%y = alloc f32[n]\nall_reduce %x -> %y (op = sum, team = dp) on comm\n}", "p:4:39"},
      {head + "record e1 on comm\n}", "no event after `record`\n  at: p:3:8"},
      {head + "wait %e0 on comm\n}", "no event after `wait`\n  at: p:3:6"},
      {head + "wait %e1 on comm\n}", "P11: the event is not recorded before\n  at: p:3:1"},
      {head + "library @l1(%x, %x) -> (%y) on compute\n}", "there is no such contraction\n  at: p:3:10"},
      {head + kernel + "%y = alloc f32[n]\nlaunch @k(%x, %x) -> (%y) on compute\n}",
       "P6: 3 buffers for a kernel of 2\n  at: p:5:1"},
      {head + "}", "P4: output %y is never written\n  at: p:2:1"},
      {head + kernel + "%y = alloc f32[n]\nlaunch @k(%x) -> (%y) (grid = [1, 2]) on compute\n}",
       "2 extents\n  at: p:5:31"},
      {head + "%h = alloc f32[9223372036854775808]\n}", "p:3:16"},
  };
  for (const auto& [text, expected] : cases) {
    try {
      parse_program(text, "p");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(expected), std::string::npos) << text << "\n" << e.what();
    }
  }
}

// Texts with something lost, doubled or changed: read, or refused by a UserError with a position.
TEST(ParseProgram, MutatedTexts) {
  std::mt19937 random(11);
  std::vector<std::string> texts = {print(*test::Tour(3).done())};
  for (uint32_t seed = 0; seed < 6; ++seed)
    texts.push_back(print(*test::RandomProgram(seed, 1 + seed % 4, 8).builder.done()));
  int accepted = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = texts[random() % texts.size()];
    for (int k = 1 + int(random() % 3); k > 0; --k) {
      const size_t at = random() % text.size(), length = 1 + random() % (random() % 4 ? 4 : 60);
      switch (random() % 4) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, text.substr(random() % text.size(), length));
          break;
        case 2:
          text[at] = char(32 + random() % 95);
          break;
        default:
          text[at] = "0123456789%@()[]{},=\n"[random() % 21];
      }
      if (text.empty()) text = " ";
    }
    try {
      const Program p = parse_program(text, "p");
      EXPECT_EQ(print(parse_program(print(p))), print(p)) << text;
      ++accepted;
    } catch (const UserError& e) {
      ASSERT_EQ(e.where().substr(0, 2), "p:") << e.what() << "\n" << text;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 5000);
}

}  // namespace
}  // namespace plait
