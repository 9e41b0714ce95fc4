// Products of small matrices whose elements lie in the registers of a warp.
// blocks 4, threads 32, words 4096
// Each block has 8 products of at most 16 x 8 sums, the same. Elements are whole and small: sums are exact in every order.
__device__ int element(const unsigned* in, unsigned product, unsigned row, unsigned column) {
  return static_cast<int>(in[(31 * row + 7 * column + 13 * product) % 128] % 9) - 4;
}
enum Product : unsigned { kBf16, kF16, kF16Short, kF16Sums, kTf32, kF64, kBytes, kMixedBytes };
struct Of {
  const unsigned* in;
  unsigned product;
  __device__ int a(unsigned row, unsigned term) const {
    const int value = element(in, product, row, term);
    return product == kMixedBytes ? value + 4 : value;
  }
  __device__ int b(unsigned term, unsigned column) const { return element(in, product, 100 + term, column); }
  __device__ int c(unsigned row, unsigned column) const { return element(in, product, 50 + row, column); }
};

extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  const unsigned rows[] = {16, 16, 16, 16, 16, 8, 16, 8}, terms[] = {16, 16, 8, 16, 8, 4, 32, 16};
  for (unsigned product = 0; product < 8; ++product)
    for (unsigned row = 0; row < rows[product]; ++row)
      for (unsigned column = 0; column < 8; ++column) {
        const Of of{in, product};
        int sum = of.c(row, column);
        for (unsigned k = 0; k < terms[product]; ++k) sum += of.a(row, k) * of.b(k, column);
        for (unsigned block = 0; block < 4; ++block)
          out[1024 * block + 128 * product + 8 * row + column] = static_cast<unsigned>(sum);
      }
}

__device__ unsigned f16_bits(int x) {
  unsigned short out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(static_cast<float>(x)));
  return out;
}
__device__ int of_f16(unsigned bits) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(static_cast<unsigned short>(bits)));
  return static_cast<int>(out);
}
__device__ unsigned bf16_bits(int x) { return __float_as_uint(static_cast<float>(x)) >> 16; }
__device__ unsigned tf32_bits(int x) {
  unsigned out;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(out) : "f"(static_cast<float>(x)));
  return out;
}
__device__ unsigned bytes_of(const Of& of, bool a, unsigned at, unsigned term) {
  unsigned out = 0;
  for (unsigned i = 0; i < 4; ++i) out |= ((a ? of.a(at, term + i) : of.b(term + i, at)) & 255) << 8 * i;
  return out;
}

// Where a lane's elements are.
struct Lane {
  unsigned group = threadIdx.x / 4, four = threadIdx.x % 4;
};

__device__ void write(unsigned* out, unsigned product, const int (&sums)[4], unsigned rows) {
  const Lane lane;
  for (unsigned i = 0; i < rows / 4; ++i)
    out[1024 * blockIdx.x + 128 * product + 8 * (lane.group + i / 2 * 8) + 2 * lane.four + i % 2] =
        static_cast<unsigned>(sums[i]);
}
template <class T>
__device__ void read(const Of& of, T (&sums)[4], unsigned rows) {
  const Lane lane;
  for (unsigned i = 0; i < rows / 4; ++i) sums[i] = static_cast<T>(of.c(lane.group + i / 2 * 8, 2 * lane.four + i % 2));
}
template <class T>
__device__ void write_sums(unsigned* out, unsigned product, const T (&sums)[4], unsigned rows) {
  int wholes[4];
  for (unsigned i = 0; i < rows / 4; ++i) wholes[i] = static_cast<int>(sums[i]);
  write(out, product, wholes, rows);
}

// Two elements of 16 bits, neighbours in terms.
template <class Bits>
__device__ void read_halves(const Of& of, Bits bits, unsigned terms, unsigned (&a)[4], unsigned (&b)[2]) {
  const Lane lane;
  for (unsigned r = 0; r < terms / 4; ++r) {
    const unsigned row = lane.group + r % 2 * 8, term = r / 2 * 8 + 2 * lane.four;
    a[r] = bits(of.a(row, term)) | bits(of.a(row, term + 1)) << 16;
  }
  for (unsigned r = 0; r < terms / 8; ++r) {
    const unsigned term = r * 8 + 2 * lane.four;
    b[r] = bits(of.b(term, lane.group)) | bits(of.b(term + 1, lane.group)) << 16;
  }
}

