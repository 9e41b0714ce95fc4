#include "reference/contraction_executable.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "base/error.h"
#include "reference/multiply.h"
#include "scalar/convert.h"

namespace plait::reference {

namespace {

// What sums are carried in: doubles, or integers modulo 2^64.
template <class T>
T load_as(DType dtype, const void* source) {
  if constexpr (std::is_same_v<T, double>)
    return load_double(dtype, source);
  else
    return static_cast<uint64_t>(load_int64(dtype, source));
}
void store_as(DType dtype, void* target, double value) { store_double(dtype, target, value); }
void store_as(DType dtype, void* target, uint64_t value) { store_int64(dtype, target, static_cast<int64_t>(value)); }

// sums [m, n] = left [m, k] right [k, n].
void multiply(const std::vector<double>& left, const std::vector<double>& right, int64_t m, int64_t n, int64_t k,
              std::vector<double>& sums) {
  std::vector<int64_t> indices(static_cast<size_t>(k));
  std::iota(indices.begin(), indices.end(), 0);
  const Matrix rows{left.data(), nullptr, m, k, 1}, columns{right.data(), nullptr, n, 1, n};
  std::fill(sums.begin(), sums.end(), 0.0);
  multiply_add(rows, columns, indices, {sums.data()});
}
void multiply(const std::vector<uint64_t>& left, const std::vector<uint64_t>& right, int64_t m, int64_t n, int64_t k,
              std::vector<uint64_t>& sums) {
  std::fill(sums.begin(), sums.end(), 0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t x = 0; x < k; ++x)
      for (int64_t j = 0; j < n; ++j)
        sums[static_cast<size_t>(i * n + j)] +=
            left[static_cast<size_t>(i * k + x)] * right[static_cast<size_t>(x * n + j)];
}

class Product : public Executable {
 public:
  explicit Product(const LibraryContraction& product) : product_(product) {}

  void launch(const LaunchArguments& arguments) const override {
    is_float(product_.in) ? run<double>(arguments) : run<uint64_t>(arguments);
  }

 private:
  template <class T>
  void run(const LaunchArguments& arguments) const {
    const auto* a = static_cast<const char*>(arguments.buffers[0]);
    const auto* b = static_cast<const char*>(arguments.buffers[1]);
    auto* out = static_cast<char*>(arguments.buffers[2]);
    const ContractionArguments all(arguments.integers);
    const int64_t m = all.m, n = all.n, k = all.k;
    const size_t out_size = size_of(product_.out);
    std::vector<T> sums(static_cast<size_t>(m * n)), left, right;
    int64_t loaded = -1;  // matrix of b
    for (int64_t i = 0; i < all.matrices(); ++i) {
      load(a, all.a, all.a.matrix(i, all.batch), m, k, left);
      const int64_t of_b = all.b.matrix(i, all.batch), of_out = all.out.matrix(i, all.batch);
      if (of_b != loaded) load(b, all.b, of_b, k, n, right);
      loaded = of_b;
      multiply(left, right, m, n, k, sums);
      for (int64_t e = 0; e < m * n; ++e) {
        const int64_t at = of_out + e / n * all.out.row + e % n * all.out.column;
        store_as(product_.out, out + static_cast<size_t>(at) * out_size, sums[static_cast<size_t>(e)]);
      }
    }
  }

  // The matrix, row-major.
  template <class T>
  void load(const char* from, const ContractionOperand& operand, int64_t matrix, int64_t rows, int64_t columns,
            std::vector<T>& to) const {
    const size_t size = size_of(product_.in);
    to.resize(static_cast<size_t>(rows * columns));
    for (int64_t e = 0; e < rows * columns; ++e) {
      const int64_t at = matrix + e / columns * operand.row + e % columns * operand.column;
      to[static_cast<size_t>(e)] = load_as<T>(product_.in, from + static_cast<size_t>(at) * size);
    }
  }

  LibraryContraction product_;
};

class ReferenceDevice : public Device {
 public:
  std::string name() const override { return "reference"; }
  const Target& target() const override { return target_; }
  Allocator& allocator(int = 0) override { return allocator_; }
  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts*) override {
    PLAIT_CHECK(false, "kernel {} for the reference device", kernel.name);
  }
  std::shared_ptr<Executable> library(const LibraryContraction& product, std::string*) override {
    return std::make_shared<Product>(product);
  }

 private:
  const Target target_{.kind = TargetKind::reference, .vector_lanes = 1};
  HostAllocator allocator_;
};

}  // namespace

std::unique_ptr<Device> make_reference_device() { return std::make_unique<ReferenceDevice>(); }

}  // namespace plait::reference
