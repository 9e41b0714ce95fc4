// Ops of StableHLO that make tensors from nothing or move elements.
#include <algorithm>
#include <cstring>

#include "import/stablehlo/importer.h"
#include "import/windows.h"

namespace plait::stablehlo {
namespace {

int nibble(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

// One number of the text: decimal, or its bits in hexadecimal digits.
Constant number_of(DType dtype, const std::string& text) {
  if (text.starts_with("0x")) {
    Constant out{dtype, 0};
    require(text.size() > 2 && text.size() <= 2 + 2 * size_of(dtype), "`{}` is no {}", text, name(dtype));
    for (const char c : text.substr(2)) {
      require(nibble(c) >= 0, "`{}` is no {}", text, name(dtype));
      out.bits = out.bits * 16 + static_cast<uint64_t>(nibble(c));
    }
    return out;
  }
  const auto out = parse_constant(dtype, text);
  require(out.has_value(), "`{}` is no {}", text, name(dtype));
  return *out;
}

std::string bytes_of_text(const std::string& text) {
  require(text.starts_with("0x") && text.size() % 2 == 0, "bytes that are not hexadecimal");
  std::string out;
  for (size_t i = 2; i < text.size(); i += 2) {
    const int high = nibble(text[i]), low = nibble(text[i + 1]);
    require(high >= 0 && low >= 0, "bytes that are not hexadecimal");
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

Tensor from_bytes(DType dtype, const Numbers& shape, const std::string& bytes) {
  const auto count = static_cast<size_t>(element_count(shape)), size = size_of(dtype);
  const bool bits = dtype == DType::boolean && bytes.size() == (count + 7) / 8 && bytes.size() != count;
  const bool one = bytes.size() == size && count > 1 && !bits;  // for all elements
  require(bits || one || bytes.size() == count * size, "{} bytes for {} elements of {}", bytes.size(), count,
          name(dtype));
  require(!one || count < (size_t{1} << 32), "{} elements", count);
  Tensor out = Tensor::empty(dtype, shape);
  auto* at = static_cast<char*>(out.data());
  for (size_t i = 0; i < count; ++i) {
    if (bits)
      at[i] = static_cast<char>(bytes[i / 8] >> (i % 8) & 1);
    else
      std::memcpy(at + i * size, bytes.data() + (one ? 0 : i * size), size);
    if (dtype == DType::boolean) at[i] = at[i] != 0;
  }
  return out;
}

TensorView* splat(Call& c, const Constant& value, const Numbers& shape) {
  if (value.dtype == DType::u64) return full(c.fusion(), extents_of(shape), value.bits, value.dtype);
  if (!is_float(value.dtype)) return full(c.fusion(), extents_of(shape), value.to_int64(), value.dtype);
  return full(c.fusion(), extents_of(shape), value.to_double(), value.dtype);
}

void constant(Call& c) {
  const Attribute& value = c.attribute({"value"});
  const Numbers shape = c.shape();
  const DType dtype = c.dtype();
  require(value.kind == Attribute::Kind::dense, "a constant that is not dense<...>");
  const Dense& dense = value.dense;
  if (dense.bytes)
    return c.give(c.importer.builder().tensor_of(from_bytes(dtype, shape, bytes_of_text(*dense.bytes)), c.op.result));
  if (!dense.is_list && dense.numbers.size() == 1) return c.give(splat(c, number_of(dtype, dense.numbers[0]), shape));
  require(static_cast<int64_t>(dense.numbers.size()) == element_count(shape), "{} numbers for {}", dense.numbers.size(),
          c.type().text());
  Tensor out = Tensor::empty(dtype, shape);
  auto* at = static_cast<char*>(out.data());
  for (const std::string& each : dense.numbers) {
    number_of(dtype, each).store(at);
    at += size_of(dtype);
  }
  c.give(c.importer.builder().tensor_of(out, c.op.result));
}

void iota_op(Call& c) {
  const int64_t dim = c.integer({"dim", "iota_dimension"});
  c.give(iota(c.fusion(), extents_of(c.shape()), dim, c.dtype()));
}

// Dims of the operand may go to places in any order.
void broadcast_in_dim(Call& c) {
  Numbers dims = c.integers({"dims", "broadcast_dimensions"});
  TensorView* x = c.in();
  require(dims.size() == x->rank(), "{} places of {} dims", dims.size(), x->rank());
  Dims order(dims.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::ranges::sort(order, {}, [&](int64_t d) { return dims[static_cast<size_t>(d)]; });
  if (!std::ranges::is_sorted(dims)) {
    x = permute(x, order);
    std::ranges::sort(dims);
  }
  const Numbers shape = c.shape();
  if (x->rank() == shape.size() && static_shape(x) == shape) return c.give(x);
  c.give(broadcast(x, extents_of(shape), dims));
}

void transpose_op(Call& c) { c.give(permute(c.in(), c.integers({"dims", "permutation"}))); }
void reshape_op(Call& c) {
  c.give(static_shape(c.in()) == c.shape() ? c.in() : reshape(c.in(), extents_of(c.shape())));
}
void concatenate(Call& c) {
  const Values parts = c.all();
  c.give(parts.size() == 1 ? parts[0] : cat(parts, c.integer({"dim", "dimension"})));
}
void reverse(Call& c) { c.give(flip(c.in(), c.integers({"dims", "dimensions"}))); }

void slice_op(Call& c) {
  TensorView* x = c.in();
  const Numbers starts = c.integers({"start_indices"}), limits = c.integers({"limit_indices"});
  const Numbers strides = c.integers("strides", x->rank(), 1), shape = static_shape(x);
  require(starts.size() == x->rank() && limits.size() == x->rank(), "{} starts of {} dims", starts.size(), x->rank());
  for (size_t d = 0; d < shape.size(); ++d) {
    require(starts[d] >= 0 && limits[d] >= starts[d] && limits[d] <= shape[d] && strides[d] >= 1,
            "[{}:{}:{}] of {} elements", starts[d], limits[d], strides[d], shape[d]);
    if (starts[d] != 0 || limits[d] != shape[d] || strides[d] != 1)
      x = slice(x, static_cast<int64_t>(d), starts[d], limits[d], strides[d]);
  }
  c.give(x);
}

void pad_op(Call& c) {
  TensorView* x = c.in();
  const Numbers low = c.integers({"low", "edge_padding_low"}), high = c.integers({"high", "edge_padding_high"});
  const Numbers interior = c.integers(c.has("interior") ? "interior" : "interior_padding", x->rank(), 0);
  require(low.size() == x->rank() && high.size() == x->rank(), "{} pads of {} dims", low.size(), x->rank());
  const double value = c.importer.builder().known(c.in(1)).at(0);
  Numbers before, behind;
  for (size_t d = 0; d < low.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    require(interior[d] >= 0 && interior[d] < 1000000, "{} elements between others", interior[d]);
    x = spread_elements(x, dim, interior[d], value);
    if (low[d] < 0 || high[d] < 0) {
      const int64_t n = static_extent(x, dim), from = std::max<int64_t>(-low[d], 0);
      x = slice(x, dim, std::min(from, n), std::max(std::min(from, n), n - std::max<int64_t>(-high[d], 0)));
    }
    before.push_back(std::max<int64_t>(low[d], 0)), behind.push_back(std::max<int64_t>(high[d], 0));
  }
  c.give(pad(x, extents_of(before), extents_of(behind), value));
}

}  // namespace

std::vector<OpRow> shape_rows() {
  return {
      {"broadcast_in_dim", broadcast_in_dim},
      {"concatenate", concatenate},
      {"constant", constant},
      {"iota", iota_op},
      {"pad", pad_op},
      {"reshape", reshape_op},
      {"reverse", reverse},
      {"slice", slice_op},
      {"transpose", transpose_op},
  };
}

}  // namespace plait::stablehlo
