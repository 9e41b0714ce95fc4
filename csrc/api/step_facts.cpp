#include "api/step_facts.h"

#include <algorithm>
#include <map>

namespace plait {
namespace {

std::string label_of(const Program& program, const Step& step) {
  const std::vector<View> made = results(step);
  const std::string result = made.empty() ? "" : " %" + program.value(made[0].value).name;
  if (const auto* launch = as<LaunchStep>(step)) return program.kernels[launch->kernel.index].code.name;
  if (const auto* call = as<LibraryStep>(step))
    return form_text(program.libraries[call->library.index].contraction) + result;
  if (const auto* collective = as<CollectiveStep>(step)) return std::string(name(collective->collective)) + result;
  return std::string(name(step.kind)) + result;
}

// Which segments make the values of a program.
class Makers {
 public:
  explicit Makers(const std::vector<Segment>& segments) : segments_(segments) {
    for (size_t i = 0; i < segments.size(); ++i) {
      for (const TensorView* t : segments[i].outputs) maker_[t->name] = i;
      launches_[launch(i)].push_back(i);
    }
  }

  // All segments of the launch: what only they share is no value. Behind an alias, those that make its operand.
  std::vector<size_t> of(std::string_view value) const {
    auto maker = maker_.find(value);
    while (maker != maker_.end() && std::holds_alternative<schedules::Alias>(segments_[maker->second].schedule))
      maker = maker_.find(segments_[maker->second].inputs[0]->name);
    return maker == maker_.end() ? std::vector<size_t>() : launches_.at(launch(maker->second));
  }

 private:
  std::string_view launch(size_t i) const {
    return segments_[i].joins.empty() ? segments_[i].name : segments_[i].joins;
  }

  const std::vector<Segment>& segments_;
  std::map<std::string_view, size_t> maker_;
  std::map<std::string_view, std::vector<size_t>> launches_;
};

}  // namespace

bool is_work(const Step& step) {
  return step.kind != StepKind::AllocStep && step.kind != StepKind::RecordStep && step.kind != StepKind::WaitStep;
}

RankBinding first_rank(const Compiled& compiled) {
  RankValues values(compiled.program(), compiled.sizes());
  const int64_t first = 0;
  return bind_ranks(compiled.program(), values, {&first, 1})[0];
}

std::vector<StepFacts> step_facts(const Compiled& compiled) {
  const Program& program = compiled.program();
  const Makers makers(compiled.localized().segments);
  const RankBinding rank = first_rank(compiled);
  std::vector<StepFacts> out;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = *program.steps[s];
    StepFacts& facts = out.emplace_back(StepFacts{label_of(program, step), {}, {}, rank.steps[s].moved_bytes});
    if (!is_work(step)) continue;
    if (const auto* launch = as<LaunchStep>(step)) facts.kernel = launch->kernel.index;
    for (const View& view : results(step))
      for (size_t segment : makers.of(program.value(view.value).name))
        if (std::ranges::find(facts.segments, segment) == facts.segments.end()) facts.segments.push_back(segment);
  }
  return out;
}

}  // namespace plait
