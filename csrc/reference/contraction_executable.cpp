#include "reference/contraction_executable.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "reference/multiply.h"
#include "scalar/convert.h"

namespace plait::reference {

namespace {

class Product : public Executable {
 public:
  explicit Product(const LibraryContraction& product) : product_(product) {}

  void launch(const LaunchArguments& arguments) const override {
    const auto* a = static_cast<const char*>(arguments.buffers[0]);
    const auto* b = static_cast<const char*>(arguments.buffers[1]);
    auto* out = static_cast<char*>(arguments.buffers[2]);
    const int64_t batch = arguments.integers[0], m = arguments.integers[1], n = arguments.integers[2],
                  k = arguments.integers[3];
    const size_t in_size = size_of(product_.in), out_size = size_of(product_.out);
    std::vector<int64_t> indices(static_cast<size_t>(k));
    std::iota(indices.begin(), indices.end(), 0);
    std::vector<double> sums(static_cast<size_t>(m * n)), left, right;
    const auto load = [&](const char* from, int64_t count, std::vector<double>& to) {
      to.resize(static_cast<size_t>(count));
      for (size_t e = 0; e < to.size(); ++e) to[e] = load_double(product_.in, from + e * in_size);
    };
    for (int64_t i = 0; i < batch; ++i) {
      load(a + i * m * k * in_size, m * k, left);
      if (i == 0 || !product_.linear) load(b + i * k * n * in_size, k * n, right);
      const bool across_a = product_.transpose_a, along_b = product_.linear || product_.transpose_b;
      const Matrix rows{left.data(), nullptr, m, across_a ? 1 : k, across_a ? m : 1};
      const Matrix columns{right.data(), nullptr, n, along_b ? k : 1, along_b ? 1 : n};
      std::fill(sums.begin(), sums.end(), 0.0);
      multiply_add(rows, columns, indices, {sums.data()});
      for (int64_t e = 0; e < m * n; ++e) store_double(product_.out, out + (i * m * n + e) * out_size, sums[e]);
    }
  }

 private:
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
