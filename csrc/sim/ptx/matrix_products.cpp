// mma: d = a * b + c of small matrices whose elements lie in the registers of a warp.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "sim/ptx/decoder.h"
#include "sim/ptx/families.h"
#include "sim/ptx/numbers.h"

namespace plait::sim::ptx {
namespace {

enum class Element : uint8_t { f16, bf16, tf32, f64, s8, u8 };

constexpr int kColumns = 8;
constexpr int kMostRows = 16, kMostTerms = 32;

// What an instruction multiplies: a of m rows and k columns, b of k rows and 8 columns. c and d are of type `sum`.
struct Form {
  Element a, b;
  Type sum;
  int m, k;
  bool saturates = false;
};

constexpr int bits_of(Element element) {
  switch (element) {
    case Element::f64:
      return 64;
    case Element::tf32:
      return 32;
    case Element::s8:
    case Element::u8:
      return 8;
    default:
      return 16;
  }
}
constexpr bool is_whole(Element element) { return element == Element::s8 || element == Element::u8; }
constexpr int register_bits(Element element) { return element == Element::f64 ? 64 : 32; }
constexpr int packed(Element element) { return register_bits(element) / bits_of(element); }  // elements of a register

// Registers of a lane.
int registers_of_a(const Form& f) { return f.m * f.k / kLanes / packed(f.a); }
int registers_of_b(const Form& f) { return f.k * kColumns / kLanes / packed(f.b); }
int registers_of_sum(const Form& f) { return f.m * kColumns / kLanes / (f.sum == Type::f16 ? 2 : 1); }

// Element `place` of a register; tf32 has 10 bits of mantissa, and the others are not looked at.
double element_of(Element element, uint64_t bits, int place) {
  const uint64_t at = bits >> (place * bits_of(element));
  switch (element) {
    case Element::f16:
      return widened(Half{static_cast<uint16_t>(at)});
    case Element::bf16:
      return widened(Bfloat{static_cast<uint16_t>(at)});
    case Element::tf32:
      return std::bit_cast<float>(static_cast<uint32_t>(at) & ~uint32_t(0x1fff));
    case Element::f64:
      return std::bit_cast<double>(at);
    case Element::s8:
      return static_cast<int8_t>(at);
    case Element::u8:
      return static_cast<uint8_t>(at);
  }
  return 0;
}

uint64_t slot(Warp& warp, uint32_t row, int lane, bool wide) {
  return wide ? row64(warp, row)[lane] : row32(warp, row)[lane];
}

struct Matrices {
  double a[kMostRows][kMostTerms], b[kMostTerms][kColumns], sum[kMostRows][kColumns];
};

// Rows of a and columns of b go by lane / 4, terms by lane % 4: as many neighbours as a register holds.
void read_factors(Warp& warp, const Form& f, const uint32_t* rows, Matrices& out) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane / 4, in_group = lane % 4;
    const int row_blocks = f.m / kColumns;
    for (int r = 0; r < registers_of_a(f); ++r)
      for (int e = 0; e < packed(f.a); ++e)
        out.a[group + 8 * (r % row_blocks)][(r / row_blocks * 4 + in_group) * packed(f.a) + e] =
            element_of(f.a, slot(warp, rows[r], lane, register_bits(f.a) == 64), e);
    for (int r = 0; r < registers_of_b(f); ++r)
      for (int e = 0; e < packed(f.b); ++e)
        out.b[(r * 4 + in_group) * packed(f.b) + e][group] =
            element_of(f.b, slot(warp, rows[registers_of_a(f) + r], lane, register_bits(f.b) == 64), e);
  }
}

// fn(lane, register, place in it, row, column) for the elements of a sum.
template <class Fn>
void for_sums(const Form& f, Fn fn) {
  const int packed = f.sum == Type::f16 ? 2 : 1;
  for (int lane = 0; lane < kLanes; ++lane)
    for (int i = 0; i < f.m * kColumns / kLanes; ++i)
      fn(lane, i / packed, i % packed, lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2);
}

