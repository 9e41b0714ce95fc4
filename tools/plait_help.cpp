// plait help: the overview, commands with examples, topics, ops.
#include "plait_help.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "plait_words.h"

namespace plait::tool {

namespace {

std::string example_lines(const Example& example) {
  return fmt::format("  # {}\n  $ {}\n", example.does, example.line);
}

std::string overview() {
  std::string out = "plait compiles a graph of tensor operations and runs it on one or many ranks.\n", group;
  for (const CommandWords& command : command_words()) {
    if (command.group != group) out += fmt::format("\n{}:\n", command.group);
    group = command.group;
    out += fmt::format("  {:<13}{}\n", command.name, command.doc);
    for (const Example& example : examples())
      if (example.command == command.name) {
        out += fmt::format("               $ {}\n", example.line);
        break;
      }
  }
  out += "\nTopics:\n";
  for (const Topic& topic : topics()) out += fmt::format("  {:<13}{}\n", topic.name, topic.does);
  return out +
         "\nplait help COMMAND: its flags, with examples. plait help TOPIC. plait help OP: what an op computes.\n";
}

std::string command_text(const std::string& name) {
  std::string out = help_of(name) + "\nExamples:\n";
  for (const Example& example : examples())
    if (example.command == name) out += example_lines(example);
  return out;
}

std::string text_of(const std::string& word) {
  std::vector<std::string> known;
  for (const CommandWords& command : command_words()) {
    if (command.name == word) return command_text(word);
    known.push_back(command.name);
  }
  for (const Topic& topic : topics()) {
    if (topic.name == word) return topic.text();
    known.emplace_back(topic.name);
  }
  const std::vector<std::string> ops = op_words();
  if (std::find(ops.begin(), ops.end(), word) != ops.end()) return op_text(word);
  known.insert(known.end(), ops.begin(), ops.end());
  throw UserError(fmt::format("there is no help on `{}`", word), "plait help", suggestion(word, known));
}

}  // namespace

int help_command(const Arguments& args) {
  if (args.manual)
    fmt::print("{}", manual_page());
  else
    fmt::print("{}", args.help_word.empty() ? overview() : text_of(args.help_word));
  return 0;
}

}  // namespace plait::tool
