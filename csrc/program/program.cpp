#include "program/program.h"

#include <algorithm>

namespace plait {

std::string_view name(StepKind kind) {
  switch (kind) {
#define PLAIT_STEP(Name, text) \
  case StepKind::Name:         \
    return #text;
#include "program/steps.def"
#undef PLAIT_STEP
  }
  __builtin_unreachable();
}

std::string_view name(ProgramStream stream) { return stream == ProgramStream::compute ? "compute" : "comm"; }

namespace {

void append(std::vector<ValueId>& out, ValueId id) { out.push_back(id); }
void append(std::vector<ValueId>& out, const std::vector<ValueId>& ids) {
  out.insert(out.end(), ids.begin(), ids.end());
}
template <class Other>
void append(std::vector<ValueId>&, const Other&) {}

std::vector<ValueId> values_of(const Step& step, Role role) {
  std::vector<ValueId> out;
  if (step.kind == StepKind::AllocStep) return out;
  visit(step, [&](const auto& typed) {
    for_each_field(typed, [&](const auto& field, const auto& member) {
      if (field.role == role) append(out, member);
    });
  });
  return out;
}

}  // namespace

std::vector<ValueId> reads(const Step& step) { return values_of(step, Role::operand); }
std::vector<ValueId> writes(const Step& step) { return values_of(step, Role::result); }

ValueId Program::add_value(std::string value_name, DType dtype, std::vector<sym::Expr> shape, ProgramValueKind kind) {
  const ValueId id{uint32_t(values.size())};
  values.push_back({std::move(value_name), dtype, std::move(shape), kind});
  if (kind == ProgramValueKind::input) inputs.push_back(id);
  if (kind == ProgramValueKind::output) outputs.push_back(id);
  return id;
}

size_t Program::count(StepKind kind) const {
  return size_t(std::count_if(steps.begin(), steps.end(), [&](const auto& step) { return step->kind == kind; }));
}

}  // namespace plait
