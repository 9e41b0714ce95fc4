#include <nlohmann/json.hpp>
#include <sstream>

#include "api/page_files.h"
#include "api/view_document.h"
#include "base/error.h"

namespace plait {
namespace {

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

}  // namespace

std::string view_page(std::string_view document) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(document, nullptr, false);
  if (json.is_object() && json.contains("plait")) json = nlohmann::ordered_json(json["plait"]);  // of a trace
  const bool known = json.is_object() && json.contains("format") && json["format"].is_number_integer();
  if (!known) throw UserError("it is no document of a program", "view", "plait run FILE --trace OUT.json writes one");
  if (json["format"] != kViewFormat)
    throw UserError(
        fmt::format("the document has format {}, this plait shows {}", json["format"].get<int64_t>(), kViewFormat),
        "view", "show it with the plait that wrote it");
  std::string script;
  std::istringstream order{std::string(page_file("order.txt"))};
  for (std::string name; order >> name;) script += page_file(name);
  std::string page(page_file("page.html"));
  put(page, "/*STYLE*/", page_file("page.css"));
  put(page, "/*SCRIPT*/", script);
  put(page, "/*DOCUMENT*/", as_script(json.dump()));
  return page;
}

}  // namespace plait
