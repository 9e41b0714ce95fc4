#include "backend/cpu/c_library.h"

#include <cmath>
#include <cstring>

#include "scalar/special.h"

namespace plait {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

CFunction unary(const char* name, Unary function) { return {name, reinterpret_cast<void*>(function)}; }
CFunction binary(const char* name, Binary function) { return {name, reinterpret_cast<void*>(function)}; }
template <class Function>
CFunction any(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

std::span<const CFunction> c_library() {
  static const CFunction kSymbols[] = {
      unary("plait_exp", std::exp),
      unary("plait_exp2", std::exp2),
      unary("plait_expm1", std::expm1),
      unary("plait_log", std::log),
      unary("plait_log2", std::log2),
      unary("plait_log10", std::log10),
      unary("plait_log1p", std::log1p),
      unary("plait_sin", std::sin),
      unary("plait_cos", std::cos),
      unary("plait_tan", std::tan),
      unary("plait_asin", std::asin),
      unary("plait_acos", std::acos),
      unary("plait_atan", std::atan),
      unary("plait_sinh", std::sinh),
      unary("plait_cosh", std::cosh),
      unary("plait_tanh", std::tanh),
      unary("plait_asinh", std::asinh),
      unary("plait_acosh", std::acosh),
      unary("plait_atanh", std::atanh),
      unary("plait_erf", std::erf),
      unary("plait_erfc", std::erfc),
      unary("plait_cbrt", std::cbrt),
      unary("plait_log_gamma", log_gamma),
      unary("plait_digamma", digamma),
      unary("plait_erfinv", erfinv),
      binary("plait_pow", std::pow),
      binary("plait_hypot", std::hypot),
      binary("plait_atan2", std::atan2),
      binary("plait_fmod", std::fmod),
      any("fma", static_cast<double (*)(double, double, double)>(std::fma)),
      any("fmaf", static_cast<float (*)(float, float, float)>(std::fma)),
      unary("floor", std::floor),
      any("floorf", static_cast<float (*)(float)>(std::floor)),
      unary("ceil", std::ceil),
      any("ceilf", static_cast<float (*)(float)>(std::ceil)),
      unary("trunc", std::trunc),
      any("truncf", static_cast<float (*)(float)>(std::trunc)),
      unary("roundeven", std::nearbyint),
      any("roundevenf", static_cast<float (*)(float)>(std::nearbyint)),
      any("memcpy", &std::memcpy),
      any("memmove", &std::memmove),
      any("memset", &std::memset),
  };
  return kSymbols;
}

}  // namespace plait
