// plait comm-diff: where the ranks of a job stopped doing the same, from their flight recorders.
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "plait_command.h"
#include "plait_launch.h"

namespace plait::tool {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ranks = std::vector<int64_t>;

struct Operation {
  int64_t issue = 0, team_issue = 0;
  std::string call;  // what must be equal on all members
  std::string state, step;
  int64_t queued_us = 0;
};

struct Dump {
  int64_t rank = 0, issued = 0;
  std::string file, reason, step;
  std::map<Ranks, std::vector<Operation>> teams;  // operations that are kept, in order
  std::map<Ranks, int64_t> team_issued;
};

std::string join(const Ranks& ranks) {
  std::string out;
  for (int64_t rank : ranks) out += fmt::format("{}{}", out.empty() ? "" : ", ", rank);
  return out;
}

Operation read_operation(const json& from) {
  Operation out;
  out.issue = from.at("issue");
  out.team_issue = from.at("team_issue");
  out.state = from.at("state");
  out.step = from.at("step");
  out.queued_us = from.at("queued_us").is_null() ? 0 : from.at("queued_us").get<int64_t>();
  const Ranks counts = from.at("counts");
  out.call = fmt::format("{}({}", from.at("kind").get<std::string>(), from.at("dtype").get<std::string>());
  if (from.at("op").is_string()) out.call += ", " + from.at("op").get<std::string>();
  if (from.at("kind") == "all_reduce") {
    out.call += fmt::format(", {} elements)", from.at("total").get<int64_t>());
  } else {
    const bool cut = int64_t(counts.size()) < from.at("members").get<int64_t>();
    out.call += fmt::format(", {} x [{}{}] x {})", from.at("outer").get<int64_t>(), join(counts),
                            cut ? fmt::format(", ... = {}", from.at("total").get<int64_t>()) : "",
                            from.at("inner").get<int64_t>());
  }
  return out;
}

Dump read_dump(const fs::path& path) {
  const std::string text = read_text(path.string());
  try {
    const json from = json::parse(text);
    if (from.at("format") != "plait flight 1") throw UserError("it is of another format", path.string(), "");
    Dump out;
    out.file = path.filename().string();
    out.rank = from.at("rank");
    out.issued = from.at("issued");
    out.reason = from.at("reason");
    out.step = from.at("step");
    std::vector<Ranks> teams;
    for (const json& team : from.at("teams")) {
      teams.push_back(team.at("ranks"));
      out.team_issued[teams.back()] = team.at("issued");
      out.teams[teams.back()];
    }
    for (const json& operation : from.at("operations"))
      out.teams[teams.at(operation.at("team").get<size_t>())].push_back(read_operation(operation));
    return out;
  } catch (const json::exception& e) {
    throw UserError(fmt::format("it is no flight recorder: {}", e.what()), path.string(),
                    "remove it, or let the rank write it again");
  } catch (const std::out_of_range&) {
    throw UserError("it is no flight recorder: an operation of no team", path.string(), "remove it");
  }
}

std::map<int64_t, Dump> read_folder(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.rfind("rank_", 0) == 0 && at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error)
    throw UserError(fmt::format("`{}` cannot be read: {}", folder, error.message()), "plait comm-diff",
                    "name the folder of --option flight_record");
  if (files.empty())
    throw UserError(fmt::format("`{}` holds no rank_N.json", folder), "plait comm-diff",
                    "name the folder of --option flight_record");
  std::sort(files.begin(), files.end());
  std::map<int64_t, Dump> out;
  for (const fs::path& file : files) {
    Dump dump = read_dump(file);
    const int64_t rank = dump.rank;
    if (!out.emplace(rank, std::move(dump)).second)
      throw UserError(fmt::format("rank {} is there twice", rank), file.string(), "one file per rank, of one job");
  }
  return out;
}

// An operation of a team that members do not share.
struct Divergence {
  Ranks team;
  int64_t team_issue = 0, time = 0;
  bool differs = false;  // else some members did not come
};

const Operation* find(const Dump& dump, const Ranks& team, int64_t team_issue) {
  const auto at = dump.teams.find(team);
  if (at == dump.teams.end()) return nullptr;
  for (const Operation& operation : at->second)
    if (operation.team_issue == team_issue) return &operation;
  return nullptr;
}

