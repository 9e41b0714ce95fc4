// Functions of codegen/llvm/integers.h against plain C++ on pairs of special and random integers.
#include "codegen/llvm/integers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "support/function_run.h"

namespace plait {
namespace {

using codegen::llvm::Function;
using codegen::llvm::Ir;
using codegen::llvm::Sign;

template <class T>
constexpr Sign kSign = std::is_signed_v<T> ? Sign::with : Sign::without;

// The meaning in the type itself; the JIT's rules for what C++ leaves open.
template <class T>
T floor_quotient(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if (y == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1) return T(U(0) - U(x));
    return T(x / y - (x % y != 0 && (x < 0) != (y < 0)));
  } else {
    return x / y;
  }
}

template <class T>
T raised(T x, T y) {
  using U = std::make_unsigned_t<T>;
  if (y < 0) return x == 1 ? 1 : x == T(-1) ? T(y % 2 == 0 ? 1 : -1) : 0;
  U result = 1, base = U(x);
  for (U rest = U(y); rest != 0; rest >>= 1, base *= base) result *= (rest & 1) != 0 ? base : 1;
  return T(result);
}

template <class T>
T moved(T x, T y, bool left) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = std::numeric_limits<U>::digits;
  if (y < 0 || U(y) >= U(kBits)) return !left && x < 0 ? T(-1) : T(0);
  return left ? T(U(x) << y) : T(x >> y);
}

template <class T>
std::vector<T> operands(uint64_t seed, bool divisors) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(seed);
  const T special[] = {0,
                       1,
                       2,
                       3,
                       5,
                       31,
                       32,
                       63,
                       64,
                       65,
                       Limits::max(),
                       Limits::min(),
                       T(-1),
                       T(-2),
                       T(-3),
                       T(-64),
                       T(Limits::max() - 1),
                       T(Limits::max() / 2),
                       T(Limits::min() + 1),
                       10,
                       T(-10),
                       7};
  std::vector<T> values;
  for (int i = 0; i < 1 << 16; ++i) {
    const uint64_t word = random();
    if (word % 3 == 0) values.push_back(special[random() % std::size(special)]);
    if (word % 3 == 1) values.push_back(T(random() >> (random() % 64)));
    if (word % 3 == 2) values.push_back(T(int64_t(random() % 201) - 100));
    // Quotients that lie beside whole numbers.
    if (divisors && values.back() != 0 && i % 2 == 0) values.back() = T(values.back() / T(3));
  }
  return values;
}

template <class T, class Spelling, class Meaning>
void compare(DType dtype, const char* function, Spelling&& spelling, Meaning&& meaning) {
  const std::vector<T> left = operands<T>(1, false), right = operands<T>(2, true);
  const auto tensor = [&](const std::vector<T>& values) {
    const Tensor t = Tensor::empty(dtype, {int64_t(values.size())});
    std::memcpy(t.data(), values.data(), values.size() * sizeof(T));
    return t;
  };
  const Tensor x = tensor(left), y = tensor(right);
  for (int lanes : {1, 8}) {
    const Tensor out = Tensor::empty(dtype, x.shape);
    const auto body = [&](Function& f, const std::vector<Ir>& in) { return spelling(f, in[0], in[1]); };
    const auto executable = test::shared_cpu().compile(test::function_kernel(dtype, 2, lanes, body), nullptr);
    test::launch_function(*executable, {x, y, out}, lanes);
    for (size_t i = 0; i < left.size(); ++i) {
      const T got = static_cast<const T*>(out.data())[i], expected = meaning(left[i], right[i]);
      ASSERT_EQ(got, expected) << function << "(" << left[i] << ", " << right[i] << ") of " << name(dtype) << ", "
                               << lanes << " lanes";
    }
  }
}

template <class T>
void compare_all(DType dtype) {
  namespace ll = codegen::llvm;
  constexpr Sign sign = kSign<T>;
  const auto with_sign = [](auto function) {
    return [function](Function& f, const Ir& x, const Ir& y) { return function(f, sign, x, y); };
  };
  compare<T>(dtype, "floor_divide", with_sign(ll::floor_divide), floor_quotient<T>);
  compare<T>(dtype, "power", with_sign(ll::power), raised<T>);
  compare<T>(dtype, "shift_right", with_sign(ll::shift_right), [](T x, T y) { return moved(x, y, false); });
  compare<T>(dtype, "shift_left", ll::shift_left, [](T x, T y) { return moved(x, y, true); });
}

TEST(CpuIntegerFunctions, I64) { compare_all<int64_t>(DType::i64); }
TEST(CpuIntegerFunctions, U64) { compare_all<uint64_t>(DType::u64); }
TEST(CpuIntegerFunctions, I32) { compare_all<int32_t>(DType::i32); }
TEST(CpuIntegerFunctions, U32) { compare_all<uint32_t>(DType::u32); }

}  // namespace
}  // namespace plait