__device__ void multiply_bf16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  const Lane lane;
  unsigned a[4], b[2];
  float sums[4];
  Of of{in, kBf16};
  read_halves(of, bf16_bits, 16, a, b);
  read(of, sums, 16);
  multiply_bf16(sums, a, b);
  write_sums(out, of.product, sums, 16);

  of.product = kF16;
  read_halves(of, f16_bits, 16, a, b);
  read(of, sums, 16);
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  write_sums(out, of.product, sums, 16);

  of.product = kF16Short;
  read_halves(of, f16_bits, 8, a, b);
  read(of, sums, 16);
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
  write_sums(out, of.product, sums, 16);

  of.product = kF16Sums;
  read_halves(of, f16_bits, 16, a, b);
  int wholes[4];
  read(of, wholes, 16);
  unsigned c[2], d[2];
  for (unsigned r = 0; r < 2; ++r) c[r] = f16_bits(wholes[2 * r]) | f16_bits(wholes[2 * r + 1]) << 16;
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
      : "=r"(d[0]), "=r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]));
  for (unsigned i = 0; i < 4; ++i) wholes[i] = of_f16(d[i / 2] >> 16 * (i % 2));
  write(out, of.product, wholes, 16);

  of.product = kTf32;
  for (unsigned r = 0; r < 4; ++r) a[r] = tf32_bits(of.a(lane.group + r % 2 * 8, lane.four + r / 2 * 4));
  for (unsigned r = 0; r < 2; ++r) b[r] = tf32_bits(of.b(lane.four + r * 4, lane.group));
  read(of, sums, 16);
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  write_sums(out, of.product, sums, 16);

  of.product = kF64;
  double wide[4];
  read(of, wide, 8);
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+d"(wide[0]), "+d"(wide[1])
      : "d"(static_cast<double>(of.a(lane.group, lane.four))), "d"(static_cast<double>(of.b(lane.four, lane.group))));
  write_sums(out, of.product, wide, 8);

  of.product = kBytes;
  for (unsigned r = 0; r < 4; ++r) a[r] = bytes_of(of, true, lane.group + r % 2 * 8, 4 * lane.four + r / 2 * 16);
  for (unsigned r = 0; r < 2; ++r) b[r] = bytes_of(of, false, lane.group, 4 * lane.four + r * 16);
  read(of, wholes, 16);
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(wholes[0]), "+r"(wholes[1]), "+r"(wholes[2]), "+r"(wholes[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  write(out, of.product, wholes, 16);

  of.product = kMixedBytes;
  a[0] = bytes_of(of, true, lane.group, 4 * lane.four);
  b[0] = bytes_of(of, false, lane.group, 4 * lane.four);
  read(of, wholes, 8);
  asm("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
      : "+r"(wholes[0]), "+r"(wholes[1])
      : "r"(a[0]), "r"(b[0]));
  write(out, of.product, wholes, 8);
}

// wrong: it takes all 32 lanes of a warp, of which only 0x7fffffff execute it
extern "C" __global__ void wrong_without_one(const unsigned* in, unsigned* out) {
  float sums[4] = {};
  unsigned a[4] = {in[0], in[1], in[2], in[3]}, b[2] = {in[4], in[5]};
  if (threadIdx.x == 31) return;
  multiply_bf16(sums, a, b);  // <-
  out[threadIdx.x] = __float_as_uint(sums[0]);
}

// wrong: deadlock: no thread of the block can go on
extern "C" __global__ void wrong_branches(const unsigned* in, unsigned* out) {
  float sums[4] = {};
  unsigned a[4] = {in[0], in[1], in[2], in[3]}, b[2] = {in[4], in[5]};
  if (threadIdx.x < 16) {
    multiply_bf16(sums, a, b);  // <-
    out[threadIdx.x] = __float_as_uint(sums[0]);
  } else {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    out[threadIdx.x] = __float_as_uint(sums[1]);
  }
}

// wrong: uninitialised: reads register
extern "C" __global__ void wrong_unwritten(const unsigned* in, unsigned* out) {
  float sums[4] = {};
  asm volatile(
      "{ .reg .b32 never; .reg .pred p; setp.gt.u32 p, %4, 3; @p mov.b32 never, 0;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {never,never}, {%5}, {%0,%1,%2,%3}; }"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(threadIdx.x), "r"(in[0]));
  out[threadIdx.x] = __float_as_uint(sums[0]);
}