// The first operation of the team where members that are known ask for different things, or that some have not come to.
std::optional<Divergence> divergence_of(const Ranks& team, const std::map<int64_t, Dump>& dumps) {
  std::set<int64_t> issues;
  int64_t least = INT64_MAX;
  std::vector<const Dump*> members;
  for (int64_t rank : team) {
    const auto at = dumps.find(rank);
    if (at == dumps.end()) continue;
    members.push_back(&at->second);
    const auto issued = at->second.team_issued.find(team);
    least = std::min(least, issued == at->second.team_issued.end() ? 0 : issued->second);
    const auto kept = at->second.teams.find(team);
    if (kept == at->second.teams.end()) continue;
    for (const Operation& operation : kept->second) issues.insert(operation.team_issue);
  }
  for (int64_t issue : issues) {
    Divergence out{team, issue, INT64_MAX, false};
    const Operation* first = nullptr;
    for (const Dump* member : members) {
      const Operation* operation = find(*member, team, issue);
      if (operation == nullptr) continue;
      out.time = std::min(out.time, operation->queued_us);
      out.differs = out.differs || (first != nullptr && first->call != operation->call);
      if (first == nullptr) first = operation;
    }
    if (out.differs || issue >= least) return out;
  }
  return std::nullopt;
}

void print_rank(const Dump& dump, const Divergence& where) {
  const Operation* operation = find(dump, where.team, where.team_issue);
  if (operation != nullptr) {
    fmt::print("  rank {}: issue {}: {}, {}{}\n", dump.rank, operation->issue, operation->call, operation->state,
               operation->step.empty() ? "" : ", in " + operation->step);
    return;
  }
  const auto issued = dump.team_issued.find(where.team);
  const int64_t count = issued == dump.team_issued.end() ? 0 : issued->second;
  if (count > where.team_issue) {
    fmt::print("  rank {}: no longer kept\n", dump.rank);
    return;
  }
  fmt::print("  rank {}: did not come; it stopped after {} of this team, {} in all{}\n", dump.rank, count, dump.issued,
             dump.step.empty() ? "" : ", in " + dump.step);
}

// The first operation of a rank that did not end well.
void print_unfinished(const Dump& dump) {
  const Operation* out = nullptr;
  for (const auto& [team, operations] : dump.teams)
    for (const Operation& operation : operations)
      if (operation.state != "done" && (out == nullptr || operation.issue < out->issue)) out = &operation;
  if (out != nullptr)
    fmt::print("  rank {}: issue {}: {}, {}{}\n", dump.rank, out->issue, out->call, out->state,
               out->step.empty() ? "" : ", in " + out->step);
}

}  // namespace

int comm_diff_command(const std::vector<std::string>& words) {
  if (words.size() != 1 || words[0].starts_with('-'))
    throw UserError(words.empty() ? "plait comm-diff needs a folder" : fmt::format("unexpected `{}`", words.back()),
                    "plait comm-diff", kCommDiffUsage);
  const std::map<int64_t, Dump> dumps = read_folder(words[0]);
  std::set<Ranks> teams;
  std::set<int64_t> absent;
  for (const auto& [rank, dump] : dumps) {
    for (const auto& [team, operations] : dump.teams) {
      teams.insert(team);
      for (int64_t member : team)
        if (!dumps.contains(member)) absent.insert(member);
    }
  }
  for (const auto& [rank, dump] : dumps)
    fmt::print("rank {}: {} operations{}{}\n", rank, dump.issued, dump.reason.empty() ? "" : "; ", dump.reason);
  for (int64_t rank : absent) fmt::print("rank {}: left no file; it was killed, or is on another host\n", rank);
  std::optional<Divergence> first;
  for (const Ranks& team : teams) {
    const auto one = divergence_of(team, dumps);
    if (one && (!first || std::make_pair(!one->differs, one->time) < std::make_pair(!first->differs, first->time)))
      first = one;
  }
  if (!first) {
    fmt::print("no divergence: the ranks that left a file came to the same operations\n");
    for (const auto& [rank, dump] : dumps) print_unfinished(dump);
    return 0;
  }
  fmt::print("first divergence: operation {} of the team of ranks {}: {}\n", first->team_issue, join(first->team),
             first->differs ? "members ask for different collectives" : "some members did not come");
  for (int64_t rank : first->team)
    if (dumps.contains(rank)) print_rank(dumps.at(rank), *first);
  return 0;
}

}  // namespace plait::tool
