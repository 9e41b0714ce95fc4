// Barriers by number, of a part of a block: two warps make what the other two use.
// blocks 2, threads 128, words 128
__device__ void arrive(int number, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory"); }
__device__ void wait(int number, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory"); }

extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (unsigned b = 0; b < 2; ++b)
    for (unsigned t = 0; t < 64; ++t) {
      unsigned sum = 0;
      for (unsigned round = 0; round < 3; ++round) sum += in[128 * b + (t ^ 33)] * (round + 1);
      out[64 * b + t] = sum;
    }
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ unsigned full[64];
  const unsigned t = threadIdx.x % 64;
  unsigned sum = 0;
  for (unsigned round = 0; round < 3; ++round) {
    if (threadIdx.x < 64) {
      if (round > 0) wait(2, 128);
      full[t] = in[128 * blockIdx.x + t] * (round + 1);
      arrive(1, 128);
    } else {
      wait(1, 128);
      sum += full[t ^ 33];
      if (round < 2) arrive(2, 128);
    }
  }
  if (threadIdx.x >= 64) out[64 * blockIdx.x + t] = sum;
}

// wrong: race: reads 4 bytes at `full` + | uninitialised: reads 4 bytes at `full` +
extern "C" __global__ void wrong_without_waiting(const unsigned* in, unsigned* out) {
  __shared__ unsigned full[64];
  const unsigned t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    full[t] = in[128 * blockIdx.x + t];
    wait(1, 64);
  } else {
    wait(2, 64);
    out[64 * blockIdx.x + t] = full[t ^ 33];  // <-
  }
}

// wrong: race: writes 4 bytes at `full` + | race: reads 4 bytes at `full` +
extern "C" __global__ void wrong_next_round(const unsigned* in, unsigned* out) {
  __shared__ unsigned full[64];
  const unsigned t = threadIdx.x % 64;
  unsigned sum = 0;
  for (unsigned round = 0; round < 3; ++round) {
    if (threadIdx.x < 64) {
      if (round == 1) wait(2, 128);
      full[t] = in[128 * blockIdx.x + t] * (round + 1);  // <-
      arrive(1, 128);
    } else {
      wait(1, 128);
      sum += full[t ^ 33];
      if (round < 1) arrive(2, 128);
    }
  }
  if (threadIdx.x >= 64) out[64 * blockIdx.x + t] = sum;
}

// wrong: race: reads 4 bytes at `full` + | race: writes 4 bytes at `full` + | uninitialised: reads 4 bytes at `full` +
extern "C" __global__ void wrong_arrived_too_early(const unsigned* in, unsigned* out) {
  __shared__ unsigned full[64];
  if (threadIdx.x < 64) arrive(1, 128);
  __syncthreads();
  if (threadIdx.x < 64) {
    full[threadIdx.x] = in[threadIdx.x];
  } else {
    wait(1, 128);
    out[threadIdx.x] = full[threadIdx.x - 64];  // <-
  }
}

// wrong: deadlock: no thread of the block can go on
extern "C" __global__ void wrong_number_of_threads(const unsigned* in, unsigned* out) {
  if (threadIdx.x < 64)
    wait(1, 128);  // <-
  else
    wait(2, 128);
  out[threadIdx.x] = in[threadIdx.x];
}

// wrong: a barrier of 40 threads: it must be a multiple of 32
extern "C" __global__ void wrong_multiple(const unsigned* in, unsigned* out) {
  wait(1, 40);
  out[threadIdx.x] = in[threadIdx.x];
}

// wrong: barrier 1 is for 96 threads here, and for 128 where | barrier 1 is for 128 threads here, and for 96 where
extern "C" __global__ void wrong_two_numbers(const unsigned* in, unsigned* out) {
  wait(1, threadIdx.x < 32 ? 128 : 96);
  out[threadIdx.x] = in[threadIdx.x];
}
