// Matrices of 8 x 8 elements of 16 bits from shared memory to the registers of a warp.
// blocks 2, threads 64, words 1024
__device__ unsigned address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }
__device__ void load(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}
__device__ void load_transposed(unsigned (&to)[4], unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}
__device__ void load_two(unsigned* to, unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(to[0]), "=r"(to[1]) : "r"(from) : "memory");
}
__device__ void load_two_transposed(unsigned* to, unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from)
               : "memory");
}
__device__ void load_one(unsigned& to, unsigned from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(to) : "r"(from) : "memory");
}

// Four matrices, row after row.
__device__ void fill(unsigned* tile, const unsigned* in) {
  tile[threadIdx.x] = in[threadIdx.x];
  tile[threadIdx.x + 64] = in[threadIdx.x + 64];
}

extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  const unsigned short* elements = reinterpret_cast<const unsigned short*>(in);
  for (unsigned t = 0; t < 128; ++t)
    for (unsigned m = 0; m < 4; ++m) {
      const unsigned lane = t % 32, group = lane / 4, column = lane % 4 * 2;
      const unsigned short* of = elements + 64 * m;
      out[8 * t + m] = of[8 * group + column] | of[8 * group + column + 1] << 16;
      out[8 * t + 4 + m] = of[8 * column + group] | of[8 * (column + 1) + group] << 16;
    }
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncthreads();
  const unsigned t = 64 * blockIdx.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned a[4], b[4];
  load(a, address(tile + 4 * lane));
  load_transposed(b, address(tile + 4 * lane));
  for (int m = 0; m < 4; ++m) {
    out[8 * t + m] = a[m];
    out[8 * t + 4 + m] = b[m];
  }
}

// Lanes that give no address may hold anything.
extern "C" __global__ void right_by_fewer(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncthreads();
  const unsigned t = 64 * blockIdx.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned a[4], b[4];
  for (int m = 0; m < 2; ++m) load_one(a[m], lane < 8 ? address(tile + 32 * m + 4 * lane) : 3);
  load_two(a + 2, lane < 16 ? address(tile + 64 + 4 * lane) : 3);
  for (int m = 0; m < 4; m += 2) load_two_transposed(b + m, address(tile + 32 * m + 4 * (lane % 16)));
  for (int m = 0; m < 4; ++m) {
    out[8 * t + m] = a[m];
    out[8 * t + 4 + m] = b[m];
  }
}

// The rows lie 20 bytes further than their length, in an order of their own.
extern "C" __global__ void right_of_rows_anywhere(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[32 * 12];
  for (int i = 0; i < 2; ++i) {
    const unsigned word = threadIdx.x + 64 * i;
    tile[12 * (word / 4 * 5 % 32) + word % 4] = in[word];
  }
  __syncthreads();
  const unsigned t = 64 * blockIdx.x + threadIdx.x, lane = threadIdx.x % 32;
  unsigned a[4], b[4];
  load(a, address(tile + 12 * (lane * 5 % 32)));
  load_transposed(b, address(tile + 12 * (lane * 5 % 32)));
  for (int m = 0; m < 4; ++m) {
    out[8 * t + m] = a[m];
    out[8 * t + 4 + m] = b[m];
  }
}

// wrong: race: reads 16 bytes at `tile` + | uninitialised: reads 16 bytes at `tile` +
extern "C" __global__ void wrong_without_barrier(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  unsigned a[4];
  load(a, address(tile + 4 * (threadIdx.x % 32)));  // <-
  out[threadIdx.x] = a[0];
}

// The rows are the warp's own, but their elements go to other lanes than those that wrote them.
// wrong: race: reads 16 bytes at `tile` +
extern "C" __global__ void wrong_in_a_warp(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[2][128];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int i = 0; i < 4; ++i) tile[warp][4 * lane + i] = in[4 * lane + i];
  unsigned a[4];
  load(a, address(tile[warp] + 4 * lane));  // <-
  out[threadIdx.x] = a[0];
}

// wrong: race: reads 16 bytes at `tile` + | uninitialised: reads 16 bytes at `tile` +
extern "C" __global__ void wrong_barrier_of_a_warp(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncwarp();
  unsigned a[4];
  load_transposed(a, address(tile + 4 * (threadIdx.x % 32)));  // <-
  out[threadIdx.x] = a[0];
}

// wrong: race: writes 4 bytes at `tile` + | race: reads 16 bytes at `tile` +
extern "C" __global__ void wrong_store_behind(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncthreads();
  unsigned a[4];
  load(a, address(tile + 4 * (threadIdx.x % 32)));
  tile[threadIdx.x] = a[0];  // <-
  out[threadIdx.x] = tile[threadIdx.x];
}

// wrong: misaligned: reads 16 bytes at offset
extern "C" __global__ void wrong_place(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncthreads();
  unsigned a[4];
  load(a, address(tile + threadIdx.x % 32));  // <-
  out[threadIdx.x] = a[0];
}

// wrong: out of bounds: reads 16 bytes at offset 512 of 512 bytes of shared memory
extern "C" __global__ void wrong_beyond(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncthreads();
  unsigned a[4];
  load(a, address(tile + 4 + 4 * (threadIdx.x % 32)));  // <-
  out[threadIdx.x] = a[0];
}

// wrong: it takes all 32 lanes of a warp, of which only 0x0000ffff execute it
extern "C" __global__ void wrong_half(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncthreads();
  unsigned a[4] = {};
  if (threadIdx.x % 32 < 16) load(a, address(tile + 4 * (threadIdx.x % 32)));  // <-
  out[threadIdx.x] = a[0];
}

// wrong: deadlock: no thread of the block can go on
extern "C" __global__ void wrong_branches(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned tile[128];
  fill(tile, in);
  __syncthreads();
  unsigned a[4];
  if (threadIdx.x % 32 < 16)
    load(a, address(tile + 4 * (threadIdx.x % 32)));  // <-
  else
    load_transposed(a, address(tile + 4 * (threadIdx.x % 32)));
  out[threadIdx.x] = a[0];
}
