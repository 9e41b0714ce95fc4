#include "program/assign_streams.h"

#include <gtest/gtest.h>

#include "program/happens_before.h"
#include "program/prefetch.h"
#include "run/binding.h"
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

// Whether the step behind a wait reads nothing that another stream makes: the wait is for memory.
bool waits_for_memory(const Program& program, size_t next) {
  std::vector<bool> early = inputs_are_early(program);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = *program.steps[s];
    const bool is = is_early(step, early);
    if (s >= next && step.kind == StepKind::CollectiveStep) return is;
    for (ValueId id : writes(step)) early[id.index] = early[id.index] || is;
  }
  return false;
}

TEST(AssignStreams, EveryEventIsNeeded) {
  size_t events = 0, memory = 0;
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
      if (waits_for_memory(program, s)) {
        ++memory;  // and for what it covers of later reads
      } else {
        ASSERT_TRUE(problem) << text;
        ASSERT_EQ(problem->what.substr(0, 3), "P13") << problem->what << "\n" << text;
      }
      program.steps.insert(program.steps.begin() + int64_t(s), std::move(taken));
    }
  }
  EXPECT_GT(events, 300u);
  EXPECT_GT(memory, 30u);
}

// Layers whose parameters are gathered: each one's memory is that of the one before, or with one under way of the one
// before that, whatever the streams do.
Builder layers(int count) {
  Builder b = Builder::tp(2);
  ValueId x = b.input("x", {"n"});
  std::vector<ValueId> parts;
  for (int i = 0; i < count; ++i) parts.push_back(b.input(fmt::format("w{}", i), {RandomProgram::kPiece}));
  for (int i = 0; i < count; ++i) {
    const ValueId whole = b.alloc(fmt::format("g{}", i), {"n"});
    b.pieces(Collective::all_gather, parts[size_t(i)], whole, {"1", RandomProgram::kPiece, "n", "1"});
    const ValueId y = i + 1 == count ? b.output("y", {"n"}) : b.alloc(fmt::format("x{}", i), {"n"});
    b.combine({x, whole}, y, "n", 1);
    x = y;
  }
  return b;
}

TEST(AssignStreams, CollectivesDoNotRunAheadOfMemory) {
  for (const bool ahead : {false, true}) {
    Builder b = layers(6);
    if (ahead) prefetch(b.program);
    assign_streams(b.program);
    ASSERT_FALSE(find_problem(b.program)) << print(b.program);
    const std::vector<RankBinding> ranks = bind(b.program, {{"n", 1024}});
    EXPECT_EQ(ranks[0].memory.arena_bytes, ranks[0].memory.live_bytes) << print(b.program);
    EXPECT_EQ(ranks[0].memory.live_bytes, (ahead ? 4 : 3) * 4096) << print(b.program);
    // Each is under way while the one before is read.
    const HappensBefore order(b.program);
    std::vector<size_t> gathers, launches;
    for (size_t s = 0; s < b.program.steps.size(); ++s) {
      if (b.program.steps[s]->kind == StepKind::CollectiveStep) gathers.push_back(s);
      if (b.program.steps[s]->kind == StepKind::LaunchStep) launches.push_back(s);
    }
    for (size_t i = 1; i < gathers.size(); ++i) {
      EXPECT_EQ(order.before(launches[i - 1], gathers[i]), !ahead) << i;
      if (i > 1) {
        EXPECT_TRUE(order.before(launches[i - 2], gathers[i])) << i;
      }
    }
  }
}

// What is read by several stays; what goes on with a gathered value goes with it; nothing moves that is ahead already.
TEST(Prefetch, KeepsTheOrderOfTheRest) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomProgram sample(seed, 1 + seed % 4, 12);
    Program& program = sample.builder.program;
    std::vector<const Step*> before, after;
    std::vector<bool> early = inputs_are_early(program);
    const auto others = [&](std::vector<const Step*>& out) {
      std::vector<bool> now = early;
      for (const auto& step : program.steps) {
        if (is_early(*step, now)) {
          for (ValueId id : writes(*step)) now[id.index] = true;
        } else if (step->kind != StepKind::AllocStep) {
          out.push_back(step.get());
        }
      }
    };
    others(before);
    const size_t steps = program.steps.size();
    prefetch(program);
    others(after);
    EXPECT_EQ(before, after);
    EXPECT_EQ(program.steps.size(), steps);
    assign_streams(program);
    ASSERT_FALSE(find_problem(program)) << print(program);
  }
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
