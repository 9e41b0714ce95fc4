// MLIR's text form, by recursive descent.
#include <algorithm>

#include "base/error.h"
#include "import/stablehlo/mlir_text.h"

namespace plait::stablehlo {
namespace {

constexpr int kDeepest = 100;
constexpr const char* kNoResource = "expected the numbers of a constant";
constexpr size_t kMostText = size_t{1} << 30;

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : in_(text, file) {}

  Module module() {
    Module out;
    skip_aliases();
    if (in_.next_is("\"")) {
      read_generic_module(out);
    } else if (in_.accept("module")) {
      if (in_.accept("@")) out.name = in_.next_is("\"") ? in_.quoted() : in_.word("a name");
      if (in_.accept("attributes")) in_.balanced();
      in_.expect("{");
      while (!in_.accept("}")) read_member(out);
    } else {
      while (!in_.at_end()) read_member(out);
    }
    skip_location();
    skip_aliases();
    if (!in_.at_end()) in_.fail("expected the end of the module");
    return out;
  }

 private:
  struct Deeper {
    explicit Deeper(Parser& parser) : parser(parser) {
      if (++parser.depth_ > kDeepest) parser.in_.fail(fmt::format("at most {} levels of nesting", kDeepest));
    }
    ~Deeper() { --parser.depth_; }
    Deeper(const Deeper&) = delete;
    Parser& parser;
  };

  // ---- Members of a module.
  void skip_aliases() {
    while (in_.next_is("#")) in_.until("\n");
  }
  void skip_location() {
    if (in_.accept("loc")) in_.balanced();
  }

  void add_function(Module& to, Function function) {
    const std::string name = function.name;
    if (!to.functions.emplace(name, std::move(function)).second) in_.fail(fmt::format("a second function @{}", name));
    to.order.push_back(name);
  }

  void read_member(Module& to) {
    skip_aliases();
    if (in_.next_is("sdy.") || in_.next_is("ml_program.")) {  // meshes of shardings
      in_.until("\n");
      return;
    }
    if (!in_.accept("func.func")) in_.fail("expected `func.func`");
    add_function(to, function());
  }

  Function function() {
    Function out;
    for (const char* visibility : {"public", "private", "nested"}) in_.accept(visibility);
    out.name = symbol();
    in_.expect("(");
    while (!in_.accept(")")) {
      if (!out.body.arguments.empty()) in_.expect(",");
      in_.expect("%");
      out.body.arguments.push_back(in_.word("an argument"));
      in_.expect(":");
      out.body.types.push_back(type());
      out.argument_attributes.push_back(in_.next_is("{") ? dictionary('{', '}') : Attributes{});
      skip_location();
    }
    if (in_.accept("->")) read_results(out);
    if (in_.accept("attributes")) in_.balanced();
    in_.expect("{");
    while (!in_.accept("}")) out.body.operations.push_back(operation());
    skip_location();
    return out;
  }

  void read_results(Function& out) {
    if (!in_.accept("(")) {
      out.results.push_back(type());
      out.result_attributes.emplace_back();
      return;
    }
    while (!in_.accept(")")) {
      if (!out.results.empty()) in_.expect(",");
      out.results.push_back(type());
      out.result_attributes.push_back(in_.next_is("{") ? dictionary('{', '}') : Attributes{});
    }
  }

  // The generic form of a function is an op with attributes and a region.
  Function function_of(Operation op) {
    Function out;
    const auto name = op.attributes.find("sym_name");
    if (name == op.attributes.end() || op.regions.size() != 1) in_.fail("a function without a name or a body");
    out.name = name->second.text;
    out.body = std::move(op.regions[0]);
    out.argument_attributes = dictionaries(op, "arg_attrs", out.body.arguments.size());
    if (!out.body.operations.empty()) out.results = out.body.operations.back().operand_types;
    out.result_attributes = dictionaries(op, "res_attrs", out.results.size());
    return out;
  }

