// A barrier of all blocks, which run side by side.
// blocks 4, threads 64, words 256, cooperative 1
__device__ unsigned arrived = 0;

extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (int t = 0; t < 256; ++t) out[t] = in[255 - t] + 1;
}

__device__ void wait_for_all(unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (atomicAdd(&arrived, 0) < round * gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  out[t] = in[t];
  wait_for_all(1);
  const unsigned other = out[255 - t];
  wait_for_all(2);
  out[t] = other + 1;
}

// By a volatile load.
extern "C" __global__ void right_volatile(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  out[t] = in[t];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned*)&arrived < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  const unsigned other = out[255 - t];
  wait_for_all(2);
  out[t] = other + 1;
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_second_barrier_missing(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  out[t] = in[t];
  wait_for_all(1);
  const unsigned other = out[255 - t];
  out[t] = other + 1;
}

// wrong: in the same launch, unordered
extern "C" __global__ void wrong_without_fence(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  out[t] = in[t];
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(&arrived, 1);
    while (*(volatile unsigned*)&arrived < gridDim.x) {}
    __threadfence();
  }
  __syncthreads();
  out[t] = out[255 - t] + 1;
}

// wrong: no end: a warp executed
extern "C" __global__ void wrong_one_block_does_not_come(const unsigned* in, unsigned* out) {
  if (blockIdx.x != 2) wait_for_all(1);
}
