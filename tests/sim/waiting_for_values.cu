// A warp that waits for what another one writes.
// blocks 2, threads 64, words 64
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned t = 0; t < 64; ++t) out[t] = in[t / 32 * 64 + 32 + t % 32];
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ volatile unsigned value[32];
  __shared__ volatile unsigned flag;
  const unsigned lane = threadIdx.x % 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x >= 32) {
    value[lane] = in[64 * blockIdx.x + threadIdx.x];
    __syncwarp();
    if (lane == 0) flag = 1;
  } else {
    while (flag == 0) {}
    out[32 * blockIdx.x + lane] = value[lane];
  }
}

// wrong: no end: a warp executed
extern "C" __global__ void wrong_nobody_writes(const unsigned* in, unsigned* out) {
  __shared__ volatile unsigned flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  while (flag == 0) {}
  out[threadIdx.x] = in[threadIdx.x];
}
