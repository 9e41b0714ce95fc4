"""What this process holds, to see leaks by, and whether Python's lock is free. Peaks (ru_maxrss) hide what leaks below
them, and the collector does not see objects of extension modules: it is memory and files that count."""

import gc
import os
import pathlib
import threading
import time

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


def longest_pause(call):
    """(seconds that a call takes, the longest that another Python thread stood still meanwhile)."""
    longest = 0.0
    stop, started = threading.Event(), threading.Event()

    def count():
        nonlocal longest
        last = time.perf_counter()
        while True:
            over = stop.is_set()
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
            started.set()
            if over:
                return

    thread = threading.Thread(target=count)
    thread.start()
    started.wait()
    begin = time.perf_counter()
    try:
        call()
        seconds = time.perf_counter() - begin
    finally:
        stop.set()
        thread.join()
    return seconds, longest