double sum_of(Type type, uint64_t bits, int place) {
  switch (type) {
    case Type::f16:
      return widened(Half{static_cast<uint16_t>(bits >> 16 * place)});
    case Type::f32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Type::f64:
      return std::bit_cast<double>(bits);
    default:
      return static_cast<int32_t>(bits);
  }
}

// Towards zero; what is too large is infinite.
float truncated(double x) {
  const float near = static_cast<float>(x);
  return std::isfinite(near) && std::fabs(double(near)) > std::fabs(x) ? std::nextafter(near, 0.0f) : near;
}

// f32: sums of 8 products of 16 bits, or 4 of tf32, and what was before, each rounded once, towards zero. f16: one sum,
// to nearest. f64: term by term. Whole numbers are exact.
double multiply_add(const Form& f, const Matrices& of, int row, int column) {
  double out = of.sum[row][column];
  const int step = f.sum == Type::f32 ? (f.a == Element::tf32 ? 4 : 8) : f.k;
  for (int k = 0; k < f.k; ++k) {
    out = std::fma(of.a[row][k], of.b[k][column], out);
    if (f.sum == Type::f32 && (k + 1) % step == 0) out = truncated(out);
  }
  return out;
}

uint32_t whole_bits(double sum, bool saturates) {
  using Limits = std::numeric_limits<int32_t>;
  const auto exact = static_cast<int64_t>(sum);
  return static_cast<uint32_t>(saturates ? std::clamp<int64_t>(exact, Limits::min(), Limits::max()) : exact);
}

void store_sum(Warp& warp, const Form& f, uint32_t row, int lane, int place, double value) {
  if (f.sum == Type::f64) {
    row64(warp, row)[lane] = std::bit_cast<uint64_t>(value);
  } else if (f.sum == Type::f16) {
    uint32_t& out = row32(warp, row)[lane];
    const uint32_t bits = to_half(value, Round::rn).bits;
    out = place == 0 ? (out & 0xffff0000) | bits : (out & 0xffff) | bits << 16;
  } else if (f.sum == Type::f32) {
    row32(warp, row)[lane] = std::bit_cast<uint32_t>(canonical(static_cast<float>(value)));
  } else {
    row32(warp, row)[lane] = whole_bits(value, f.saturates);
  }
}

constexpr Form kForms[] = {
    {Element::f16, Element::f16, Type::f32, 16, 8},   {Element::f16, Element::f16, Type::f32, 16, 16},
    {Element::f16, Element::f16, Type::f16, 16, 8},   {Element::f16, Element::f16, Type::f16, 16, 16},
    {Element::bf16, Element::bf16, Type::f32, 16, 8}, {Element::bf16, Element::bf16, Type::f32, 16, 16},
    {Element::tf32, Element::tf32, Type::f32, 16, 4}, {Element::tf32, Element::tf32, Type::f32, 16, 8},
    {Element::f64, Element::f64, Type::f64, 8, 4},    {Element::f64, Element::f64, Type::f64, 16, 4},
    {Element::f64, Element::f64, Type::f64, 16, 8},   {Element::f64, Element::f64, Type::f64, 16, 16},
};

// Rows: d, then a, b and c.
template <class Find>
void multiply(Warp& warp, const Instruction& i, Find form) {
  need_warp(warp, i);
  const Form f = form(i.immediate);
  const uint32_t *to = warp.run->program->rows.data() + i.target, *from = to + registers_of_sum(f);
  const uint32_t* sums = from + registers_of_a(f) + registers_of_b(f);
  Matrices of;
  read_factors(warp, f, from, of);
  for_sums(f, [&](int lane, int r, int place, int row, int column) {
    of.sum[row][column] = sum_of(f.sum, slot(warp, sums[r], lane, f.sum == Type::f64), place);
  });
  for_sums(f, [&](int lane, int r, int place, int row, int column) {
    store_sum(warp, f, to[r], lane, place, multiply_add(f, of, row, column));
  });
}

void multiply_floats(Warp& warp, const Instruction& i) {
  multiply(warp, i, [](int64_t number) { return kForms[number]; });
}

