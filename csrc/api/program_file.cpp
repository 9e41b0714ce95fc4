#include "api/program_file.h"

#include <cstring>
#include <nlohmann/json.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "api/or_null.h"
#include "base/error.h"

namespace plait {
namespace {

using Json = nlohmann::json;

constexpr char kMagic[8] = {'p', 'l', 'a', 'i', 't', 'c', '\r', '\n'};

struct Head {
  char magic[8];
  uint64_t format, table_bytes, rest_bytes;
  uint64_t checksum[2];  // of the table and the rest
};

XXH128_hash_t hash_of(std::string_view body) { return XXH3_128bits(body.data(), body.size()); }

// Texts and code, by place in what follows the table; equal ones (kernels of one unit have its code) are there once.
class Bodies {
 public:
  // The text stays where it is as long as this is used.
  Json put(const std::string& text) {
    const auto [found, added] = places_.emplace(text, bytes_.size());
    if (added) bytes_ += text;
    return {found->second, text.size()};
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::map<std::string_view, size_t> places_;
  std::string bytes_;
};

class Table {
 public:
  explicit Table(std::string_view rest) : rest_(rest) {}

  // One of all that name it.
  std::shared_ptr<const std::string> shared_text(const Json& at) const {
    std::shared_ptr<const std::string>& known = shared_[{at.at(0).get<uint64_t>(), at.at(1).get<uint64_t>()}];
    if (known == nullptr) known = std::make_shared<const std::string>(text(at));
    return known;
  }

  std::string text(const Json& at) const {
    const auto begin = at.at(0).get<uint64_t>(), size = at.at(1).get<uint64_t>();
    if (begin > rest_.size() || size > rest_.size() - begin) throw std::out_of_range("a text outside of the file");
    return std::string(rest_.substr(begin, size));
  }

