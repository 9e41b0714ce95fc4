#include "compile/in_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/launches.h"
#include "segment/views.h"

namespace plait {
namespace {

class InPlaceFinder {
 public:
  explicit InPlaceFinder(const Fusion& fusion) : fusion_(fusion), views_(fusion) {
    for (const std::vector<const Segment*>& launch : launches(fusion))
      steps_.emplace_back(static_cast<size_t>(launch.front() - fusion.segments.data()), as_one(fusion, launch));
  }

  InPlace find(const TensorView& output, const TensorView& input) {
    InPlace out;
    out.output = &output;
    out.input = &input;
    out.root = views_.of(&output).root;
    out.why_not = refusal(out);
    return out;
  }

 private:
  const TensorView* root(const TensorView* t) const { return views_.of(t).root; }

  std::string refusal(InPlace& out) const {
    if (out.root->definition == nullptr) return fmt::format("it is %{}", out.root->name);
    if (out.output->shape() != out.input->shape() || !is_row_major(out.input->domain) ||
        !is_row_major(out.output->domain))
      return "they lie otherwise on a rank";
    for (const TensorView* t : fusion_.outputs()) {
      if (root(t) == out.input) return fmt::format("%{} is an output too", t->name);
      if (root(t) == out.root && t != out.output) return fmt::format("output %{} is the same memory", t->name);
    }
    if (!find_segment(out)) return "no step makes it";
    for (const auto& [i, segment] : steps_) {
      const bool reads = std::any_of(segment.inputs.begin(), segment.inputs.end(),
                                     [&](const TensorView* t) { return root(t) == out.input; });
      if (!reads || std::holds_alternative<schedules::Alias>(segment.schedule)) continue;
      if (i > out.segment) return fmt::format("{} reads %{} later", segment.name, out.input->name);
      if (std::holds_alternative<schedules::Collective>(segment.schedule))
        return fmt::format("the collective {} reads %{}", segment.name, out.input->name);
    }
    const Segment& own =
        std::find_if(steps_.begin(), steps_.end(), [&](const auto& s) { return s.first == out.segment; })->second;
    for (size_t i = 0; i < own.inputs.size(); ++i)
      if (root(own.inputs[i]) == out.input) out.read.push_back(i);
    if (!is_generated(own.schedule)) return fmt::format("{} is no generated kernel", own.name);
    return "";
  }

  bool find_segment(InPlace& out) const {
    for (const auto& [i, segment] : steps_) {
      const auto& made = segment.outputs;
      const auto it = std::find(made.begin(), made.end(), out.root);
      if (it == made.end() || std::holds_alternative<schedules::Alias>(segment.schedule)) continue;
      out.segment = i;
      out.made = size_t(it - made.begin());
      return true;
    }
    return false;
  }

  const Fusion& fusion_;
  const MemoryViews views_;
  std::vector<std::pair<size_t, Segment>> steps_;  // by the first segment of a launch: all of them as one
};

}  // namespace

std::vector<InPlace> find_in_place(const Fusion& localized) {
  std::vector<InPlace> out;
  if (localized.aliases.empty()) return out;
  InPlaceFinder finder(localized);
  for (const TensorView* t : localized.outputs())
    if (const auto it = localized.aliases.find(t->name); it != localized.aliases.end())
      out.push_back(finder.find(*t, *localized.find(it->second)));
  return out;
}

std::string print(const std::vector<InPlace>& outputs) {
  std::string out;
  for (const InPlace& o : outputs)
    out += o.why_not.empty()
               ? fmt::format("%{} lies in the memory of %{}\n", o.output->name, o.input->name)
               : fmt::format("%{} is copied to %{} after the run: {}\n", o.output->name, o.input->name, o.why_not);
  return out;
}

}  // namespace plait
