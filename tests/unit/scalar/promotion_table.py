#!/usr/bin/env python3
"""Writes promotion_table.inc: torch.promote_types of every pair of plait's dtypes; "-" where PyTorch refuses.

Run with an interpreter that has torch (benchmarks/peers/setup makes one); the table is checked in.
"""
import pathlib

import torch

DTYPES = {
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "u16": torch.uint16,
    "u32": torch.uint32,
    "u64": torch.uint64,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}


def promoted(a, b):
    try:
        result = torch.promote_types(DTYPES[a], DTYPES[b])
    except RuntimeError:
        return "-"
    return next(name for name, dtype in DTYPES.items() if dtype == result)


lines = [f"// torch.promote_types of torch {torch.__version__.split('+')[0]}, written by promotion_table.py."]
for a in DTYPES:
    lines += [f'{{"{a}", "{b}", "{promoted(a, b)}"}},' for b in DTYPES]
pathlib.Path(__file__).with_suffix(".inc").write_text("\n".join(lines) + "\n")
