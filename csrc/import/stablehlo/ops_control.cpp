// Calls, loops and branches of StableHLO: bodies are copied in.
#include <algorithm>

#include "import/stablehlo/importer.h"

namespace plait::stablehlo {
namespace {

constexpr int64_t kMostTrips = 1000;

void call_function(Call& c) {
  const Function& f = c.importer.function(c.attribute({"callee"}).text);
  c.results = c.importer.run(f.body, c.all(), nullptr);
}

// By its decomposition.
void composite(Call& c) {
  const Function& f = c.importer.function(c.attribute({"decomposition"}).text);
  c.results = c.importer.run(f.body, c.all(), nullptr);
}

void while_loop(Call& c) {
  Values carried = c.all();
  for (int64_t trip = 0;; ++trip) {
    require(trip <= kMostTrips, "more than {} trips of a loop", kMostTrips);
    const Values go = c.importer.run(c.region(0), carried, &c.scope);
    require(go.size() == 1, "a condition of {} values", go.size());
    if (!go[0]) throw ReadsBad{};
    if (c.importer.builder().known(go[0]).at(0) == 0) break;
    carried = c.importer.run(c.region(1), carried, &c.scope);
    require(carried.size() == c.count(), "a loop that carries {} values and gives {}", c.count(), carried.size());
    for (TensorView* t : carried)
      if (!t) throw ReadsBad{};
    c.importer.builder().check_growth();
  }
  c.results = carried;
}

// Both branches, and a choice between what they give.
Values chosen(TensorView* condition, const Values& a, const Values& b) {
  require(a.size() == b.size(), "branches of {} and {} results", a.size(), b.size());
  Values out;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i] || !b[i]) throw ReadsBad{};
    out.push_back(where(condition, a[i], b[i]));
  }
  return out;
}

void branch_if(Call& c) {
  c.results = chosen(c.in(), c.importer.run(c.region(0), {}, &c.scope), c.importer.run(c.region(1), {}, &c.scope));
}

// An index outside takes the last.
void branch_case(Call& c) {
  const size_t count = c.op.regions.size();
  require(count >= 1, "no branches");
  Values out = c.importer.run(c.region(count - 1), {}, &c.scope);
  for (size_t i = count - 1; i-- > 0;)
    out = chosen(eq(c.in(), static_cast<int64_t>(i)), c.importer.run(c.region(i), {}, &c.scope), out);
  c.results = out;
}

}  // namespace

std::vector<OpRow> control_rows() {
  return {
      {"case", branch_case}, {"composite", composite}, {"func.call", call_function},
      {"if", branch_if},     {"while", while_loop},
  };
}

}  // namespace plait::stablehlo
