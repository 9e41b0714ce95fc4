// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#include "plait_npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/file_writer.h"
#include "plait_values.h"
#include "scalar/convert.h"

namespace plait::tool {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 32, kMostHeader = size_t{1} << 20;  // bytes, of a stream, which could go on for ever
constexpr const char* kWrite = "write it by numpy.save";

struct FileType {
  std::string_view code;  // without the byte order
  DType dtype;
};
constexpr FileType kFileTypes[] = {{"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16}, {"i1", DType::i8},
                                   {"i2", DType::i16}, {"i4", DType::i32}, {"i8", DType::i64}, {"u1", DType::u8},
                                   {"u2", DType::u16}, {"u4", DType::u32}, {"u8", DType::u64}, {"b1", DType::boolean}};

// The dtype of the file that holds tensors of a dtype.
DType file_dtype(DType dtype) { return dtype == DType::bf16 || is_f8(dtype) ? DType::f32 : dtype; }

std::string_view code_of(DType dtype) {
  for (const FileType& type : kFileTypes)
    if (type.dtype == dtype) return type.code;
  PLAIT_CHECK(false, "no .npy type for {}", name(dtype));
  return "";
}

// NumPy's name, for messages.
std::string numpy_name(DType dtype) {
  std::string_view code = code_of(dtype);
  if (code == "b1") return "bool";
  return fmt::format("{}{}", code[0] == 'f' ? "float" : (code[0] == 'i' ? "int" : "uint"), (code[1] - '0') * 8);
}

struct Header {
  std::string descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;
};

// The header is a dict literal of Python: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  Header run() {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) fail("text behind the dict");
    if (header_.descr.empty() || !header_.fortran || !header_.shape)
      fail("it needs the keys descr, fortran_order and shape");
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("malformed .npy header: {}", what), where_, kWrite);
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool accept(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected `{}` at byte {}", c, at_));
  }
  bool accept_word(std::string_view word) {
    skip();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string read_string() {
    skip();
    char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') fail(fmt::format("expected a string at byte {}", at_));
    size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("a string without end");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }

  void read_entry() {
    std::string key = read_string();
    expect(':');
    if (key == "descr" && header_.descr.empty()) {
      skip();
      if (at_ < text_.size() && text_[at_] == '[')
        throw UserError("the file holds records", where_, "save one plain array per file");
      header_.descr = read_string();
      if (header_.descr.empty()) fail("descr is empty");
    } else if (key == "fortran_order" && !header_.fortran) {
      bool yes = accept_word("True");
      if (!yes && !accept_word("False")) fail("fortran_order is neither True nor False");
      header_.fortran = yes;
    } else if (key == "shape" && !header_.shape) {
      header_.shape = read_shape();
    } else {
      fail(fmt::format("key `{}` is unknown or stands there twice", key));
    }
  }

  std::vector<int64_t> read_shape() {
    std::vector<int64_t> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(read_extent());
      if (shape.size() > kMaxRank) fail(fmt::format("shape has more than {} dims", kMaxRank));
      if (accept(',')) continue;
      if (shape.size() < 2) fail("shape is a number, not a tuple");
      expect(')');
      break;
    }
    return shape;
  }

  int64_t read_extent() {
    skip();
    int64_t value = 0;
    size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
          __builtin_add_overflow(value, int64_t{text_[at_] - '0'}, &value))
        fail("an extent beyond 64 bits");
    if (at_ == begin) fail(fmt::format("expected an extent at byte {}", at_));
    return value;
  }

  std::string_view text_;
  const std::string& where_;
  size_t at_ = 0;
  Header header_;
};

