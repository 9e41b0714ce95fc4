#pragma once
// What `--json` writes (docs/command.md "JSON"): one document, whatever the command and however it ends.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/tune.h"
#include "import/imported.h"
#include "plait_command.h"

namespace plait::tool {

// Raised when a field changes its meaning or goes; new fields leave it.
inline constexpr int kJsonFormat = 1;

// Of a run, which gave `outputs`. `checked` may be null.
// `runs`: milliseconds of each, in their order.
void write_run_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled, const Tensors& outputs,
                    std::vector<double> runs, const ProgramCheck* checked);

// Of what was compiled and did not run: `compiled` has been prepared.
void write_compiled_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled);

using Texts = std::vector<std::pair<std::string, std::string>>;
// Of `explain`: what each of its flags printed.
void write_explain_json(const Arguments& args, const Loaded& loaded, const Compiled& compiled, const Texts& texts);

// Kernels for GPU architectures, which no device holds: those of all, counts of the first, times together.
void write_kernels_json(const Arguments& args, const std::vector<Report>& reports);

// Of `import`: what was made, or `problems` that keep the model out (null: none).
struct ImportedModel {
  const Imported* made = nullptr;
  const ImportError* error = nullptr;
};
void write_import_json(const Arguments& args, const ImportedModel& model);

// Of `opt`: the text after a pass or stage; the counts of the program where it is one.
void write_text_json(const Arguments& args, const std::string& stage, const std::string& text);

// Writes `ok: false` and the error. Reports no error of its own.
void write_json_error(const Arguments& args, const Error& error);

void write_tune_json(const Arguments& args, const Loaded& loaded, const TuneResult& result);

}  // namespace plait::tool
