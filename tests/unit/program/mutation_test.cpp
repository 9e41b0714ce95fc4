// Programs with one step dropped, moved or doubled. Every dropped step is caught when the program is verified or bound;
// every other mutation is caught, or shown harmless: each read is ordered behind the same write, and all runs give the
// same results.
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "program/happens_before.h"
#include "unit/program/example_programs.h"
#include "unit/program/random_program.h"
#include "unit/program/samples.h"

namespace plait {
namespace {

// A program whose steps can be taken apart and put together again.
class Subject {
 public:
  Subject(std::string name, const Program& original, sym::Environment sizes)
      : name_(std::move(name)), sizes_(std::move(sizes)), program_(parse_program(print(original))) {
    for (size_t k = 0; k < original.kernels.size(); ++k)
      program_.kernels[k].executable = original.kernels[k].executable;
    for (size_t l = 0; l < original.libraries.size(); ++l)
      program_.libraries[l].executable = original.libraries[l].executable;
    for (auto& step : program_.steps) {
      steps_.push_back(std::move(step));
    }
    program_.steps.clear();
    std::vector<size_t> all = order();
    order_ = conflicts(all);
    for (const RankBinding& rank : with_steps(all, [&] { return plait::bind(program_, sizes_); })) draw_inputs(rank);
    expected_ = outputs(all, 0);
  }

