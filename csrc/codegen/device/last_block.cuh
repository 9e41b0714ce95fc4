// Whether this is the last of so many blocks to come here; then it sees what the others wrote before. The counter
// begins with 0 and ends with it.
__device__ __forceinline__ bool last_block(unsigned* arrived, unsigned blocks) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    __threadfence();
    is_last = atomicInc(arrived, blocks - 1) == blocks - 1;
    if (is_last) __threadfence();
  }
  __syncthreads();
  return is_last;
}
