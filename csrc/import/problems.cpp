#include "import/problems.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.h"

namespace plait {
namespace {

constexpr const char* kNearName = "did you mean";  // the name may be right all the same, and unknown here

std::string line_of(const ImportProblem& problem) {
  std::string out = problem.reason;
  if (!problem.op.empty() && problem.reason.find(problem.op) == std::string::npos) out = problem.op + ": " + out;
  if (problem.count > 1) out += fmt::format(", {} times", problem.count);
  if (!problem.nodes.empty())
    out += fmt::format(" ({}{})", fmt::join(problem.nodes, ", "),
                       problem.count > static_cast<int64_t>(problem.nodes.size()) ? ", ..." : "");
  return out;
}

std::string text_of_all(const std::vector<ImportProblem>& problems) {
  std::string out = problems.size() == 1
                        ? "the model cannot be imported: "
                        : fmt::format("the model cannot be imported, for {} reasons:", problems.size());
  for (const ImportProblem& each : problems) out += (problems.size() == 1 ? "" : "\n    ") + line_of(each);
  return out;
}

// What to do about them, each remedy once.
std::string remedies_of(const std::vector<ImportProblem>& problems) {
  std::vector<std::string> all;
  bool no_remedy = false;
  for (const ImportProblem& each : problems) {
    no_remedy = no_remedy || each.remedy.empty() || each.remedy.starts_with(kNearName);
    if (!each.remedy.empty() && std::find(all.begin(), all.end(), each.remedy) == all.end()) all.push_back(each.remedy);
  }
  if (no_remedy)
    all.emplace_back("export the model without these, or cut it there; docs/importing.md lists what is read");
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace

std::string likely_name(const std::string& word, const std::vector<std::string>& known) {
  const std::string out = suggestion(word, known);
  return out.starts_with(kNearName) ? out : "";
}

ImportError::ImportError(std::vector<ImportProblem> problems, const std::string& file)
    : UserError(text_of_all(problems), file, remedies_of(problems)), problems_(std::move(problems)) {}

void Problems::note(const std::string& reason, const std::string& op, const std::string& node,
                    const std::string& remedy) {
  const auto [at, fresh] = places_.emplace(std::pair(reason, op), found_.size());
  if (fresh) found_.push_back({reason, op, remedy, {}, 0});
  if (!seen_.emplace(at->second, node).second) return;
  ImportProblem& problem = found_[at->second];
  ++problem.count;
  if (problem.nodes.size() < kMostNamed && !node.empty()) problem.nodes.push_back(node);
}

void Problems::raise(const std::string& file) const {
  if (!found_.empty()) throw ImportError(found_, file);
}

}  // namespace plait