  static std::vector<Attributes> dictionaries(const Operation& op, const char* name, size_t count) {
    std::vector<Attributes> out(count);
    const auto found = op.attributes.find(name);
    if (found == op.attributes.end()) return out;
    for (size_t i = 0; i < std::min(count, found->second.list.size()); ++i) out[i] = found->second.list[i].dictionary;
    return out;
  }

  void read_generic_module(Module& to) {
    Operation op = operation();
    if (op.name != "builtin.module" || op.regions.size() != 1) in_.fail("expected a module");
    if (const auto name = op.attributes.find("sym_name"); name != op.attributes.end()) to.name = name->second.text;
    for (Operation& each : op.regions[0].operations)
      if (each.name == "func.func") add_function(to, function_of(std::move(each)));
  }

  // ---- Types.
  std::string symbol() {
    in_.expect("@");
    return in_.next_is("\"") ? in_.quoted() : in_.word("a name");
  }

  Type type() {
    if (!in_.accept("tensor<")) return {in_.next_is("(") ? function_type() : plain_type(), {}};
    Type out;
    out.shape.emplace();
    for (;;) {
      if (in_.accept_here('?')) {
        out.shape->push_back(-1);
        if (!in_.accept_here('x')) in_.fail("expected `x`");
        continue;
      }
      const std::string digits = in_.digits_here();
      if (digits.empty()) break;
      if (digits.size() > 18) in_.fail("an extent of at most 18 digits");
      out.shape->push_back(std::stoll(digits));
      if (!in_.accept_here('x')) in_.fail("expected `x`");
    }
    if (out.shape->size() > 64) in_.fail("at most 64 dims");
    out.element = in_.until(">,");
    if (in_.accept(",")) in_.until(">");  // bounds, an encoding
    in_.expect(">");
    return out;
  }

  std::string plain_type() {
    if (in_.accept("!")) return "!" + in_.word("a type") + (in_.next_is("<") ? in_.balanced() : "");
    return in_.word("a type") + (in_.next_is("<") ? in_.balanced() : "");
  }
  std::string function_type() {
    std::string out = in_.balanced();
    in_.expect("->");
    return out + " -> " + (in_.next_is("(") ? in_.balanced() : type().text());
  }

  std::vector<Type> types() {
    std::vector<Type> out;
    if (!in_.accept("(")) return {type()};
    while (!in_.accept(")")) {
      if (!out.empty()) in_.expect(",");
      out.push_back(type());
    }
    return out;
  }

  // ---- Attributes.
  Attributes dictionary(char open, char close) {
    const Deeper deeper(*this);
    Attributes out;
    in_.expect(std::string_view(&open, 1));
    while (!in_.accept(std::string_view(&close, 1))) {
      if (!out.empty()) in_.accept(",");
      const std::string name = in_.next_is("\"") ? in_.quoted() : in_.word("the name of an attribute");
      Attribute value;
      if (in_.accept("=")) value = attribute();
      if (!out.emplace(name, std::move(value)).second) in_.fail(fmt::format("a second attribute {}", name));
    }
    return out;
  }

  static Attribute word_of(Attribute::Kind kind, std::string text) {
    Attribute out;
    out.kind = kind;
    out.text = std::move(text);
    return out;
  }

  // With its type, `1 : i64`, where one follows.
  Attribute attribute() {
    Attribute out = value();
    if (in_.accept(":")) out.type = type();
    return out;
  }

  // With what may follow: `x [0]`, `-> [b, 0]`.
  Attribute value() {
    Attribute out = one_attribute();
    if (out.kind == Attribute::Kind::list && (in_.next_is("x") || in_.next_is("->"))) {
      Attribute all;
      all.kind = Attribute::Kind::list;
      all.list.push_back(std::move(out));
      while (in_.accept("x") || in_.accept("->")) all.list.push_back(one_attribute());
      return all;
    }
    return out;
  }

