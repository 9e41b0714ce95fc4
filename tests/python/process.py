"""What this process holds, to see leaks by, and whether Python's lock is free. Peaks (ru_maxrss) hide what leaks below
them, and the collector does not see objects of extension modules: it is memory and files that count."""

import gc
import os
import pathlib
import threading

import pytest


def resident():
    """Bytes in memory."""
    try:
        pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        pytest.skip("there is no /proc/self/statm")
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def growth(call, count, warm):
    """(bytes, open files) that `count` calls add, after `warm` calls, which fill caches."""
    def held(calls):
        for _ in range(calls):
            call()
        gc.collect()
        return resident(), len(os.listdir("/proc/self/fd"))

    before, after = held(warm), held(count)
    return after[0] - before[0], after[1] - before[1]


def steps_beside(call):
    """How many small steps another Python thread makes during a call: none or one where the call keeps the lock."""
    steps, running = 0, threading.Event()
    thread = threading.Thread(target=lambda: (running.set(), call()))
    thread.start()
    running.wait()
    while thread.is_alive():
        steps += 1
        thread.join(0.001)
    return steps
