#pragma once
// The wire format of protocol buffers, as far as ONNX's messages use it
// (https://protobuf.dev/programming-guides/encoding): a message is a row of fields, each a key (number and type) and a
// value. The bytes may be anybody's: no length is believed before it is compared with what is there.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::onnx {

// A field; its value lies in `bits` (varint, 64 and 32 bits) or `bytes` (texts, messages, packed numbers).
struct Field {
  enum Type : uint8_t { varint = 0, bits64 = 1, bytes_of = 2, bits32 = 5 };
  uint32_t number = 0;
  Type type = varint;
  uint64_t bits = 0;
  std::string_view bytes;
};

class WireReader {
 public:
  // `message` is named in errors: "node".
  WireReader(std::string_view bytes, const char* message) : bytes_(bytes), message_(message) {}
  // The next field; false at the end. UserError: a field that is cut, or of no known type.
  bool next(Field& field);

 private:
  uint64_t read_varint();
  std::string_view take(uint64_t count);
  [[noreturn]] void fail(const std::string& what) const;

  std::string_view bytes_;
  const char* message_;
  size_t at_ = 0;
};

// The value of a field. UserError naming the message where it has another type.
int64_t integer_of(const Field& field, const char* message);
std::string text_of(const Field& field, const char* message);
std::string_view bytes_of(const Field& field, const char* message);
float float_of(const Field& field, const char* message);
// Of repeated numbers, one or packed: added to the list.
void add_integers(const Field& field, const char* message, std::vector<int64_t>& to);
void add_floats(const Field& field, const char* message, std::vector<float>& to);
void add_doubles(const Field& field, const char* message, std::vector<double>& to);

}  // namespace plait::onnx
