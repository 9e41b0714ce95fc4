// The manual page plait.1, in roff.
#include "base/error.h"
#include "plait_help.h"
#include "plait_tables.h"
#include "plait_words.h"

namespace plait::tool {

namespace {

// As roff prints it back: no escapes, no requests, hyphens that are minus signs.
std::string roff(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else if (c == '`')
      out += "\\(ga";
    else
      out += c;
  }
  return out;
}

std::string heading(const std::string& name) { return fmt::format(".SH {}\n", roff(name)); }
std::string item(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", term, roff(text));
}
std::string bold(std::string_view text) { return "\\fB" + roff(text) + "\\fR"; }
std::string slanted(std::string_view text) { return "\\fI" + roff(text) + "\\fR"; }

std::string flag_item(const FlagWords& flag) {
  std::string term;
  for (const std::string& name : flag.names)
    term += (term.empty() ? "" : ", ") + (flag.positional ? slanted(name) : bold(name));
  if (!flag.positional && !flag.type.empty()) term += " " + slanted(flag.type);
  if (flag.repeats) term += " ...";
  return item(term, flag.doc);
}

std::string command_section(const CommandWords& command) {
  std::string out = fmt::format(".SS {}\n{}.\n.PP\n.nf\n{}\n.fi\n", bold("plait " + command.name), roff(command.doc),
                                roff(command.usage));
  for (const FlagWords& flag : command.flags) out += flag_item(flag);
  out += ".PP\nExamples:\n";
  for (const Example& example : examples())
    if (example.command == command.name) out += item(bold(example.line), example.does);
  return out;
}

}  // namespace

std::string manual_page() {
  std::string out = fmt::format(".TH PLAIT 1 \"\" \"plait {}\" \"User Commands\"\n", roff(version()));
  out += heading("NAME") + "plait \\- compiles a graph of tensor operations and runs it on one or many ranks\n";
  out += heading("SYNOPSIS") +
         fmt::format("{} {} [{}] [{}]\n", bold("plait"), slanted("COMMAND"), slanted("FLAGS"), slanted("FILE"));
  out += heading("DESCRIPTION") +
         "Reads fusions in a text form, compiles them for CPUs and GPUs, shards them over the ranks of a mesh, and\n"
         "says why things are where they are.\n" +
         fmt::format("{} shows the text form on one screen.\n", bold("plait help text"));
  out += heading("COMMANDS");
  for (const CommandWords& command : command_words()) out += command_section(command);
  out += heading("EXIT STATUS");
  for (const ExitCode& one : exit_codes()) out += item(bold(std::to_string(one.code)), one.means);
  out += heading("ENVIRONMENT");
  for (const EnvironmentVariable& one : environment_variables()) out += item(bold(one.name), one.does);
  return out;
}

}  // namespace plait::tool
