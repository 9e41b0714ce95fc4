#include "sym/guards.h"

#include <algorithm>

#include "base/error.h"

namespace plait::sym {

Guard::Guard(Expr condition, std::string asked_by) : pool_(std::make_shared<Pool>()), asked_by_(std::move(asked_by)) {
  condition_ = import(*pool_, condition);
  text_ = print(condition_);
  for (const std::string& name : symbols(condition_))
    if (name.starts_with("rank.")) ranks_.push_back(name);
}

namespace {

// Sizes past what integers hold satisfy nothing.
bool is_true(Expr condition, const Environment& environment) {
  try {
    return evaluate(condition, environment) != 0;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

bool Guard::holds(const Environment& sizes, const RankPositions& ranks) const {
  Environment all = sizes;
  std::vector<std::pair<int64_t*, int64_t>> places;  // of this rank, out of so many
  for (const std::string& name : ranks_) {
    const auto known = ranks.find(name);
    if (known == ranks.end()) return true;
    places.emplace_back(&(all[name] = 0), known->second);
  }
  while (is_true(condition_, all)) {
    size_t i = 0;
    for (; i < places.size() && ++*places[i].first == places[i].second; ++i) *places[i].first = 0;
    if (i == places.size()) return true;
  }
  return false;
}

std::string print(const Answer& answer) {
  return answer.yes ? answer.guard.text() : fmt::format("not ({})", answer.guard.text());
}

Guards::Guards(Environment sizes, RankPositions ranks)
    : has_sizes_(true), sizes_(std::move(sizes)), ranks_(std::move(ranks)) {}

bool Guards::decide(Expr condition, std::string_view asked_by) {
  const Truth truth = prove(condition);
  if (truth != Truth::unknown || !has_sizes_) return truth == Truth::yes;
  const std::string text = print(condition);
  for (const Answer& known : answers_)
    if (known.guard.text() == text) return known.yes;
  Guard guard(condition, std::string(asked_by));
  const bool yes = guard.holds(sizes_, ranks_);
  answers_.push_back({std::move(guard), yes});
  return yes;
}

std::string GuardTree::key(const std::string& base, const Environment& sizes, const RankPositions& ranks) const {
  std::string out = base;
  for (auto it = next_.find(out); it != next_.end(); it = next_.find(out))
    out += fmt::format(", {}", print(Answer{it->second, it->second.holds(sizes, ranks)}));
  return out;
}

std::string GuardTree::add(const std::string& base, const std::vector<Answer>& answers) {
  std::string out = base;
  for (const Answer& answer : answers) {
    const Guard& known = next_.try_emplace(out, answer.guard).first->second;
    PLAIT_CHECK(known.text() == answer.guard.text(), "after `{}` a compilation asks `{}`, and another asked `{}`", out,
                answer.guard.text(), known.text());
    out += fmt::format(", {}", print(answer));
  }
  return out;
}

}  // namespace plait::sym
