"""Two sides of a comparison in processes of their own that take turns, so that other work on the machine hits both.

A rank connects to the socket FOLDER/turns, says who it is, and answers each line `ROW COUNT` by the seconds of one of
COUNT runs of that row, or by why there are none. It makes one run before those that are timed: a collective in it lets
the ranks begin together. Waiting ranks sleep in the socket. An empty line, or the end of the stream, ends them.
"""
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time


class Missing(Exception):
    """A part that this machine lacks: what needs it is skipped."""


def serve(folder, side, rank, about, turn):
    """A rank's part. `turn(row, count)`: seconds of one of `count` runs, or a dict with `skipped` or `failed`."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.join(folder, "turns"))
        stream = connection.makefile("rw")

        def say(message):
            stream.write(json.dumps(message) + "\n")
            stream.flush()

        say({"side": side, "rank": rank, "about": about})
        for line in stream:
            if not line.strip():
                return
            row, count = line.split()
            answer = turn(row, int(count))
            say(answer if isinstance(answer, dict) else {"seconds": answer})


@contextlib.contextmanager
def listener(folder):
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as out:
        out.bind(os.path.join(folder, "turns"))
        out.listen(8)
        out.settimeout(0.5)
        yield out


class Side:
    """The processes of one side, started and connected. A process that ends with status 3 lacks a part (Missing); any
    other end, or no answer within `limit` seconds, is a RuntimeError."""

    def __init__(self, name, commands, at, ranks=1, limit=120, environment=None):
        self.name, self.limit = name, limit
        self.log = tempfile.TemporaryFile("w+")
        self.processes = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                           env=dict(os.environ, **(environment or {}))) for command in commands]
        self.connections, self.about = {}, {}
        try:
            self.accept(at, ranks)
        except BaseException:
            self.close()
            raise

    def accept(self, at, ranks):
        end = time.monotonic() + self.limit
        while len(self.connections) < ranks:
            with contextlib.suppress(TimeoutError):
                connection = at.accept()[0]
                connection.settimeout(self.limit)
                stream = connection.makefile("rw")
                hello = json.loads(stream.readline() or "{}")
                if hello.get("side") != self.name:
                    raise RuntimeError(f"{self.name}: another program connected: {hello}")
                self.connections[hello["rank"]], self.about = (connection, stream), hello["about"]
                continue
            ended = [process.returncode for process in self.processes if process.poll() is not None]
            if ended:
                raise (Missing if 3 in ended else RuntimeError)(f"{self.name}: {self.last_words()}")
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: not ready after {self.limit} s; {self.last_words()}")

    def last_words(self):
        self.log.seek(0)
        lines = [line.strip() for line in self.log.read().splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("error:") or "Error" in line]
        return (errors or lines or ["no output"])[-1]

    def turn(self, row, count):
        """Seconds of one run of the row: the slowest rank's. Missing, RuntimeError as its ranks say."""
        for _, stream in self.connections.values():
            stream.write(f"{row} {count}\n")
            stream.flush()
        answers = []
        for rank, (_, stream) in sorted(self.connections.items()):
            try:
                line = stream.readline()
            except TimeoutError:
                raise RuntimeError(f"{self.name}: rank {rank} gave no answer within {self.limit} s") from None
            if not line:
                raise RuntimeError(f"{self.name}: rank {rank} ended; {self.last_words()}")
            answers.append(json.loads(line))
        for kind, error in (("failed", RuntimeError), ("skipped", Missing)):
            for answer in answers:
                if kind in answer:
                    raise error(f"{self.name}: {answer[kind]}")
        return max(answer["seconds"] for answer in answers)

    def close(self):
        for connection, stream in self.connections.values():
            with contextlib.suppress(OSError):
                stream.write("\n")
                stream.flush()
            with contextlib.suppress(OSError):
                stream.close()
            connection.close()
        for process in self.processes:
            try:
                process.wait(10 if self.connections else 1)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()
        self.log.close()
