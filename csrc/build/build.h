#pragma once
// How users make graphs in C++: one free function per op. Every function adds an op to the fusion of its operands and
// returns the op's result, which is named after the op until Fusion::output names it.
// UserError from all of them: a null operand, operands of two fusions, and what infer() refuses (shapes, dtypes,
// attributes); the message names the op and its tensors.
#include <concepts>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "ir/fusion.h"

namespace plait {

// dtypes as users write them: f.input("x", {"b", "h"}, bf16).
inline constexpr DType boolean = DType::boolean;
inline constexpr DType i8 = DType::i8, i16 = DType::i16, i32 = DType::i32, i64 = DType::i64;
inline constexpr DType u8 = DType::u8, u16 = DType::u16, u32 = DType::u32, u64 = DType::u64;
inline constexpr DType f8e4m3 = DType::f8e4m3, f8e5m2 = DType::f8e5m2;
inline constexpr DType f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64;

// Numbers of C++ that may stand beside tensors.
template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

// A number of C++ that becomes a constant of some dtype.
class Scalar {
 public:
  template <Number T>
  Scalar(T value) : value_(widened(value)) {}  // NOLINT: converts on purpose
  // Rounded once to a float dtype. UserError: it overflows the dtype, or is not one of its integers (bool: 0 and 1).
  Constant as(DType dtype) const;
  std::string text() const;

 private:
  using Value = std::variant<int64_t, uint64_t, double>;
  static Value widened(std::floating_point auto value) { return static_cast<double>(value); }
  static Value widened(std::signed_integral auto value) { return static_cast<int64_t>(value); }
  static Value widened(std::unsigned_integral auto value) { return static_cast<uint64_t>(value); }
  Value value_;
};

// function(in...), element by element: trailing dims align, extent 1 broadcasts. For every pointwise op but cast.
TensorView* pointwise(Pointwise function, const std::vector<TensorView*>& in);
// The same with a number beside a tensor; it becomes a 0-dim constant of the tensor's dtype.
TensorView* pointwise(Pointwise function, TensorView* a, Scalar b);
TensorView* pointwise(Pointwise function, Scalar a, TensorView* b);

// An operand: a tensor, or a number, which becomes a 0-dim constant of the dtype of the op's first tensor.
class TensorOrNumber {
 public:
  TensorOrNumber(TensorView* tensor) : tensor_(tensor) {}  // NOLINT: converts on purpose
  template <Number T>
  TensorOrNumber(T value) : number_(value) {}  // NOLINT: converts on purpose
  bool is_number() const { return number_.has_value(); }
  TensorView* tensor() const { return tensor_; }
  Scalar number() const { return *number_; }

