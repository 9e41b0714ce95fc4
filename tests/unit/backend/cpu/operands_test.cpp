// Pointwise functions as compiled, on pairs and triples of floats, on every integer dtype, on bool and on every number
// of 16 bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "support/function_check.h"

namespace plait {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class Body>
void for_each_function(int arity, Body&& body) {
  for (int i = 0; i < kPointwiseCount; ++i) {
    const auto function = Pointwise(i);
    if (info(function).arity == arity && function != Pointwise::cast) body(function);
  }
}

bool takes_floats(Pointwise function) {
  const TypeRule rule = info(function).type_rule;
  return has_float_meaning(function) && rule != TypeRule::logical && rule != TypeRule::select;
}

// Special values, small integers, numbers of moderate size and arbitrary bits.
double draw(DType dtype, std::mt19937_64& random) {
  constexpr double kSpecial[] = {
      0,    -0.0,  1,     -1,   0.3,   2.5,    -7,       1e30,
      3e38, 1e-40, 1e-45, kInf, -kInf, 0x1p24, 0x1p-126, std::numeric_limits<double>::quiet_NaN()};
  switch (random() % 4) {
    case 0:
      return round_to(dtype, kSpecial[random() % std::size(kSpecial)]);
    case 1:
      return double(int64_t(random() % 41) - 20) / 2;
    case 2:
      return round_to(dtype, double(int64_t(random())) * 0x1p-60);
    default:
      return dtype == DType::f32 ? double(std::bit_cast<float>(uint32_t(random()))) : std::bit_cast<double>(random());
  }
}

TEST(CpuOperands, TuplesOfFloats) {
  constexpr int64_t kCount = 1 << 14;
  for (DType dtype : {DType::f32, DType::f64}) {
    for (int arity : {2, 3}) {
      for_each_function(arity, [&](Pointwise function) {
        if (!takes_floats(function)) return;
        std::mt19937_64 random(uint64_t(function) + 5);
        std::vector<Tensor> tensors;
        for (int k = 0; k < arity; ++k) {
          std::vector<double> values;
          for (int64_t i = 0; i < kCount; ++i) values.push_back(draw(dtype, random));
          tensors.push_back(Tensor::from_doubles(dtype, {kCount}, values));
        }
        const std::vector<DType> types(size_t(arity), dtype);
        tensors.push_back(Tensor::empty(result_type(function, types), {kCount}));
        test::run(test::compute_kernel(function, types, 8), tensors, {kCount});
        double worst = 0;
        std::string where;
        for (int64_t i = 0; i < kCount; ++i) {
          double in[3] = {};
          for (int k = 0; k < arity; ++k) in[k] = tensors[size_t(k)].at(i);
          const double got = tensors.back().at(i);
          const std::span<const double> operands(in, size_t(arity));
          const double ratio = test::error_over_bound(function, dtype, operands, got);
          if (ratio > worst) {
            worst = ratio;
            where = fmt::format("({}, {}, {}) = {}, not {}", in[0], in[1], in[2], got, evaluate(function, operands));
          }
        }
        EXPECT_LE(worst, 1) << name(function) << where << " in " << name(dtype);
      });
    }
  }
}

TEST(CpuOperands, WhereOfEveryDtype) {
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = DType(d);
    const std::vector<double> first{1, 0, 1, 1, 0}, second{0, 1, 0, 1, 0}, condition{1, 1, 0, 0, 1};
    const Tensor c = Tensor::from_doubles(DType::boolean, {5}, condition), a = Tensor::from_doubles(dtype, {5}, first);
    const Tensor b = Tensor::from_doubles(dtype, {5}, second), y = Tensor::empty(dtype, {5});
    test::run(test::compute_kernel(Pointwise::where, {DType::boolean, dtype, dtype}, 4), {c, a, b, y}, {5});
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(y.at(i), condition[size_t(i)] != 0 ? first[size_t(i)] : second[size_t(i)]) << name(dtype) << i;
  }
}

int64_t element(const Tensor& t, int64_t i) {
  return load_int64(t.dtype, static_cast<const char*>(t.data()) + i * int64_t(size_of(t.dtype)));
}

void set(const Tensor& t, int64_t i, int64_t value) {
  store_int64(t.dtype, static_cast<char*>(t.data()) + i * int64_t(size_of(t.dtype)), value);
}

int64_t draw_integer(DType dtype, std::mt19937_64& random) {
  const int bits = int(8 * size_of(dtype));
  const uint64_t half = uint64_t(1) << (bits - 1);
  const int64_t top = int64_t(half), below = int64_t(half - 1);
  const int64_t special[] = {0, 1, -1, 2, 77, -77, bits - 1, bits, int64_t(0 - half), top, below, -below, top / 2};
  switch (random() % 3) {
    case 0:
      return special[random() % std::size(special)];
    case 1:
      return int64_t(random() % 41) - 20;
    default:
      return int64_t(random() >> (random() % 64));
  }
}

