#pragma once
// Compiles and runs kernels of kernel IR on the CPU device.
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/cpu_device.h"
#include "base/error.h"
#include "codegen/llvm/writer.h"
#include "kir/kernel.h"
#include "support/kernel_builder.h"

namespace plait::test {

inline std::unique_ptr<Device> cpu_device(int threads = 1) { return make_cpu_device({.threads = threads}); }

// One device for all tests that do not count.
inline Device& shared_cpu() {
  static const std::unique_ptr<Device> device = cpu_device(2);
  return *device;
}

// Lane counts that the host's vectors can hold, and 1.
inline std::vector<int> lane_counts() {
  std::vector<int> counts{1, 4, 8};
  if (shared_cpu().target().vector_lanes >= 16) counts.push_back(16);
  return counts;
}

// Bit for bit, but for the bits of NaN: which operand's payload and sign an instruction keeps is its own affair.
inline bool same_results(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.bytes() != b.bytes()) return false;
  if (a.dtype != DType::f32) return std::memcmp(a.data(), b.data(), a.bytes()) == 0;
  const auto *x = static_cast<const float*>(a.data()), *y = static_cast<const float*>(b.data());
  for (int64_t i = 0; i < a.elements(); ++i)
    if (std::memcmp(x + i, y + i, sizeof(float)) != 0 && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  return true;
}

inline KernelText text_of(const kir::Kernel& kernel) {
  kir::verify(kernel);
  return kir::text_of(kernel, codegen::write_llvm(kernel));
}

// Runs the kernel on tensors in the order of its buffers.
inline void launch(const Executable& executable, const kir::Kernel& kernel, const std::vector<Tensor>& tensors,
                   const std::vector<int64_t>& integers) {
  std::vector<void*> buffers;
  for (const Tensor& tensor : tensors) buffers.push_back(tensor.data());
  sym::Environment environment;
  for (size_t i = 0; i < integers.size(); ++i) environment[kernel.integers[i].symbol_name()] = integers[i];
  LaunchArguments arguments;
  arguments.buffers = buffers;
  arguments.integers = integers;
  std::vector<int64_t> extents;
  for (const kir::Phase& phase : kernel.phases) {
    const kir::For* loop = kir::thread_loop(phase);
    extents.push_back(loop != nullptr ? sym::evaluate(loop->extent, environment) : 1);
  }
  arguments.thread_extent = extents[0];
  arguments.later_extents = std::span(extents).subspan(1);
  executable.launch(arguments);
}

inline void run(const kir::Kernel& kernel, const std::vector<Tensor>& tensors, const std::vector<int64_t>& integers,
                Device& device = shared_cpu()) {
  launch(*device.compile(text_of(kernel), nullptr), kernel, tensors, integers);
}

// How a pointwise kernel touches memory.
enum class Style {
  contiguous,  // whole vectors, then one loop of single elements
  active,      // vectors whose last is cut by `active`, aligned
  lanewise,    // every lane for itself, cut by `active`
};

// out[i] = body(builder, in[i]...) for i in 0 .. n-1, over a thread loop. Buffers: inputs, then the output; integer: n.
template <class Body>
kir::Kernel pointwise_kernel(const std::vector<DType>& inputs, DType output, int lanes, Style style, Body&& body) {
  KernelBuilder b("pointwise");
  const sym::Expr n = b.integer("n");
  std::vector<uint32_t> in;
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(b.reads("x" + std::to_string(i), inputs[i], n));
  const uint32_t out = b.writes("y", output, n);
  const auto element = [&](sym::Expr index, int count, kir::Access access, sym::Expr active) {
    std::vector<kir::Value> values;
    for (uint32_t buffer : in) values.push_back(b.load(buffer, index, count, access, active));
    b.store(out, index, body(b, values), access, active);
  };
  if (style == Style::contiguous) {
    const sym::Expr i = b.loop("i", sym::ceildiv(n, lanes), kir::LoopKind::cpu_thread);
    b.branch(sym::le(lanes * i + lanes, n));
    element(lanes * i + b.lane, lanes, kir::Access::contiguous, {});
    b.end();
    b.branch(sym::gt(lanes * i + lanes, n));
    const sym::Expr j = b.loop("j", sym::min(n - lanes * i, lanes));
    element(lanes * i + j, 1, kir::Access::lanewise, {});
  } else {
    const sym::Expr i = b.loop("i", sym::ceildiv(n, lanes), kir::LoopKind::cpu_thread);
    const auto access = style == Style::active ? kir::Access::aligned : kir::Access::lanewise;
    element(lanes * i + b.lane, lanes, access, n - lanes * i);
  }
  return std::move(b.kernel);
}

}  // namespace plait::test
