#pragma once
// Modules of StableHLO as plain structs, read from MLIR's text form.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plait::stablehlo {

// Where something stands, from 1.
struct Place {
  int64_t line = 1, column = 1;
};

// `tensor<4x8xf32>`; another type by its text, with no shape.
struct Type {
  std::string element;                        // "f32"; of others all of the text
  std::optional<std::vector<int64_t>> shape;  // -1: open
  std::string text() const;
};

// The numbers of a constant: one, or one for each element, row-major. Hexadecimal bytes of all in `bytes`.
struct Dense {
  std::vector<std::string> numbers;
  std::optional<std::string> bytes;
  bool is_list = false;  // written with brackets
};

// The value of an attribute. A product `[1] x [0]` or `[b, 0]x[0, o]->[b, 0]` is a list of lists.
struct Attribute {
  enum class Kind : uint8_t { unit, word, text, number, list, dictionary, dense } kind = Kind::unit;
  std::string text;  // of words (also @symbols and types), texts, numbers
  std::vector<Attribute> list;
  std::map<std::string, Attribute, std::less<>> dictionary;
  Dense dense;
  std::optional<Type> type;
};
using Attributes = std::map<std::string, Attribute, std::less<>>;

// `%x` or `%x#1`.
struct Operand {
  std::string name;
  size_t result = 0;
};

struct Operation;

// A block with its arguments.
struct Region {
  std::vector<std::string> arguments;
  std::vector<Type> types;
  std::vector<Operation> operations;
};

struct Operation {
  Place place;
  std::string name;                       // "stablehlo.add"
  std::string result;                     // without the %; empty: none. Several as %x#0, %x#1, but for
  std::vector<std::string> more_results;  // those that have a name each: the second and later ones
  std::vector<Operand> operands;
  Attributes attributes;
  std::vector<std::string> words;  // bare ones: GT, SIGNED
  std::vector<Region> regions;
  std::vector<Type> operand_types, result_types;
};

struct Function {
  std::string name;
  Region body;
  std::vector<Attributes> argument_attributes, result_attributes;
  std::vector<Type> results;
};

struct Module {
  std::string name;
  std::map<std::string, Function, std::less<>> functions;
  std::vector<std::string> order;
};

// UserError with line and column: the text is no module, or regions or values are nested over 100 deep.
Module parse_module(std::string_view text, const std::string& file);

}  // namespace plait::stablehlo
