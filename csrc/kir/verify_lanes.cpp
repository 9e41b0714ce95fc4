#include "kir/verify_lanes.h"

#include <algorithm>

namespace plait::kir {
namespace {

constexpr const char* kDiffer = "dtype or lanes differ";

std::string problem(const Half& s) { return s.in.dtype == s.out.dtype && s.in.lanes == 2 * s.out.lanes ? "" : kDiffer; }

std::string problem(const Transpose& s, TargetKind target) {
  if (target != TargetKind::cpu) return "a transpose on the other target";
  const auto are = [&](const std::vector<Value>& values, size_t lanes) {
    return std::all_of(values.begin(), values.end(),
                       [&](const Value& v) { return v.dtype == s.in[0].dtype && size_t(v.lanes) == lanes; });
  };
  const bool fits = s.out.size() <= s.in.size() && are(s.in, s.out.size()) && are(s.out, s.in.size());
  return fits ? "" : "what is transposed is no square or tall rectangle of one dtype";
}

std::string problem(const Running& s, TargetKind target) {
  if (target != TargetKind::cpu) return "running values on the other target";
  if (!combine_of(s.function)) return fmt::format("running values of {}", name(s.function));
  if (s.out.dtype == DType::boolean) return "running values of bool";
  const bool alike = s.in.dtype == s.out.dtype && s.in.lanes == s.out.lanes;
  return alike && s.before.dtype == s.out.dtype && s.before.lanes == 1 ? "" : kDiffer;
}

std::string problem(const Shuffle& s, TargetKind target) {
  if (target != TargetKind::cuda) return "a shuffle on the other target";
  if (s.by < 1 || s.by >= kWarp || (s.by & (s.by - 1)) != 0) return fmt::format("a shuffle by {} lanes", s.by);
  return s.in.lanes == 1 && s.out.lanes == 1 && s.in.dtype == s.out.dtype ? "" : kDiffer;
}

}  // namespace

std::string lanes_problem(const Stmt& stmt, TargetKind target) {
  if (const auto* s = as<Half>(stmt)) return problem(*s);
  if (const auto* s = as<Transpose>(stmt)) return problem(*s, target);
  if (const auto* s = as<Running>(stmt)) return problem(*s, target);
  if (const auto* s = as<Shuffle>(stmt)) return problem(*s, target);
  return "";
}

}  // namespace plait::kir
