#include "support/direct_evaluation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "axes/transforms.h"
#include "lower/tree/lower_tree.h"
#include "scalar/convert.h"
#include "scalar/philox.h"
#include "schedule/scheduler.h"
#include "support/direct_ops.h"
#include "support/kir_interpreter.h"

namespace plait::test {

namespace {

std::vector<int64_t> shape_of(const TensorView& t, const sym::Environment& env) {
  std::vector<int64_t> out;
  for (const Axis& a : t.domain.logical) out.push_back(sym::evaluate(a.extent, env));
  return out;
}

std::vector<int64_t> coordinates(int64_t linear, const std::vector<int64_t>& shape) {
  std::vector<int64_t> out(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    out[d] = linear % shape[d];
    linear /= shape[d];
  }
  return out;
}

// Row-major place of coordinates, aligned at the last dim; extent 1 is read at 0.
int64_t linear(const std::vector<int64_t>& at, const std::vector<int64_t>& shape) {
  int64_t out = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    out = out * shape[d] + (shape[d] == 1 ? 0 : at[at.size() - shape.size() + d]);
  return out;
}

[[noreturn]] double not_evaluated() { throw std::runtime_error("not evaluated directly"); }

struct Evaluator {
  const Fusion& fusion;
  const sym::Environment& env;
  const Values& values;

  double read(const TensorView* t, const std::vector<int64_t>& at) const {
    return values.at(t)[static_cast<size_t>(linear(at, shape_of(*t, env)))];
  }
  double element(const PointwiseOp& op, const std::vector<int64_t>& at) const {
    std::vector<double> in;
    for (const TensorView* t : op.in) in.push_back(read(t, at));
    if (op.function != Pointwise::cast) return plait::evaluate(op.function, in);
    return is_float(*op.to) ? in[0] : round_to(*op.to, in[0]);
  }
  double element(const Full& op, const std::vector<int64_t>&) const { return op.value.to_double(); }
  template <class Random>
  uint64_t random_index(const Random& op, const std::vector<int64_t>& at) const {
    uint64_t index = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      const int64_t extent = sym::evaluate(op.global.empty() ? op.shape[d] : op.global[d], env);
      const int64_t start = op.start.empty() ? 0 : sym::evaluate(op.start[d], env);
      index = index * static_cast<uint64_t>(extent) + static_cast<uint64_t>(at[d] + start);
    }
    return index;
  }
  double element(const Uniform& op, const std::vector<int64_t>& at) const {
    const uint64_t seed = static_cast<uint64_t>(values.at(op.seed)[0]);
    return uniform_f32(seed, random_index(op, at), static_cast<uint64_t>(op.offset.value_or(0)));
  }
  double element(const Normal& op, const std::vector<int64_t>& at) const {
    const uint64_t seed = static_cast<uint64_t>(values.at(op.seed)[0]);
    return normal(seed, random_index(op, at), static_cast<uint64_t>(op.offset.value_or(0)));
  }
  double element(const Linear& op, const std::vector<int64_t>& at) const {
    const int64_t k_extent = shape_of(*op.w, env)[1];
    double sum = 0;
    for (int64_t k = 0; k < k_extent; ++k) {
      std::vector<int64_t> x = at;
      x.back() = k;
      sum += read(op.x, x) * read(op.w, {at.back(), k});
    }
    return op.b == nullptr ? sum : sum + read(op.b, {at.back()});
  }
  double element(const Matmul& op, const std::vector<int64_t>& at) const {
    const int64_t k_extent = shape_of(*op.a, env).back();
    double sum = 0;
    for (int64_t k = 0; k < k_extent; ++k) {
      std::vector<int64_t> a = at, b = at;
      a.back() = k;
      b[b.size() - 2] = k;
      sum += read(op.a, a) * read(op.b, b);
    }
    return sum;
  }
  template <class T>
  auto element(const T& op, const std::vector<int64_t>& at) const {
    const DirectContext context{[&](const TensorView* t, const Coordinates& from) {
                                  return values.at(t).at(static_cast<size_t>(linear(from, shape_of(*t, env))));
                                },
                                [&](const TensorView* t) { return shape_of(*t, env); },
                                [&](sym::Expr e) { return sym::evaluate(e, env); }};
    if constexpr (requires { test::element(context, op, at); })
      return test::element(context, op, at);
    else
      return not_evaluated();
  }
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Interpreted in doubles, as these are, but in another order, or with constants of f32.
bool close(const Segment& segment, double a, double b) {
  const auto by_formula = [](const Op* op) {
    return op->kind == OpKind::Var || op->kind == OpKind::VarMean || op->kind == OpKind::Normal ||
           op->kind == OpKind::LogCumSumExp;
  };
  return std::any_of(segment.ops.begin(), segment.ops.end(), by_formula) &&
         std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b));
}

}  // namespace

int64_t elements(const TensorView& tensor, const sym::Environment& env) {
  int64_t n = 1;
  for (int64_t e : shape_of(tensor, env)) n *= e;
  return n;
}

