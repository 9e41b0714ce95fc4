"""One rank of the MLP's job: what the driver and the ranks of both sides agree on."""
import argparse
import dataclasses
import os

INPUTS = ("x", "w0", "b0", "w1", "b1")
OUTPUTS = ("linear1", "gelu", "linear2", "dropout")


@dataclasses.dataclass
class Job:
    """Files of `folder` hold raw little-endian elements of `dtype`."""
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