  Attribute one_attribute() {
    const Deeper deeper(*this);
    if (in_.next_is("[")) return list('[', ']');
    if (in_.next_is("{")) {
      Attribute out;
      out.kind = Attribute::Kind::dictionary;
      out.dictionary = dictionary('{', '}');
      return out;
    }
    if (in_.next_is("<")) return word_of(Attribute::Kind::word, in_.balanced());
    if (in_.next_is("\"")) return word_of(Attribute::Kind::text, in_.quoted());
    if (in_.next_is_number()) return word_of(Attribute::Kind::number, in_.number());
    if (in_.next_is("@")) return word_of(Attribute::Kind::word, symbol());
    if (in_.accept("#")) return dialect_attribute();
    if (in_.accept("dense<")) return dense();
    if (in_.accept("array<")) return array();
    if (in_.next_is("dense_resource")) in_.fail(kNoResource);
    if (in_.next_is("(") || in_.next_is("tensor") || in_.next_is("!"))
      return word_of(Attribute::Kind::word, type().text());
    if (in_.next_is("-") || in_.next_is_word()) {
      std::string text = in_.word("a value");
      if (in_.next_is("<")) text += in_.balanced();
      return word_of(Attribute::Kind::word, std::move(text));
    }
    in_.fail("expected the value of an attribute");
  }

  Attribute list(char open, char close) {
    Attribute out;
    out.kind = Attribute::Kind::list;
    in_.expect(std::string_view(&open, 1));
    while (!in_.accept(std::string_view(&close, 1))) {
      if (!out.list.empty()) in_.expect(",");
      out.list.push_back(attribute());
    }
    return out;
  }

  // `#stablehlo.dot<a = [1], b = [0]>`, `#stablehlo<precision DEFAULT>`, `#stablehlo.conv<[b, 0]x[0, o]->[b, 0]>`
  Attribute dialect_attribute() {
    Attribute out = word_of(Attribute::Kind::word, in_.word("an attribute"));
    if (!in_.next_is("<")) return out;
    const size_t begin = in_.offset();
    in_.expect("<");
    if (in_.next_is("[")) {
      out = attribute();
      in_.expect(">");
      return out;
    }
    const std::string first = in_.next_is_word() ? in_.word("a word") : "";
    if (!first.empty() && in_.next_is("=")) {
      in_.rewind(begin);
      out.kind = Attribute::Kind::dictionary;
      out.dictionary = dictionary('<', '>');
      return out;
    }
    if (!first.empty() && in_.next_is_word()) {  // the kind of an enumeration, and its word
      out.text = in_.word("a word");
      in_.expect(">");
      return out;
    }
    in_.rewind(begin);
    in_.balanced();
    return out;
  }

  Attribute array() {
    Attribute out;
    out.kind = Attribute::Kind::list;
    type();
    if (in_.accept(":")) do
        out.list.push_back(attribute());
      while (in_.accept(","));
    in_.expect(">");
    return out;
  }

  Attribute dense() {
    Attribute out;
    out.kind = Attribute::Kind::dense;
    if (in_.next_is("\"")) {
      out.dense.bytes = in_.quoted();
    } else if (!in_.next_is(">")) {
      out.dense.is_list = in_.next_is("[");
      dense_numbers(out.dense.numbers);
    }
    in_.expect(">");
    return out;
  }

  void dense_numbers(std::vector<std::string>& to) {
    const Deeper deeper(*this);
    if (!in_.accept("[")) {
      if (in_.next_is("(")) in_.fail("real numbers");
      to.push_back(in_.next_is_number() ? in_.number() : in_.word("a number"));
      return;
    }
    bool first = true;
    while (!in_.accept("]")) {
      if (!first) in_.expect(",");
      first = false;
      dense_numbers(to);
    }
  }

  // ---- Operations.
  Operation operation() {
    const Deeper deeper(*this);
    Operation out;
    read_result_names(out);
    out.place = in_.here();
    const bool generic = in_.next_is("\"");
    out.name = generic ? in_.quoted() : in_.word("an op");
    if (out.name == "return") out.name = "func.return";
    if (out.name == "call") out.name = "func.call";
    while (!in_.next_is(":") && read_part(out, generic)) {}
    if (in_.accept(":")) read_signature(out);
    skip_location();
    if (out.name == "stablehlo.while" || out.name == "stablehlo.reduce") read_bodies(out);
    return out;
  }

