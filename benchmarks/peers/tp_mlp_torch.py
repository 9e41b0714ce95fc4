"""One rank of the tensor-parallel MLP in PyTorch: DTensor on Gloo, one thread. Started by benchmarks/tp_mlp/run.

With one process the modules are plain: no mesh, no DTensor. Inputs are this rank's pieces (benchmarks/tp_mlp/job.py).
"""
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

import torch  # noqa: E402  (after the settings of its threads)
import torch.nn.functional as F  # noqa: E402

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import turns  # noqa: E402
from tp_mlp.job import INPUTS, OUTPUTS, Job  # noqa: E402

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def load(job, name):
    with open(job.piece(name), "rb") as file:
        raw = bytearray(file.read())
    return torch.frombuffer(raw, dtype=DTYPES[job.dtype]).reshape(job.shape(name)).clone()


def save(job, name, tensor):
    tensor.detach().contiguous().view(torch.uint8).numpy().tofile(job.result("torch", name))


def plain_forward(t):
    linear1 = F.linear(t["x"], t["w0"], t["b0"])
    gelu = F.gelu(linear1, approximate="tanh")
    linear2 = F.linear(gelu, t["w1"], t["b1"])
    return linear1, gelu, linear2, F.dropout(linear2, 0.1)


def sharded_forward(job, t):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate, Shard
    mesh = init_device_mesh("cpu", (job.ranks,))
    places = {"x": Replicate(), "w0": Shard(0), "b0": Shard(0), "w1": Shard(1), "b1": Replicate()}
    d = {name: DTensor.from_local(t[name], mesh, [place], run_check=False) for name, place in places.items()}

    def forward():
        linear1 = F.linear(d["x"], d["w0"], d["b0"])
        gelu = F.gelu(linear1, approximate="tanh")
        linear2 = F.linear(gelu, d["w1"], d["b1"]).redistribute(mesh, [Replicate()]).to_local()
        return linear1.to_local(), gelu.to_local(), linear2, F.dropout(linear2, 0.1)

    return forward


def main():
    job = Job.from_arguments()
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    torch.manual_seed(1)  # the same on every rank: replicas draw one mask
    tensors = {name: load(job, name) for name in INPUTS}
    if job.ranks > 1:
        import torch.distributed as dist
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        dist.init_process_group("gloo", init_method=f"file://{job.folder}/torch_rendezvous", rank=job.rank,
                                world_size=job.ranks)
        forward = sharded_forward(job, tensors)
    else:
        def forward():
            return plain_forward(tensors)

    def turn(_, count):
        forward()
        begin = time.perf_counter()
        for _ in range(count):
            forward()
        return (time.perf_counter() - begin) / count

    with torch.no_grad():
        for name, tensor in zip(OUTPUTS, forward()):
            save(job, name, tensor)
        turns.serve(job.folder, "torch", job.rank, {"torch": torch.__version__, "threads": torch.get_num_threads()}, turn)
    if job.ranks > 1:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
