// Atomics in shared and in global memory.
// blocks 2, threads 96, words 64
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (int k = 0; k < 64; ++k) out[k] = 0;
  unsigned any = 0, odd = 0, most = 0;
  for (unsigned t = 0; t < 192; ++t) {
    const unsigned x = in[t];
    out[x % 16] += 1;
    any |= x;
    odd ^= x;
    most = x > most ? x : most;
  }
  for (int block = 0; block < 2; ++block) {
    unsigned all = ~0u, low = ~0u;
    for (int t = 0; t < 96; ++t) {
      all &= in[96 * block + t];
      low = in[96 * block + t] < low ? in[96 * block + t] : low;
    }
    out[32 + 2 * block] = all;
    out[33 + 2 * block] = low;
  }
  out[17] = any;
  out[18] = odd;
  out[20] = most;
  out[21] = 192 % 7;
  out[22] = 192;
  out[23] = __float_as_uint(192 * 0.5f);
  const double sum = 192 * 0.25;
  out[24] = static_cast<unsigned>(__double2loint(sum));
  out[25] = static_cast<unsigned>(__double2hiint(sum));
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ unsigned counts[16], all, low;
  const unsigned x = in[96 * blockIdx.x + threadIdx.x];
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) all = low = ~0u;
  __syncthreads();
  atomicAdd(&counts[x % 16], 1);
  atomicAnd(&all, x);
  atomicMin(&low, x);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[32 + 2 * blockIdx.x] = all;
    out[33 + 2 * blockIdx.x] = low;
  }
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
  atomicOr(&out[17], x);
  atomicXor(&out[18], x);
  atomicMax(&out[20], x);
  atomicInc(&out[21], 6);
  unsigned old = *static_cast<volatile unsigned*>(&out[22]), seen;
  do {
    seen = old;
    old = atomicCAS(&out[22], seen, seen + 1);
  } while (old != seen);
  atomicAdd(reinterpret_cast<float*>(&out[23]), 0.5f);
  atomicAdd(reinterpret_cast<double*>(&out[24]), 0.25);
}

// wrong: race: writes 4 bytes at `count` + 0 of shared memory, which thread
extern "C" __global__ void wrong_plain_sum(const unsigned* in, unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  count += in[threadIdx.x];  // <-
  __syncthreads();
  if (threadIdx.x == 0) out[0] = count;
}

// wrong: race: reads 4 bytes at `count` + 0 of shared memory, which thread
extern "C" __global__ void wrong_read_too_early(const unsigned* in, unsigned* out) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, in[threadIdx.x]);
  if (threadIdx.x == 95) out[0] = count;  // <-
}

// wrong: uninitialised: reads 4 bytes at `count` + 0 of shared memory, of which byte 0 was never written
extern "C" __global__ void wrong_unwritten(const unsigned* in, unsigned* out) {
  __shared__ unsigned count;
  atomicAdd(&count, in[threadIdx.x]);  // <-
  __syncthreads();
  out[0] = count;
}
