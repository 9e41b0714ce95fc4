#include "kir/lane_values.h"

#include <algorithm>

namespace plait::kir {

Constant converted(const Constant& in, DType to) {
  if (in.dtype == to) return in;
  if (is_float(in.dtype) || (is_float(to) && in.dtype == DType::u64)) return Constant::from_double(to, in.to_double());
  return Constant::from_int64(to, in.to_int64());
}

Constant computed(Pointwise function, const std::vector<Constant>& in, DType to) {
  const DType type = in.back().dtype;
  if (is_float(type)) {
    std::vector<double> numbers;
    for (const Constant& c : in) numbers.push_back(c.to_double());
    const double result = evaluate(function, numbers);
    return to == DType::boolean ? Constant::from_bool(result != 0) : Constant::from_double(to, result);
  }
  std::vector<int64_t> numbers;
  for (const Constant& c : in) numbers.push_back(c.to_int64());
  return Constant::from_int64(to, evaluate_int(function, numbers, type));
}

std::vector<Constant> running(Pointwise function, std::vector<Constant> in, Constant before) {
  const auto join = [&](const Constant& a, const Constant& b) { return computed(function, {a, b}, before.dtype); };
  for (size_t begin = 0; begin < in.size(); begin += kRunningGroup) {
    const size_t end = std::min(in.size(), begin + kRunningGroup);
    for (size_t by = 1; by < end - begin; by *= 2)
      for (size_t l = end; l-- > begin + by;) in[l] = join(in[l - by], in[l]);
    for (size_t l = begin; l < end; ++l) in[l] = join(before, in[l]);
    before = in[end - 1];
  }
  return in;
}

}  // namespace plait::kir
