#include "program/assign_streams.h"

#include <gtest/gtest.h>

#include "program/happens_before.h"
#include "unit/program/random_program.h"

namespace plait {
namespace {

using test::Builder;
using test::RandomProgram;

// The order by its definition: reachability over the streams and the events.
std::vector<std::vector<bool>> closure(const Program& program) {
  const size_t n = program.steps.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  for (size_t b = 0; b < n; ++b) {
    const Step& later = *program.steps[b];
    if (later.kind == StepKind::AllocStep) continue;
    for (size_t a = 0; a < b; ++a) {
      const Step& earlier = *program.steps[a];
      if (earlier.kind == StepKind::AllocStep) continue;
      bool edge = earlier.stream == later.stream;
      const auto* record = as<RecordStep>(earlier);
      const auto* wait = as<WaitStep>(later);
      edge = edge || (record && wait && record->event == wait->event);
      if (!edge) continue;
      before[a][b] = true;
      for (size_t c = 0; c < a; ++c) before[c][b] = before[c][b] || before[c][a];
    }
  }
  return before;
}

// Whether a step does something itself: records and waits are points between steps.
bool works(const Step& step) {
  return step.kind != StepKind::AllocStep && step.kind != StepKind::RecordStep && step.kind != StepKind::WaitStep;
}

TEST(HappensBefore, IsReachability) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    Builder b;
    std::vector<uint32_t> recorded;
    const int steps = 2 + int(random() % 25);
    for (int i = 0; i < steps; ++i) {
      const auto stream = random() % 2 ? ProgramStream::comm : ProgramStream::compute;
      switch (random() % 4) {
        case 0:
          b.record(uint32_t(recorded.size()), stream);
          recorded.push_back(uint32_t(recorded.size()));
          break;
        case 1:
          b.wait(recorded.empty() ? 0 : recorded[random() % recorded.size()], stream);
          break;
        case 2:
          b.program.add_step<AllocStep>(stream);
          break;
        default:
          b.program.add_step<CopyStep>(stream);
      }
    }
    const HappensBefore order(b.program);
    const auto expected = closure(b.program);
    for (size_t x = 0; x < b.program.steps.size(); ++x)
      for (size_t y = 0; y < b.program.steps.size(); ++y)
        if (works(*b.program.steps[x]) && works(*b.program.steps[y])) {
          ASSERT_EQ(order.before(x, y), expected[x][y]) << x << " " << y << "\n" << print(b.program);
        }
  }
}

TEST(AssignStreams, EveryEventIsNeeded) {
  size_t events = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomProgram sample(seed, 1 + seed % 4, 8);
    Program& program = sample.builder.program;
    assign_streams(program);
    ASSERT_FALSE(find_problem(program)) << print(program);
    for (size_t s = 0; s < program.steps.size(); ++s) {
      const auto& step = program.steps[s];
      ASSERT_TRUE(!works(*step) || (step->stream == ProgramStream::comm) == (step->kind == StepKind::CollectiveStep));
      const auto* wait = as<WaitStep>(*step);
      if (!wait) continue;
      ++events;
      // Without this wait, and its event if it is the only one, a read races with its write.
      const std::string text = print(program);
      auto taken = std::move(program.steps[s]);
      program.steps.erase(program.steps.begin() + int64_t(s));
      const auto problem = find_problem(program);
      ASSERT_TRUE(problem) << text;
      ASSERT_EQ(problem->what.substr(0, 3), "P13") << problem->what << "\n" << text;
      program.steps.insert(program.steps.begin() + int64_t(s), std::move(taken));
    }
  }
  EXPECT_GT(events, 300u);
}

TEST(AssignStreams, IndependentKernelsOverlapACollective) {
  Builder b = Builder::tp(2);
  const ValueId x = b.input("x", {"n"}), h = b.alloc("h", {"n"}), r = b.alloc("r", {"n"});
  b.combine({x}, h, "n", 1);                        // k1
  b.all_reduce(h, r);                               // after k1
  b.combine({x}, b.output("a", {"n"}), "n", 2);     // k2 overlaps
  b.combine({h}, b.output("b", {"n"}), "n", 2);     // k3 overlaps
  b.combine({r, h}, b.output("c", {"n"}), "n", 3);  // k4 after it
  b.combine({r}, b.output("d", {"n"}), "n", 3);     // and k5, by the same wait
  assign_streams(b.program);
  EXPECT_EQ(b.program.count(StepKind::RecordStep), 2u);
  EXPECT_EQ(b.program.count(StepKind::WaitStep), 2u);
  auto find = [&](const std::string& text) {
    for (size_t s = 0; s < b.program.steps.size(); ++s)
      if (describe(b.program, *b.program.steps[s]).find(text) != std::string::npos) return s;
    return size_t(-1);
  };
  const HappensBefore order(b.program);
  const size_t reduce = find("all_reduce");
  EXPECT_TRUE(order.before(find("@k1"), reduce));
  for (const char* free : {"@k2", "@k3"}) {
    EXPECT_FALSE(order.before(reduce, find(free)));
    EXPECT_FALSE(order.before(find(free), reduce));
  }
  EXPECT_TRUE(order.before(reduce, find("@k4")));
  EXPECT_TRUE(order.before(reduce, find("@k5")));
}

TEST(AssignStreams, PlacesEventsOnce) {
  Builder b;
  b.record(0, ProgramStream::comm);
  EXPECT_THROW(assign_streams(b.program), InternalError);
}

}  // namespace
}  // namespace plait
