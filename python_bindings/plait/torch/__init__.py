"""plait inside of PyTorch: `torch.compile(model, backend="plait")`."""

import torch._dynamo

from plait.torch.compiler import backend
from plait.torch.report import Report, report

if "plait" not in torch._dynamo.list_backends(()):  # a package that is not installed has no entry point
    torch._dynamo.register_backend(backend, name="plait")

__all__ = ["Report", "backend", "report"]
