#include "api/kept_specializations.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/saved_class.h"
#include "backend/disk_cache.h"
#include "base/library_search.h"
#include "base/log.h"
#include "compile/measured_text.h"

namespace plait {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostVariants = 32;  // of one key: other answers, other measured schedules

DiskCache* other_cache = nullptr;

// What sizes, and what was measured, must be like: the conditions with their answers, and texts of schedules by key.
Json conditions_of(const SpecializationEntry& entry, const std::map<std::string, std::string>& told) {
  Json answers = Json::array();
  for (const sym::Answer& answer : entry.guards) answers.push_back({answer.guard.text(), answer.yes});
  return {{"answers", answers}, {"measured", told}};
}

bool holds(const Json& conditions, const Compiled::Impl& program) {
  const sym::Environment sizes = program.environment();
  sym::Pool pool;
  for (const Json& answer : conditions.at("answers")) {
    const sym::Guard guard(sym::parse(pool, answer.at(0).get<std::string>()), "");
    if (guard.holds(sizes, program.ranks) != answer.at(1).get<bool>()) return false;
  }
  for (const auto& [key, text] : conditions.at("measured").items()) {
    const auto known = program.options.measured ? program.options.measured(key, "") : std::vector<MeasuredSchedule>();
    if (print(known) != text.get<std::string>()) return false;
  }
  return true;
}

std::string source_of_key(const std::string& source, const std::string& key) { return source + "\nof " + key; }
std::string source_of_variant(const std::string& of_key, const Json& conditions) {
  return of_key + "\nwhere " + conditions.dump();
}

Json variants_of(const std::string& of_key) {
  const Json kept = Json::parse(specializations_on_disk().find(of_key).value_or(""), nullptr, false);
  return kept.is_array() ? kept : Json::array();
}

}  // namespace

DiskCache& specializations_on_disk() {
  if (other_cache != nullptr) return *other_cache;
  static DiskCache& cache = DiskCache::beside("specializations", "PLAIT_CACHE_SPECIALIZATIONS_MIB", 512);
  return cache;
}

void set_specializations_on_disk(DiskCache* cache) { other_cache = cache; }

std::string KeptSpecializations::find_source() const {
  const CompileOptions& how = program_.options;
  const bool watched =
      (how.dumps != nullptr && !how.dumps->idle()) || how.passes != nullptr || how.hook || !how.until.empty();
  Device& device = *program_.device;
  if (!how.options.disk_cache || !how.whole_on_disk || watched || program_.bisect ||
      device.target().kind == TargetKind::reference || !specializations_on_disk().why_not().empty())
    return "";
  const std::string compiler = device.compiler_identity();
  if (compiler.empty()) return "";
  const Target& target = device.target();
  std::string out = fmt::format("specialization, {}: {}\n{}, {}, {}\n{}, {} {} {}\n{}\nmesh", kProgramFormat,
                                library_identity(reinterpret_cast<const void*>(&specializations_on_disk)),
                                device.name(), device.code_needs(), compiler, print(target), target.vector_lanes,
                                target.registers, target.block_threads, cache_key(how.options));
  for (const auto& [name, size] : program_.mesh_sizes) out += fmt::format(" {}={}", name, size);
  for (int64_t size : program_.mesh.sizes()) out += fmt::format(" {}", size);
  return out + fmt::format(", {}{}\n{}", how.comm, how.measured ? "" : ", not measured",
                           print(program_.scheduled ? *program_.scheduled : *program_.fusion));
}

const std::string& KeptSpecializations::source() {
  if (looked_) return source_;
  looked_ = true;
  try {
    source_ = find_source();
  } catch (const std::exception& e) {  // no compiler is here: what needs none runs all the same
    log(LogComponent::cache, LogLevel::info, "@{}: specializations are not kept on disk: {}", program_.fusion->name(),
        e.what());
  }
  return source_;
}

std::shared_ptr<SpecializationEntry> KeptSpecializations::find(const std::string& key) try {
  if (source().empty()) return nullptr;
  const std::string of_key = source_of_key(source_, key);
  for (const Json& conditions : variants_of(of_key)) {
    try {
      if (!holds(conditions, program_)) continue;
      const auto bytes = specializations_on_disk().find(source_of_variant(of_key, conditions));
      if (!bytes) continue;
      SavedClass from = unpack_class(*bytes, "specialization on disk");
      if (from.key == key) return loaded_class(from, *program_.device, "specialization on disk");
    } catch (const std::exception& e) {
      log(LogComponent::cache, LogLevel::info, "@{}: its specialization on disk is compiled again: {}",
          program_.fusion->name(), e.what());
    }
  }
  return nullptr;
} catch (const std::exception&) {  // no memory: nothing was found
  return nullptr;
}

CompileOptions KeptSpecializations::watching(const CompileOptions& options) {
  CompileOptions out = options;
  if (source().empty()) return out;
  told_.clear();
  warned_ = false;
  if (options.measured)
    out.measured = [this, &options](const std::string& key, const std::string& segment) {
      std::vector<MeasuredSchedule> known = options.measured(key, segment);
      const std::lock_guard lock(mutex_);
      told_[key] = print(known);
      return known;
    };
  out.warn = [this, &options](const std::string& line) {
    warned_ = true;
    warn(options, line);
  };
  return out;
}

void KeptSpecializations::store(const SpecializationEntry& entry) try {
  if (source().empty() || warned_ || program_.device->lacked_library()) return;
  const std::string of_key = source_of_key(source_, entry.key);
  const Json conditions = conditions_of(entry, told_);
  specializations_on_disk().store(source_of_variant(of_key, conditions), pack(saved_class(entry, *program_.device)));
  Json variants = variants_of(of_key);
  if (std::find(variants.begin(), variants.end(), conditions) != variants.end()) return;
  variants.insert(variants.begin(), conditions);
  if (variants.size() > kMostVariants) variants.erase(variants.begin() + kMostVariants, variants.end());
  specializations_on_disk().store(of_key, variants.dump());
} catch (const std::exception& e) {
  log(LogComponent::cache, LogLevel::info, "@{}: its specialization is not kept on disk: {}", program_.fusion->name(),
      e.what());
}

}  // namespace plait