  size_t size() const { return steps_.size(); }
  std::vector<size_t> order() const {
    std::vector<size_t> out(steps_.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = i;
    return out;
  }

  // The steps in this order; a number that stands twice is a step doubled. Empty: accepted.
  std::string problem(const std::vector<size_t>& order) {
    return with_steps(order, [&]() -> std::string {
      if (auto found = find_problem(program_)) return found->what;
      try {
        plait::bind(program_, sizes_);
      } catch (const InternalError& e) {
        return e.what();
      }
      return "";
    });
  }

  // What is wrong with an accepted order; empty: it is harmless.
  std::string harm(const std::vector<size_t>& order) {
    if (conflicts(order) != order_) return "reads are ordered otherwise";
    for (uint64_t seed : {0, 1})
      if (outputs(order, seed) != expected_) return fmt::format("results differ with seed {}", seed);
    return "";
  }

  std::string describe(const std::vector<size_t>& order) {
    return name_ + "\n" + with_steps(order, [&] { return print(program_); });
  }

 private:
  using Pairs = std::set<std::pair<size_t, size_t>>;

  // Fills the program with the steps for the time of a call.
  template <class Fn>
  auto with_steps(const std::vector<size_t>& order, Fn&& fn) -> decltype(fn()) {
    std::vector<Step*> placed;
    std::vector<std::unique_ptr<Step>> doubles;
    for (size_t number : order) {
      if (steps_[number])
        placed.push_back(steps_[number].release());
      else
        placed.push_back(copy(*placed[size_t(std::find(order.begin(), order.end(), number) - order.begin())]));
      program_.steps.emplace_back(placed.back());
    }
    struct Back {
      Subject& s;
      const std::vector<size_t>& order;
      ~Back() {
        for (size_t i = 0; i < order.size(); ++i)
          if (!s.steps_[order[i]]) s.steps_[order[i]] = std::move(s.program_.steps[i]);
        s.program_.steps.clear();
      }
    } back{*this, order};
    return fn();
  }

  static Step* copy(const Step& step) {
    return visit(step, [](const auto& typed) -> Step* {
      using T = std::remove_cvref_t<decltype(typed)>;
      auto* out = new T();
      out->stream = typed.stream;
      std::apply([&](auto... field) { ((out->*(field.member) = typed.*(field.member)), ...); }, T::fields());
      return out;
    });
  }

  // Which accesses to a value are ordered behind which: numbers of steps.
  Pairs conflicts(const std::vector<size_t>& order) {
    return with_steps(order, [&] {
      Pairs out;
      const HappensBefore before(program_);
      for (size_t a = 0; a < order.size(); ++a)
        for (size_t b = 0; b < order.size(); ++b)
          if (conflict(*program_.steps[a], *program_.steps[b]) && before.before(a, b)) out.insert({order[a], order[b]});
      return out;
    });
  }
  static bool conflict(const Step& a, const Step& b) {
    for (ValueId written : writes(a)) {
      for (ValueId id : reads(b))
        if (id == written) return true;
      for (ValueId id : writes(b))
        if (id == written) return true;
    }
    for (ValueId written : writes(b))
      for (ValueId id : reads(a))
        if (id == written) return true;
    return false;
  }

  void draw_inputs(const RankBinding& rank) {
    RankTensors& mine = inputs_.emplace_back();
    for (ValueId id : program_.inputs) {
      const auto& shape = rank.shapes[id.index];
      std::vector<double> values(size_t(element_count(shape)));
      for (size_t i = 0; i < values.size(); ++i) values[i] = double((i * 7 + id.index * 3 + size_t(rank.rank)) % 5);
      mine.push_back(test::tensor(shape, values, program_.value(id).dtype));
    }
  }

  // Bytes of all outputs of all ranks.
  std::string outputs(const std::vector<size_t>& order, uint64_t seed) {
    return with_steps(order, [&] {
      test::TestDevice device;
      const std::shared_ptr<const Program> view(&program_, [](const Program*) {});
      BoundProgram bound(view, sizes_, device, std::make_shared<LocalCommunicators>(), {.poison = true});
      std::string out;
      for (const RankTensors& rank : bound.run(inputs_, {.seed = seed}))
        for (const Tensor& t : rank) out.append(static_cast<const char*>(t.data()), t.bytes());
      return out;
    });
  }

  std::string name_;
  sym::Environment sizes_;
  Program program_;
  std::vector<std::unique_ptr<Step>> steps_;
  Pairs order_;
  std::vector<RankTensors> inputs_;
  std::string expected_;
};

struct Counts {
  int dropped = 0, dropped_caught = 0, moved = 0, moved_caught = 0, moved_harmless = 0, doubled = 0, doubled_caught = 0;
};

void mutate(Subject& subject, Counts& counts) {
  const std::vector<size_t> whole = subject.order();
  ASSERT_EQ(subject.problem(whole), "") << subject.describe(whole);
  for (size_t at = 0; at < subject.size(); ++at) {
    std::vector<size_t> order = whole;
    order.erase(order.begin() + int64_t(at));
    const std::vector<size_t> without = order;
    ++counts.dropped;
    const bool missed = !subject.problem(order).empty();
    EXPECT_TRUE(missed) << "step " << at << " is not missed\n" << subject.describe(whole);
    counts.dropped_caught += missed;
    for (size_t to = 0; to <= without.size(); ++to) {
      order = without;
      order.insert(order.begin() + int64_t(to), at);
      if (order == whole) continue;
      ++counts.moved;
      if (!subject.problem(order).empty()) {
        ++counts.moved_caught;
        continue;
      }
      const std::string harm = subject.harm(order);
      EXPECT_EQ(harm, "") << "step " << at << " moved to " << to << "\n" << subject.describe(order);
      counts.moved_harmless += harm.empty();
    }
    for (size_t to : {at, (at + 3) % subject.size(), subject.size()}) {
      order = whole;
      order.insert(order.begin() + int64_t(to), at);
      ++counts.doubled;
      const bool caught = !subject.problem(order).empty();
      EXPECT_TRUE(caught) << "step " << at << " doubled at " << to;
      counts.doubled_caught += caught;
    }
  }
}

void report(const char* what, const Counts& c) {
  std::printf("%s: %d mutations. dropped %d, caught %d; moved %d, caught %d, harmless %d; doubled %d, caught %d\n",
              what, c.dropped + c.moved + c.doubled, c.dropped, c.dropped_caught, c.moved, c.moved_caught,
              c.moved_harmless, c.doubled, c.doubled_caught);
  EXPECT_EQ(c.dropped, c.dropped_caught);
  EXPECT_EQ(c.moved, c.moved_caught + c.moved_harmless);
  EXPECT_EQ(c.doubled, c.doubled_caught);
}

TEST(MutatedPrograms, OfTheExamples) {
  Counts counts;
  for (const test::ExampleProgram& example : test::example_programs()) {
    Subject subject(example.name, example.program(), example.sizes);
    mutate(subject, counts);
  }
  report("examples", counts);
  EXPECT_GT(counts.dropped, 80);
  EXPECT_GT(counts.moved_harmless, 100);
}

TEST(MutatedPrograms, WithSeveralCollectives) {
  Counts counts;
  for (int64_t ranks : {2, 3, 4}) {
    auto tour = test::Tour(ranks).done();
    Subject subject(fmt::format("tour on {}", ranks), *tour, {{"n", 7}});
    mutate(subject, counts);
  }
  for (uint32_t seed = 0; seed < 8; ++seed) {
    test::RandomProgram sample(seed, 2 + seed % 3, 7);
    auto program = sample.builder.done();
    if (program->steps.size() > 36) continue;
    Subject subject(fmt::format("random program {}", seed), *program, {{"n", 7}});
    mutate(subject, counts);
  }
  report("hand-written and random", counts);
  EXPECT_GT(counts.dropped, 100);
}

}  // namespace
}  // namespace plait
