"""CUDA streams, on simulated GPUs: what producers are told, what consumers wait for. The simulator finds accesses that
no stream or event orders."""

import ctypes
import pathlib
import subprocess
import sys

import plait
import pytest

DEVICE = "sim:sm_80"
LEGACY, PER_THREAD = 1, 2
COUNT = 96


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p)]


def in_python(name, result, *arguments):
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, arguments
    return function


new_capsule = in_python("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
pointer_of = in_python("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)


class Driver:
    """Calls of the simulated driver, by the names without their versions."""

    def __init__(self):
        plait.compile(negation(), device=DEVICE)  # which adds the device
        self.library = ctypes.CDLL(str(pathlib.Path(plait._plait.__file__).parent / "libplait_sim_cuda.so"))
        self.library.plait_sim_take_findings.restype = ctypes.c_char_p
        context = ctypes.c_void_p()
        self.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
        self.cuCtxSetCurrent(context)

    def __getattr__(self, name):
        function = getattr(self.library, name + "_v2", None) or getattr(self.library, name)

        def call(*arguments):
            code = function(*[ctypes.c_void_p(each) if isinstance(each, int) and each >= 2**31 else each
                              for each in arguments])
            assert code == 0, f"{name} gave {code}: {self.findings()}"

        return call

    def findings(self):
        return self.library.plait_sim_take_findings().decode()

    def made(self, name, *arguments):
        out = ctypes.c_void_p()
        getattr(self, name)(ctypes.byref(out), *arguments)
        return out.value

    def stream(self):
        return self.made("cuStreamCreate", 1)  # CU_STREAM_NON_BLOCKING

    def order(self, first, second):
        event = self.made("cuEventCreate", 2)  # CU_EVENT_DISABLE_TIMING
        self.cuEventRecord(ctypes.c_void_p(event), ctypes.c_void_p(first))
        self.cuStreamWaitEvent(ctypes.c_void_p(second), ctypes.c_void_p(event), 0)

    def read(self, address, stream):
        out = (ctypes.c_float * COUNT)()
        self.cuMemcpyDtoHAsync(out, ctypes.c_void_p(address), 4 * COUNT, ctypes.c_void_p(stream))
        self.cuStreamSynchronize(ctypes.c_void_p(stream))
        return list(out)


def negation():
    f = plait.Fusion("negation")
    f.output("y", plait.ops.neg(f.input("x", ["n"], plait.f32)))
    return f


class Producer:
    """An array that a stream of its own fills with ones; the stream it is told waits for that one."""

    def __init__(self, driver):
        self.driver, self.stream, self.told = driver, driver.stream(), []
        self.address = driver.made("cuMemAlloc", 4 * COUNT)
        one = 0x3F800000
        driver.cuMemsetD32Async(ctypes.c_void_p(self.address), one, COUNT, ctypes.c_void_p(self.stream))
        self.shape = (ctypes.c_int64 * 1)(COUNT)
        self.tensor = DLTensor(self.address, 2, 0, 1, 2, 32, 1, self.shape, None, 0, None, None)

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream):
        self.told.append(stream)
        self.driver.order(self.stream, stream)
        return new_capsule(ctypes.addressof(self.tensor), b"dltensor", None)


def taken(array, **words):
    """The address that a consumer of `array` gets; the array must stay."""
    capsule = array.__dlpack__(**words)
    return DLTensor.from_address(pointer_of(capsule, b"dltensor")).data


@pytest.fixture(scope="module")
def driver():
    try:
        plait.compile(negation(), device=DEVICE).run({"x": memoryview(bytearray(4)).cast("f")})
    except plait.MissingError as e:  # NVRTC, or the simulator
        pytest.skip(str(e))
    return Driver()


@pytest.fixture(autouse=True)
def nothing_found(driver):
    yield
    assert driver.findings() == ""


def test_a_run_without_a_stream_waits_for_the_legacy_default_stream(driver):
    x = Producer(driver)
    y = plait.compile(negation(), device=DEVICE).run({"x": x})["y"]
    assert x.told == [LEGACY] and y.device == "cuda:0"
    other = driver.stream()
    for told in (-1, None, LEGACY, PER_THREAD, other):  # the run is done: nothing is to be ordered
        assert driver.read(taken(y, stream=told), other) == [-1] * COUNT


def test_operators_of_what_lies_in_a_gpus_memory_are_refused(driver):
    y = plait.compile(negation(), device=DEVICE).run({"x": Producer(driver)})["y"]
    for call in (lambda: y + 1, lambda: 1 - y, lambda: y == y, lambda: -y, lambda: y @ y, lambda: divmod(y, 2)):
        with pytest.raises(BufferError, match=r"in a GPU's memory, and operators of arrays are NumPy's"):
            call()
    assert (y.ndim, y.size, y.T.device) == (1, COUNT, "cuda:0") and len({y, y}) == 1


@pytest.mark.parametrize("given, told", [(0, LEGACY), (LEGACY, LEGACY), (PER_THREAD, PER_THREAD), (None, None)])
def test_a_run_on_a_stream(driver, given, told):
    stream = given if told else driver.stream()
    x = Producer(driver)
    y = plait.compile(negation(), device=DEVICE).run({"x": x}, stream=stream)["y"]
    assert x.told == [told or stream]
    assert driver.read(taken(y, stream=told or stream), told or stream) == [-1] * COUNT


def test_work_on_the_default_stream_comes_first(driver):
    x = Producer(driver)
    driver.order(x.stream, LEGACY)
    capsule = new_capsule(ctypes.addressof(x.tensor), b"dltensor", None)
    y = plait.compile(negation(), device=DEVICE)._run_capsules([capsule], 0)[0]  # as the adapter of PyTorch calls it
    address = DLTensor.from_address(pointer_of(y, b"dltensor")).data
    assert driver.read(address, LEGACY) == [-1] * COUNT


@pytest.mark.parametrize("ran_on", [LEGACY, PER_THREAD, None])
@pytest.mark.parametrize("told", [None, LEGACY, PER_THREAD, "other"])
def test_consumers_wait_for_the_stream_of_the_run(driver, ran_on, told):
    y = plait.compile(negation(), device=DEVICE).run({"x": Producer(driver)}, stream=ran_on or driver.stream())["y"]
    told = driver.stream() if told == "other" else told
    assert driver.read(taken(y, stream=told), told or LEGACY) == [-1] * COUNT


@pytest.mark.parametrize("ran_on", [LEGACY, PER_THREAD, None])
@pytest.mark.parametrize("next_on", [0, PER_THREAD, "other", None])
def test_a_run_waits_for_the_run_that_gave_its_input(driver, ran_on, next_on):
    p = plait.compile(negation(), device=DEVICE)
    y = p.run({"x": Producer(driver)}, stream=ran_on or driver.stream())["y"]
    stream = driver.stream() if next_on == "other" else next_on
    z = p.run({"x": y}, stream=stream)["y"]
    reader = driver.stream()
    assert driver.read(taken(z, stream=reader), reader) == [1] * COUNT


def test_an_array_over_an_array_keeps_its_order(driver):
    x = Producer(driver)
    held = plait.array(x)
    assert x.told == [LEGACY]
    y = plait.compile(negation(), device=DEVICE).run({"x": held}, stream=driver.stream())["y"]
    assert driver.read(taken(plait.array(y)), LEGACY) == [-1] * COUNT


def test_what_is_no_stream_is_refused(driver):
    p = plait.compile(negation(), device=DEVICE)
    x = Producer(driver)
    for wrong in (-1, 0.5, "1", 2**64, x):
        with pytest.raises(plait.UserError, match="is no CUDA stream") as caught:
            p.run({"x": x}, stream=wrong)
        assert caught.value.remedy
    with pytest.raises(plait.UserError, match="streams are those of GPUs"):
        plait.compile(negation()).run({"x": memoryview(bytearray(4)).cast("f")}, stream=0)
    for stream in (None, driver.stream()):
        y = p.run({"x": x}, stream=stream)["y"]
        for wrong in (0, -2, "1"):  # 0 is disallowed by the array API: it may mean either default stream
            with pytest.raises(plait.UserError, match="is no CUDA stream"):
                y.__dlpack__(stream=wrong)


@pytest.mark.parametrize("case", ["consumer", "capsule"])
def test_the_simulator_finds_what_is_not_ordered(case):
    done = subprocess.run([sys.executable, __file__, case], capture_output=True, text=True, timeout=300)
    assert "not ordered" in done.stdout + done.stderr, done.stderr


def race(case):
    driver = Driver()
    p = plait.compile(negation(), device=DEVICE)
    x = Producer(driver)
    if case == "capsule":
        capsule = new_capsule(ctypes.addressof(x.tensor), b"dltensor", None)
        stream = driver.stream()  # which nothing orders after the producer's
        made = p._run_capsules([capsule], stream)
        driver.cuStreamSynchronize(ctypes.c_void_p(stream))
        del made
    else:
        y = p.run({"x": x}, stream=driver.stream())["y"]
        driver.read(taken(y, stream=-1), driver.stream())


if __name__ == "__main__":
    race(sys.argv[1])