// The integer dtypes of the table.
std::vector<DType> integer_dtypes() {
  std::vector<DType> dtypes;
  for (int i = 0; i < kDTypeCount; ++i)
    if (!is_float(DType(i)) && DType(i) != DType::boolean) dtypes.push_back(DType(i));
  return dtypes;
}

void compare_integers(Pointwise function, DType dtype, const std::vector<Tensor>& tensors) {
  const size_t arity = tensors.size() - 1;
  const std::vector<DType> types(arity, dtype);
  const int64_t count = tensors[0].elements();
  test::run(test::compute_kernel(function, types, 4), tensors, {count});
  for (int64_t i = 0; i < count; ++i) {
    int64_t in[3] = {};
    for (size_t k = 0; k < arity; ++k) in[k] = element(tensors[k], i);
    const DType meant = info(function).type_rule == TypeRule::logical ? DType::boolean : dtype;
    if (meant == DType::boolean) {
      for (int64_t& v : in) v = v != 0;
    }
    const int64_t expected = evaluate_int(function, std::span(in, arity), meant);
    ASSERT_EQ(element(tensors.back(), i), expected)
        << name(function) << "(" << in[0] << ", " << in[1] << ", " << in[2] << ") of " << name(dtype);
  }
}

TEST(CpuOperands, Integers) {
  constexpr int64_t kCount = 4096;
  for (DType dtype : integer_dtypes()) {
    for (int arity : {1, 2, 3}) {
      for_each_function(arity, [&](Pointwise function) {
        if (!has_integer_meaning(function) || function == Pointwise::where) return;
        std::mt19937_64 random(uint64_t(function) + 11);
        std::vector<Tensor> tensors;
        for (int k = 0; k < arity; ++k) {
          tensors.push_back(Tensor::empty(dtype, {kCount}));
          for (int64_t i = 0; i < kCount; ++i) set(tensors.back(), i, draw_integer(dtype, random));
        }
        const std::vector<DType> types(size_t(arity), dtype);
        tensors.push_back(Tensor::empty(result_type(function, types), {kCount}));
        compare_integers(function, dtype, tensors);
      });
    }
  }
}

TEST(CpuOperands, Bool) {
  for (int arity : {1, 2}) {
    for_each_function(arity, [&](Pointwise function) {
      const TypeRule rule = info(function).type_rule;
      const bool takes =
          rule == TypeRule::bits || rule == TypeRule::logical || rule == TypeRule::compare || rule == TypeRule::test;
      if (!takes) return;
      std::vector<Tensor> tensors;
      for (int k = 0; k < arity; ++k) {
        tensors.push_back(Tensor::empty(DType::boolean, {4}));
        for (int64_t i = 0; i < 4; ++i) set(tensors.back(), i, i >> k & 1);
      }
      tensors.push_back(Tensor::empty(DType::boolean, {4}));
      compare_integers(function, DType::boolean, tensors);
    });
  }
}

// What integers become in functions of floats.
TEST(CpuOperands, IntegersInFunctionsOfFloats) {
  const Tensor x = Tensor::empty(DType::i64, {5}), y = Tensor::empty(DType::f32, {5});
  const int64_t values[] = {0, 1, 2, -3, 9};
  for (int i = 0; i < 5; ++i) set(x, i, values[i]);
  for_each_function(1, [&](Pointwise function) {
    if (info(function).type_rule != TypeRule::to_float) return;
    test::run(test::compute_kernel(function, {DType::i64}, 4), {x, y}, {5});
    for (int i = 0; i < 5; ++i) {
      const double in = double(values[i]);
      EXPECT_LE(test::error_over_bound(function, DType::f32, std::span(&in, 1), y.at(i)), 1) << name(function) << in;
    }
  });
}

// All numbers of the dtype, in the order of their bits.
Tensor every_number(DType narrow) {
  const int64_t count = int64_t(1) << (8 * size_of(narrow));
  const Tensor x = Tensor::empty(narrow, {count});
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = uint16_t(i);  // the low byte comes first
    std::memcpy(static_cast<char*>(x.data()) + i * int64_t(size_of(narrow)), &bits, size_of(narrow));
  }
  return x;
}

TEST(CpuOperands, EveryNarrowNumber) {
  for (DType narrow : {DType::f8e4m3, DType::f8e5m2, DType::f16, DType::bf16}) {
    const Tensor x = every_number(narrow);
    for_each_function(1, [&](Pointwise function) {
      if (!takes_floats(function)) return;
      const Tensor y = Tensor::empty(result_type(function, std::span(&narrow, 1)), x.shape);
      test::run(test::compute_kernel(function, {narrow}, 8), {x, y}, {x.elements()});
      for (int64_t i = 0; i < x.elements(); ++i) {
        const double in = x.at(i);
        const std::span<const double> operand(&in, 1);
        if (is_open(function, operand)) continue;
        ASSERT_TRUE(test::is_narrow_result(function, y.dtype, operand, y.at(i)))
            << name(function) << "(" << in << ") = " << y.at(i) << ", not " << evaluate(function, operand) << " in "
            << name(narrow);
      }
    });
  }
}

}  // namespace
}  // namespace plait
