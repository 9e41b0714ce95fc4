#include "import/onnx/wire.h"

#include <cstring>

#include "base/error.h"

namespace plait::onnx {
namespace {

[[noreturn]] void refuse_field(const char* message, const std::string& what) {
  throw UserError(fmt::format("the file is no ONNX model: {}, in a message {}", what, message), "",
                  "give a file that an exporter of ONNX wrote, whole");
}

void check_type(const Field& field, Field::Type type, const char* message) {
  if (field.type != type)
    refuse_field(message, fmt::format("field {} has wire type {}", field.number, int{field.type}));
}

template <class Number>
void add_fixed(const Field& field, Field::Type single, const char* message, std::vector<Number>& to) {
  if (field.type == single) {
    Number value;
    std::memcpy(&value, &field.bits, sizeof value);  // the low bytes: hosts are little endian
    to.push_back(value);
    return;
  }
  check_type(field, Field::bytes_of, message);
  if (field.bytes.size() % sizeof(Number) != 0)
    refuse_field(message, fmt::format("field {} has {} bytes of packed numbers", field.number, field.bytes.size()));
  const size_t before = to.size();
  to.resize(before + field.bytes.size() / sizeof(Number));
  if (!field.bytes.empty()) std::memcpy(to.data() + before, field.bytes.data(), field.bytes.size());
}

// One number of 7 bits a byte, the lowest first; false where it is cut or too long.
bool varint_from(std::string_view bytes, size_t& at, uint64_t& out) {
  out = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at >= bytes.size()) return false;
    const auto byte = static_cast<uint8_t>(bytes[at++]);
    if (shift < 64) out |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

}  // namespace

void WireReader::fail(const std::string& what) const {
  refuse_field(message_, fmt::format("{} at byte {} of {}", what, at_, bytes_.size()));
}

uint64_t WireReader::read_varint() {
  uint64_t out = 0;
  if (!varint_from(bytes_, at_, out)) fail("a number without end");
  return out;
}

std::string_view WireReader::take(uint64_t count) {
  if (count > bytes_.size() - at_)
    fail(fmt::format("{} bytes are announced, {} are there", count, bytes_.size() - at_));
  const std::string_view out = bytes_.substr(at_, count);
  at_ += count;
  return out;
}

bool WireReader::next(Field& field) {
  if (at_ == bytes_.size()) return false;
  const uint64_t key = read_varint();
  const uint64_t number = key >> 3, type = key & 7;
  if (number == 0 || number >= (uint64_t{1} << 29)) fail(fmt::format("a field of number {}", number));
  field = {static_cast<uint32_t>(number), static_cast<Field::Type>(type), 0, {}};
  switch (field.type) {
    case Field::varint:
      field.bits = read_varint();
      return true;
    case Field::bits64:
    case Field::bits32: {
      const std::string_view value = take(field.type == Field::bits64 ? 8 : 4);
      std::memcpy(&field.bits, value.data(), value.size());
      return true;
    }
    case Field::bytes_of:
      field.bytes = take(read_varint());
      return true;
  }
  fail(fmt::format("a field of wire type {}", type));
}

int64_t integer_of(const Field& field, const char* message) {
  check_type(field, Field::varint, message);
  return static_cast<int64_t>(field.bits);
}
std::string_view bytes_of(const Field& field, const char* message) {
  check_type(field, Field::bytes_of, message);
  return field.bytes;
}
std::string text_of(const Field& field, const char* message) { return std::string(bytes_of(field, message)); }
float float_of(const Field& field, const char* message) {
  check_type(field, Field::bits32, message);
  float out;
  std::memcpy(&out, &field.bits, sizeof out);
  return out;
}
void add_integers(const Field& field, const char* message, std::vector<int64_t>& to) {
  if (field.type == Field::varint) return to.push_back(static_cast<int64_t>(field.bits));
  check_type(field, Field::bytes_of, message);
  for (size_t at = 0; at < field.bytes.size();) {
    uint64_t value = 0;
    if (!varint_from(field.bytes, at, value)) refuse_field(message, "a packed number without end");
    to.push_back(static_cast<int64_t>(value));
  }
}
void add_floats(const Field& field, const char* message, std::vector<float>& to) {
  add_fixed(field, Field::bits32, message, to);
}
void add_doubles(const Field& field, const char* message, std::vector<double>& to) {
  add_fixed(field, Field::bits64, message, to);
}

}  // namespace plait::onnx
