// Examples of the commands, which tests run. They are in a folder with the files add.plait (docs/examples/simple_add)
// and mlp.plait (docs/examples/tp_mlp), mlp.mlir (a function of jax), and flights, that of a job's flight recorders.
#include <array>

#include "plait_help.h"

namespace plait::tool {

namespace {

constexpr std::array kExamples = std::to_array<Example>({
    {"run", "plait run mlp.plait --ranks 4 --check", "on four ranks of this process, compared with the reference"},
    {"run", "plait run add.plait --input 'a=[1, 2, 3, 4]' --input 'b=[5, 6, 7, 8]'", "values of one's own"},
    {"run", "plait run add.plait --out c=sum.npy --json -",
     "the output to a file, counts and times to standard output"},
    {"run", "plait run mlp.plait --set sb=8 --times", "another size, and where time goes"},
    {"explain", "plait explain mlp.plait --ranks 4", "on one screen: who holds what, which kernels, what moves"},
    {"explain", "plait explain mlp.plait --segments", "why there are not fewer kernels"},
    {"view", "plait view mlp.plait --ranks 4 -o mlp.html", "a page for the browser: graph, kernels, texts, timeline"},
    {"view", "plait view mlp.plait --no-run", "without running it"},
    {"import", "plait import mlp.mlir -o jax.plait", "of what jax.jit(f).lower(...).as_text() prints"},
    {"import", "plait import mlp.mlir -o - | plait run - --check", "as a pipe, where there are no weights"},
    {"opt", "plait opt mlp.plait --ranks 4 --until sharded", "the fusion when every tensor has its layout"},
    {"opt", "plait opt mlp.plait --until llvm", "the code of the kernels"},
    {"opt", "plait opt mlp.plait --passes --watch '%dropout*'", "what each pass did, and to these tensors"},
    {"compile", "plait compile mlp.plait", "a table of its kernels"},
    {"compile", "plait compile mlp.plait --save mlp.plaitc", "a file that runs without a compiler"},
    {"tune", "plait tune mlp.plait --seconds 5", "the fastest schedules of its kernels, which later compilations take"},
    {"tune", "plait tune mlp.plait --no-keep --out tuned.plait --seconds 5", "as a text that states them"},
    {"tune", "plait tune --forget", "schedules as if nobody had measured"},
    {"reduce", "plait reduce mlp.plait --out small.plait -- sh -c '! grep -q gelu {}'",
     "the smallest graph on which the command fails: one with a gelu"},
    {"reduce", "plait reduce mlp.plait --match 'no device' -- plait run {} --device tpu",
     "only refusals with these words count"},
    {"launch", "plait launch -n 2 -- run mlp.plait --check", "two processes, a rank each"},
    {"launch", "plait launch -n 2 --timeout 10 -- run mlp.plait --option flight_record=flights",
     "after 10 s without progress the ranks write what they did"},
    {"comm-diff", "plait comm-diff flights", "who is behind, and at which operation"},
    {"fmt", "plait fmt mlp.plait", "in place"},
    {"fmt", "plait fmt --check .", "all .plait files below this folder; exit code 1 if one would change"},
    {"fmt", "plait fmt --diff add.plait mlp.plait", "what would change"},
    {"fmt", "plait fmt - < mlp.plait", "from standard input to standard output"},
    {"doctor", "plait doctor", "libraries and devices, and what to install for the rest"},
    {"doctor", "plait doctor --options", "what --option takes"},
    {"cache", "plait cache", "folder and size"},
    {"cache", "plait cache --prune", "down to its limit"},
    {"help", "plait help run", "a command with examples"},
    {"help", "plait help text", "the text form on one screen"},
    {"help", "plait help softmax", "what an op computes"},
    {"completions", "plait completions bash > plait.bash", "for one's .bashrc: source plait.bash"},
    {"completions", "plait completions fish > plait.fish", "for ~/.config/fish/completions"},
});

}  // namespace

std::span<const Example> examples() { return kExamples; }

}  // namespace plait::tool