// Bytes of a file or a stream (`-`: standard input), read piece by piece.
class FileReader {
 public:
  FileReader(const std::string& path, const std::string& where)
      : where_(where), file_(path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat facts = {};
    const bool open = file_ >= 0 && fstat(file_, &facts) == 0, folder = open && S_ISDIR(facts.st_mode);
    if (!open || folder) {
      const int reason = errno;
      if (file_ >= 0) close(file_);
      throw UserError(fmt::format("cannot read `{}`: {}", path, folder ? "it is a folder" : std::strerror(reason)),
                      where_, "give the path of a .npy file");
    }
    if (!S_ISREG(facts.st_mode)) return;
    left_ = static_cast<uint64_t>(facts.st_size - std::max<off_t>(0, lseek(file_, 0, SEEK_CUR)));
  }
  ~FileReader() { close(file_); }
  FileReader(const FileReader&) = delete;

  // Of a stream it is not known ahead.
  std::optional<uint64_t> left() const { return left_; }

  void read(void* target, uint64_t bytes, std::string_view what) {
    if (left_ && bytes > *left_) fail_early(*left_, what, bytes);
    for (uint64_t done = 0; done < bytes;) {
      const uint64_t count = read_some(static_cast<char*>(target) + done, bytes - done);
      if (count == 0) fail_early(done, what, bytes);
      done += count;
    }
    if (left_) *left_ -= bytes;
  }

  bool at_end() {
    char behind;
    return read_some(&behind, 1) == 0;
  }

 private:
  [[noreturn]] void fail_early(uint64_t left, std::string_view what, uint64_t bytes) const {
    throw UserError(fmt::format("the .npy file ends early: {} bytes left, {} needs {}", left, what, bytes), where_,
                    kWrite);
  }
  uint64_t read_some(char* target, uint64_t bytes) {
    for (;;) {
      const ssize_t count = ::read(file_, target, std::min(bytes, uint64_t{1} << 30));
      if (count >= 0) return static_cast<uint64_t>(count);
      if (errno != EINTR) throw UserError("the file cannot be read to its end", where_, "look at the disk");
    }
  }

  std::string where_;
  int file_;
  std::optional<uint64_t> left_;
};

Header read_header(FileReader& file, const std::string& where) {
  unsigned char start[8];
  if (file.left() && *file.left() < sizeof start) throw UserError("the file is too short for .npy", where, kWrite);
  file.read(start, sizeof start, "the start");
  if (std::memcmp(start, kMagic.data(), kMagic.size()) != 0)
    throw UserError("the file is not .npy: it does not start with \\x93NUMPY", where, kWrite);
  if (start[6] != 1 && start[6] != 2)
    throw UserError(fmt::format(".npy version {}.{} is not read", start[6], start[7]), where, "versions 1 and 2 are");
  unsigned char size[4] = {};
  file.read(size, start[6] == 1 ? 2 : 4, "the header's size");
  uint64_t bytes = size[0] | size[1] << 8 | size[2] << 16 | uint64_t{size[3]} << 24;
  if (!file.left() && bytes > kMostHeader)
    throw UserError(fmt::format("malformed .npy header: it has {} bytes", bytes), where, kWrite);
  if (bytes > file.left().value_or(bytes))
    throw UserError(fmt::format("the .npy file ends early: {} bytes left, the header needs {}", *file.left(), bytes),
                    where, kWrite);
  std::string text(bytes, '\0');
  file.read(text.data(), bytes, "the header");
  return HeaderReader(text, where).run();
}

void check_dtype(const Header& header, DType dtype, const std::string& where) {
  const DType want = file_dtype(dtype);
  const std::string remedy = fmt::format("save array.astype(numpy.{})", numpy_name(want));
  std::string_view code = header.descr;
  char order = code[0];
  if (order == '<' || order == '>' || order == '|' || order == '=') code.remove_prefix(1);
  const FileType* found = nullptr;
  for (const FileType& type : kFileTypes)
    if (type.code == code) found = &type;
  if (found == nullptr)
    throw UserError(fmt::format("the file holds `{}`, which is no type of plait", header.descr), where, remedy);
  if (order == '>' && size_of(found->dtype) > 1)
    throw UserError(fmt::format("the file holds `{}`, big endian", header.descr), where, remedy);
  if (found->dtype != want)
    throw UserError(fmt::format("the file holds {}, not {}", type_text(found->dtype, *header.shape), name(want)), where,
                    remedy);
}

