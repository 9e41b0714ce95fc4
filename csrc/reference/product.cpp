#include "reference/product.h"

#include "base/error.h"
#include "reference/multiply.h"
#include "scalar/convert.h"

namespace plait::reference {

namespace {

class Product : public Executable {
 public:
  explicit Product(const LibraryProduct& product) : product_(product) {}

  void launch(const LaunchArguments& arguments) const override {
    const auto* a = static_cast<const char*>(arguments.buffers[0]);
    const auto* b = static_cast<const char*>(arguments.buffers[1]);
    auto* out = static_cast<char*>(arguments.buffers[2]);
    const int64_t batch = arguments.integers[0], m = arguments.integers[1], n = arguments.integers[2],
                  k = arguments.integers[3];
    const size_t in_size = size_of(product_.in), out_size = size_of(product_.out);
    std::vector<double> sums(static_cast<size_t>(m * n));
    for (int64_t i = 0; i < batch; ++i) {
      const char* left = a + i * m * k * in_size;
      const char* right = product_.linear ? b : b + i * k * n * in_size;
      auto at = [&](const char* data, int64_t index) { return load_double(product_.in, data + index * in_size); };
      Panels rows = pack(m, k, [&](int64_t r, int64_t c) { return at(left, r * k + c); });
      Panels columns =
          pack(n, k, [&](int64_t r, int64_t c) { return at(right, product_.linear ? r * k + c : c * n + r); });
      std::fill(sums.begin(), sums.end(), 0.0);
      multiply_add(rows, columns, 0, k, sums.data());
      for (int64_t e = 0; e < m * n; ++e) store_double(product_.out, out + (i * m * n + e) * out_size, sums[e]);
    }
  }

 private:
  LibraryProduct product_;
};

class ReferenceDevice : public Device {
 public:
  std::string name() const override { return "reference"; }
  KernelLanguage language() const override { return KernelLanguage::none; }
  Allocator& allocator(int = 0) override { return allocator_; }
  std::shared_ptr<Executable> compile(const KernelText& kernel, KernelFacts*) override {
    PLAIT_CHECK(false, "kernel {} for the reference device", kernel.name);
  }
  std::shared_ptr<Executable> library(const LibraryProduct& product, std::string*) override {
    return std::make_shared<Product>(product);
  }
  int vector_lanes() const override { return 1; }

 private:
  HostAllocator allocator_;
};

}  // namespace

std::unique_ptr<Device> make_reference_device() { return std::make_unique<ReferenceDevice>(); }

}  // namespace plait::reference
