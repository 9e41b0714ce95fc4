#pragma once
// The words of the command line: the one definition behind parsing, help, completions and the manual page.
#include <memory>
#include <string>
#include <vector>

#include "plait_command.h"

namespace CLI {
class App;
}

namespace plait::tool {

// The parser. What it reads goes to `args`, which lives longer.
std::shared_ptr<CLI::App> command_line(Arguments& args);

// A flag or a positional word. `type` is empty of a flag without a value.
struct FlagWords {
  std::vector<std::string> names;  // `-o`, `--page`; of a positional its one name
  std::string type, doc;
  bool positional = false, repeats = false;
};

struct CommandWords {
  std::string name, group, doc;
  std::string usage;  // the line that help begins with, from `plait` on
  std::vector<FlagWords> flags;
};

// All commands in the order of their help, without what is hidden.
std::vector<CommandWords> command_words();
// What `plait COMMAND --help` prints.
std::string help_of(const std::string& command);

}  // namespace plait::tool
