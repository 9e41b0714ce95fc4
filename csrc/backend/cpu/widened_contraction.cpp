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

// Rows of `columns` elements, `pitch` elements from one to the next.
struct Rows {
  int64_t count, columns, from_pitch, to_pitch;
};

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

// A part of an operand or of the result, as `wide` takes it: dense.
struct Panel {
  int64_t rows, columns, offset, pitch;  // offset, pitch: in the whole, in elements
  int64_t elements() const { return rows * columns; }
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

  void launch(const LaunchArguments& arguments) const override {
    PLAIT_CHECK(arguments.buffers.size() == 3 && arguments.integers.size() == 4,
                "a contraction takes 3 buffers and 4 integers, given are {} and {}", arguments.buffers.size(),
                arguments.integers.size());
    for (int64_t extent : arguments.integers) PLAIT_CHECK(extent >= 0, "a contraction with extent {}", extent);
    const int64_t k = arguments.integers[3], n = arguments.integers[2];
    const int64_t batch = form_.linear ? 1 : arguments.integers[0];
    const int64_t m = form_.linear ? arguments.integers[0] * arguments.integers[1] : arguments.integers[1];
    if (batch * m * n == 0) return;
    if (k == 0) {
      std::memset(arguments.buffers[2], 0, size_t(batch * m * n) * size_of(form_.out));
      return;
    }
    const Run run{*this, arguments, m, n, k};
    const int64_t each = m * k + k * n + m * n;
    if (batch > 1 && each <= kPanelFloats) return run.groups(batch, std::min(batch, kPanelFloats / each));
    for (int64_t b = 0; b < batch; ++b) run.panels(b);
  }

 private:
  static constexpr int64_t kPanelFloats = 512 * 1024;  // of b, or of a group of small contractions: what caches hold
  static constexpr int64_t kPanelRows = 512;           // of a

  // One launch.
  struct Run {
    const WidenedContraction& of;
    const LaunchArguments& arguments;
    int64_t m, n, k;

    std::shared_ptr<Memory> floats(int64_t count) const { return of.scratch_->allocate(size_t(count) * sizeof(float)); }
    const std::byte* in(size_t buffer, int64_t offset) const {
      return static_cast<const std::byte*>(arguments.buffers[buffer]) + size_t(offset) * size_of(of.form_.in);
    }
    std::byte* out(int64_t offset) const {
      return static_cast<std::byte*>(arguments.buffers[2]) + size_t(offset) * size_of(of.form_.out);
    }

    void multiply(void* a, void* b, void* product, int64_t batch, int64_t rows, int64_t columns) const {
      void* const buffers[] = {a, b, product};
      const int64_t integers[] = {batch, rows, columns, k};
      LaunchArguments wide = arguments;
      wide.buffers = buffers;
      wide.integers = integers;
      of.wide_->launch(wide);
    }
    void convert(Convert each, const void* from, size_t from_size, void* to, size_t to_size, const Rows& rows) const;
    void widen(size_t buffer, const Panel& panel, void* to) const {
      convert(of.widen_, in(buffer, panel.offset), size_of(of.form_.in), to, sizeof(float),
              {panel.rows, panel.columns, panel.pitch, panel.columns});
    }
    void round(const void* from, const Panel& panel) const {
      convert(of.narrow_, from, sizeof(float), out(panel.offset), size_of(of.form_.out),
              {panel.rows, panel.columns, panel.columns, panel.pitch});
    }
    void groups(int64_t batch, int64_t at_once) const;
    void panels(int64_t b) const;
  };

  std::shared_ptr<Executable> wide_;
  LibraryContraction form_;
  std::shared_ptr<Allocator> scratch_;
  std::shared_ptr<ThreadPool> pool_;
  Convert widen_, narrow_;
};

void WidenedContraction::Run::convert(Convert each, const void* from, size_t from_size, void* to, size_t to_size,
                                      const Rows& rows) const {
  struct Job {
    Convert each;
    const std::byte* from;
    std::byte* to;
    size_t from_step, to_step;
    int64_t columns;
  };
  const Job job{each,
                static_cast<const std::byte*>(from),
                static_cast<std::byte*>(to),
                size_t(rows.from_pitch) * from_size,
                size_t(rows.to_pitch) * to_size,
                rows.columns};
  const auto some = [](const void* context, int64_t begin, int64_t end) {
    const Job& job = *static_cast<const Job*>(context);
    for (int64_t row = begin; row < end; ++row)
      job.each(job.from + size_t(row) * job.from_step, job.to + size_t(row) * job.to_step, job.columns);
  };
  of.pool_->run(rows.count, some, &job, arguments.threads);
}

// Whole matrices, several at once.
void WidenedContraction::Run::groups(int64_t batch, int64_t at_once) const {
  const auto a = floats(at_once * m * k), b = floats(at_once * k * n), product = floats(at_once * m * n);
  for (int64_t at = 0; at < batch; at += at_once) {
    const int64_t here = std::min(at_once, batch - at);
    widen(0, {here * m, k, at * m * k, k}, a->data());
    widen(1, {here * n, k, at * n * k, k}, b->data());
    multiply(a->data(), b->data(), product->data(), here, m, n);
    round(product->data(), {here * m, n, at * m * n, n});
  }
}

// One matrix, part by part: rows of a stay while parts of b go by.
void WidenedContraction::Run::panels(int64_t b) const {
  const bool b_by_rows = of.form_.linear || of.form_.transpose_b;
  const int64_t rows = std::min(m, kPanelRows);
  const int64_t columns = std::min(n, std::max<int64_t>(64, kPanelFloats / k / 64 * 64));
  const auto wide_a = floats(rows * k), wide_b = floats(columns * k), product = floats(rows * columns);
  for (int64_t row = 0; row < m; row += rows) {
    const int64_t height = std::min(rows, m - row);
    const Panel a =
        of.form_.transpose_a ? Panel{k, height, b * m * k + row, m} : Panel{height, k, b * m * k + row * k, k};
    widen(0, a, wide_a->data());
    for (int64_t column = 0; column < n; column += columns) {
      const int64_t width = std::min(columns, n - column);
      const Panel other =
          b_by_rows ? Panel{width, k, b * k * n + column * k, k} : Panel{k, width, b * k * n + column, n};
      if (row == 0 || columns < n) widen(1, other, wide_b->data());
      multiply(wide_a->data(), wide_b->data(), product->data(), 1, height, width);
      round(product->data(), {height, width, (b * m + row) * n + column, n});
    }
  }
}

}  // namespace

std::shared_ptr<Executable> widen_contraction(std::shared_ptr<Executable> wide, const LibraryContraction& contraction,
                                              std::shared_ptr<Allocator> scratch, std::shared_ptr<ThreadPool> pool) {
  return std::make_shared<WidenedContraction>(std::move(wide), contraction, std::move(scratch), std::move(pool));
}

}  // namespace plait
