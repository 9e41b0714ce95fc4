#pragma once
// What was found wrong, in order.
#include <deque>
#include <string>

namespace plait::sim {

// The list of findings. Each is printed to standard error when it is added. A text that is in the list already is not
// added again, and a list of 1,000 that nobody takes grows no more.
class Findings {
 public:
  void add(std::string text);
  std::string take();  // all, separated by empty lines; empties the list
  // Texts that callers of cuGetErrorString may hold for ever.
  const char* keep(std::string text);

 private:
  std::deque<std::string> list_, kept_;
};

}  // namespace plait::sim
