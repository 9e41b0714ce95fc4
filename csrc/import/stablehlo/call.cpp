// An op in import, and what handlers share.
#include <algorithm>
#include <charconv>

#include "import/stablehlo/importer.h"

namespace plait::stablehlo {

DType dtype_of(const std::string& element) {
  static const std::map<std::string, DType> names = {
      {"i1", DType::boolean}, {"i8", DType::i8},           {"i16", DType::i16},      {"i32", DType::i32},
      {"i64", DType::i64},    {"ui8", DType::u8},          {"ui16", DType::u16},     {"ui32", DType::u32},
      {"ui64", DType::u64},   {"f16", DType::f16},         {"bf16", DType::bf16},    {"f32", DType::f32},
      {"f64", DType::f64},    {"f8E4M3FN", DType::f8e4m3}, {"f8E5M2", DType::f8e5m2}};
  const auto found = names.find(element);
  require(found != names.end(), "dtype {}", element);
  return found->second;
}

const Numbers& shape_of(const Type& type) {
  require(type.shape.has_value(), "type {}", type.element);
  for (const int64_t extent : *type.shape)
    if (extent < 0) throw ImportRefusal("open extents", "lower the function with shapes of numbers");
  return *type.shape;
}

TensorView* Call::in(size_t i) const {
  require(i < op.operands.size(), "it has {} operands", op.operands.size());
  const Operand& operand = op.operands[i];
  const Values* found = scope.find(operand.name);
  if (!found || operand.result >= found->size())
    throw ImportRefusal(fmt::format("no op before it gives %{}{}", operand.name,
                                    operand.result ? fmt::format("#{}", operand.result) : ""),
                        kValidModule);
  if (!(*found)[operand.result]) throw ReadsBad{};
  return (*found)[operand.result];
}

Values Call::all() const {
  Values out;
  for (size_t i = 0; i < count(); ++i) out.push_back(in(i));
  return out;
}

const Type& Call::type(size_t i) const {
  require(i < op.result_types.size(), "it has {} types of results", op.result_types.size());
  return op.result_types[i];
}

const Attribute& Call::attribute(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (const auto found = op.attributes.find(name); found != op.attributes.end()) return found->second;
  throw ImportRefusal(fmt::format("it has no attribute {}", *names.begin()));
}

int64_t Call::integer(std::initializer_list<std::string_view> names) const { return integer_in(attribute(names)); }
Numbers Call::integers(std::initializer_list<std::string_view> names) const { return integers_in(attribute(names)); }
Numbers Call::integers(std::string_view name, size_t count, int64_t otherwise) const {
  Numbers out = has(name) ? integers({name}) : Numbers(count, otherwise);
  require(out.size() == count, "{} numbers of {}, not {}", out.size(), name, count);
  return out;
}

const Region& Call::region(size_t i) const {
  require(i < op.regions.size(), "it has {} regions", op.regions.size());
  return op.regions[i];
}

int64_t integer_in(const Attribute& attribute) {
  int64_t out = 0;
  const std::string& text = attribute.text;
  if (text == "true" || text == "false") return text == "true";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  require(error == std::errc() && end == text.data() + text.size() && std::abs(out) < (int64_t{1} << 48),
          "`{}` is no number", text);
  return out;
}

Numbers integers_in(const Attribute& attribute) {
  Numbers out;
  if (attribute.kind == Attribute::Kind::dense) {
    size_t count = attribute.dense.numbers.size();
    if (attribute.type && !attribute.dense.is_list && !attribute.dense.bytes && count == 1)
      count = static_cast<size_t>(std::clamp<int64_t>(element_count(shape_of(*attribute.type)), 0, 1000));
    for (size_t i = 0; i < count; ++i) {
      Attribute one;
      one.text = attribute.dense.numbers[std::min(i, attribute.dense.numbers.size() - 1)];
      out.push_back(integer_in(one));
    }
    return out;
  }
  require(attribute.kind == Attribute::Kind::list, "a list of numbers");
  for (const Attribute& each : attribute.list) {
    if (each.kind == Attribute::Kind::list)
      for (const int64_t inner : integers_in(each)) out.push_back(inner);
    else
      out.push_back(integer_in(each));
  }
  return out;
}

Numbers integers_in(const Attributes& dictionary, std::string_view name) {
  const auto found = dictionary.find(name);
  return found == dictionary.end() ? Numbers{} : integers_in(found->second);
}

std::string only_op(const Region& region) {
  const auto& ops = region.operations;
  if (region.arguments.size() != 2 || ops.empty() || ops.back().operands.size() != 1) return "";
  if (ops.size() == 1) return ops[0].operands[0].name == region.arguments[1] ? "set" : "";
  const Operation& op = ops[0];
  if (ops.size() != 2 || op.operands.size() != 2 || ops[1].operands[0].name != op.result) return "";
  const std::set<std::string> read = {op.operands[0].name, op.operands[1].name};
  if (read != std::set<std::string>(region.arguments.begin(), region.arguments.end())) return "";
  return op.name.starts_with("stablehlo.") ? op.name.substr(10) : "";
}

TensorView* combined(const std::string& op, TensorView* a, TensorView* b) {
  const bool logical = a->dtype == DType::boolean;
  if (op == "add") return logical ? logical_or(a, b) : add(a, b);
  if (op == "multiply") return logical ? logical_and(a, b) : mul(a, b);
  if (op == "maximum") return logical ? logical_or(a, b) : max(a, b);
  if (op == "minimum") return logical ? logical_and(a, b) : min(a, b);
  if (op == "and") return logical ? logical_and(a, b) : bitwise_and(a, b);
  if (op == "or") return logical ? logical_or(a, b) : bitwise_or(a, b);
  if (op == "xor") return logical ? logical_xor(a, b) : bitwise_xor(a, b);
  throw ImportRefusal(op.empty() ? "a region that is not one op of its arguments" : "a region of " + op);
}

TensorView* convert_to(TensorView* t, DType dtype) { return t->dtype == dtype ? t : cast(t, dtype); }

}  // namespace plait::stablehlo
