"""All ranks of the tensor-parallel MLP in JAX: one process whose CPU is as many devices, one thread each. Started by
benchmarks/tp_mlp/run.

Arrays have a NamedSharding and `jit` finds the collectives. Inputs are the ranks' pieces (benchmarks/tp_mlp/job.py).
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import turns  # noqa: E402
from tp_mlp.job import INPUTS, OUTPUTS, Job  # noqa: E402

JOB = Job.from_arguments()
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count={JOB.ranks} --xla_cpu_multi_thread_eigen=false "
                           "intra_op_parallelism_threads=1")

import jax  # noqa: E402  (after the settings of its devices)
import numpy  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

DTYPES = {"f32": jax.numpy.float32, "bf16": jax.numpy.bfloat16}
MESH = Mesh(numpy.array(jax.devices()), ("tp",))
PLACES = {"x": PartitionSpec(), "w0": PartitionSpec("tp"), "b0": PartitionSpec("tp"), "w1": PartitionSpec(None, "tp"),
          "b1": PartitionSpec(), "linear1": PartitionSpec(None, "tp"), "gelu": PartitionSpec(None, "tp"),
          "linear2": PartitionSpec(), "dropout": PartitionSpec()}


def of_rank(rank):
    return Job(**{**vars(JOB), "rank": rank})


def load(name):
    pieces = [jax.device_put(numpy.fromfile(of_rank(rank).piece(name), DTYPES[JOB.dtype]).reshape(JOB.shape(name)), device)
              for rank, device in enumerate(jax.devices())]
    whole = tuple(extent * (JOB.ranks if cut else 1)
                  for extent, cut in zip(JOB.shape(name), (*PLACES[name], None, None)))
    return jax.make_array_from_single_device_arrays(whole, NamedSharding(MESH, PLACES[name]), pieces)


def save(name, array):
    for shard in array.addressable_shards:
        numpy.asarray(shard.data).tofile(of_rank(shard.device.id).result("jax", name))


# The bias joins in f32, as in the other sides' linear.
def linear(x, w, b):
    return (jax.numpy.matmul(x, w.T, preferred_element_type=jax.numpy.float32) + b).astype(x.dtype)


@jax.jit
def forward(x, w0, b0, w1, b1, key):
    linear1 = linear(x, w0, b0)
    gelu = jax.nn.gelu(linear1, approximate=True)
    linear2 = linear(gelu, w1, b1)
    kept = jax.random.bernoulli(key, 0.9, linear2.shape)
    out = (linear1, gelu, linear2, jax.numpy.where(kept, linear2 / 0.9, 0).astype(linear2.dtype))
    return tuple(jax.lax.with_sharding_constraint(each, NamedSharding(MESH, PLACES[name]))
                 for name, each in zip(OUTPUTS, out))


def main():
    arguments = [load(name) for name in INPUTS] + [jax.random.key(1)]

    def turn(_, count):
        jax.block_until_ready(forward(*arguments))
        begin = time.perf_counter()
        for _ in range(count):
            jax.block_until_ready(forward(*arguments))
        return (time.perf_counter() - begin) / count

    for name, array in zip(OUTPUTS, forward(*arguments)):
        save(name, array)
    turns.serve(JOB.folder, "jax", 0, {"jax": jax.__version__, "devices": JOB.ranks, "threads": 1}, turn)


if __name__ == "__main__":
    main()
