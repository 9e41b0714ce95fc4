#include "session/refused_contractions.h"

#include <variant>
#include <vector>

#include "base/error.h"
#include "run/binding.h"

namespace plait {

std::set<std::string> refused_contractions(const CompiledSpecialization& compiled, RankValues& values) {
  std::vector<std::string> results;  // by LibraryId
  for (const Segment& segment : compiled.localized->segments)
    if (std::holds_alternative<schedules::Library>(segment.schedule)) results.push_back(segment.ops[0]->out()->name);
  std::set<std::string> out;
  const Program& program = *compiled.program;
  PLAIT_CHECK(results.size() == program.libraries.size(), "{} contractions of {}", program.libraries.size(),
              results.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto* step = as<LibraryStep>(*program.steps[s]);
    if (!step) continue;
    const Executable* library = program.libraries[step->library.index].executable.get();
    for (int64_t rank : ranks_that_differ(program, values, *step)) {
      const BoundStep numbers = bind_step(program, values, rank, s);
      if (numbers.skipped || numbers.zero_fill || !library) continue;
      std::string why;
      if (!library->accepts(numbers.integers, &why)) out.insert(results[step->library.index]);
    }
  }
  return out;
}

}  // namespace plait
