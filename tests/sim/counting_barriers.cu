// Barriers that give all threads a count of those whose predicate holds.
// blocks 2, threads 100, words 600
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned b = 0; b < 2; ++b) {
    unsigned odd = 0;
    for (unsigned t = 0; t < 100; ++t) odd += in[100 * b + t] % 2;
    for (unsigned t = 0; t < 100; ++t) {
      out[3 * (100 * b + t)] = odd;
      out[3 * (100 * b + t) + 1] = odd == 100;
      out[3 * (100 * b + t) + 2] = odd > 0;
    }
  }
}

__device__ void all_of_them(const unsigned* in, unsigned* out) {
  const unsigned t = 100 * blockIdx.x + threadIdx.x;
  out[3 * t] = __syncthreads_count(in[t] % 2);
  out[3 * t + 1] = __syncthreads_and(in[t] % 2) != 0;
  out[3 * t + 2] = __syncthreads_or(in[t] % 2) != 0;
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) { all_of_them(in, out); }

// Warps that have ended keep nobody waiting.
extern "C" __global__ void right_with_early_ends(const unsigned* in, unsigned* out) {
  all_of_them(in, out);
  if (threadIdx.x >= 32) return;
  __syncthreads();
}

// wrong: barrier divergence: threads of the block reach the barrier by instructions of different kinds
extern "C" __global__ void wrong_kinds(const unsigned* in, unsigned* out) {
  if (threadIdx.x < 32)
    out[threadIdx.x] = __syncthreads_count(in[threadIdx.x] % 2);
  else
    __syncthreads();
}
