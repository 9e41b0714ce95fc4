#include "plait_values.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/error.h"
#include "scalar/constant.h"

namespace plait::tool {

namespace {

constexpr size_t kMaxRank = 32;
constexpr int64_t kPrintAll = 64, kPrintHead = 6;

class ListReader {
 public:
  ListReader(const std::string& text, DType dtype, const std::string& where)
      : text_(text), dtype_(dtype), where_(where) {}

  Tensor run() {
    skip();
    read(0);
    if (skip(); at_ != text_.size()) fail(fmt::format("`{}` behind the value", text_.substr(at_)));
    Tensor out = Tensor::empty(dtype_, shape_);
    auto* target = static_cast<std::byte*>(out.data());
    for (const Constant& value : values_) {
      value.store(target);
      target += size_of(dtype_);
    }
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(what, where_, "write nested lists of one length per dim, e.g. [[1, 2], [3, 4]], or one number");
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  // The first list at a depth, or the first number, fixes what all others must be.
  void read(size_t depth) {
    if (at_ >= text_.size()) fail("the list ends early");
    if (text_[at_] != '[') {
      if (!leaf_depth_) leaf_depth_ = depth;
      if (*leaf_depth_ != depth || shape_.size() != depth) fail("numbers stand at different depths");
      return read_number();
    }
    if (depth >= kMaxRank) fail(fmt::format("lists are nested deeper than {}", kMaxRank));
    if (leaf_depth_ && depth >= *leaf_depth_) fail("numbers stand at different depths");
    ++at_;
    int64_t count = read_items(depth);
    if (depth >= shape_.size()) fail("an empty list stands beside lists with values");
    if (shape_[depth] < 0) shape_[depth] = count;
    if (shape_[depth] != count)
      fail(fmt::format("lists of dim {} have {} and {} elements", depth, shape_[depth], count));
  }

  int64_t read_items(size_t depth) {
    if (shape_.size() == depth && !closed_) shape_.push_back(-1);
    int64_t count = 0;
    skip();
    if (at_ < text_.size() && text_[at_] == ']') {
      ++at_;
      closed_ = true;  // nothing lies deeper than an empty list
      return 0;
    }
    while (true) {
      skip();
      read(depth + 1);
      ++count;
      skip();
      if (at_ >= text_.size()) fail("the list ends early");
      char c = text_[at_++];
      if (c == ']') return count;
      if (c != ',') fail(fmt::format("found `{}` in a list, expected `,` or `]`", c));
    }
  }

  void read_number() {
    closed_ = true;
    size_t end = text_.find_first_of(",[] \n\t", at_);
    std::string word = text_.substr(at_, end == std::string::npos ? end : end - at_);
    auto value = parse_constant(dtype_, word);
    if (!value) fail(fmt::format("`{}` is no value of {}", word, name(dtype_)));
    values_.push_back(*value);
    at_ += word.size();
  }

  const std::string& text_;
  DType dtype_;
  const std::string& where_;
  size_t at_ = 0;
  std::vector<int64_t> shape_;
  bool closed_ = false;  // the rank is known
  std::optional<size_t> leaf_depth_;
  std::vector<Constant> values_;
};

// Leaves are the numbers; of a tensor without any, the empty lists of its first dim that is empty.
class ValuePrinter {
 public:
  explicit ValuePrinter(const Tensor& tensor)
      : tensor_(tensor),
        leaf_depth_(size_t(std::find(tensor.shape.begin(), tensor.shape.end(), 0) - tensor.shape.begin())) {
    double leaves = 1;  // there may be more than 2^63 empty lists
    for (size_t d = 0; d < leaf_depth_; ++d) leaves *= double(tensor.shape[d]);
    all_ = leaves <= double(kPrintAll);
  }

  std::string run() {
    print(0);
    return std::move(out_);
  }

 private:
  void print(size_t depth) {
    if (depth == leaf_depth_ && depth < tensor_.shape.size()) {
      out_ += "[]";
      ++next_;
      return;
    }
    if (depth == leaf_depth_) {
      const auto* source = static_cast<const std::byte*>(tensor_.data());
      out_ += number_text(tensor_.dtype, source + next_++ * static_cast<int64_t>(size_of(tensor_.dtype)));
      return;
    }
    out_ += "[";
    for (int64_t i = 0; i < tensor_.shape[depth]; ++i) {
      if (i > 0) out_ += ", ";
      if (!all_ && next_ >= kPrintHead) {
        out_ += "...";
        break;
      }
      print(depth + 1);
    }
    out_ += "]";
  }

  const Tensor& tensor_;
  const size_t leaf_depth_;
  bool all_ = false;
  int64_t next_ = 0;
  std::string out_;
};

}  // namespace

Tensor read_list(const std::string& text, DType dtype, const std::string& where) {
  return ListReader(text, dtype, where).run();
}

std::string value_text(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  return ValuePrinter(dense).run();
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out;
  for (int64_t extent : shape) out += fmt::format("{}{}", out.empty() ? "" : ", ", extent);
  return "[" + out + "]";
}

std::string type_text(DType dtype, const std::vector<int64_t>& shape) {
  return std::string(name(dtype)) + shape_text(shape);
}

}  // namespace plait::tool
