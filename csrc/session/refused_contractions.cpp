#include "session/refused_contractions.h"

#include "run/binding.h"

namespace plait {

std::set<std::string> refused_contractions(const Program& program, RankValues& values) {
  std::set<std::string> out;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const auto* step = as<LibraryStep>(*program.steps[s]);
    if (!step) continue;
    const LibrarySlot& slot = program.libraries[step->library.index];
    const Executable* library = slot.executable.get();
    for (int64_t rank : ranks_that_differ(program, values, *step)) {
      const BoundStep numbers = bind_step(program, values, rank, s);
      if (numbers.skipped || numbers.zero_fill || !library) continue;
      std::string why;
      if (!library->accepts(numbers.integers, &why)) out.insert(slot.result);
    }
  }
  return out;
}

}  // namespace plait
