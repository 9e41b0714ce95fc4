// Blocks of a cluster that reach each other's shared memory.
// blocks 4, threads 64, words 256, cluster 2, sm 90
extern "C" __global__ void expected(const unsigned* in, unsigned* out) {
  for (int t = 0; t < 256; ++t) {
    unsigned sum = 0;
    for (int k = 0; k < 128; ++k) sum += in[t / 128 * 128 + k];
    out[t] = sum + in[t ^ 64];
  }
}

__device__ void cluster_sync() {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
}

__device__ unsigned in_block(unsigned* mine, unsigned rank, unsigned index) {
  return ((unsigned*)__cluster_map_shared_rank(mine, rank))[index];
}

__device__ unsigned in_other(unsigned* mine, unsigned index) {
  return in_block(mine, __clusterRelativeBlockRank() ^ 1, index);
}

__device__ unsigned block_total(unsigned* shared) {
  unsigned sum = 0;
  for (int k = 0; k < 64; ++k) sum += shared[k];
  return sum;
}

extern "C" __global__ void right(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64], total;
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  tile[threadIdx.x] = in[t];
  __syncthreads();
  if (threadIdx.x == 0) total = block_total(tile);
  cluster_sync();
  out[t] = total + in_other(&total, 0) + in_other(tile, threadIdx.x);
  cluster_sync();
}

// Writes to the other block, sums by atomics there, addresses of 32 bits; arrives before it waits.
extern "C" __global__ void right_pushes(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64], total;
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  if (threadIdx.x == 0) total = 0;
  cluster_sync();
  const unsigned rank = __clusterRelativeBlockRank(), mine = __cvta_generic_to_shared(tile);
  unsigned there, sum;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine + 4 * threadIdx.x), "r"(rank ^ 1));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(in[t]) : "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(sum)
               : "r"(unsigned(__cvta_generic_to_shared(&total))), "r"(rank ^ 1));
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(sum), "r"(in[t]) : "memory");
  atomicAdd(&total, in[t]);
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  const unsigned two = 2 * threadIdx.x;
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  out[t] = total + tile[two / 2];
}

// Where it is, by registers; half of the lanes have ended in front of the barrier.
extern "C" __global__ void right_of_some_lanes(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  const unsigned t = 64 * blockIdx.x + threadIdx.x;
  unsigned number, clusters, of, size, rank;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(number));
  asm("mov.u32 %0, %%nclusterid.x;" : "=r"(clusters));
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(of));
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(__cluster_map_shared_rank(tile, of ^ 1)));
  if (number != blockIdx.x / 2 || clusters != gridDim.x / 2 || of != blockIdx.x % 2 || size != 2 || rank != (of ^ 1)) return;
  tile[threadIdx.x] = in[t];
  cluster_sync();
  unsigned sum = 0;
  for (unsigned k = 0; k < 64; ++k) sum += in_block(tile, 0, k) + in_block(tile, 1, k);
  out[t] = sum + in_block(tile, rank, threadIdx.x);
  if (threadIdx.x % 2 == 0) return;
  cluster_sync();
}

// A flag in device memory, by a fence of the cluster; the block whose memory is read ends behind a barrier.
extern "C" __global__ void right_by_a_fence(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64], total;
  const unsigned t = 64 * blockIdx.x + threadIdx.x, rank = __clusterRelativeBlockRank();
  tile[threadIdx.x] = in[t];
  __syncthreads();
  if (threadIdx.x == 0) total = block_total(tile);
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  __syncthreads();
  unsigned* flag = out + 64 * (blockIdx.x ^ 1);
  if (threadIdx.x == 0) {
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    asm volatile("st.relaxed.cluster.global.u32 [%0], %1;" ::"l"(flag), "r"(1u) : "memory");
    unsigned seen = 0;
    while (seen == 0) asm volatile("ld.relaxed.cluster.global.u32 %0, [%1];" : "=r"(seen) : "l"(out + 64 * blockIdx.x));
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
  }
  __syncthreads();
  const unsigned sum = total + in_other(&total, 0) + in_other(tile, threadIdx.x);
  cluster_sync();
  out[t] = sum;
}

// wrong: nothing says that this block has begun
extern "C" __global__ void wrong_without_barrier(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = in[64 * blockIdx.x + threadIdx.x];
  __syncthreads();
  out[64 * blockIdx.x + threadIdx.x] = in_other(tile, threadIdx.x);  // <-
  cluster_sync();
}

// wrong: race | uninitialised
extern "C" __global__ void wrong_relaxed(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = in[64 * blockIdx.x + threadIdx.x];
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  out[64 * blockIdx.x + threadIdx.x] = in_other(tile, threadIdx.x);
  cluster_sync();
}

// wrong: race | uninitialised
extern "C" __global__ void wrong_write_behind_arrival(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  tile[threadIdx.x] = in[64 * blockIdx.x + threadIdx.x];
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  out[64 * blockIdx.x + threadIdx.x] = in_other(tile, threadIdx.x);
  cluster_sync();
}

// wrong: race
extern "C" __global__ void wrong_written_again(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = in[64 * blockIdx.x + threadIdx.x];
  cluster_sync();
  out[64 * blockIdx.x + threadIdx.x] = in_other(tile, threadIdx.x);
  __syncthreads();
  tile[threadIdx.x] = 1;
  cluster_sync();
}

// wrong: ended too early | this block has ended
extern "C" __global__ void wrong_ends_without_barrier(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = in[64 * blockIdx.x + threadIdx.x];
  cluster_sync();
  out[64 * blockIdx.x + threadIdx.x] = in_other(tile, threadIdx.x);
}

// wrong: waits at the barrier of the cluster, at which it has not arrived
extern "C" __global__ void wrong_waits_alone(const unsigned* in, unsigned* out) {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");  // <-
}

// wrong: arrives at the barrier of the cluster again
extern "C" __global__ void wrong_arrives_twice(const unsigned* in, unsigned* out) {
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");  // <-
}

// wrong: rank 2 of a cluster of 2 blocks
extern "C" __global__ void wrong_rank(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  cluster_sync();
  out[64 * blockIdx.x + threadIdx.x] = in_block(tile, 2, threadIdx.x);
}

// wrong: an access to .shared::cta
extern "C" __global__ void wrong_space(const unsigned* in, unsigned* out) {
  __shared__ unsigned tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  cluster_sync();
  unsigned there, value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(unsigned(__cvta_generic_to_shared(tile))), "r"(__clusterRelativeBlockRank() ^ 1));
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(there));  // <-
  out[64 * blockIdx.x + threadIdx.x] = value;
}

// wrong: barrier divergence
extern "C" __global__ void wrong_half_of_a_warp(const unsigned* in, unsigned* out) {
  if (threadIdx.x % 2 != 0) return;
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

// wrong: deadlock
extern "C" __global__ void wrong_one_warp_waits_elsewhere(const unsigned* in, unsigned* out) {
  if (threadIdx.x < 32) {
    cluster_sync();
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    cluster_sync();
  }
}
