#pragma once
// Pieces of LLVM 19 IR text: types, values, and the instructions of one function. Names and order depend on the calls
// only, so the text is deterministic.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scalar/constant.h"
#include "scalar/dtype.h"

namespace plait::codegen::llvm {

enum class Scalar : uint8_t { i1, i8, i16, i32, i64, f32, f64, ptr };

// A scalar (lanes == 1) or a vector of scalars.
struct Type {
  Scalar scalar = Scalar::i64;
  int lanes = 1;
  std::string text() const;    // "<8 x float>"
  std::string suffix() const;  // as in names of intrinsics: "v8f32"
  Type with(Scalar other) const { return {other, lanes}; }
  bool is_float() const { return scalar == Scalar::f32 || scalar == Scalar::f64; }
  friend bool operator==(const Type&, const Type&) = default;
};

Type value_type(DType dtype, int lanes);   // of kernel IR's values: bool is i1
Type memory_type(DType dtype, int lanes);  // of elements in buffers: types of one or two bytes are i8, i16

// A constant or the name of an instruction's result.
struct Ir {
  Type type;
  std::string text;
  std::string typed() const { return type.text() + " " + text; }
};

// The same integer or number in every lane. Floats print as the hexadecimal bits of a double, which read back exactly.
Ir integer(Type type, int64_t value);
Ir number(Type type, double value);  // value is exact in the type
Ir constant(Type type, const Constant& value);
// 0, 1, 2 ... in the lanes of an integer type.
Ir iota(Type type);

// The text without such notes.
std::string without_notes(std::string_view text);

// What surrounds the functions: helper functions and declarations, each once, ordered by name.
class Module {
 public:
  bool has(const std::string& name) const { return functions_.contains(name); }
  void define(const std::string& name, std::string text) { functions_.insert_or_assign(name, std::move(text)); }
  void declare(const std::string& name, const std::string& signature) { declarations_.emplace(name, signature); }
  std::string text() const;

 private:
  std::map<std::string, std::string> functions_, declarations_;
};

// Instructions of one function, in order.
class Function {
 public:
  explicit Function(Module& module) : module_(module) {}
  Module& module() { return module_; }
  const std::string& body() const { return body_; }

  void line(std::string_view text);
  // `; %28` behind the line that makes the value, where one since `begin` (of body()) does: which of kernel IR's it is.
  void note(const Ir& value, uint32_t id, size_t begin);
  Ir define(Type type, std::string_view instruction);
  std::string fresh_label(std::string_view stem);
  void label(const std::string& name);  // starts the block of that name
  const std::string& block() const { return block_; }

  Ir binary(std::string_view op, const Ir& a, const Ir& b);   // "fadd", "add nsw"
  Ir compare(std::string_view op, const Ir& a, const Ir& b);  // "fcmp olt", "icmp eq"
  Ir select(const Ir& condition, const Ir& a, const Ir& b);
  Ir cast(std::string_view op, const Ir& a, Type to);
  Ir call(const std::string& function, Type type, const std::vector<Ir>& operands);
  Ir intrinsic(std::string_view name, Type type, const std::vector<Ir>& operands, std::string_view suffix);
  Ir intrinsic(std::string_view name, const std::vector<Ir>& operands);  // overloaded on the first operand's type
  Ir extract(const Ir& vector, int lane);
  Ir insert(const Ir& vector, const Ir& element, int lane);
  Ir splat(const Ir& element, int lanes);  // itself for one lane
  Ir half(const Ir& vector, bool upper);   // the lower or upper half of the lanes

 private:
  Module& module_;
  std::string body_, block_ = "entry";
  int next_value_ = 0, next_label_ = 0;
};

}  // namespace plait::codegen::llvm
