// Compiled programs to files and back.
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "api/compiled_impl.h"
#include "api/program_file.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "compile/measured_text.h"
#include "session/devices.h"
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

SavedClass saved(const std::string& key, const SpecializationEntry& entry, Device& device) {
  const CompiledSpecialization& compiled = *entry.compiled;
  SavedClass out;
  out.key = key;
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
                 {"reasons", compiled.segment_reasons},
                 {"kir", fmt::format("{}", fmt::join(compiled.kernel_texts, ""))}};
  const std::vector<KernelSlot>& kernels = compiled.program->kernels;
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::string code = entry.codes.empty() ? device.machine_code(kernels[i].code) : entry.codes[i];
    out.kernels.push_back({kernels[i].code, kernels[i].schedule, kernels[i].taken, kernels[i].facts, std::move(code)});
  }
  for (const LibrarySlot& slot : compiled.program->libraries) out.library_results.push_back(slot.result);
  return out;
}

// The class as it was when it was saved.
std::shared_ptr<SpecializationEntry> loaded(SavedClass& from, Device& device, const std::string& file) {
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
    if (!slot.executable) throw MissingError(fmt::format("the library of `{}` cannot be used: {}", file, why), "", "");
  }
  compiled.program = std::make_shared<const Program>(std::move(program));
  out->texts = std::move(from.texts);
  out->report = report_of(*compiled.program, device);
  return out;
}

CompileOptions options_of(const SavedProgram& from, const LoadOptions& how) {
  CompileOptions out;
  out.device = from.device;
  out.device_override = how.device_override;
  out.warn = how.warn;
  out.sizes = {from.sizes.begin(), from.sizes.end()};
  out.one_rank = from.one_rank;
  out.comm = from.comm;
  out.interleaving = from.interleaving;
  for (const std::string& option : from.options) {
    const size_t at = option.find('=');
    set_option(out.options, option.substr(0, at), at == option.npos ? "" : option.substr(at + 1));
  }
  // Others would make classes that ask other questions than those of the file.
  out.measured = [measured = from.measured](const std::string& key, const std::string&) {
    const auto found = measured.find(key);
    return found == measured.end() ? std::vector<MeasuredSchedule>() : parse_measured(found->second);
  };
  return out;
}

std::string read_file(const std::string& path) {
  std::string out;
  errno = 0;
  if (std::FILE* const file = std::fopen(path.c_str(), "rbe")) {
    char part[1 << 16];
    while (const size_t count = std::fread(part, 1, sizeof part, file)) out.append(part, count);
    const bool failed = std::ferror(file) != 0;
    const int reason = errno;
    std::fclose(file);
    if (!failed) return out;
    errno = reason;
  }
  throw UserError(fmt::format("cannot read `{}`: {}", path, std::strerror(errno)), "",
                  "give the path of a file that `save` wrote");
}

}  // namespace

std::string Compiled::serialize() const {
  const std::lock_guard lock(impl_->mutex);
  const Impl& impl = *impl_;
  if (impl.classes.size() == 0)
    throw UserError("nothing is compiled yet", "save", "call run(), prepare() or compile_for() first");
  SavedProgram out;
  out.version = version();
  out.device = impl.options.device;
  out.needs = impl.device->code_needs();
  out.comm = impl.options.comm;
  out.interleaving = impl.options.interleaving;
  out.one_rank = impl.options.one_rank;
  out.sizes = {impl.options.sizes.begin(), impl.options.sizes.end()};
  for (const auto& [name, value] : impl.mesh_sizes) out.sizes[name] = value;
  out.options = changed_options(impl.options.options);
  if (impl.measured != nullptr)
    for (const auto& [key, schedules] : impl.measured->known()) out.measured[key] = print(schedules);
  out.fusion = print(impl.scheduled ? *impl.scheduled : *impl.fusion);
  for (const auto& slot : impl.classes.slots())
    out.classes.push_back(saved(slot.value->key, *slot.value, *impl.device));
  return pack(out);
}

void Compiled::save(const std::string& path) const { write_whole_file(path, serialize(), "save"); }

Compiled deserialize(std::string_view bytes, const LoadOptions& options, const std::string& file) {
  SavedProgram from = unpack(bytes, file);
  if (from.version != version())
    throw UserError(fmt::format("`{}` was made by plait {}, this is {}", file, from.version, version()), "",
                    "save the program again");
  const std::unique_ptr<Fusion> fusion = parse_fusion(from.fusion, {.file = file});
  Compiled out = compile(*fusion, options_of(from, options));
  Compiled::Impl& impl = *out.impl_;
  if (const std::string reason = impl.device->code_lacks(from.needs); !reason.empty())
    throw UserError(fmt::format("`{}` does not run here: {}", file, reason), "device " + impl.options.device,
                    "compile it on this machine");
  for (auto it = from.classes.rbegin(); it != from.classes.rend(); ++it) {
    const auto entry = loaded(*it, *impl.device, file);
    impl.classes.add(impl.guards.add(entry->key, entry->guards), entry, 0, impl.options.options.kept_specializations,
                     0);
  }
  return out;
}

Compiled load(const std::string& path, const LoadOptions& options) {
  return deserialize(read_file(path), options, path);
}

}  // namespace plait
