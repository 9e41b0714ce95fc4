// Matrices of 8 x 8 elements of 16 bits from the registers of a warp to shared memory.
// sm 90, blocks 2, threads 64, words 512
__device__ unsigned address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }
__device__ void store(unsigned to, const unsigned (&from)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(from[0]), "r"(from[1]),
               "r"(from[2]), "r"(from[3])
               : "memory");
}
__device__ void store_two_transposed(unsigned to, unsigned first, unsigned second) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(first), "r"(second)
               : "memory");
}
__device__ void store_one(unsigned to, unsigned from) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(to), "r"(from) : "memory");
}

// A lane has word `lane` of two matrices, and the same turned around of two more.
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned warp = 0; warp < 4; ++warp)
    for (unsigned m = 0; m < 4; ++m)
      for (unsigned row = 0; row < 8; ++row)
        for (unsigned column = 0; column < 8; ++column) {
          const unsigned r = m < 2 ? row : column, c = m < 2 ? column : row;
          const unsigned own = in[32 * warp + 4 * r + c / 2] + 77 * (m % 2);
          reinterpret_cast<unsigned short*>(out)[256 * warp + 64 * m + 8 * row + column] =
              static_cast<unsigned short>(c % 2 == 0 ? own : own >> 16);
        }
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned t = 64 * blockIdx.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  store_one(address(tile[warp] + 4 * (lane % 8)), in[t]);
  store_one(address(tile[warp] + 32 + 4 * (lane % 8)), in[t] + 77);
  store_two_transposed(address(tile[warp] + 64 + 4 * (lane % 16)), in[t], in[t] + 77);
  __syncwarp();
  for (int m = 0; m < 4; ++m) out[128 * (t / 32) + 32 * m + lane] = tile[warp][32 * m + lane];
}

extern "C" __global__ void right_of_four(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned t = 64 * blockIdx.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned own[4] = {in[t], in[t] + 77, 0, 0};
  store(address(tile[warp] + 4 * lane), own);
  __syncwarp();
  store_two_transposed(address(tile[warp] + 64 + 4 * (lane % 16)), in[t], in[t] + 77);
  __syncwarp();
  for (int m = 0; m < 4; ++m) out[128 * (t / 32) + 32 * m + lane] = tile[warp][32 * m + lane];
}

// wrong: race: reads 4 bytes at `tile` +
extern "C" __global__ void wrong_without_barrier(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, own[4] = {in[lane], 1, 2, 3};
  store(address(tile[warp] + 4 * lane), own);
  out[threadIdx.x] = tile[warp][lane ^ 1];  // <-
}

// wrong: race: writes 16 bytes at `tile` +
extern "C" __global__ void wrong_twice(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, own[4] = {in[lane], 1, 2, 3};
  store(address(tile[warp] + 4 * lane), own);
  store_two_transposed(address(tile[warp] + 4 * (lane % 16)), 4, 5);  // <-
  __syncwarp();
  out[threadIdx.x] = tile[warp][lane];
}

// wrong: race: writes a row of 16 bytes where the row of lane 0 goes
extern "C" __global__ void wrong_one_row_twice(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, own[4] = {in[lane], 1, 2, 3};
  store(address(tile[warp] + 4 * (lane % 16)), own);  // <-
  __syncwarp();
  out[threadIdx.x] = tile[warp][lane];
}

// wrong: uninitialised: reads 4 bytes at `tile` +
extern "C" __global__ void wrong_fewer(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  store_two_transposed(address(tile[warp] + 4 * (lane % 16)), in[lane], 1);
  __syncwarp();
  out[threadIdx.x] = tile[warp][lane + 64];  // <-
}

// wrong: misaligned: writes 16 bytes at offset
extern "C" __global__ void wrong_place(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  store_one(address(tile[warp] + 3 * lane), in[lane]);  // <-
  __syncwarp();
  out[threadIdx.x] = tile[warp][lane];
}
