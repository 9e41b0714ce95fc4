// Shared memory between the lanes of a warp.
// blocks 2, threads 64, words 128
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned t = 0; t < 128; ++t) out[t] = in[t ^ 1] + in[t ^ 2];
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ unsigned of[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  of[threadIdx.x] = in[t];
  __syncwarp();
  out[t] = of[threadIdx.x ^ 1] + of[threadIdx.x ^ 2];
}

// Each half by itself.
extern "C" __global__ void right_in_halves(const unsigned* in, unsigned* out) {
  __shared__ unsigned of[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  of[threadIdx.x] = in[t];
  __syncwarp(threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000);
  out[t] = of[threadIdx.x ^ 1] + of[threadIdx.x ^ 2];
}

// wrong: race: reads 4 bytes at `of` +
extern "C" __global__ void wrong_without(const unsigned* in, unsigned* out) {
  __shared__ unsigned of[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  of[threadIdx.x] = in[t];
  out[t] = of[threadIdx.x ^ 1] + of[threadIdx.x ^ 2];  // <-
}

// wrong: race: reads 4 bytes at `of` + | uninitialised: reads 4 bytes at `of` +
extern "C" __global__ void wrong_across_warps(const unsigned* in, unsigned* out) {
  __shared__ unsigned of[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  of[threadIdx.x] = in[t];
  __syncwarp();
  out[t] = of[threadIdx.x ^ 32];  // <-
}

// wrong: race: reads 4 bytes at `of` +
extern "C" __global__ void wrong_halves(const unsigned* in, unsigned* out) {
  __shared__ unsigned of[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  of[threadIdx.x] = in[t];
  __syncwarp(threadIdx.x % 32 < 16 ? 0xffff : 0xffff0000);
  out[t] = of[threadIdx.x ^ 16];  // <-
}
