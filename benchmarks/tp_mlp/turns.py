"""What the driver and the ranks of both sides share: files of pieces, and turns given over a local socket.

A rank connects, says who it is, and answers each line `COUNT` by the seconds of one of COUNT forwards, after one forward
that is not timed: a collective in it lets the ranks begin together. Waiting ranks sleep in the socket. `0` ends.
"""
import argparse
import dataclasses
import json
import os
import socket

INPUTS = ("x", "w0", "b0", "w1", "b1")
OUTPUTS = ("linear1", "gelu", "linear2", "dropout")


@dataclasses.dataclass
class Job:
    """One rank of a job. Files hold raw little-endian elements of `dtype`."""
    folder: str
    dtype: str
    ranks: int
    rank: int
    sb: int
    h: int
    h4: int

    @staticmethod
    def from_arguments():
        parser = argparse.ArgumentParser()
        parser.add_argument("--folder", required=True)
        parser.add_argument("--dtype", required=True, choices=["f32", "bf16"])
        for name in ("ranks", "rank", "sb", "h", "h4"):
            parser.add_argument(f"--{name}", type=int, required=True)
        return Job(**vars(parser.parse_args()))

    def arguments(self):
        return [word for field in dataclasses.fields(self)
                for word in (f"--{field.name}", str(getattr(self, field.name)))]

    def shape(self, name):
        """Local shape; h4 is cut evenly over the ranks."""
        assert self.h4 % self.ranks == 0
        cut = self.h4 // self.ranks
        return {"x": (self.sb, self.h), "w0": (cut, self.h), "b0": (cut,), "w1": (self.h, cut), "b1": (self.h,),
                "linear1": (self.sb, cut), "gelu": (self.sb, cut), "linear2": (self.sb, self.h),
                "dropout": (self.sb, self.h)}[name]

    def piece(self, name):
        return os.path.join(self.folder, f"{name}.{self.rank}")

    def result(self, side, name):
        return os.path.join(self.folder, f"{side}.{name}.{self.rank}")


def serve(job, side, turn, about):
    """Answers turns until told to end. `turn(count)`: seconds of one of `count` forwards."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.join(job.folder, "turns"))
        stream = connection.makefile("rw")

        def say(message):
            stream.write(json.dumps(message) + "\n")
            stream.flush()

        say({"side": side, "rank": job.rank, "about": about})
        for line in stream:
            count = int(line)
            if count == 0:
                return
            turn(1)
            say({"seconds": turn(count)})
