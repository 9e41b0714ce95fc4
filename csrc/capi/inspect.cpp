// Questions about what was compiled.
#include "api/inspect.h"
#include "backend/cpu/cpu_device.h"
#include "capi/handles.h"

namespace plait {
namespace {

void give_text(std::string data, plait_text** out) {
  auto text = std::make_unique<plait_text>();
  text->data = std::move(data);
  *out = text.release();
}

// Runs fn on the program while no other thread does.
template <class Fn>
plait_error* asked(plait_program* program, Fn&& fn) {
  return guarded([&] {
    plait_program& p = required(program, "program");
    const std::lock_guard lock(p.mutex);
    fn(*p.compiled);
  });
}

}  // namespace
}  // namespace plait

using namespace plait;  // NOLINT: this file defines the C functions

extern "C" {

plait_error* plait_program_info_get(plait_program* program, plait_program_info* out) {
  return asked(program, [&](Compiled& compiled) {
    const Report& report = compiled.report();
    plait_program_info info = {};
    info.ranks = compiled.mesh().ranks();
    info.kernels = static_cast<int64_t>(report.kernels.size());
    info.library_calls = report.library_calls;
    info.collectives = report.collectives;
    info.wire_bytes = report.wire_bytes;
    info.wire_bytes_min = report.wire_bytes_min;
    info.compile_ms = report.compile_ms;
    info.run_ms = report.run_ms;
    info.launches = report.launches;
    info.bytes_moved = report.bytes_moved;
    info.bytes_least = report.bytes_least;
    info.bytes_copied = report.bytes_copied;
    info.device = program->device_name.c_str();
    info.bytes_donated = report.bytes_donated;
    give(info, out, "out");
  });
}

plait_error* plait_program_memory_get(plait_program* program, plait_memory_info* out) {
  return guarded([&] {
    const MemoryCounts counts = memory_counts(*required(program, "program").device);
    give(plait_memory_info{0, counts.held_bytes, counts.in_use_bytes, counts.hits, counts.misses}, out, "out");
  });
}

plait_error* plait_program_kernel(plait_program* program, size_t index, plait_kernel_info* out) {
  return asked(program, [&](Compiled& compiled) {
    const Report& report = compiled.report();
    if (index >= report.kernels.size())
      throw UserError(fmt::format("there is no kernel {}", index), "",
                      fmt::format("the program has {}", report.kernels.size()));
    const KernelReport& kernel = report.kernels[index];
    plait_kernel_info info = {};
    info.name = kernel.name.c_str();
    info.schedule = kernel.schedule.c_str();
    info.arch = kernel.arch.c_str();
    info.source = compiled.program().kernels[index].code.text.c_str();
    info.registers = kernel.facts.registers.value_or(-1);
    info.spill_bytes = kernel.facts.spill_bytes.value_or(-1);
    info.shared_bytes = kernel.facts.shared_bytes.value_or(-1);
    info.compile_ms = kernel.facts.compile_ms;
    info.instructions = kernel.facts.instructions.value_or(-1);
    give(info, out, "out");
  });
}

plait_error* plait_program_layout(plait_program* program, const char* tensor, plait_text** out) {
  return asked(program, [&](Compiled& compiled) {
    required(out, "out") = nullptr;
    give_text(layout_text(compiled.sharded(), required_text(tensor, "tensor")), out);
  });
}

plait_error* plait_program_local_shape(plait_program* program, const char* output, int64_t rank, int64_t* shape,
                                       size_t capacity, size_t* dims) {
  return asked(program, [&](Compiled& compiled) {
    required(dims, "dims") = 0;
    const std::string name = required_text(output, "output");
    const std::vector<int64_t>& local = local_shape(compiled.report(), name, rank);
    *dims = local.size();
    if (local.size() > capacity)
      throw UserError(fmt::format("room for {} of {} numbers", capacity, local.size()), "local shape of %" + name,
                      "give a larger array");
    for (size_t d = 0; d < local.size(); ++d) required(shape, "shape", d) = local[d];
  });
}

plait_error* plait_program_dump(plait_program* program, const char* stage, plait_text** out) {
  return asked(program, [&](Compiled& compiled) {
    required(out, "out") = nullptr;
    give_text(compiled.stage_text(required_text(stage, "stage")), out);
  });
}

}  // extern "C"
