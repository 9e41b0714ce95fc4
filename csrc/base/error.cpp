#include "base/error.h"

namespace plait {

Error::Error(std::string what, std::string where, std::string remedy)
    : message_(std::move(what)), where_(std::move(where)), remedy_(std::move(remedy)) {
  compose();
}

void Error::add_place(const std::string& place) {
  where_ = where_.empty() ? place : place + "; " + where_;
  compose();
}

void Error::compose() {
  text_ = message_;
  if (!where_.empty()) text_ += "\n  at: " + where_;
  if (!remedy_.empty()) text_ += "\n  help: " + remedy_;
}

void internal_failure(const char* file, int line, const char* condition, std::string message) {
  std::string_view path(file);
  if (auto at = path.rfind("csrc/"); at != path.npos) path.remove_prefix(at);
  throw InternalError(fmt::format("{} ({})", message, condition), fmt::format("{}:{}", path, line), "");
}

}  // namespace plait