// Of whole numbers: bits say which factors have a sign, how many rows and terms there are, and whether sums saturate.
Form whole_form(int64_t number) {
  const auto is = [&](int bit) { return (number >> bit & 1) != 0; };
  return {is(0) ? Element::s8 : Element::u8,
          is(1) ? Element::s8 : Element::u8,
          Type::s32,
          is(2) ? 16 : 8,
          is(3) ? 32 : 16,
          is(4)};
}
void multiply_wholes(Warp& warp, const Instruction& i) { multiply(warp, i, whole_form); }

struct Shape {
  std::string_view name;
  int m, k;
};
constexpr Shape kShapes[] = {{"m8n8k4", 8, 4},   {"m8n8k16", 8, 16},   {"m16n8k4", 16, 4},
                             {"m16n8k8", 16, 8}, {"m16n8k16", 16, 16}, {"m16n8k32", 16, 32}};

Element element_named(Decoder& d) {
  if (d.take("tf32")) return Element::tf32;
  switch (d.take_type()) {
    case Type::f16:
      return Element::f16;
    case Type::bf16:
      return Element::bf16;
    case Type::f64:
      return Element::f64;
    case Type::s8:
      return Element::s8;
    case Type::u8:
      return Element::u8;
    default:
      d.refuse("a product of elements of this type");
  }
}

void add_rows(Decoder& d, size_t operand, int count, Type type, bool result, std::vector<uint32_t>& rows) {
  const Operand& it = d.operand(operand);
  const std::vector<Operand> elements = it.kind == Operand::Kind::vector ? it.elements : std::vector<Operand>{it};
  if (elements.size() != static_cast<size_t>(count))
    d.refuse(fmt::format("{} registers where {} belong", elements.size(), count));
  for (const Operand& each : elements) rows.push_back(result ? d.target(each, type) : d.source(each, type));
}

// The form that the words name, and its number.
Form take_form(Decoder& d, int64_t* number) {
  const Shape* shape = nullptr;
  for (const Shape& each : kShapes)
    if (d.take(each.name)) shape = &each;
  if (shape == nullptr) d.refuse("a product of this shape");
  const bool saturates = d.take("satfinite");
  const Type sum = d.take_type();
  const Element a = element_named(d), b = element_named(d);
  if (d.take_type() != sum) d.refuse("sums of two types");
  if (is_whole(a) && is_whole(b) && sum == Type::s32 && (shape->m == 16 ? shape->k >= 16 : shape->k == 16)) {
    const auto bit = [](bool is, int place) { return static_cast<int64_t>(is) << place; };
    *number = bit(a == Element::s8, 0) | bit(b == Element::s8, 1) | bit(shape->m == 16, 2) | bit(shape->k == 32, 3) |
              bit(saturates, 4);
    return whole_form(*number);
  }
  for (const Form& each : kForms) {
    if (saturates || each.a != a || each.b != b || each.sum != sum || each.m != shape->m || each.k != shape->k)
      continue;
    *number = &each - kForms;
    return each;
  }
  d.refuse("a product of this form");
}

}  // namespace

void decode_matrix_product(Decoder& d) {
  if (!d.take("sync") || !d.take("aligned") || !d.take("row") || !d.take("col")) d.refuse("a product of this form");
  int64_t number = 0;
  const Form f = take_form(d, &number);
  d.need_target(f.a == Element::f64 && f.m == 16 ? 90 : 80);
  d.need_operands(4);
  const Type factor = f.a == Element::f64 ? Type::b64 : Type::b32;
  const Type sum = f.sum == Type::f16 ? Type::b32 : f.sum;
  std::vector<uint32_t> rows;
  add_rows(d, 0, registers_of_sum(f), sum, true, rows);
  add_rows(d, 1, registers_of_a(f), factor, false, rows);
  add_rows(d, 2, registers_of_b(f), factor, false, rows);
  add_rows(d, 3, registers_of_sum(f), sum, false, rows);
  const uint32_t first = d.rows(rows);
  Instruction& added = emit_for_warp(d, is_whole(f.a) ? multiply_wholes : multiply_floats);
  added.immediate = number;
  added.target = first;
}

}  // namespace plait::sim::ptx