std::vector<std::vector<double>> evaluate_op(const Fusion& fusion, const Op& op, const sym::Environment& env,
                                             const Values& values) {
  const std::vector<int64_t> shape = shape_of(*op.results[0], env);  // of all results that are evaluated here
  std::vector<std::vector<double>> out(op.results.size());
  const Evaluator evaluator{fusion, env, values};
  for (int64_t i = 0, n = elements(*op.results[0], env); i < n; ++i)
    visit(op, [&](const auto& node) {
      const auto element = evaluator.element(node, coordinates(i, shape));
      if constexpr (std::is_same_v<decltype(element), const double>)
        out.at(0).push_back(element);
      else
        for (size_t r = 0; r < element.size(); ++r) out.at(r).push_back(element[r]);
    });
  return out;
}

namespace {

void evaluate_into(const Fusion& fusion, const Op& op, const sym::Environment& env, Values& values, bool round_narrow) {
  std::vector<std::vector<double>> results = evaluate_op(fusion, op, env, values);
  for (size_t r = 0; r < results.size(); ++r) {
    if (round_narrow && is_narrow(op.results[r]->dtype))
      for (double& x : results[r]) x = round_to(op.results[r]->dtype, x);
    values[op.results[r]] = std::move(results[r]);
  }
}

}  // namespace

void evaluate_directly(const Fusion& fusion, const sym::Environment& env, Values& values, bool round_narrow) {
  for (const Op* op : fusion.ops()) evaluate_into(fusion, *op, env, values, round_narrow);
}

namespace {

bool fits_tree(const Segment& segment) {
  return std::none_of(segment.ops.begin(), segment.ops.end(), [](const Op* op) {
    return is_scan(op->kind) || op->kind == OpKind::Scatter || op->kind == OpKind::Sort || op->kind == OpKind::Bitcast;
  });
}

LoweredKernel lower_segment(const Fusion& fusion, const Segment& s, const LoweredRun& how) {
  LowerOptions options;
  options.target = how.cuda ? TargetKind::cuda : TargetKind::cpu;
  options.strict_rounding = how.strict;
  options.name = "k_" + s.name;
  if (how.tree_lanes == 0 || !fits_tree(s)) return lower(fusion, s, options);
  ScheduledGroup group = make_group(fusion, s);
  store_outputs(group);
  TensorView& t = *group.graph->outputs().front();
  group.reference = &t;
  group.aligned = group.graph->outputs();
  const int last = static_cast<int>(t.rank()) - 1;
  if (last > 0) parallelize(t, 0, ParallelType::cpu_thread);
  if (last >= 0 && how.tree_lanes > 1) {
    split(t, last, how.tree_lanes);
    parallelize(t, last + 1, ParallelType::vectorize);
  }
  return lower_tree(group, fusion.pool(), options);
}

}  // namespace

Values small_values(const Fusion& fusion, const sym::Environment& env) {
  Values values;
  int64_t k = 1;
  for (const TensorView* t : fusion.inputs()) {
    auto& v = values[t];
    for (int64_t i = 0; i < elements(*t, env); ++i) {
      const int64_t drawn = (k += 7) % 13 - 6;
      v.push_back(static_cast<double>(t->dtype == DType::boolean ? drawn & 1 : t->dtype == DType::u64 ? 42 : drawn));
    }
  }
  return values;
}

LoweredSegments::LoweredSegments(const Fusion& fusion, const LoweredRun& how) : fusion_(fusion), how_(how) {
  for (const Segment& s : fusion.segments)
    if (is_generated(s.schedule)) kernels_.push_back(lower_segment(fusion, s, how));
}

void LoweredSegments::run(const sym::Environment& env, Values& values) const {
  Values expected = values;
  evaluate_directly(fusion_, env, expected, how_.strict);
  auto kernel = kernels_.begin();
  for (const Segment& s : fusion_.segments) {
    if (!is_generated(s.schedule)) {
      for (const Op* op : s.ops) evaluate_into(fusion_, *op, env, values, false);
      continue;
    }
    const LoweredKernel& k = *kernel++;
    std::vector<std::vector<double>> buffers;
    for (const TensorView* t : s.inputs) buffers.push_back(values.at(t));
    buffers.resize(buffers.size() + s.outputs.size());
    std::vector<int64_t> integers;
    for (sym::Expr e : k.arguments) integers.push_back(sym::evaluate(e, env));
    try {
      interpret(k.kernel, buffers, integers);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("@{}: {}\n{}", s.name, error.what(), kir::print(k.kernel)));
    }
    for (size_t o = 0; o < s.outputs.size(); ++o) {
      const auto& found = buffers[s.inputs.size() + o];
      const auto& wanted = expected.at(s.outputs[o]);
      for (size_t i = 0; i < wanted.size(); ++i)
        if (!same(found[i], wanted[i]) && !close(s, found[i], wanted[i]))
          throw std::runtime_error(fmt::format("@{}: %{}[{}] is {}, not {}\n{}", s.name, s.outputs[o]->name, i,
                                               found[i], wanted[i], kir::print(k.kernel)));
      values[s.outputs[o]] = found;
    }
  }
}

void run_segments(const Fusion& fusion, const sym::Environment& env, Values& values, const LoweredRun& how) {
  LoweredSegments(fusion, how).run(env, values);
}

}  // namespace plait::test
