#include "codegen/llvm/text.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace plait::codegen::llvm {
namespace {

std::string_view scalar_text(Scalar scalar) {
  constexpr std::string_view kText[] = {"i1", "i8", "i16", "i32", "i64", "float", "double", "ptr"};
  return kText[size_t(scalar)];
}

std::string_view scalar_suffix(Scalar scalar) {
  constexpr std::string_view kText[] = {"i1", "i8", "i16", "i32", "i64", "f32", "f64", "p0"};
  return kText[size_t(scalar)];
}

// `element` is one lane's constant.
Ir splat_constant(Type type, const std::string& element) {
  if (type.lanes == 1) return {type, element};
  return {type, fmt::format("splat ({} {})", scalar_text(type.scalar), element)};
}

std::string operand_list(const std::vector<Ir>& operands) {
  std::string list;
  for (const Ir& operand : operands) list += (list.empty() ? "" : ", ") + operand.typed();
  return list;
}

}  // namespace

std::string Type::text() const {
  if (lanes == 1) return std::string(scalar_text(scalar));
  return fmt::format("<{} x {}>", lanes, scalar_text(scalar));
}

std::string Type::suffix() const {
  if (lanes == 1) return std::string(scalar_suffix(scalar));
  return fmt::format("v{}{}", lanes, scalar_suffix(scalar));
}

Type value_type(DType dtype, int lanes) {
  switch (dtype) {
    case DType::boolean:
      return {Scalar::i1, lanes};
    case DType::i64:
    case DType::u64:
      return {Scalar::i64, lanes};
    case DType::i32:
    case DType::u32:
      return {Scalar::i32, lanes};
    case DType::f32:
      return {Scalar::f32, lanes};
    case DType::f64:
      return {Scalar::f64, lanes};
    case DType::i8:
    case DType::i16:
    case DType::u8:
    case DType::u16:
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::f16:
    case DType::bf16:
      break;
  }
  PLAIT_CHECK(false, "a value of storage dtype {}", name(dtype));
  __builtin_unreachable();
}

Type memory_type(DType dtype, int lanes) {
  if (size_of(dtype) == 1) return {Scalar::i8, lanes};
  return size_of(dtype) == 2 ? Type{Scalar::i16, lanes} : value_type(dtype, lanes);
}

Ir integer(Type type, int64_t value) {
  if (type.scalar == Scalar::i1) return splat_constant(type, value != 0 ? "true" : "false");
  return splat_constant(type, std::to_string(value));
}

Ir number(Type type, double value) {
  return splat_constant(type, fmt::format("0x{:016X}", std::bit_cast<uint64_t>(value)));
}

Ir constant(Type type, const Constant& value) {
  if (type.is_float()) return number(type, value.to_double());
  return integer(type, value.to_int64());
}

Ir iota(Type type) {
  if (type.lanes == 1) return {type, "0"};
  std::string list;
  for (int lane = 0; lane < type.lanes; ++lane) {
    list += fmt::format("{}{} {}", lane == 0 ? "" : ", ", scalar_text(type.scalar), lane);
  }
  return {type, "<" + list + ">"};
}

std::string Module::text() const {
  std::string out;
  for (const auto& [name, text] : functions_) out += "\n" + text;
  if (!declarations_.empty()) out += "\n";
  for (const auto& [name, text] : declarations_) out += text + "\n";
  return out;
}

void Function::line(std::string_view text) {
  body_ += "  ";
  body_ += text;
  body_ += '\n';
}

constexpr std::string_view kNote = "  ; %";

void Function::note(const Ir& value, uint32_t id, size_t begin) {
  const size_t line = body_.find(fmt::format("  {} = ", value.text), begin);
  const size_t end = line == body_.npos ? line : body_.find('\n', line);
  if (end == body_.npos || (line > 0 && body_[line - 1] != '\n')) return;
  body_.insert(end, fmt::format("{}{}", kNote, id));
}

std::string without_notes(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t note = std::min(text.find(kNote, at), text.size());
    out += text.substr(at, note - at);
    at = std::min(text.find('\n', note), text.size());
  }
  return out;
}

Ir Function::define(Type type, std::string_view instruction) {
  std::string name = fmt::format("%t{}", next_value_++);
  line(fmt::format("{} = {}", name, instruction));
  return {type, std::move(name)};
}

std::string Function::fresh_label(std::string_view stem) { return fmt::format("{}{}", stem, next_label_++); }

void Function::label(const std::string& name) {
  body_ += name + ":\n";
  block_ = name;
}

Ir Function::binary(std::string_view op, const Ir& a, const Ir& b) {
  return define(a.type, fmt::format("{} {}, {}", op, a.typed(), b.text));
}

Ir Function::compare(std::string_view op, const Ir& a, const Ir& b) {
  return define(a.type.with(Scalar::i1), fmt::format("{} {}, {}", op, a.typed(), b.text));
}

Ir Function::select(const Ir& condition, const Ir& a, const Ir& b) {
  return define(a.type, fmt::format("select {}, {}, {}", condition.typed(), a.typed(), b.typed()));
}

Ir Function::cast(std::string_view op, const Ir& a, Type to) {
  return define(to, fmt::format("{} {} to {}", op, a.typed(), to.text()));
}

Ir Function::call(const std::string& function, Type type, const std::vector<Ir>& operands) {
  return define(type, fmt::format("call {} @{}({})", type.text(), function, operand_list(operands)));
}

Ir Function::intrinsic(std::string_view name, Type type, const std::vector<Ir>& operands, std::string_view suffix) {
  const std::string full = fmt::format("{}.{}", name, suffix);
  std::string types;
  for (const Ir& operand : operands) types += (types.empty() ? "" : ", ") + operand.type.text();
  module_.declare(full, fmt::format("declare {} @{}({})", type.text(), full, types));
  return call(full, type, operands);
}

Ir Function::intrinsic(std::string_view name, const std::vector<Ir>& operands) {
  return intrinsic(name, operands[0].type, operands, operands[0].type.suffix());
}

Ir Function::extract(const Ir& vector, int lane) {
  if (vector.type.lanes == 1) return vector;
  return define({vector.type.scalar, 1}, fmt::format("extractelement {}, i64 {}", vector.typed(), lane));
}

Ir Function::insert(const Ir& vector, const Ir& element, int lane) {
  if (vector.type.lanes == 1) return element;
  return define(vector.type, fmt::format("insertelement {}, {}, i64 {}", vector.typed(), element.typed(), lane));
}

Ir Function::splat(const Ir& element, int lanes) {
  if (lanes == 1) return element;
  const Type type{element.type.scalar, lanes};
  const Ir first = insert({type, "poison"}, element, 0);
  return define(
      type, fmt::format("shufflevector {}, {} poison, <{} x i32> zeroinitializer", first.typed(), type.text(), lanes));
}

Ir Function::half(const Ir& vector, bool upper) {
  const int lanes = vector.type.lanes / 2, first = upper ? lanes : 0;
  if (lanes == 1) return extract(vector, first);
  std::string chosen;
  for (int i = 0; i < lanes; ++i) chosen += fmt::format("{}i32 {}", i == 0 ? "" : ", ", first + i);
  return define({vector.type.scalar, lanes}, fmt::format("shufflevector {}, {} poison, <{} x i32> <{}>", vector.typed(),
                                                         vector.type.text(), lanes, chosen));
}

}  // namespace plait::codegen::llvm
