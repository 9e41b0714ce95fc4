#pragma once
// All that an import cannot do, collected.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "import/imported.h"

namespace plait {

// "did you mean `MatMul`?" of "MatMull"; empty where no name is near.
std::string likely_name(const std::string& word, const std::vector<std::string>& known);

class Problems {
 public:
  // Nodes with the same reason and op are one problem; a node is counted once for each.
  void note(const std::string& reason, const std::string& op, const std::string& node, const std::string& remedy = "");
  bool empty() const { return found_.empty(); }
  // ImportError where there are any.
  void raise(const std::string& file) const;

 private:
  std::vector<ImportProblem> found_;
  std::map<std::pair<std::string, std::string>, size_t> places_;  // of reason and op
  std::set<std::pair<size_t, std::string>> seen_;                 // of problem and node
};

}  // namespace plait