  void read_result_names(Operation& out) {
    bool first = true;
    while (in_.next_is("%")) {
      in_.expect("%");
      const std::string name = in_.word("a result");
      (first ? out.result : out.more_results.emplace_back()) = name;
      first = false;
      if (in_.accept(":")) in_.number();
      if (!in_.accept(",")) break;
    }
    if (first) return;
    in_.expect("=");
  }

  // One part of an op between its name and its types; false where none follows.
  bool read_part(Operation& out, bool generic) {
    if (in_.accept(",")) return true;
    if (in_.next_is("%")) return read_operand(out);
    if (in_.next_is("<{")) {
      in_.expect("<");
      merge(out, dictionary('{', '}'));
      in_.expect(">");
      return true;
    }
    if (in_.next_is("<")) {
      in_.balanced();  // a sharding
      return true;
    }
    if (in_.next_is("{")) {
      merge(out, dictionary('{', '}'));
      return true;
    }
    if (in_.next_is("(")) return read_parenthesis(out);
    if (in_.next_is("[")) return generic ? skip_successors() : read_ranges(out);
    if (in_.next_is("@")) {
      out.attributes["callee"] = word_of(Attribute::Kind::word, symbol());
      return true;
    }
    if (in_.next_is("\"")) {
      out.attributes["name"] = word_of(Attribute::Kind::text, in_.quoted());
      return true;
    }
    if (out.name == "stablehlo.constant" && (in_.next_is("dense") || in_.next_is("dense<"))) {
      out.attributes["value"] = one_attribute();
      return true;
    }
    if (in_.next_is("dense_resource")) in_.fail(kNoResource);
    if (!in_.next_is_word()) return false;
    return read_word(out);
  }

  bool skip_successors() {
    in_.balanced();
    return true;
  }

  void merge(Operation& out, Attributes more) {
    for (auto& [name, value] : more) out.attributes[name] = std::move(value);
  }

  // The next op begins behind words that end one: `return` without operands.
  bool read_word(Operation& out) {
    const size_t before = in_.offset();
    const std::string word = in_.word("a word");
    if (in_.accept("=")) {
      out.attributes[word] = value();
      return true;
    }
    if (word == "applies") {
      out.attributes["applies"] = word_of(Attribute::Kind::word, in_.word("an op"));
      return true;
    }
    if (word == "across") return true;
    if (word == "cond" || word == "do" || word == "reducer" || word == "loc" || word.find('.') != word.npos ||
        word == "return" || word == "call") {
      in_.rewind(before);
      return false;
    }
    out.words.push_back(word);
    return true;
  }

  bool read_operand(Operation& out) {
    in_.expect("%");
    Operand operand{in_.word("an operand"), 0};
    if (in_.accept_here('#')) {
      const std::string digits = in_.digits_here();
      if (digits.empty() || digits.size() > 6) in_.fail("expected the number of a result");
      operand.result = static_cast<size_t>(std::stoll(digits));
    }
    out.operands.push_back(operand);
    return true;
  }

  // Operands, regions, `(%x init: %zero)` of a reduce, `(%i = %zero, ...)` of a while.
  bool read_parenthesis(Operation& out) {
    in_.expect("(");
    while (!in_.accept(")")) {
      if (in_.accept(",")) continue;
      if (in_.next_is("{")) {
        out.regions.push_back(region());
        continue;
      }
      if (in_.accept("init")) {
        in_.expect(":");
        Operation init;
        read_operand(init);
        inits_.push_back(init.operands[0]);
        continue;
      }
      if (!in_.next_is("%")) in_.fail("expected an operand or a region");
      read_operand(out);
      if (!in_.accept("=")) continue;
      while_arguments_.push_back(out.operands.back().name);
      out.operands.pop_back();
      if (!in_.next_is("%")) in_.fail("expected an operand");
      read_operand(out);
    }
    if (out.name == "stablehlo.reduce" && (in_.next_is("across") || in_.next_is("applies"))) {
      out.operands.insert(out.operands.end(), inits_.begin(), inits_.end());
      inits_.clear();
    }
    return true;
  }

