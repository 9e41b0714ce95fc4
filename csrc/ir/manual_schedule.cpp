#include "ir/manual_schedule.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "ir/factors.h"
#include "ir/fusion.h"
#include "sym/text_reader.h"

namespace plait {

using schedules::LoopStep;
using schedules::Manual;
using schedules::ManualTensor;

namespace {

std::string text(const LoopStep& step) {
  switch (step.kind) {
    case Transform::Kind::merge:
      return fmt::format("merge({})", step.position);
    case Transform::Kind::split:
      return fmt::format("split({}, {})", step.position, step.factor);
    case Transform::Kind::parallel:
      return fmt::format("parallel({}, {})", step.position, name(step.parallel));
    case Transform::Kind::reorder:
      break;
  }
  std::string order;
  for (int p : step.order) order += fmt::format("{}{}", order.empty() ? "" : ", ", p);
  return fmt::format("reorder({})", order);
}

std::string text(std::string_view field, const std::vector<LoopStep>& loops) {
  return loops.empty() ? "" : fmt::format(" {} ({})", field, print_loops(loops));
}
std::string text(std::string_view field, const Choice& choice) {
  return choice ? fmt::format(" {} {}", field, *choice) : "";
}

ParallelType read_parallel(TextReader& in) {
  const size_t at = in.here();
  const std::string word = in.word("a parallel type");
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(ParallelType::stream); ++i) {
    names.emplace_back(name(static_cast<ParallelType>(i)));
    if (names.back() == word) return static_cast<ParallelType>(i);
  }
  in.fail_at(at, fmt::format("`{}` is no parallel type", word), suggestion(word, names));
}

LoopStep read_step(TextReader& in) {
  LoopStep step;
  const auto position = [&] { return static_cast<int>(in.integer("a loop position", 0, 1 << 20)); };
  const size_t at = in.here();
  const std::string kind = in.word("a transform");
  in.expect("(", "after the transform");
  if (kind == "reorder") {
    step.kind = Transform::Kind::reorder;
    do step.order.push_back(position());
    while (in.accept(","));
  } else {
    step.position = position();
    if (kind == "split") {
      step.kind = Transform::Kind::split;
      in.expect(",", "before the factor");
      step.factor = in.integer("a factor", 1, INT64_MAX);
    } else if (kind == "parallel") {
      step.kind = Transform::Kind::parallel;
      in.expect(",", "before the parallel type");
      step.parallel = read_parallel(in);
    } else if (kind != "merge") {
      in.fail_at(at, fmt::format("`{}` is no transform", kind), "known: merge, split, reorder, parallel");
    }
  }
  in.expect(")", "after the transform");
  return step;
}

void read_field(TextReader& in, std::vector<LoopStep>& loops, const ChoiceRange&) {
  in.expect("(", "after `loops`");
  do loops.push_back(read_step(in));
  while (in.accept(","));
  in.expect(")", "or `,` after a transform");
}
void read_field(TextReader& in, Choice& choice, const ChoiceRange& range) {
  choice = in.integer("a number", range.least, range.most);
}

}  // namespace

std::string print_loops(const std::vector<LoopStep>& loops) {
  std::string out;
  for (const LoopStep& step : loops) out += (out.empty() ? "" : ", ") + text(step);
  return out;
}

std::string print_tensors(const Manual& schedule) {
  std::string out;
  for (const ManualTensor& t : schedule.tensors) {
    out += fmt::format("{}%{}:", out.empty() ? "" : ", ", t.tensor);
    t.fields(t, [&](std::string_view field, const auto& value, const ChoiceRange&) { out += text(field, value); });
  }
  return out;
}

Manual parse_tensors(std::string_view written, const std::string& where) {
  TextReader in(written, where.empty() ? "schedule" : where);
  Manual out;
  if (in.at_end()) return out;
  do {
    const size_t at = in.here();
    ManualTensor t;
    t.tensor = in.tensor_name();
    const auto same = [&](const ManualTensor& other) { return other.tensor == t.tensor; };
    if (std::any_of(out.tensors.begin(), out.tensors.end(), same))
      in.fail_at(at, fmt::format("%{} is scheduled twice", t.tensor), "say all of it at one place");
    in.expect(":", fmt::format("after %{}", t.tensor));
    bool any = false;
    t.fields(t, [&](std::string_view field, auto& value, const ChoiceRange& range) {
      if (!in.accept(field)) return;
      read_field(in, value, range);
      any = true;
    });
    if (!any) in.fail(fmt::format("nothing is said of %{}", t.tensor), "say loops (...), inline N, keep N, in order");
    out.tensors.push_back(std::move(t));
  } while (in.accept(","));
  if (!in.at_end()) in.fail("text after the tensors", "write %t: loops (...) inline N keep N, with commas between");
  return out;
}

void read_placement(TextReader& in, Choice& inline_at, Choice& keep) {
  ManualTensor t;
  t.fields(t, [&](std::string_view field, auto& value, const ChoiceRange& range) {
    if (field == "loops" || !in.accept(field)) return;
    read_field(in, value, range);
  });
  inline_at = t.inline_at;
  keep = t.keep;
}

bool is_by_hand(const TensorView& tensor) {
  return !tensor.domain.transforms.empty() || tensor.inline_position || tensor.kept;
}

Manual manual_schedule(const Segment& segment) {
  Manual out;
  for (const Op* op : segment.ops)
    for (const TensorView* t : op->results) {
      if (!is_by_hand(*t)) continue;
      ManualTensor& own = out.tensors.emplace_back();
      own.tensor = t->name;
      own.inline_at = t->inline_position;
      own.keep = t->kept;
      for (const Transform& step : t->domain.transforms) {
        const auto factor = step.factor ? step.factor.constant() : 0;
        if (!factor)
          throw UserError(fmt::format("%{} is split by {}, which is no number", t->name, sym::print(step.factor)),
                          fmt::format("segment @{}", segment.name), "split by numbers");
        own.loops.push_back({step.kind, step.position, *factor, step.order, step.parallel});
      }
    }
  return out;
}

void set_manual_schedule(const Segment& segment, const Manual& schedule) {
  const auto find = [&](const std::string& name) -> TensorView* {
    for (const Op* op : segment.ops)
      for (TensorView* t : op->results)
        if (t->name == name) return t;
    throw UserError(fmt::format("%{} is scheduled by hand and is not made here", name),
                    fmt::format("segment @{}", segment.name),
                    "name results of the segment's ops, which passes before segmentation left in place");
  };
  for (const ManualTensor& own : schedule.tensors) {
    TensorView& t = *find(own.tensor);
    if (is_by_hand(t))
      throw UserError(fmt::format("%{} is scheduled twice", own.tensor), fmt::format("segment @{}", segment.name),
                      "say all of it at one place");
    Domain next = t.domain;
    if (t.definition->results[0] == &t) next.reduction = reduction_axes(*t.definition);
    for (const LoopStep& step : own.loops)
      next.transforms.push_back(
          {step.kind, step.position,
           step.kind == Transform::Kind::split ? t.fusion->pool().constant(step.factor) : sym::Expr(), step.order,
           step.parallel});
    try {
      loop_axes(next);
    } catch (const UserError& error) {
      throw UserError(error.message(), fmt::format("%{}, {}", own.tensor, error.where()), error.remedy());
    }
    if (!own.loops.empty()) t.domain = std::move(next);
    t.inline_position = own.inline_at;
    t.kept = own.keep;
  }
}

}  // namespace plait
