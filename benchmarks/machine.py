"""What every benchmark writes beside its figures: the date, the machine, and how loaded it was."""
import datetime
import json
import os
import pathlib
import platform
import statistics


def date():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")


def cpu_model():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()


def instruction_sets():
    """Of vectors and matrices, the widest of each family."""
    try:
        flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    except OSError:
        return []
    return [name for name in ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16") if name in flags]


def describe():
    return {"cpu": cpu_model(), "instruction_sets": instruction_sets(), "cores": os.cpu_count(), "system": platform.system(), "libc": " ".join(platform.libc_ver())}


def load_average():
    return [round(value, 2) for value in os.getloadavg()]


def is_loaded(averages, cores=None):
    """Whether others used more than a quarter of the machine in the minute before."""
    return averages[0] > 0.25 * (cores or os.cpu_count())


def spread(values):
    """Median, least and most, rounded to 4 digits."""
    return {"median": digits(statistics.median(values)), "min": digits(min(values)), "max": digits(max(values))}


def digits(value):
    return float(f"{value:.4g}")


def exit_status(rows):
    """Of a driver: 1 where a row has `failed`, 3 where plait's part of one is `skipped`, else 0."""
    if any("failed" in row for row in rows):
        return 1
    return 3 if any(reason.startswith("plait") for row in rows for reason in row.get("skipped", [])) else 0


def write_json(path, value):
    """Writes beside the file and renames, so that a reader never sees half of it."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".new")
    scratch.write_text(json.dumps(value, indent=2) + "\n")
    scratch.rename(path)


def read_json(path):
    return json.loads(pathlib.Path(path).read_text())
