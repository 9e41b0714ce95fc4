#include "sim/cublaslt/multiply.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "scalar/convert.h"
#include "sim/cublaslt/tiles.h"

namespace plait::sim::cublaslt {
namespace {

constexpr int64_t kSumStep = 16;  // products between two roundings of a sum in f16

struct F64 {
  using Storage = double;
  static double load(double value) { return value; }
};
struct F32 {
  using Storage = float;
  static float load(float value) { return value; }
};
struct Tf32 {
  using Storage = float;
  static float load(float value) { return round_to_tf32(value); }
};
struct F16 {
  using Storage = uint16_t;
  static float load(uint16_t bits) { return f16_to_float(bits); }
};
struct Bf16 {
  using Storage = uint16_t;
  static float load(uint16_t bits) { return bf16_to_float(bits); }
};

// The elements (x, p) of `view`, x in 0 .. count along the outer stride, in blocks of `block` values of x: each block
// holds [k][block]; places beyond the end hold 0.
template <class Type, class T>
std::vector<T> pack(const View& view, int64_t count, int64_t outer_stride, int64_t k, int64_t k_stride, int block) {
  const auto* base = static_cast<const typename Type::Storage*>(view.base);
  const int64_t blocks = (count + block - 1) / block;
  std::vector<T> packed(static_cast<size_t>(blocks * block * k), T(0));
  T* out = packed.data();
  for (int64_t first = 0; first < count; first += block, out += block * k) {
    const int64_t used = std::min<int64_t>(block, count - first);
    for (int64_t x = 0; x < used; ++x) {
      const auto* source = base + (first + x) * outer_stride;
      for (int64_t p = 0; p < k; ++p) out[p * block + x] = Type::load(source[p * k_stride]);
    }
  }
  return packed;
}

template <class T>
std::vector<T> pack_any(const Product& product, const View& view, int64_t count, int64_t outer_stride, int64_t k_stride,
                        int block) {
  const int64_t k = product.k;
  if constexpr (std::is_same_v<T, double>) {
    return pack<F64, double>(view, count, outer_stride, k, k_stride, block);
  } else if (product.precision == Precision::tf32) {
    return pack<Tf32, float>(view, count, outer_stride, k, k_stride, block);
  } else {
    switch (view.type) {
      case DType::f32:
        return pack<F32, float>(view, count, outer_stride, k, k_stride, block);
      case DType::f16:
        return pack<F16, float>(view, count, outer_stride, k, k_stride, block);
      case DType::bf16:
        return pack<Bf16, float>(view, count, outer_stride, k, k_stride, block);
      default:
        PLAIT_CHECK(false, "operands of type {}", name(view.type));
    }
  }
}

// Adds the products p in begin .. end to the sums of one tile.
template <class T>
void add_products(const Product& product, Tile<T> tile, const T* a, const T* b, int64_t begin, int64_t end, T* sums) {
  constexpr int kRows = kTileRows<T>;
  if (product.precision != Precision::f16) return tile(a + begin * kRows, b + begin * kTileColumns, end - begin, sums);
  for (int64_t p = begin; p < end; p += kSumStep) {
    tile(a + p * kRows, b + p * kTileColumns, std::min(kSumStep, end - p), sums);
    for (int i = 0; i < kRows * kTileColumns; ++i) sums[i] = T(f16_to_float(f16_from_float(float(sums[i]))));
  }
}

// The sums of one tile over all of k.
template <class T>
void tile_sums(const Product& product, Tile<T> tile, const T* a, const T* b, T* sums) {
  constexpr int kCount = kTileRows<T> * kTileColumns;
  std::fill_n(sums, kCount, T(0));
  if (product.splits <= 1) return add_products(product, tile, a, b, 0, product.k, sums);
  const int64_t steps = (product.k + kSumStep - 1) / kSumStep;
  const int64_t part = (steps + product.splits - 1) / product.splits * kSumStep;
  for (int64_t begin = 0; begin < product.k; begin += part) {
    T partial[kCount] = {};
    add_products(product, tile, a, b, begin, std::min(begin + part, product.k), partial);
    for (int i = 0; i < kCount; ++i) sums[i] += partial[i];
  }
}

template <class T>
T activate(Activation activation, T x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x > T(0) || std::isnan(x) ? x : T(0);
    case Activation::gelu: {
      const double v = double(x);
      return T(0.5 * v * (1.0 + std::tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))));
    }
  }
  PLAIT_CHECK(false, "an activation of number {}", int(activation));
}

template <class T>
T load(DType type, const void* base, int64_t index) {
  return T(load_double(type, static_cast<const std::byte*>(base) + index * int64_t(size_of(type))));
}

template <class T>
void store_tile(const Product& product, int64_t row, int64_t column, const T* sums) {
  constexpr int kRows = kTileRows<T>;
  const int64_t rows = std::min<int64_t>(kRows, product.m - row);
  const int64_t columns = std::min<int64_t>(kTileColumns, product.n - column);
  auto* target = static_cast<std::byte*>(const_cast<void*>(product.d.base));
  const T alpha = T(product.alpha), beta = T(product.beta);
  for (int64_t j = 0; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t r = row + i, c = column + j;
      T value = alpha * sums[j * kRows + i];
      if (beta != T(0)) {
        value += beta * load<T>(product.c.type, product.c.base, r * product.c.row_stride + c * product.c.column_stride);
      }
      if (product.bias != nullptr) value += load<T>(product.bias_type, product.bias, r);
      value = activate(product.activation, value);
      const int64_t at = r * product.d.row_stride + c * product.d.column_stride;
      store_double(product.d.type, target + at * int64_t(size_of(product.d.type)), double(value));
    }
  }
}

template <class T>
void multiply_in(const Product& product, Tile<T> tile) {
  constexpr int kRows = kTileRows<T>;
  const std::vector<T> a =
      pack_any<T>(product, product.a, product.m, product.a.row_stride, product.a.column_stride, kRows);
  const std::vector<T> b =
      pack_any<T>(product, product.b, product.n, product.b.column_stride, product.b.row_stride, kTileColumns);
  T sums[kRows * kTileColumns];
  for (int64_t row = 0; row < product.m; row += kRows) {
    for (int64_t column = 0; column < product.n; column += kTileColumns) {
      tile_sums(product, tile, a.data() + row * product.k, b.data() + column * product.k, sums);
      store_tile(product, row, column, sums);
    }
  }
}

}  // namespace

float round_to_tf32(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  bits = (bits + 0x1000u) & 0xffffe000u;
  return std::bit_cast<float>(bits);
}

void multiply(const Product& product) {
  if (product.precision == Precision::f64) {
    multiply_in<double>(product, double_tile());
  } else {
    multiply_in<float>(product, float_tile());
  }
}

}  // namespace plait::sim::cublaslt
