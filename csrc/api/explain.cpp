#include "api/explain.h"

#include <algorithm>
#include <limits>

#include "api/inspect.h"
#include "api/overview.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "run/memory_picture.h"
#include "run/wire_table.h"
#include "schedule/scheduler.h"
#include "session/bind_inputs.h"

namespace plait {
namespace {

std::string fact(const std::optional<int>& value) { return value ? std::to_string(*value) : "-"; }

std::string names(const std::vector<TensorView*>& tensors) {
  std::string out;
  for (const TensorView* t : tensors) out += (out.empty() ? "%" : ", %") + t->name;
  return out;
}

std::string op_names(const Segment& segment) {
  std::string out;
  for (const Op* op : segment.ops) out += (out.empty() ? "" : " ") + std::string(text_name(*op));
  return out;
}

std::string segments_text(const Fusion& localized) {
  std::vector<std::vector<std::string>> rows = {{"segment", "schedule", "inputs", "outputs", "ops"}};
  const auto& all = localized.segments;
  const bool joined = std::any_of(all.begin(), all.end(), [](const Segment& s) { return !s.joins.empty(); });
  if (joined) rows[0].insert(rows[0].begin() + 1, "launch");
  for (const Segment& s : all) {
    rows.push_back({s.name, print(s.schedule), names(s.inputs), names(s.outputs), op_names(s)});
    if (joined) rows.back().insert(rows.back().begin() + 1, s.joins.empty() ? s.name : s.joins);
  }
  return table(rows);
}

// `any multiple of 16 from 16 on`; no extent is over 2^31 - 1.
std::string words(const sym::Facts::Row& row) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (row.lo && row.lo == row.hi) return fmt::format("= {}", *row.lo);
  std::string out = row.multiple_of > 1 ? fmt::format("any multiple of {}", row.multiple_of) : "any";
  if (row.lo) out += fmt::format(" from {}", *row.lo);
  if (row.hi && *row.hi < kMost) out += fmt::format(" to {}", *row.hi);
  if (row.lo && (!row.hi || *row.hi >= kMost)) out += " on";
  return row.below.empty() ? out : out + " below " + row.below;
}

// `n, m any from 1 on; b = 1`: sizes of which the same is known together.
std::string words(const sym::Facts& facts) {
  std::vector<std::pair<std::string, std::string>> groups;  // words, names
  for (const auto& [name, row] : facts.rows()) {
    const std::string said = words(row);
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == said; });
    if (known == groups.end())
      groups.emplace_back(said, name);
    else
      known->second += ", " + name;
  }
  std::string out;
  for (const auto& [said, names] : groups) out += fmt::format("{}{} {}", out.empty() ? "" : "; ", names, said);
  return out.empty() ? "none" : out;
}

std::string cache_text(const Compiled& compiled) {
  const sym::Environment sizes = compiled.sizes();
  const Specialization specialize =
      plait::specialize({sizes.begin(), sizes.end()}, mesh_symbols(compiled.fusion().mesh(), compiled.mesh()));
  const std::string options = cache_key(compiled.options().options);
  std::string axes;
  for (int64_t size : compiled.mesh().sizes()) axes += fmt::format("{}{}", axes.empty() ? "" : " x ", size);
  std::string guards;
  for (const sym::Answer& answer : compiled.guards())
    guards += fmt::format("guard:   {} (asked by {})\n", print(answer), answer.guard.asked_by());
  std::string seen;
  for (const auto& [name, value] : compiled.representative())
    seen += fmt::format("{}{} = {}", seen.empty() ? "" : ", ", name, value);
  return fmt::format("sizes:   {}\ngiven:   {}\n{}costs:   {}\nmesh:    {}\noptions: {}\ndevice:  {}\n",
                     words(specialize.facts), specialize.key.empty() ? "nothing" : specialize.key, guards,
                     seen.empty() ? "no size is open" : seen, axes.empty() ? "none" : axes,
                     options.empty() ? "defaults" : options, compiled.options().device);
}

// Parts with an empty line between them; those without a text are left out.
std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) {
    const size_t first = part.find_first_not_of('\n');
    if (first == part.npos) continue;
    out += (out.empty() ? "" : "\n") + part.substr(first, part.find_last_not_of('\n') + 1 - first) + "\n";
  }
  return out;
}

// An alias is no step, and nothing could be saved there.
std::vector<Boundary> between_steps(const Compiled& compiled) {
  std::vector<Boundary> out = boundaries_of(compiled);
  std::erase_if(out, [](const Boundary& boundary) { return boundary.refusers.front().by == "alias"; });
  return out;
}

}  // namespace

std::string kernel_table(const std::vector<KernelReport>& kernels) {
  std::vector<std::vector<std::string>> rows = {
      {"kernel", "schedule", "arch", "registers", "spill bytes", "shared bytes", "compile ms"}};
  for (const KernelReport& k : kernels)
    rows.push_back({k.name, k.schedule, k.arch.empty() ? "-" : k.arch, fact(k.facts.registers),
                    fact(k.facts.spill_bytes), fact(k.facts.shared_bytes), fmt::format("{:.2f}", k.facts.compile_ms)});
  return table(rows);
}

std::string explain(const Compiled& compiled, std::string_view what) {
  if (what == "overview") return overview(compiled);
  if (what == "shard") {
    RankValues values(compiled.program(), compiled.sizes());
    return joined({compiled.explain_layouts(), explain_wire(compiled.program(), values)});
  }
  if (what == "segments")
    return joined({segments_text(compiled.localized()), print(between_steps(compiled)),
                   compiled.compiled_specialization().segment_reasons});
  if (what == "schedule")
    return joined({explain_schedules(compiled.localized()), kernel_table(compiled.report().kernels),
                   counts_text(compiled.report())});
  if (what == "cache") return cache_text(compiled);
  if (what == "memory") {
    RankValues values(compiled.program(), compiled.sizes());
    return explain_memory(compiled.program(), values);
  }
  throw UserError(fmt::format("nothing explains `{}`", what), "explain",
                  suggestion(std::string(what), {"overview", "shard", "segments", "schedule", "cache", "memory"}));
}

}  // namespace plait
