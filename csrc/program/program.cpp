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

void append(std::vector<View>& out, const View& view) { out.push_back(view); }
void append(std::vector<View>& out, const std::vector<View>& views) {
  out.insert(out.end(), views.begin(), views.end());
}
template <class Other>
void append(std::vector<View>&, const Other&) {}

std::vector<View> views_of(const Step& step, Role role) {
  std::vector<View> out;
  visit(step, [&](const auto& typed) {
    for_each_field(typed, [&](const auto& field, const auto& member) {
      if (field.role == role) append(out, member);
    });
  });
  return out;
}

std::vector<ValueId> values_of(const std::vector<View>& views) {
  std::vector<ValueId> out;
  for (const View& view : views) out.push_back(view.value);
  return out;
}

std::vector<sym::Expr> dense_strides(sym::Pool& pool, const std::vector<sym::Expr>& extents) {
  std::vector<sym::Expr> out(extents.size());
  sym::Expr stride = pool.constant(1);
  for (size_t d = extents.size(); d-- > 0; stride = stride * extents[d]) out[d] = stride;
  return out;
}

}  // namespace

std::vector<View> operands(const Step& step) { return views_of(step, Role::operand); }
std::vector<View> results(const Step& step) { return views_of(step, Role::result); }
std::vector<ValueId> reads(const Step& step) { return values_of(operands(step)); }
std::vector<ValueId> writes(const Step& step) { return values_of(results(step)); }

std::vector<sym::Expr> Program::extents(const View& view) const {
  return view.extents.empty() ? value(view.value).shape : view.extents;
}

std::vector<sym::Expr> Program::strides(const View& view) const {
  return view.strides.empty() ? dense_strides(*pool, extents(view)) : view.strides;
}

View Program::shortened(View view) const {
  if (view.offset && view.offset.constant() == 0) view.offset = {};
  if (view.strides == dense_strides(*pool, extents(view))) view.strides.clear();
  if (!view.offset && view.strides.empty() && view.extents == value(view.value).shape) view.extents.clear();
  return view;
}

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

size_t Program::launches() const {
  size_t out = 0;
  for (const auto& step : steps)
    if (const auto* launch = as<LaunchStep>(*step)) out += 1 + launch->later_grids.size() / 3;
  return out;
}

}  // namespace plait
