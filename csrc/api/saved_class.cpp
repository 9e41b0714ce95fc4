#include "api/saved_class.h"

#include "base/error.h"
#include "shard/explain.h"

namespace plait {
namespace {

std::vector<std::string> texts_of(const std::vector<sym::Expr>& exprs) {
  std::vector<std::string> out;
  for (sym::Expr e : exprs) out.push_back(sym::print(e));
  return out;
}

std::vector<sym::Expr> exprs_of(sym::Pool& pool, const std::vector<std::string>& texts) {
  std::vector<sym::Expr> out;
  for (const std::string& text : texts) out.push_back(sym::parse(pool, text));
  return out;
}

}  // namespace

SavedClass saved_class(const SpecializationEntry& entry, Device& device) {
  const CompiledSpecialization& compiled = *entry.compiled;
  SavedClass out;
  out.key = entry.key;
  for (const sym::Answer& answer : entry.guards)
    out.answers.push_back({answer.guard.text(), answer.guard.asked_by(), answer.yes});
  out.refused = {entry.refused.begin(), entry.refused.end()};
  for (const Lookup& l : compiled.lookups)
    out.lookups.push_back(
        {l.op, l.index, l.in, texts_of(l.places), texts_of(l.shape), l.dim, l.extent ? sym::print(l.extent) : ""});
  out.texts = entry.texts;
  if (out.texts.empty())
    out.texts = {{"graph", print(*compiled.graph)},
                 {"sharded", print(*compiled.sharded)},
                 {"segmented", print(*compiled.localized)},
                 {"program", print(*compiled.program)},
                 {"shard", explain_sharding(*compiled.sharded)},
                 {"reasons", compiled.segment_reasons}};
  out.kernel_texts = compiled.kernel_texts;
  const std::vector<KernelSlot>& kernels = compiled.program->kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::shared_ptr<const std::string> code =
        entry.codes.empty() ? device.machine_code(kernels[i].code) : entry.codes[i];
    out.kernels.push_back({kernels[i].code, kernels[i].schedule, kernels[i].taken, kernels[i].facts, std::move(code)});
  }
  for (const LibrarySlot& slot : compiled.program->libraries) out.library_results.push_back(slot.result);
  return out;
}

std::shared_ptr<SpecializationEntry> loaded_class(SavedClass& from, Device& device, const std::string& file) {
  auto out = std::make_shared<SpecializationEntry>();
  out->key = from.key;
  out->refused = {from.refused.begin(), from.refused.end()};
  out->compiled = std::make_unique<CompiledSpecialization>();
  CompiledSpecialization& compiled = *out->compiled;
  const auto text = [&](const char* stage) -> const std::string& {
    const auto it = from.texts.find(stage);
    if (it == from.texts.end()) throw UserError(fmt::format("`{}` has no stage {}", file, stage), "", "save it again");
    return it->second;
  };
  compiled.sharded = parse_fusion(text("sharded"), {.file = file + ", sharded"});
  compiled.segment_reasons = text("reasons");
  compiled.kernel_texts = std::move(from.kernel_texts);
  sym::Pool& pool = compiled.sharded->pool();
  for (const SavedLookup& l : from.lookups)
    compiled.lookups.push_back({l.op, l.index, l.in, exprs_of(pool, l.places), exprs_of(pool, l.shape), l.dim,
                                l.extent.empty() ? sym::Expr() : sym::parse(pool, l.extent)});
  sym::Pool conditions;
  for (const SavedAnswer& answer : from.answers)
    out->guards.push_back({sym::Guard(sym::parse(conditions, answer.condition), answer.asked_by), answer.yes});
  Program program = parse_program(text("program"), file + ", program");
  if (program.kernels.size() != from.kernels.size() || program.libraries.size() != from.library_results.size())
    throw UserError(fmt::format("`{}` lacks kernels of its program", file), "", "save it again");
  for (size_t i = 0; i < from.kernels.size(); ++i) {
    SavedKernel& kernel = from.kernels[i];
    const KernelText& said = program.kernels[i].code;
    if (said.name != kernel.text.name || said.buffers != kernel.text.buffers || said.integers != kernel.text.integers)
      throw UserError(fmt::format("`{}` has another kernel @{} than its program", file, kernel.text.name), "",
                      "save it again");
    std::shared_ptr<Executable> executable = device.load(kernel.text, kernel.code, kernel.facts);
    program.kernels[i] = {std::move(kernel.text), std::move(kernel.schedule), std::move(kernel.taken),
                          std::move(kernel.facts), std::move(executable)};
    out->codes.push_back(std::move(kernel.code));
  }
  for (size_t i = 0; i < program.libraries.size(); ++i) {
    LibrarySlot& slot = program.libraries[i];
    std::string why;
    slot.executable = device.library(slot.contraction, &why);
    slot.result = from.library_results[i];
    if (!slot.executable)
      throw MissingError(fmt::format("the library of `{}` cannot be used: {}", file, why), "device " + device.name(),
                         "install it (`plait doctor` says what is here), or compile the program again on this machine");
  }
  compiled.program = std::make_shared<const Program>(std::move(program));
  out->texts = std::move(from.texts);
  out->report = report_of(*compiled.program, device);
  out->report.from_disk = true;
  return out;
}

}  // namespace plait
