#include "backend/cuda/compile_units.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <set>
#include <thread>

#include "base/error.h"

namespace plait {
namespace {

// Whether a text can stand in a namespace beside others.
bool stands_alone(const KernelText& kernel) {
  return kernel.text.find("#include") != std::string::npos || kernel.text.find("#define") != std::string::npos;
}

// Every kernel to the unit that has least text so far, the longest texts first.
std::vector<CompiledUnit> group(std::span<const KernelText> kernels, size_t units) {
  std::vector<size_t> order(kernels.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return kernels[a].text.size() > kernels[b].text.size(); });
  std::vector<CompiledUnit> shared(units), out;
  std::vector<size_t> sizes(units, 0);
  for (size_t kernel : order) {
    if (stands_alone(kernels[kernel])) {
      out.push_back({{kernel}, "", {}});
      continue;
    }
    const size_t unit = size_t(std::min_element(sizes.begin(), sizes.end()) - sizes.begin());
    shared[unit].kernels.push_back(kernel);
    sizes[unit] += kernels[kernel].text.size();
  }
  for (CompiledUnit& unit : shared)
    if (!unit.kernels.empty()) out.push_back(std::move(unit));
  for (CompiledUnit& unit : out) std::sort(unit.kernels.begin(), unit.kernels.end());
  std::sort(out.begin(), out.end(),
            [](const CompiledUnit& a, const CompiledUnit& b) { return a.kernels[0] < b.kernels[0]; });
  return out;
}

void compile(CompiledUnit& unit, std::span<const KernelText> kernels, const std::string& architecture,
             DiskCache* disk) {
  std::vector<KernelText> texts;
  for (size_t kernel : unit.kernels) {
    texts.push_back(kernels[kernel]);
    unit.title += (unit.title.empty() ? "kernel " : ", ") + kernels[kernel].name;
  }
  unit.result = compile_cuda_unit(texts, architecture, disk);
}

}  // namespace

std::vector<CompiledUnit> compile_units(std::span<const KernelText> kernels, const std::string& architecture,
                                        int threads, DiskCache* disk) {
  std::set<std::string> names;
  for (const KernelText& kernel : kernels)
    PLAIT_CHECK(names.insert(kernel.name).second, "two kernels are called {}", kernel.name);
  if (kernels.empty()) return {};
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t workers = std::min(kernels.size(), threads > 0 ? size_t(threads) : cores);
  std::vector<CompiledUnit> units = group(kernels, workers);
  std::vector<std::exception_ptr> errors(units.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < units.size(); i = next++) {
      try {
        compile(units[i], kernels, architecture, disk);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  std::vector<std::thread> pool;
  for (size_t i = 1; i < std::min(workers, units.size()); ++i) pool.emplace_back(work);
  work();
  for (std::thread& thread : pool) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return units;
}

}  // namespace plait
