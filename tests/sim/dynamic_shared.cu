// Shared memory that the launch asks for, behind what the kernel has.
// blocks 2, threads 96, words 192, shared 384
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (int block = 0; block < 2; ++block)
    for (int i = 0; i < 96; ++i) out[96 * block + i] = in[96 * block + 95 - i] + 1;
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned tile[];
  __shared__ unsigned one;
  if (threadIdx.x == 7) one = 1;
  tile[threadIdx.x] = in[96 * blockIdx.x + threadIdx.x];
  __syncthreads();
  out[96 * blockIdx.x + threadIdx.x] = tile[95 - threadIdx.x] + one;
}

// Bytes and half words share granules, which is no race.
extern "C" __global__ void right_in_bytes(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned char bytes[];
  for (int k = 0; k < 4; ++k) bytes[96 * k + threadIdx.x] = static_cast<unsigned char>(in[96 * blockIdx.x + threadIdx.x] >> (8 * k));
  const unsigned own = bytes[threadIdx.x];
  __syncthreads();
  unsigned word = 0;
  for (int k = 0; k < 4; ++k) word |= static_cast<unsigned>(bytes[96 * k + 95 - threadIdx.x]) << (8 * k);
  out[96 * blockIdx.x + threadIdx.x] = word + 1 + own - own;
}

// wrong: out of bounds: writes 4 bytes at offset 384 of 384 bytes of shared memory
extern "C" __global__ void wrong_beyond(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned tile[];
  tile[threadIdx.x + 1] = in[96 * blockIdx.x + threadIdx.x];  // <-
  __syncthreads();
  out[96 * blockIdx.x + threadIdx.x] = tile[96 - threadIdx.x];
}

// wrong: race: reads 1 bytes at `bytes` + | uninitialised: reads 1 bytes at `bytes` +
extern "C" __global__ void wrong_in_bytes(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned char bytes[];
  bytes[threadIdx.x] = static_cast<unsigned char>(in[96 * blockIdx.x + threadIdx.x]);
  out[96 * blockIdx.x + threadIdx.x] = bytes[95 - threadIdx.x];  // <-
}
