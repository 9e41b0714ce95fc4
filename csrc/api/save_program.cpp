// Compiled programs to files and back.
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "api/compiled_impl.h"
#include "api/saved_class.h"
#include "base/error.h"
#include "base/file_writer.h"
#include "compile/measured_text.h"
#include "session/devices.h"

namespace plait {
namespace {

// An option whose value is not that of the file.
void set_at_load(Options& options, const std::string& name, const std::string& value) {
  for (const OptionInfo& known : option_table())
    if (known.name == name && known.enters_cache_key)
      throw UserError(fmt::format("option `{}` makes other kernels than the file has", name), "load",
                      "give it where the program is compiled");
  set_option(options, name, value);
}

CompileOptions options_of(const SavedProgram& from, const LoadOptions& how) {
  CompileOptions out;
  out.device = from.device;
  out.device_override = how.device_override;
  out.warn = how.warn;
  out.on_step = how.on_step;
  out.sizes = {from.sizes.begin(), from.sizes.end()};
  out.one_rank = from.one_rank;
  out.comm = from.comm;
  out.interleaving = from.interleaving;
  for (const std::string& option : from.options) {
    const size_t at = option.find('=');
    set_option(out.options, option.substr(0, at), at == option.npos ? "" : option.substr(at + 1));
  }
  for (const auto& [name, value] : how.settings) set_at_load(out.options, name, value);
  if (how.device_for) out.device_override = how.device_for(out);
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
  if (impl.classes.size() == 0) throw UserError("nothing is compiled yet", "save", "run or prepare the program first");
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
  out.last_sizes = {impl.last_sizes.begin(), impl.last_sizes.end()};
  if (impl.measured != nullptr)
    for (const auto& [key, schedules] : impl.measured->known()) out.measured[key] = print(schedules);
  out.fusion = print(impl.scheduled ? *impl.scheduled : *impl.fusion);
  for (const auto& slot : impl.classes.slots()) out.classes.push_back(saved_class(*slot.value, *impl.device));
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
  for (auto it = from.classes.rbegin(); it != from.classes.rend(); ++it)
    impl.keep_class_of_file(loaded_class(*it, *impl.device, file));
  impl.go_on_with({from.last_sizes.begin(), from.last_sizes.end()});
  return out;
}

Compiled load(const std::string& path, const LoadOptions& options) {
  return deserialize(read_file(path), options, path);
}

}  // namespace plait
