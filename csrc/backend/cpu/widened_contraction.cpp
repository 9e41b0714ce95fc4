#include "backend/cpu/widened_contraction.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "scalar/convert.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace plait {
namespace {

using Convert = void (*)(const void* from, void* to, int64_t count);

template <float (*widen)(uint16_t)>
void widen_scalar(const void* from, void* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) static_cast<float*>(to)[i] = widen(static_cast<const uint16_t*>(from)[i]);
}

template <uint16_t (*narrow)(float)>
void narrow_scalar(const void* from, void* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) static_cast<uint16_t*>(to)[i] = narrow(static_cast<const float*>(from)[i]);
}

#if defined(__x86_64__)
#define PLAIT_AVX2 __attribute__((target("avx2,f16c")))

PLAIT_AVX2 void widen_bf16(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const uint16_t*>(from);
  auto* out = static_cast<float*>(to);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256i bits = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    _mm256_storeu_ps(out + i, _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)));
  }
  widen_scalar<bf16_to_float>(in + i, out + i, count - i);
}

PLAIT_AVX2 void widen_f16(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const uint16_t*>(from);
  auto* out = static_cast<float*>(to);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  widen_scalar<f16_to_float>(in + i, out + i, count - i);
}

PLAIT_AVX2 void narrow_bf16(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const float*>(from);
  auto* out = static_cast<uint16_t*>(to);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m256 value = _mm256_loadu_ps(in + i);
    const __m256i bits = _mm256_castps_si256(value), high = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_srli_epi32(_mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
    const __m256i quiet = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m256i result = _mm256_blendv_epi8(rounded, quiet, is_nan);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(result, result), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_castsi256_si128(packed));
  }
  narrow_scalar<bf16_from_float>(in + i, out + i, count - i);
}

PLAIT_AVX2 void narrow_f16(const void* from, void* to, int64_t count) {
  const auto* in = static_cast<const float*>(from);
  auto* out = static_cast<uint16_t*>(to);
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  narrow_scalar<f16_from_float>(in + i, out + i, count - i);
}

bool has_vectors() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

Convert widening(DType dtype) {
  if (has_vectors()) return dtype == DType::bf16 ? &widen_bf16 : &widen_f16;
  return dtype == DType::bf16 ? &widen_scalar<bf16_to_float> : &widen_scalar<f16_to_float>;
}
Convert narrowing(DType dtype) {
  if (has_vectors()) return dtype == DType::bf16 ? &narrow_bf16 : &narrow_f16;
  return dtype == DType::bf16 ? &narrow_scalar<bf16_from_float> : &narrow_scalar<f16_from_float>;
}
#else
Convert widening(DType dtype) {
  return dtype == DType::bf16 ? &widen_scalar<bf16_to_float> : &widen_scalar<f16_to_float>;
}
Convert narrowing(DType dtype) {
  return dtype == DType::bf16 ? &narrow_scalar<bf16_from_float> : &narrow_scalar<f16_from_float>;
}
#endif

void copy_floats(const void* from, void* to, int64_t count) { std::memcpy(to, from, size_t(count) * sizeof(float)); }

// A part of the matrices of an operand or of the result: `lines` of `length` elements each.
struct Panel {
  const ContractionOperand* operand;
  int64_t first, matrices;  // of the batch
  int64_t start;            // of the part in its matrix, in elements
  int64_t rows, columns;

  // Lines are columns where elements of a column are neighbours, and those of a row are not.
  bool by_columns() const { return operand->column != 1 && operand->row == 1; }
  int64_t lines() const { return by_columns() ? columns : rows; }
  int64_t length() const { return by_columns() ? rows : columns; }
  int64_t line_step() const { return by_columns() ? operand->column : operand->row; }
  int64_t element_step() const { return by_columns() ? operand->row : operand->column; }
  int64_t elements() const { return matrices * rows * columns; }
  // How it lies once its lines are dense, one behind the other.
  ContractionOperand dense(std::span<const int64_t> matrix_step) const {
    return {by_columns() ? 1 : columns, by_columns() ? rows : 1, 0, matrix_step};
  }
};

class WidenedContraction : public Executable {
 public:
  WidenedContraction(std::shared_ptr<Executable> wide, const LibraryContraction& contraction,
                     std::shared_ptr<Allocator> scratch, std::shared_ptr<ThreadPool> pool)
      : wide_(std::move(wide)),
        form_(contraction),
        scratch_(std::move(scratch)),
        pool_(std::move(pool)),
        widen_(widening(contraction.in)),
        narrow_(contraction.out == DType::f32 ? &copy_floats : narrowing(contraction.out)) {}

  bool widens() const override { return true; }
  void launch(const LaunchArguments& arguments) const override {
    PLAIT_CHECK(arguments.buffers.size() == 3, "a contraction takes 3 buffers, given are {}", arguments.buffers.size());
    const ContractionArguments all(arguments.integers);
    const int64_t matrices = all.matrices();
    if (matrices * all.m * all.n == 0) return;
    if (all.k == 0) return zero_result(all, arguments.buffers[2], form_.out);
    const Run run{*this, arguments, all};
    const int64_t each = all.m * all.k + all.k * all.n + all.m * all.n;
    if (matrices > 1 && each <= kPanelFloats) return run.groups(matrices, std::min(matrices, kPanelFloats / each));
    for (int64_t i = 0; i < matrices; ++i) run.panels(i);
  }

 private:
  static constexpr int64_t kPanelFloats = 512 * 1024;  // of b, or of a group of small contractions: what caches hold
  static constexpr int64_t kPanelRows = 512;           // of a

  // One launch.
  struct Run {
    const WidenedContraction& of;
    const LaunchArguments& arguments;
    const ContractionArguments& all;

