// The topics of plait help.
#include <array>

#include "base/options.h"
#include "base/text.h"
#include "plait_command.h"
#include "plait_help.h"
#include "plait_tables.h"

namespace plait::tool {

namespace {

std::string text_form() {
  return R"(A file holds one fusion: what goes in, what comes out, and ops between them.

    # A comment.
    let n = 4, T = f32                        # sizes and dtypes; --set n=8 gives others
    mesh @m (tp = t)                          # devices along one axis; --ranks N solves t

    fusion @mlp on @m (
      %x: T[n, 8],                            # an input: dtype and extents
      param %w: T[16, 8] {0: tp},             # a parameter: its dim 0 is cut along tp
      param %v: T[8, 16] {1: tp}
    ) -> (%y) {
      %h = gelu(linear(%x, %w))               # a call may stand where an operand may
      %p = linear(%h, %v)
      %y = add(mul(%p, 0.5), %x)              # so may a number
    }

Types and layouts of results follow from the ops. Operands are positional, attributes are named:
softmax(%x, dim = -1). Several results: %mean, %var = var_mean(%x); one that nobody reads is _.
plait fmt FILE gives a file its layout; plait help ops lists the ops.
docs/ir.md has the whole grammar, docs/sharding.md what layouts say.
)";
}

std::string devices_text() {
  const std::vector<std::vector<std::string>> rows = {
      {"  cpu", "this machine's processor, by LLVM"},
      {"  cuda", "all GPUs like the first, a rank each"},
      {"  reference", "op by op as docs/ops.md says; slow, what --check compares with"},
      {"  sim:sm_80", "a simulated GPU that runs and checks the CUDA code; sim:sm_90a likewise"},
      {"  sim:sm_80:4", "four of them"},
  };
  return "--device takes\n\n" + table(rows) +
         "\nWithout it: cuda where there is a GPU for every rank, else cpu, else reference. Simulated GPUs run only\n"
         "when asked for. --ranks N runs a sharded file on N ranks of one process, whatever the device.\n"
         "plait doctor says what this machine has; docs/simulated_gpu.md what the simulator checks.\n";
}

std::string environment_text() {
  std::vector<std::vector<std::string>> rows = {{"variable", "what it does"}};
  for (const EnvironmentVariable& one : environment_variables())
    rows.push_back({std::string(one.name), std::string(one.does)});
  return table(rows);
}

std::string exit_codes_text() {
  std::vector<std::vector<std::string>> rows = {{"code", "means", "who mends it"}};
  for (const ExitCode& one : exit_codes())
    rows.push_back({std::to_string(one.code), std::string(one.means), std::string(one.mends)});
  return table(rows);
}

constexpr std::array kTopics = std::to_array<Topic>({
    {"text", "the text form of a fusion on one screen", text_form},
    {"devices", "what --device takes", devices_text},
    {"options", "what --option takes", options_text},
    {"environment", "environment variables", environment_text},
    {"exit-codes", "what a command's exit code says", exit_codes_text},
    {"ops", "all ops by what they are", ops_text},
});

}  // namespace

std::string options_text() {
  std::vector<std::vector<std::string>> rows = {{"option", "type", "default", "cache key", "what it does"}};
  for (const OptionInfo& o : option_table())
    rows.push_back({std::string(o.name), std::string(o.type == "std::string" ? "text" : o.type), std::string(o.initial),
                    o.enters_cache_key ? "yes" : "no", std::string(o.doc)});
  return table(rows);
}

std::span<const Topic> topics() { return kTopics; }

}  // namespace plait::tool
