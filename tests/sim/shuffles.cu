// Values that lanes take from others.
// blocks 2, threads 64, words 1024
__device__ unsigned from_up(unsigned lane, unsigned by, unsigned width) {
  return lane % width >= by ? lane - by : lane;
}
__device__ unsigned from_down(unsigned lane, unsigned by, unsigned width) {
  return lane % width + by < width ? lane + by : lane;
}

extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned t = 0; t < 128; ++t) {
    const unsigned first = t / 32 * 32, lane = t % 32;
    unsigned sum = 0, low = 0;
    for (unsigned i = 0; i < 32; ++i) sum += in[first + i];
    for (unsigned i = 0; i <= lane; ++i) low += in[first + i];
    out[8 * t] = sum;
    out[8 * t + 1] = low;
    out[8 * t + 2] = in[first + from_up(lane, 3, 8)];
    out[8 * t + 3] = in[first + from_down(lane, 5, 16)];
    out[8 * t + 4] = in[first + (lane / 8 * 8 + in[t] % 8)];
    out[8 * t + 5] = in[first + (lane ^ 21)];
    out[8 * t + 6] = lane < 16 ? in[first + (lane + 1) % 16] : 0;
    out[8 * t + 7] = in[first + 31];
  }
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  const unsigned t = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x % 32, own = in[t];
  unsigned sum = own, low = own;
  for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
  for (int by = 1; by < 32; by *= 2) {
    const unsigned before = __shfl_up_sync(~0u, low, by);
    if (lane >= by) low += before;
  }
  out[8 * t] = sum;
  out[8 * t + 1] = low;
  out[8 * t + 2] = __shfl_up_sync(~0u, own, 3, 8);
  out[8 * t + 3] = __shfl_down_sync(~0u, own, 5, 16);
  out[8 * t + 4] = __shfl_sync(~0u, own, own % 8, 8);
  out[8 * t + 5] = __shfl_xor_sync(~0u, own, 21);
  out[8 * t + 6] = 0;
  if (lane < 16) out[8 * t + 6] = __shfl_sync(0xffff, own, (lane + 1) % 16);
  out[8 * t + 7] = __shfl_sync(~0u, own, 31);
}

// wrong: a shuffle reads lane 16, which does not take part (the lanes that do: 0x0000ffff)
extern "C" __global__ void wrong_from_outside(const unsigned* in, unsigned* out) {
  unsigned own = in[blockIdx.x * 64 + threadIdx.x];
  if (threadIdx.x % 32 < 16) own += __shfl_down_sync(0xffff, own, 1);  // <-
  out[threadIdx.x] = own;
}

// wrong: deadlock: no thread of the block can go on
extern "C" __global__ void wrong_half_waits(const unsigned* in, unsigned* out) {
  unsigned own = in[blockIdx.x * 64 + threadIdx.x];
  if (threadIdx.x % 32 < 16)
    own += __shfl_xor_sync(~0u, own, 1);  // <-
  else
    own += __shfl_xor_sync(~0u, own, 2);
  out[threadIdx.x] = own;
}

// wrong: the mask 0x0000ffff of lanes that take part lacks lane 16, which executes it
extern "C" __global__ void wrong_mask(const unsigned* in, unsigned* out) {
  const unsigned own = in[blockIdx.x * 64 + threadIdx.x];
  out[threadIdx.x] = __shfl_xor_sync(0xffff, own, 1);  // <-
}
