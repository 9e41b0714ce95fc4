// Words of device memory that threads hand to each other: within a block behind a barrier, between blocks by atomics.
// blocks 3, threads 64, words 200
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (int k = 0; k < 200; ++k) out[k] = 0;
  for (unsigned t = 0; t < 192; ++t) {
    out[t] = in[t / 64 * 64 + 63 - t % 64];
    out[192] += in[t];
  }
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  const unsigned first = 64 * blockIdx.x;
  out[first + threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  const unsigned other = out[first + 63 - threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = other;
  atomicAdd(&out[192], in[first + threadIdx.x]);
}

// wrong: race: reads 4 bytes at | race: writes 4 bytes at
extern "C" __global__ void wrong_without_barrier(const unsigned* in, unsigned* out) {
  const unsigned first = 64 * blockIdx.x;
  out[first + threadIdx.x] = in[first + threadIdx.x];
  const unsigned other = out[first + 63 - threadIdx.x];
  __syncthreads();
  out[first + threadIdx.x] = other;
}

// wrong: race: reads 4 bytes at | race: writes 4 bytes at
extern "C" __global__ void wrong_writes_behind_reads(const unsigned* in, unsigned* out) {
  const unsigned first = 64 * blockIdx.x;
  out[first + threadIdx.x] = in[first + threadIdx.x];
  __syncthreads();
  const unsigned other = out[first + 63 - threadIdx.x];
  out[first + threadIdx.x] = other;
}

// wrong: race: writes 4 bytes at
extern "C" __global__ void wrong_one_word_of_all_blocks(const unsigned* in, unsigned* out) {
  if (threadIdx.x == 0) out[5] = in[blockIdx.x];  // <-
}

// wrong: in the same launch
extern "C" __global__ void wrong_reads_of_other_blocks(const unsigned* in, unsigned* out) {
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  if (threadIdx.x > 0) return;
  out[t] = in[t];
  out[196 + blockIdx.x] = out[64 * ((blockIdx.x + 1) % 3)];
}

// wrong: race: writes 4 bytes at | race: reads 4 bytes at
extern "C" __global__ void wrong_plain_beside_atomics(const unsigned* in, unsigned* out) {
  atomicAdd(&out[192], in[threadIdx.x]);
  if (threadIdx.x == 0) out[192] = 1;
}
