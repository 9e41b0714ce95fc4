// Loading of modules.
#include <algorithm>
#include <charconv>

#include "sim/ptx/program.h"

namespace plait::sim {

PtxModule::PtxModule() = default;
PtxModule::~PtxModule() = default;

std::shared_ptr<const PtxModule> PtxModule::load(std::string_view ptx, std::string_view cuda_text) {
  auto out = std::make_shared<PtxModule>();
  out->code_ = std::make_unique<PtxCode>();
  PtxCode& code = *out->code_;
  code.module = ptx::read(ptx, cuda_text);
  out->target_ = code.module.target;
  for (const ptx::TextKernel& kernel : code.module.kernels) {
    code.programs.push_back(ptx::decode(code.module, kernel));
    out->kernels_.push_back(kernel.info);
    out->kernels_.back().bytes_in_flight = ptx::bytes_in_flight(kernel);
  }
  for (const ptx::Variable& each : code.module.globals)
    out->globals_.push_back({each.name, each.bytes, each.alignment, each.space == ptx::Space::constant, each.initial});
  return out;
}

int PtxModule::find(std::string_view kernel) const {
  for (size_t i = 0; i < kernels_.size(); ++i)
    if (kernels_[i].name == kernel) return static_cast<int>(i);
  return -1;
}

namespace {

// The number of "sm_90a"; `suffix` gets what is behind it.
int number_of(std::string_view architecture, std::string_view* suffix) {
  if (architecture.substr(0, 3) == "sm_") architecture.remove_prefix(3);
  int number = 0;
  const auto end = std::from_chars(architecture.data(), architecture.data() + architecture.size(), number).ptr;
  *suffix = architecture.substr(static_cast<size_t>(end - architecture.data()));
  return number;
}

}  // namespace

bool PtxModule::runs_on(std::string_view architecture) const {
  std::string_view own_suffix, suffix;
  const int own = number_of(target_, &own_suffix), device = number_of(architecture, &suffix);
  return own_suffix.empty() ? own <= device : own == device && own_suffix == suffix;
}

}  // namespace plait::sim
