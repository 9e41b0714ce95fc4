#include <nlohmann/json.hpp>
#include <sstream>

#include "api/page_files.h"
#include "api/view_document.h"
#include "base/error.h"

namespace plait {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string_view page_file(std::string_view name) {
  for (const PageFile& file : kPageFiles)
    if (file.name == name) return file.text;
  throw InternalError(fmt::format("the page has no file {}", name), "view", "");
}

// A document inside of a script: no `<` of it ends the element.
std::string as_script(const std::string& json) {
  std::string out;
  for (char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

void put(std::string& page, std::string_view mark, std::string_view text) {
  const size_t at = page.find(mark);
  PLAIT_CHECK(at != page.npos, "the page has no place for {}", mark);
  page.replace(at, mark.size(), text);
}

[[noreturn]] void refuse_document() {
  throw UserError("it is no document of a program", "view", "plait run FILE --trace OUT.json writes one");
}

// Discarded where it is no JSON. Documents have few levels; what is deeper is not read.
OrderedJson parsed(std::string_view text) {
  constexpr int kMostLevels = 16;
  bool deep = false;
  const auto look = [&](int depth, OrderedJson::parse_event_t, OrderedJson&) {
    return !(deep = deep || depth > kMostLevels);
  };
  OrderedJson out = OrderedJson::parse(text, look, false);
  if (deep) refuse_document();
  return out;
}

void check_fields(const OrderedJson& json) {
  for (const char* field : {"title", "version", "device", "layouts_svg", "layouts_text"})
    if (!json.contains(field) || !json[field].is_string()) refuse_document();
  for (const char* field : {"mesh", "stages", "tensors", "ops", "segments", "boundaries", "kernels", "steps", "memory"})
    if (!json.contains(field) || !json[field].is_array()) refuse_document();
  for (const char* field : {"sizes", "counts", "times"})
    if (!json.contains(field) || !json[field].is_object()) refuse_document();
  if (!json.contains("ranks") || !json["ranks"].is_number_integer() || !json.contains("timeline")) refuse_document();
}

}  // namespace

std::string view_page(std::string_view document) {
  OrderedJson json = parsed(document);
  if (json.is_object() && json.contains("plait")) json = OrderedJson(json["plait"]);  // of a trace
  if (!json.is_object() || !json.contains("format") || !json["format"].is_number_unsigned()) refuse_document();
  if (json["format"] != kViewFormat)
    throw UserError(
        fmt::format("the document has format {}, this plait shows {}", json["format"].get<uint64_t>(), kViewFormat),
        "view", "show it with the plait that wrote it");
  check_fields(json);
  std::string script;
  std::istringstream order{std::string(page_file("order.txt"))};
  for (std::string name; order >> name;) script += page_file(name);
  std::string page(page_file("page.html"));
  put(page, "/*STYLE*/", page_file("page.css"));
  put(page, "/*SCRIPT*/", script);
  put(page, "/*DOCUMENT*/", as_script(json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace)));
  return page;
}

}  // namespace plait
