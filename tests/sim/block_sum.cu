// The sum of a block through shared memory.
// blocks 3, threads 128, words 3
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (int block = 0; block < 3; ++block) {
    unsigned sum = 0;
    for (int i = 0; i < 128; ++i) sum += in[128 * block + i];
    out[block] = sum;
  }
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];
  for (int half = 64; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// Some lanes of a warp are longer on their way to the barrier, by code that a compiler may put behind it.
extern "C" __global__ void right_after_a_detour(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  unsigned own = in[128 * blockIdx.x + threadIdx.x];
  if (__builtin_expect(threadIdx.x % 32 < 8, 0)) {
    float x = own;
    for (unsigned i = 0; i < own % 7; ++i) x = powf(x, 1.0f);
    if (x != static_cast<float>(own)) own = 0;
  }
  part[threadIdx.x] = own;
  __syncthreads();
  unsigned sum = 0;
  for (int i = 0; i < 128; ++i) sum += part[i];
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// wrong: race: reads 4 bytes at `part` + | uninitialised: reads 4 bytes at `part` +
extern "C" __global__ void wrong_without_barrier(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];  // <-
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// wrong: race: reads 4 bytes at `part` +
extern "C" __global__ void wrong_last_steps_without_barrier(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];
  for (int half = 64; half > 0; half /= 2) {
    if (half >= 16) __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];  // <-
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// wrong: out of bounds: writes 4 bytes at offset 496 of 496 bytes of shared memory
extern "C" __global__ void wrong_too_short(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[124];
  part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];  // <-
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// wrong: uninitialised: reads 4 bytes at `part` + 256 | uninitialised: reads 4 bytes at `part` + 384
extern "C" __global__ void wrong_unwritten(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  if (threadIdx.x < 64) part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 64) part[threadIdx.x] += part[threadIdx.x + 64];  // <-
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// wrong: misaligned: reads 16 bytes at offset 8 of shared memory
extern "C" __global__ void wrong_misaligned(const unsigned* in, unsigned* out) {
  __shared__ __align__(16) unsigned part[128];
  part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    const uint4 four = *reinterpret_cast<const uint4*>(part + 2);  // <-
    out[blockIdx.x] = four.x + four.w;
  }
}

// wrong: barrier divergence: thread (64, 0, 0) of the same warp does not reach the barrier with this one
extern "C" __global__ void wrong_divergent(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];
  if (threadIdx.x > 64) __syncthreads();  // <-
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// wrong: barrier divergence: thread (
extern "C" __global__ void wrong_two_barriers(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  unsigned sum = in[128 * blockIdx.x + threadIdx.x];
  if (threadIdx.x % 32 < 16) {
    part[threadIdx.x] = sum;
    __syncthreads();  // <-
    sum = part[threadIdx.x + 16];
  } else {
    part[threadIdx.x] = sum + 1;
    __syncthreads();  // <-
    sum = part[threadIdx.x - 16] + 2;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// wrong: race: writes 4 bytes at `part` + 0 of shared memory, which thread
extern "C" __global__ void wrong_all_write_one(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[1];
  part[0] = in[128 * blockIdx.x + threadIdx.x];  // <-
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

// wrong: race: writes 4 bytes at `part` +
extern "C" __global__ void wrong_reader_is_overtaken(const unsigned* in, unsigned* out) {
  __shared__ unsigned part[128];
  unsigned sum = 0;
  for (int round = 0; round < 2; ++round) {
    part[threadIdx.x] = in[128 * blockIdx.x + threadIdx.x];  // <-
    __syncthreads();
    for (int i = 0; i < 128; ++i) sum += part[i];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