 private:
  TensorView* tensor_ = nullptr;
  std::optional<Scalar> number_;
};
// At least one of the operands is a tensor.
TensorView* pointwise(Pointwise function, TensorOrNumber a, TensorOrNumber b, TensorOrNumber c);

// The table of pointwise ops as functions: exp(x), add(a, b), mul(x, 0.5), sub(1, x), clamp(x, 0, 1), where(condition,
// a, b). Templates, because a plain overload would make of mul(x, 0) a null pointer.
#define PLAIT_FUNCTION_1(name) \
  inline TensorView* name(TensorView* x) { return pointwise(Pointwise::name, {x}); }
#define PLAIT_FUNCTION_2(name)                                                                         \
  inline TensorView* name(TensorView* a, TensorView* b) { return pointwise(Pointwise::name, {a, b}); } \
  template <Number T>                                                                                  \
  TensorView* name(TensorView* a, T b) {                                                               \
    return pointwise(Pointwise::name, a, Scalar(b));                                                   \
  }                                                                                                    \
  template <Number T>                                                                                  \
  TensorView* name(T a, TensorView* b) {                                                               \
    return pointwise(Pointwise::name, Scalar(a), b);                                                   \
  }
#define PLAIT_FUNCTION_3(name)                                                    \
  inline TensorView* name(TensorOrNumber a, TensorOrNumber b, TensorOrNumber c) { \
    return pointwise(Pointwise::name, a, b, c);                                   \
  }
#define PLAIT_RULE_same(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_to_float(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_float_only(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_compare(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_test(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_logical(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_bits(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_shift(name, arity) PLAIT_FUNCTION_##arity(name)
#define PLAIT_RULE_select(name, arity)
#define PLAIT_RULE_cast(name, arity)
#define X(name, arity, type_rule, ...) PLAIT_RULE_##type_rule(name, arity)
#include "scalar/pointwise.def"
#undef X
#undef PLAIT_RULE_cast
#undef PLAIT_RULE_select
#undef PLAIT_RULE_shift
#undef PLAIT_RULE_bits
#undef PLAIT_RULE_logical
#undef PLAIT_RULE_test
#undef PLAIT_RULE_compare
#undef PLAIT_RULE_float_only
#undef PLAIT_RULE_to_float
#undef PLAIT_RULE_same
#undef PLAIT_FUNCTION_3
#undef PLAIT_FUNCTION_2
#undef PLAIT_FUNCTION_1

// With PyTorch's defaults.
inline TensorView* leaky_relu(TensorView* x) { return leaky_relu(x, 0.01); }
inline TensorView* elu(TensorView* x) { return elu(x, 1); }
inline TensorView* celu(TensorView* x) { return celu(x, 1); }
inline TensorView* hardtanh(TensorView* x) { return hardtanh(x, -1, 1); }
inline TensorView* hardshrink(TensorView* x) { return hardshrink(x, 0.5); }
inline TensorView* softshrink(TensorView* x) { return softshrink(x, 0.5); }

// condition ? a : b. The condition is bool. A number takes the dtype of the other choice.
TensorView* where(TensorView* condition, TensorView* a, TensorView* b);
template <Number T>
TensorView* where(TensorView* condition, TensorView* a, T b);
template <Number T>
TensorView* where(TensorView* condition, T a, TensorView* b);

// x as another dtype, rounded once; rules of scalar/convert.h.
TensorView* cast(TensorView* x, DType to);

// Which of its two forms gelu() computes.
enum class Gelu : uint8_t { none, tanh };
// none: x Phi(x). tanh: x / (1 + exp(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3).
TensorView* gelu(TensorView* x, Gelu approx = Gelu::none);

// y[..., n] = sum_k x[..., k] w[n, k] + b[n]; b may be null.
TensorView* linear(TensorView* x, TensorView* w, TensorView* b = nullptr);
// y[..., m, n] = sum_k a[..., m, k] b[..., k, n]; leading dims broadcast.
TensorView* matmul(TensorView* a, TensorView* b);

// NumPy's einsum: "bij,bjk->bik". Labels that the result lacks are summed over; `->` and the result may be left out.
TensorView* einsum(std::string_view equation, const std::vector<TensorView*>& in);

// x / (1 - p) where uniform(global index) >= p, else 0; 0 <= p < 1. seed: u64[]. offset: counter of the random op, its
// ordinal in the fusion where absent.
TensorView* dropout(TensorView* x, double p, TensorView* seed, std::optional<int64_t> offset = {});
// f32 numbers in [0, 1), the same for every sharding and device. seed and offset as for dropout.
TensorView* uniform(TensorView* seed, const std::vector<Fusion::Extent>& shape, std::optional<int64_t> offset = {});
// A number everywhere. A 0-dim one ({}) broadcasts against everything.
TensorView* full(Fusion& fusion, const std::vector<Fusion::Extent>& shape, Scalar value, DType dtype);
// A 0-dim constant of the tensor's dtype, in its fusion.
TensorView* scalar_like(TensorView* like, Scalar value);

// A number takes the dtype of the other choice.
template <Number T>
TensorView* where(TensorView* condition, TensorView* a, T b) {
  return where(condition, a, scalar_like(a, Scalar(b)));
}
template <Number T>
TensorView* where(TensorView* condition, T a, TensorView* b) {
  return where(condition, scalar_like(b, Scalar(a)), b);
}

}  // namespace plait
