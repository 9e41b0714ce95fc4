#include "scalar/reductions.h"

#include <algorithm>
#include <cmath>

namespace plait {
namespace {

enum class Elements : uint8_t { number, order, real, truth };

struct Row {
  std::string_view name;
  int state;
  Elements elements;
};

constexpr Row kRows[] = {
#define X(name, state, elements, text) {#name, state, Elements::elements},
#include "scalar/reductions.def"
#undef X
};

const Row& row(Combine combine) { return kRows[size_t(combine)]; }

// The number below (or above) which there is none of the dtype, as `type`.
Constant end_of_order(DType element, DType type, bool least) {
  if (is_float(element)) return Constant::from_double(type, least ? -INFINITY : INFINITY);
  if (element == DType::boolean) return Constant::from_int64(type, least ? 0 : 1);
  const bool sign = !is_unsigned(element);
  const size_t bits = 8 * size_of(element) - (sign ? 1 : 0);
  const uint64_t most = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  return Constant::from_int64(type, static_cast<int64_t>(least ? (sign ? ~most : 0) : most));
}

}  // namespace

std::vector<Constant> identity(Combine combine, const std::vector<DType>& types, std::optional<DType> element) {
  std::vector<Constant> out;
  for (DType type : types) out.push_back(Constant::from_int64(type, 0));
  const bool least = combine == Combine::least || combine == Combine::first_least;
  if (row(combine).elements == Elements::order) out[0] = end_of_order(element.value_or(types[0]), types[0], !least);
  if (combine == Combine::product) out[0] = Constant::from_int64(types[0], 1);
  if (combine == Combine::all) out[0] = Constant::from_bool(true);
  if (combine == Combine::log_sum_exp) out[0] = Constant::from_double(types[0], -INFINITY);
  return out;
}

std::string_view name(Combine combine) { return row(combine).name; }

std::optional<Combine> parse_combine(std::string_view text) {
  for (int i = 0; i < kCombineCount; ++i)
    if (kRows[i].name == text) return Combine(i);
  return std::nullopt;
}

std::optional<Combine> combine_of(Pointwise function) {
  switch (function) {
    case Pointwise::add:
      return Combine::sum;
    case Pointwise::mul:
      return Combine::product;
    case Pointwise::max:
      return Combine::greatest;
    case Pointwise::min:
      return Combine::least;
    default:
      return std::nullopt;
  }
}

int state_size(Combine combine) { return row(combine).state; }

bool has_position(Combine combine) { return combine == Combine::first_greatest || combine == Combine::first_least; }

std::vector<DType> state_types(Combine combine, DType element) {
  DType type = accumulation_type(element);
  if (row(combine).elements == Elements::order)
    type = element == DType::boolean ? DType::i64 : compute_type(element);
  else if (row(combine).elements == Elements::truth)
    type = DType::boolean;
  std::vector<DType> out(size_t(row(combine).state), type);
  if (has_position(combine)) out[1] = DType::i64;
  return out;
}

bool is_state(Combine combine, const std::vector<DType>& types) {
  if (int(types.size()) != row(combine).state) return false;
  const DType type = types[0];
  const bool positioned = has_position(combine);
  if (positioned && types[1] != DType::i64) return false;
  if (!positioned && std::any_of(types.begin(), types.end(), [&](DType t) { return t != type; })) return false;
  if (compute_type(type) != type || is_narrow(type)) return false;
  switch (row(combine).elements) {
    case Elements::number:
    case Elements::order:
      return type != DType::boolean;
    case Elements::real:
      return is_float(type);
    case Elements::truth:
      return type == DType::boolean;
  }
  __builtin_unreachable();
}

}  // namespace plait