  // `[0:3, 0:4:2]` of a slice, as three lists.
  bool read_ranges(Operation& out) {
    Attribute starts, limits, strides;
    for (Attribute* each : {&starts, &limits, &strides}) each->kind = Attribute::Kind::list;
    in_.expect("[");
    while (!in_.accept("]")) {
      if (!starts.list.empty()) in_.expect(",");
      starts.list.push_back(word_of(Attribute::Kind::number, in_.number()));
      in_.expect(":");
      limits.list.push_back(word_of(Attribute::Kind::number, in_.number()));
      strides.list.push_back(word_of(Attribute::Kind::number, in_.accept(":") ? in_.number() : "1"));
    }
    out.attributes["start_indices"] = starts;
    out.attributes["limit_indices"] = limits;
    out.attributes["strides"] = strides;
    return true;
  }

  void read_signature(Operation& out) {
    out.operand_types = types();
    if (in_.accept("->")) {
      out.result_types = types();
      return;
    }
    while (in_.accept(",")) {
      out.operand_types.push_back(type());
      if (in_.accept("->")) {
        out.result_types = types();
        return;
      }
    }
    out.result_types = out.operand_types;
    if (out.name == "stablehlo.select") out.result_types = {out.operand_types.back()};
  }

  Region region() {
    const Deeper deeper(*this);
    Region out;
    in_.expect("{");
    if (in_.accept("^")) {
      in_.word("a block");
      if (in_.accept("(")) {
        while (!in_.accept(")")) {
          if (!out.arguments.empty()) in_.expect(",");
          read_argument(out);
        }
      }
      in_.expect(":");
    }
    while (!in_.accept("}")) {
      if (in_.next_is("^")) in_.fail("regions of one block");
      out.operations.push_back(operation());
    }
    return out;
  }

  void read_argument(Region& out) {
    in_.expect("%");
    out.arguments.push_back(in_.word("an argument"));
    in_.expect(":");
    out.types.push_back(type());
    skip_location();
  }

  // Behind the types: `cond {...} do {...}` of a while, `reducer(...) (...) {...}` of a reduce.
  void read_bodies(Operation& out) {
    if (out.name == "stablehlo.while" && in_.accept("attributes")) merge(out, dictionary('{', '}'));
    if (out.name == "stablehlo.while" && in_.accept("cond")) {
      const std::vector<std::string> arguments = std::move(while_arguments_);
      while_arguments_.clear();
      for (int i = 0; i < 2; ++i) {
        if (i == 1) in_.expect("do");
        Region body = region();
        body.arguments = arguments;
        body.types = out.operand_types;
        out.regions.push_back(std::move(body));
      }
      return;
    }
    if (!in_.accept("reducer")) return;
    // Each pair is of one operand: of the first parts first, then of what comes.
    std::vector<std::string> left, right;
    std::vector<Type> types;
    while (in_.accept("(")) {
      Region pair;
      while (!in_.accept(")")) {
        if (!pair.arguments.empty()) in_.expect(",");
        read_argument(pair);
      }
      if (pair.arguments.size() != 2) in_.fail("expected two arguments for each operand");
      left.push_back(pair.arguments[0]), right.push_back(pair.arguments[1]);
      types.push_back(pair.types[0]);
    }
    Region body = region();
    body.arguments = left;
    body.arguments.insert(body.arguments.end(), right.begin(), right.end());
    body.types = types;
    body.types.insert(body.types.end(), types.begin(), types.end());
    out.regions.push_back(std::move(body));
  }

  MlirText in_;
  int depth_ = 0;
  std::vector<std::string> while_arguments_;
  std::vector<Operand> inits_;
};

}  // namespace

std::string Type::text() const {
  if (!shape) return element;
  std::string out = "tensor<";
  for (const int64_t extent : *shape) out += extent < 0 ? "?x" : fmt::format("{}x", extent);
  return out + element + ">";
}

Module parse_module(std::string_view text, const std::string& file) {
  if (text.size() > kMostText)
    throw UserError(fmt::format("a text of {} bytes", text.size()), file, "export weights as arguments");
  return Parser(text, file).module();
}

}  // namespace plait::stablehlo
