#pragma once
// The helper functions that a kernel's text pastes in.
#include <set>
#include <string>
#include <string_view>

namespace plait::codegen::cuda {

// Names of files of codegen/device (without .cuh) that a text needs.
class Helpers {
 public:
  // Notes that the text needs the file and what that file needs; an unknown name is an internal error.
  void need(std::string_view name);
  // Text of all noted files, each after those that it needs; otherwise in order of name.
  std::string text() const;

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace plait::codegen::cuda