// dense[i, j, ..] = column_major[i, j, ..], elements of `size` bytes.
void from_column_major(const std::byte* source, std::byte* dense, const std::vector<int64_t>& shape, size_t size) {
  const size_t rank = shape.size();
  std::vector<int64_t> index(rank), stride(rank);
  int64_t elements = 1;
  for (size_t d = 0; d < rank; ++d) {
    stride[d] = elements;
    elements *= shape[d];
  }
  int64_t at = 0;
  for (int64_t i = 0; i < elements; ++i) {
    std::memcpy(dense + static_cast<size_t>(i) * size, source + static_cast<size_t>(at) * size, size);
    for (size_t d = rank; d-- > 0;) {
      at += stride[d];
      if (++index[d] < shape[d]) break;
      at -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

void check_booleans(const Tensor& tensor, const std::string& where) {
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  for (int64_t i = 0; i < tensor.elements(); ++i)
    if (bytes[i] > 1) throw UserError(fmt::format("element {} is {}, no bool", i, int{bytes[i]}), where, kWrite);
}

Tensor convert(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  Tensor out = Tensor::empty(dtype, tensor.shape);
  const auto* source = static_cast<const std::byte*>(tensor.data());
  auto* target = static_cast<std::byte*>(out.data());
  for (int64_t i = 0; i < tensor.elements(); ++i)
    store_double(dtype, target + static_cast<size_t>(i) * size_of(dtype),
                 load_double(tensor.dtype, source + static_cast<size_t>(i) * size_of(tensor.dtype)));
  return out;
}

}  // namespace

Tensor read_npy(const std::string& path, DType dtype, const std::string& where) {
  const std::string place = fmt::format("{}, file {}", where, path);
  FileReader file(path, place);
  const Header header = read_header(file, place);
  check_dtype(header, dtype, place);
  const DType in_file = file_dtype(dtype);
  int64_t elements = 0, bytes = 0;
  try {
    elements = element_count(*header.shape);
  } catch (const UserError& e) {
    throw UserError(e.message(), place, kWrite);
  }
  if (__builtin_mul_overflow(elements, static_cast<int64_t>(size_of(in_file)), &bytes) ||
      static_cast<uint64_t>(bytes) != file.left().value_or(static_cast<uint64_t>(bytes)))
    throw UserError(fmt::format("the .npy file has {} bytes of data, {} needs {}", file.left().value_or(0),
                                type_text(in_file, *header.shape), bytes),
                    place, kWrite);
  Tensor out = Tensor::empty(in_file, *header.shape);
  if (!*header.fortran || out.shape.size() < 2) {
    file.read(out.data(), static_cast<uint64_t>(bytes), "the data");
  } else {
    std::vector<std::byte> data(static_cast<size_t>(bytes));
    file.read(data.data(), static_cast<uint64_t>(bytes), "the data");
    from_column_major(data.data(), static_cast<std::byte*>(out.data()), out.shape, size_of(in_file));
  }
  if (!file.left() && !file.at_end())
    throw UserError(fmt::format("there is more behind the {} bytes of {}", bytes, type_text(in_file, *header.shape)),
                    place, kWrite);
  if (in_file == DType::boolean) check_booleans(out, place);
  return convert(out, dtype);
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const Tensor dense = convert(tensor.contiguous(), file_dtype(tensor.dtype));
  std::string shape;
  for (int64_t extent : dense.shape) shape += fmt::format("{}{}", extent, dense.shape.size() == 1 ? "," : ", ");
  if (dense.shape.size() > 1) shape.resize(shape.size() - 2);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                   size_of(dense.dtype) == 1 ? '|' : '<', code_of(dense.dtype), shape);
  constexpr size_t kStart = 10, kAlignment = 64;
  header.append((kAlignment - (kStart + header.size() + 1) % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string start(kMagic);
  start += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  FileWriter out(path, "--out");
  out.write(start + header);
  out.write(dense.data(), dense.bytes());
  out.commit();
}

}  // namespace plait::tool