 private:
  std::string_view rest_;
  mutable std::map<std::pair<uint64_t, uint64_t>, std::shared_ptr<const std::string>> shared_;  // by place
};

template <class T>
std::optional<T> if_there(const Json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

Json json_of(const SavedKernel& kernel, Bodies& bodies) {
  const KernelText& text = kernel.text;
  const KernelFacts& facts = kernel.facts;
  return {{"name", text.name},
          {"text", bodies.put(text.text)},
          {"buffers", text.buffers},
          {"integers", text.integers},
          {"status", text.status},
          {"workspaces", text.workspaces},
          {"counters", text.counters},
          {"launch_shared_bytes", text.shared_bytes},
          {"follows", text.follows},
          {"waves", text.waves},
          {"schedule", kernel.schedule},
          {"taken", kernel.taken},
          {"registers", or_null<Json>(facts.registers)},
          {"spill_bytes", or_null<Json>(facts.spill_bytes)},
          {"shared_bytes", or_null<Json>(facts.shared_bytes)},
          {"instructions", or_null<Json>(facts.instructions)},
          {"arch", facts.arch},
          {"code", bodies.put(*kernel.code)}};
}

SavedKernel kernel_of(const Json& json, const Table& table) {
  SavedKernel out;
  KernelText& text = out.text;
  json.at("name").get_to(text.name);
  text.text = table.text(json.at("text"));
  json.at("buffers").get_to(text.buffers);
  json.at("integers").get_to(text.integers);
  json.at("status").get_to(text.status);
  json.at("workspaces").get_to(text.workspaces);
  json.at("counters").get_to(text.counters);
  json.at("follows").get_to(text.follows);
  json.at("waves").get_to(text.waves);
  json.at("launch_shared_bytes").get_to(text.shared_bytes);
  constexpr size_t kMostPhases = 4096;
  if (text.waves.empty() || text.waves.size() > kMostPhases || text.workspaces + text.counters > text.buffers)
    throw std::out_of_range("a kernel that no compiler makes");
  if (!text.shared_bytes.empty() && text.shared_bytes.size() != text.phases())
    throw std::out_of_range("a kernel that no compiler makes");
  for (size_t count : text.waves)
    if (count == 0 || count > kMostPhases) throw std::out_of_range("a kernel that no compiler makes");
  json.at("schedule").get_to(out.schedule);
  json.at("taken").get_to(out.taken);
  out.facts.registers = if_there<int>(json.at("registers"));
  out.facts.spill_bytes = if_there<int>(json.at("spill_bytes"));
  out.facts.shared_bytes = if_there<int>(json.at("shared_bytes"));
  out.facts.instructions = if_there<int64_t>(json.at("instructions"));
  json.at("arch").get_to(out.facts.arch);
  out.facts.from_disk = true;
  out.code = table.shared_text(json.at("code"));
  return out;
}

Json json_of(const SavedLookup& lookup) {
  return {{"op", lookup.op},       {"index", lookup.index}, {"in", lookup.in},        {"places", lookup.places},
          {"shape", lookup.shape}, {"dim", lookup.dim},     {"extent", lookup.extent}};
}

SavedLookup lookup_of(const Json& json) {
  SavedLookup out;
  json.at("op").get_to(out.op);
  json.at("index").get_to(out.index);
  json.at("in").get_to(out.in);
  json.at("places").get_to(out.places);
  json.at("shape").get_to(out.shape);
  json.at("dim").get_to(out.dim);
  json.at("extent").get_to(out.extent);
  return out;
}

Json json_of(const SavedClass& made, Bodies& bodies) {
  Json answers = Json::array(), lookups = Json::array(), texts = Json::object(), kernels = Json::array();
  Json kernel_texts = Json::array();
  for (const SavedAnswer& answer : made.answers) answers.push_back({answer.condition, answer.asked_by, answer.yes});
  for (const SavedLookup& lookup : made.lookups) lookups.push_back(json_of(lookup));
  for (const auto& [stage, text] : made.texts) texts[stage] = bodies.put(text);
  for (const std::string& text : made.kernel_texts) kernel_texts.push_back(bodies.put(text));
  for (const SavedKernel& kernel : made.kernels) kernels.push_back(json_of(kernel, bodies));
  return {{"key", made.key},         {"answers", answers},
          {"refused", made.refused}, {"lookups", lookups},
          {"texts", texts},          {"kernel_texts", kernel_texts},
          {"kernels", kernels},      {"library_results", made.library_results}};
}

SavedClass class_of(const Json& json, const Table& table) {
  SavedClass out;
  json.at("key").get_to(out.key);
  for (const Json& answer : json.at("answers"))
    out.answers.push_back({answer.at(0).get<std::string>(), answer.at(1).get<std::string>(), answer.at(2).get<bool>()});
  json.at("refused").get_to(out.refused);
  for (const Json& lookup : json.at("lookups")) out.lookups.push_back(lookup_of(lookup));
  for (const auto& [stage, at] : json.at("texts").items()) out.texts[stage] = table.text(at);
  for (const Json& at : json.at("kernel_texts")) out.kernel_texts.push_back(table.text(at));
  for (const Json& kernel : json.at("kernels")) out.kernels.push_back(kernel_of(kernel, table));
  json.at("library_results").get_to(out.library_results);
  return out;
}

[[noreturn]] void refuse(const std::string& file, const std::string& what, const std::string& remedy) {
  throw UserError(fmt::format("`{}` {}", file, what), "", remedy);
}

constexpr const char* kSaveAgain = "save the program again";

// A file of a table and what follows it. UserError: the table holds what is no text.
std::string whole_file(const Json& table, const Bodies& bodies) {
  std::string head_text;
  try {
    head_text = table.dump();
  } catch (const Json::exception& e) {
    throw UserError(fmt::format("a name or option is no text in UTF-8: {}", e.what()), "save", "");
  }
  const std::string body = head_text + bodies.bytes();
  const XXH128_hash_t hash = hash_of(body);
  Head head{};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  head.format = kProgramFormat;
  head.rest_bytes = bodies.bytes().size();
  head.table_bytes = body.size() - head.rest_bytes;
  head.checksum[0] = hash.low64;
  head.checksum[1] = hash.high64;
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + body;
}

// What `read` makes of a file's table.
template <class Read>
auto read_whole(std::string_view bytes, const std::string& file, Read read) {
  if (!is_program_file(bytes)) refuse(file, "is no compiled program", "give a file that `save` wrote");
  Head head{};
  if (bytes.size() < sizeof head) refuse(file, "is cut", kSaveAgain);
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.format != kProgramFormat)
    refuse(file, fmt::format("has format {}, this plait reads {}", head.format, kProgramFormat), kSaveAgain);
  const std::string_view body = bytes.substr(sizeof head);
  if (head.table_bytes > body.size() || head.rest_bytes > body.size() - head.table_bytes)
    refuse(file, "is cut", kSaveAgain);
  if (const size_t more = body.size() - head.table_bytes - head.rest_bytes; more > 0)
    refuse(file, fmt::format("goes on behind its end, {} {} more", more, more == 1 ? "byte" : "bytes"), kSaveAgain);
  const XXH128_hash_t hash = hash_of(body);
  if (hash.low64 != head.checksum[0] || hash.high64 != head.checksum[1]) refuse(file, "is damaged", kSaveAgain);
  try {
    return read(Json::parse(body.substr(0, head.table_bytes)), Table(body.substr(head.table_bytes)));
  } catch (const std::exception& e) {  // the checksum is right, what it is of is not
    refuse(file, fmt::format("is no compiled program: {}", e.what()), kSaveAgain);
  }
}

}  // namespace

bool is_program_file(std::string_view bytes) {
  return bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
}

std::string pack(const SavedClass& made) {
  Bodies bodies;
  return whole_file(json_of(made, bodies), bodies);
}

SavedClass unpack_class(std::string_view bytes, const std::string& file) {
  return read_whole(bytes, file, [](const Json& json, const Table& table) { return class_of(json, table); });
}

std::string pack(const SavedProgram& program) {
  Bodies bodies;
  Json classes = Json::array();
  for (const SavedClass& made : program.classes) classes.push_back(json_of(made, bodies));
  const Json table = {{"version", program.version},
                      {"device", program.device},
                      {"needs", program.needs},
                      {"comm", program.comm},
                      {"interleaving", program.interleaving},
                      {"one_rank", program.one_rank},
                      {"sizes", program.sizes},
                      {"options", program.options},
                      {"measured", program.measured},
                      {"last_sizes", program.last_sizes},
                      {"fusion", bodies.put(program.fusion)},
                      {"classes", classes}};
  return whole_file(table, bodies);
}

SavedProgram unpack(std::string_view bytes, const std::string& file) {
  return read_whole(bytes, file, [](const Json& json, const Table& table) {
    SavedProgram out;
    json.at("version").get_to(out.version);
    json.at("device").get_to(out.device);
    json.at("needs").get_to(out.needs);
    json.at("comm").get_to(out.comm);
    json.at("interleaving").get_to(out.interleaving);
    json.at("one_rank").get_to(out.one_rank);
    json.at("sizes").get_to(out.sizes);
    json.at("options").get_to(out.options);
    json.at("measured").get_to(out.measured);
    json.at("last_sizes").get_to(out.last_sizes);
    out.fusion = table.text(json.at("fusion"));
    for (const Json& made : json.at("classes")) out.classes.push_back(class_of(made, table));
    if (out.classes.empty()) throw std::out_of_range("it has no specialization");
    return out;
  });
}

}  // namespace plait