    std::shared_ptr<Memory> floats(int64_t count) const { return of.scratch_->allocate(size_t(count) * sizeof(float)); }
    void multiply(const Panel& a, void* wide_a, const Panel& b, void* wide_b, const Panel& out, void* product) const;
    void convert(bool widens, size_t buffer, void* dense, const Panel& panel) const;
    void groups(int64_t matrices, int64_t at_once) const;
    void panels(int64_t matrix) const;
  };

  std::shared_ptr<Executable> wide_;
  LibraryContraction form_;
  std::shared_ptr<Allocator> scratch_;
  std::shared_ptr<ThreadPool> pool_;
  Convert widen_, narrow_;
};

// Of panels that are dense in the wide buffers.
void WidenedContraction::Run::multiply(const Panel& a, void* wide_a, const Panel& b, void* wide_b, const Panel& out,
                                       void* product) const {
  const int64_t batch[] = {a.matrices}, a_step[] = {a.rows * a.columns}, b_step[] = {b.rows * b.columns},
                out_step[] = {out.rows * out.columns};
  ContractionArguments numbers;
  numbers.batch = batch;
  numbers.m = a.rows, numbers.n = b.columns, numbers.k = a.columns;
  numbers.a = a.dense(a_step);
  numbers.b = b.dense(b_step);
  numbers.out = out.dense(out_step);
  const std::vector<int64_t> integers = simplify_contraction(numbers.integers());
  void* const buffers[] = {wide_a, wide_b, product};
  LaunchArguments wide = arguments;
  wide.buffers = buffers;
  wide.integers = integers;
  of.wide_->launch(wide);
}

// Between a buffer's panel and dense floats: widened from the buffer, or rounded to it.
void WidenedContraction::Run::convert(bool widens, size_t buffer, void* dense, const Panel& panel) const {
  struct Job {
    const Run* run;
    bool widens;
    std::byte *given, *dense;
    const Panel* panel;
  };
  const Job job{this, widens, static_cast<std::byte*>(arguments.buffers[buffer]), static_cast<std::byte*>(dense),
                &panel};
  const auto some = [](const void* context, int64_t begin, int64_t end) {
    const Job& job = *static_cast<const Job*>(context);
    const WidenedContraction& of = job.run->of;
    const Panel& panel = *job.panel;
    const size_t size = size_of(job.widens ? of.form_.in : of.form_.out);
    const int64_t step = panel.element_step(), length = panel.length();
    const int64_t runs = step == 1 ? 1 : length, each = step == 1 ? length : 1;
    for (int64_t line = begin; line < end; ++line) {
      const int64_t matrix = panel.operand->matrix(panel.first + line / panel.lines(), job.run->all.batch);
      std::byte* given = job.given + size_t(matrix + panel.start + line % panel.lines() * panel.line_step()) * size;
      std::byte* wide = job.dense + size_t(line * length) * sizeof(float);
      for (int64_t i = 0; i < runs; ++i, given += size_t(step) * size, wide += sizeof(float)) {
        if (job.widens)
          of.widen_(given, wide, each);
        else
          of.narrow_(wide, given, each);
      }
    }
  };
  of.pool_->run(panel.matrices * panel.lines(), some, &job, arguments.threads);
}

// Whole matrices, several at once.
void WidenedContraction::Run::groups(int64_t matrices, int64_t at_once) const {
  const int64_t m = all.m, n = all.n, k = all.k;
  const auto wide_a = floats(at_once * m * k), wide_b = floats(at_once * k * n), product = floats(at_once * m * n);
  for (int64_t at = 0; at < matrices; at += at_once) {
    const int64_t here = std::min(at_once, matrices - at);
    const Panel a{&all.a, at, here, 0, m, k}, b{&all.b, at, here, 0, k, n}, out{&all.out, at, here, 0, m, n};
    convert(true, 0, wide_a->data(), a);
    convert(true, 1, wide_b->data(), b);
    multiply(a, wide_a->data(), b, wide_b->data(), out, product->data());
    convert(false, 2, product->data(), out);
  }
}

// One matrix, part by part: rows of a stay while parts of b go by.
void WidenedContraction::Run::panels(int64_t matrix) const {
  const int64_t m = all.m, n = all.n, k = all.k;
  const int64_t rows = std::min(m, kPanelRows);
  const int64_t columns = std::min(n, std::max<int64_t>(64, kPanelFloats / k / 64 * 64));
  const auto wide_a = floats(rows * k), wide_b = floats(columns * k), product = floats(rows * columns);
  for (int64_t row = 0; row < m; row += rows) {
    const int64_t height = std::min(rows, m - row);
    const Panel a{&all.a, matrix, 1, row * all.a.row, height, k};
    convert(true, 0, wide_a->data(), a);
    for (int64_t column = 0; column < n; column += columns) {
      const int64_t width = std::min(columns, n - column);
      const Panel b{&all.b, matrix, 1, column * all.b.column, k, width};
      if (row == 0 || columns < n) convert(true, 1, wide_b->data(), b);
      const Panel out{&all.out, matrix, 1, row * all.out.row + column * all.out.column, height, width};
      multiply(a, wide_a->data(), b, wide_b->data(), out, product->data());
      convert(false, 2, product->data(), out);
    }
  }
}

}  // namespace

std::shared_ptr<Executable> widen_contraction(std::shared_ptr<Executable> wide, const LibraryContraction& contraction,
                                              std::shared_ptr<Allocator> scratch, std::shared_ptr<ThreadPool> pool) {
  return std::make_shared<WidenedContraction>(std::move(wide), contraction, std::move(scratch), std::move(pool));
}

}  // namespace plait
