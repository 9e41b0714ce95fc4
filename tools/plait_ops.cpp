// Ops for plait help: how they are written, by the schema, and what they mean, by docs/ops.md.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "ir/schema.h"
#include "ops_page.h"
#include "plait_help.h"
#include "plait_tables.h"

namespace plait::tool {

namespace {

constexpr std::string_view kOpsPage = kOpsPages[0].text;

struct OpGroup {
  OpProperty property;
  std::string_view title;
};
constexpr std::array kOpGroups = std::to_array<OpGroup>({
    {OpProperty::none, "pointwise"},
    {OpProperty::creation, "from nothing"},
    {OpProperty::contraction, "products of matrices"},
    {OpProperty::reduction, "reductions and scans"},
    {OpProperty::movement, "moves"},
    {OpProperty::indexing, "lookups, scatters, order"},
    {OpProperty::composite, "composites, which others can say"},
});

bool is_made_by_compiler(const OpSchema& op) { return property(op.kind) >= OpProperty::communication; }

std::string parameter_text(const ParameterSchema& it) {
  if (it.role == "operand" || it.role == "optional") {
    const std::string word = "%" + it.name + (it.type == "tensors" ? "..." : "");
    return it.role == "operand" ? word : "[" + word + "]";
  }
  const std::string word = it.type == "tensor" ? fmt::format("{} = %{}", it.name, it.name) : it.name;
  if (it.role == "required") return word;
  return it.initial ? fmt::format("[{} = {}]", word, *it.initial) : fmt::format("[{}]", word);
}

std::string signature(const OpSchema& op) {
  std::string out;
  if (op.results.size() != 1)
    for (const std::string& result : op.results) out += (out.empty() ? "%" : ", %") + result;
  if (op.results.empty()) out = "%part, ...";
  out += (out.empty() ? "" : " = ") + op.name + "(";
  for (size_t i = 0; i < op.parameters.size(); ++i) out += (i ? ", " : "") + parameter_text(op.parameters[i]);
  return out + ")";
}

// Cells of a table's line, as they read without marks.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> out;
  line.remove_prefix(std::min<size_t>(2, line.size()));
  for (std::string cell; !line.empty(); line.remove_prefix(1)) {
    if (line.starts_with("\\|")) {
      cell += '|';
      line.remove_prefix(1);
    } else if (line.starts_with(" |")) {
      out.push_back(std::move(cell));
      cell.clear();
      line.remove_prefix(std::min<size_t>(2, line.size() - 1));
    } else if (line.front() != '`') {
      cell += line.front();
    }
  }
  return out;
}

// Rows of docs/ops.md about an op, each cell under its column's name.
std::string meaning(const std::string& name) {
  std::string out;
  std::vector<std::string> columns;
  std::string_view rest = kOpsPage;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("| op |")) columns = cells_of(line);
    const size_t first = std::min(line.find(" | "), line.size());  // the cell with the calls
    if (line.substr(0, first).find("`" + name + "(") == line.npos &&
        line.substr(0, first).find("= " + name + "(") == line.npos)
      continue;
    const std::vector<std::string> cells = cells_of(line);
    if (columns.size() > 2) out += fmt::format("\n  {}\n", cells[0]);
    for (size_t i = 1; i < std::min(cells.size(), columns.size()); ++i)
      if (columns.size() == 2)
        out += "\n" + wrapped(cells[i], 2);
      else if (!cells[i].empty() && columns[i] != "found")
        out += fmt::format("    {:<17}{}\n", columns[i], cells[i]);
  }
  return out;
}

}  // namespace

std::vector<std::string> op_words() {
  std::vector<std::string> out;
  for (const OpSchema& op : op_schemas()) out.push_back(op.name);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string ops_text() {
  const std::vector<OpSchema> ops = op_schemas();
  std::string out;
  const auto add = [&](std::string_view title, const auto& is_one) {
    std::string names;
    for (const OpSchema& op : ops)
      if (is_one(op)) names += op.name + " ";
    if (!names.empty()) out += fmt::format("{}{}:\n{}", out.empty() ? "" : "\n", title, wrapped(names, 2));
  };
  for (const OpGroup& group : kOpGroups)
    add(group.title, [&](const OpSchema& op) { return property(op.kind) == group.property; });
  add("made by the compiler", is_made_by_compiler);
  return out + "\nplait help OP says what one computes; docs/ops.md says it of all of them.\n";
}

std::string op_text(const std::string& name) {
  std::string out;
  for (const OpSchema& op : op_schemas()) {
    if (op.name != name) continue;
    out += signature(op) + "\n" + meaning(name);
    std::vector<std::vector<std::string>> rows = {{"  parameter", "role", "type", "default"}};
    for (const ParameterSchema& it : op.parameters)
      rows.push_back({"  " + it.name, std::string(it.role), std::string(it.type), it.initial.value_or("")});
    out += "\n" + table(rows);
    if (is_made_by_compiler(op)) out += "\nThe compiler makes it; a text of a stage may hold it.\n";
  }
  return out + "\ndocs/ops.md says what holds of all ops: types, special values, errors.\n";
}

}  // namespace plait::tool
