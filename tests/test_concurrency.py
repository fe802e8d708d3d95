"""Threads, forks and streams: right results in any company, and nothing that hangs."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import openaclnn as oa

Array = NDArray[Any]
RunPython = Callable[..., str]

LARGE = 3_000_000  # elements: enough for several threads, a few milliseconds of work
VERY_LARGE = 30_000_000


def by_definition(g: Array, y: Array) -> Array:
    """The sigmoid's derivative as it is written, in float64."""
    g, y = g.astype(np.float64), y.astype(np.float64)
    return g * y * (1 - y)


def sample(seed: int, count: int = LARGE) -> tuple[Array, Array]:
    """A gradient, and outputs of a sigmoid."""
    rng = np.random.default_rng(seed)
    return rng.random(count, np.float32) + np.float32(0.5), rng.random(count, np.float32)


def assert_right(result: Array, g: Array, y: Array) -> None:
    result = np.array(result)  # at once: computing what is right takes longer than the call
    np.testing.assert_allclose(result, by_definition(g, y), rtol=2e-6, atol=1e-7)


def begin(g: Any, y: Any, out: Any) -> oa.Executor:
    return oa.sigmoid_backward_get_workspace_size(g, y, out)[1]


# Threads


def work_of_one_thread(seed: int) -> None:
    """Calls of several sizes, each checked against those that were computed alone."""
    rng = np.random.default_rng(seed)
    for count in (1, 100, 5000, 300_000, 1_000_000):
        g, y = sample(seed, count)
        assert_right(oa.sigmoid_backward(g, y), g, y)
        x = (rng.random(count, np.float32) - np.float32(0.5)) * 8
        sigma = 1 / (1 + np.exp(-x.astype(np.float64)))
        exact = g * sigma * (1 + x - x * sigma)
        np.testing.assert_allclose(oa.silu_backward(g, x), exact, rtol=2e-6, atol=1e-7)
        out = np.empty_like(g)
        begin(g, y, out).run()
        assert_right(out, g, y)


@pytest.mark.parametrize("pytorch_is_busy", [False, True], ids=["alone", "beside PyTorch"])
def test_eight_threads_at_once(pytorch_is_busy: bool) -> None:
    stop = threading.Event()

    def keep_pytorch_busy() -> None:
        matrix = torch.ones(400, 400) / 400
        while not stop.is_set():
            product = matrix @ matrix
            assert torch.allclose(product, matrix)
            torch.sigmoid(torch.zeros(200_000))

    company = threading.Thread(target=keep_pytorch_busy) if pytorch_is_busy else None
    if company is not None:
        company.start()
    try:
        with ThreadPoolExecutor(8) as threads:
            for done in [threads.submit(work_of_one_thread, seed) for seed in range(8)]:
                done.result(timeout=120)
    finally:
        stop.set()
        if company is not None:
            company.join(timeout=60)


def test_faults_of_several_threads_do_not_mix() -> None:
    def refused(length: int) -> None:
        for _ in range(200):
            with pytest.raises(oa.AclnnParameterError) as caught:
                oa.silu_backward(np.ones(length, np.float32), np.ones(length + 1, np.float32))
            assert f"[{length}]" in str(caught.value)
            assert f"[{length + 1}]" in str(caught.value)

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(refused, length) for length in range(1, 9)]:
            done.result(timeout=60)


def test_one_of_many_threads_gets_to_run_an_executor() -> None:
    for seed in range(20):
        g, y = sample(seed, 1000)
        executor = begin(g, y, np.empty_like(g))
        barrier = threading.Barrier(8)

        def run(executor: oa.Executor = executor, barrier: threading.Barrier = barrier) -> int:
            barrier.wait(timeout=30)
            try:
                executor.run()
            except oa.AclnnError as error:
                return error.status
            return 0

        with ThreadPoolExecutor(8) as threads:
            statuses = [done.result(timeout=30) for done in [threads.submit(run) for _ in range(8)]]
        assert sorted(statuses) == [0, *[561103] * 7]


def test_threads_may_change_the_number_of_threads_meanwhile() -> None:
    g, y = sample(1)
    expected = oa.sigmoid_backward(g, y)
    assert_right(expected, g, y)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            for count in (1, 4, 2, 7):
                oa.set_num_threads(count)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(20):
            np.testing.assert_array_equal(oa.sigmoid_backward(g, y), expected)
    finally:
        stop.set()
        changer.join(timeout=30)


with_global_lock = pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has no global lock"
)


def counted_during(call: Callable[[], object]) -> int:
    """How often another Python thread went on in the middle of the call."""
    # With so long an interval, a thread goes on only when the lock is given away.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    started, stop = threading.Event(), threading.Event()
    times: list[float] = []

    def count() -> None:
        started.set()
        while not stop.is_set():
            times.append(time.perf_counter())
            time.sleep(0)

    counter = threading.Thread(target=count)
    try:
        counter.start()
        started.wait(timeout=30)
        begun = time.perf_counter()
        call()
        ended = time.perf_counter()
    finally:
        stop.set()
        sys.setswitchinterval(interval)
        counter.join(timeout=30)
    quarter = (ended - begun) / 4
    return sum(begun + quarter < t < ended - quarter for t in times)


def most_counted_during(call: Callable[[], object]) -> int:
    """The best of several trials: on a busy machine, a trial may get no processor."""
    return max(counted_during(call) for _ in range(5))


@with_global_lock
def test_counting_tells_whether_the_lock_is_given_away() -> None:
    def keep_the_lock() -> None:
        sum(range(3_000_000))

    assert most_counted_during(keep_the_lock) == 0
    assert most_counted_during(lambda: time.sleep(0.05)) > 1


@with_global_lock
@pytest.mark.parametrize("way", ["call", "executor", "synchronize"])
def test_other_python_threads_go_on_during_a_large_call(way: str) -> None:
    oa.set_num_threads(1)
    g, y = np.ones(VERY_LARGE, np.float32), np.full(VERY_LARGE, 0.25, np.float32)
    out = np.empty_like(g)
    executor = begin(g, y, out)
    executor.repeatable = True
    stream = oa.Stream()

    def queue_and_wait() -> None:
        executor.run(stream=stream)
        stream.synchronize()

    calls: dict[str, Callable[[], object]] = {
        "call": lambda: oa.sigmoid_backward(g, y, out=out),
        "executor": executor.run,
        "synchronize": queue_and_wait,
    }
    assert most_counted_during(calls[way]) > 1
    assert (out == np.float32(0.1875)).all()


# The number of threads


def test_number_of_threads_is_set_and_kept() -> None:
    for count in (1, 2, 3, 64, 1024):
        oa.set_num_threads(count)
        assert oa.get_num_threads() == count


@pytest.mark.parametrize("count", [0, -1, 1025, 2**31 - 1, -(2**31)])
def test_number_of_threads_out_of_range_is_refused(count: int) -> None:
    oa.set_num_threads(3)
    with pytest.raises(ValueError, match="1 to 1024") as caught:
        oa.set_num_threads(count)
    assert str(count) in str(caught.value)
    assert oa.get_num_threads() == 3


@pytest.mark.parametrize("count", [1.5, "2", None, [2]], ids=str)
def test_number_of_threads_of_another_type_is_refused(count: Any) -> None:
    before = oa.get_num_threads()
    with pytest.raises(TypeError):
        oa.set_num_threads(count)
    assert oa.get_num_threads() == before


def test_more_threads_than_processors_give_the_same_bits() -> None:
    g, y = sample(2, 2_000_003)
    results = []
    for count in (1, 2, 3, 4, 33):
        oa.set_num_threads(count)
        results.append(oa.sigmoid_backward(g, y))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("count", ["1", "3", "1024"])
def test_number_of_threads_from_the_environment(count: str, run_python: RunPython) -> None:
    code = "import openaclnn as oa; print(oa.get_num_threads())"
    assert run_python(code, OPENACLNN_NUM_THREADS=count) == count


def test_number_of_threads_is_at_first_that_of_usable_processors(run_python: RunPython) -> None:
    code = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
import openaclnn as oa
print(oa.get_num_threads())
"""
    assert run_python(code, OPENACLNN_NUM_THREADS="") == "1"


@pytest.mark.parametrize("text", ["0", "-2", "1025", "two", "2.0", "3 ", " 3", "1e1", "9" * 30])
def test_wrong_number_of_threads_in_the_environment(text: str, run_python: RunPython) -> None:
    code = """
import numpy as np
import openaclnn as oa
x = np.ones(1_000_000, np.float32)
for call in (oa.get_num_threads, lambda: oa.silu_backward(x, x)):
    try:
        call()
    except ValueError as error:
        assert "OPENACLNN_NUM_THREADS" in str(error) and "1 to 1024" in str(error), error
    else:
        raise SystemExit("accepted")
oa.set_num_threads(2)
oa.silu_backward(x, x)
"""
    run_python(code, OPENACLNN_NUM_THREADS=text)


# Processes


def test_import_and_small_calls_start_no_thread(run_python: RunPython) -> None:
    code = """
import os
import numpy, ml_dtypes
def threads(): return len(os.listdir("/proc/self/task"))
before = threads()
import openaclnn as oa
oa.operators(), oa.get_num_threads(), oa.instruction_set(), oa.get_product()
x = numpy.ones(1000, numpy.float32)
oa.silu_backward(x, x)
oa.Stream()
assert threads() == before, threads() - before
"""
    run_python(code, OPENACLNN_NUM_THREADS="4")


VENDOR_LIBRARIES = ("ascend", "acl_rt", "nnopbase", "opapi", "hccl", "runtime.so", "cuda", "gomp")


def test_nothing_of_the_vendor_is_looked_for(run_python: RunPython, tmp_path: Path) -> None:
    code = """
import numpy
import openaclnn as oa
x = numpy.ones(1_000_000, numpy.float32)
oa.silu_backward(x, x)
print(oa.__file__)
"""
    # The dynamic linker writes down every library that it looks for.
    run_python(code, LD_DEBUG="libs", LD_DEBUG_OUTPUT=str(tmp_path / "linker"))
    [log] = tmp_path.iterdir()
    wanted = {
        line.partition("find library=")[2].split()[0]
        for line in log.read_text().splitlines()
        if "find library=" in line
    }
    assert any("openaclnn" in name for name in wanted)
    assert not [name for name in wanted for word in VENDOR_LIBRARIES if word in name]


def test_a_large_call_starts_no_more_threads_than_were_asked_for(run_python: RunPython) -> None:
    code = """
import os
import numpy
import openaclnn as oa
def threads(): return len(os.listdir("/proc/self/task"))
before = threads()
x = numpy.ones(4_000_000, numpy.float32)
for _ in range(5):
    oa.silu_backward(x, x)
assert threads() - before <= 2, threads() - before
oa.set_num_threads(1)
oa.silu_backward(x, x)
"""
    run_python(code, OPENACLNN_NUM_THREADS="3")


FORK = """
import multiprocessing, sys, threading, warnings
import numpy as np
import openaclnn as oa

warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
y = np.full(4_000_000, 0.25, np.float32)
g = np.ones_like(y)

def work():
    assert (oa.sigmoid_backward(g, y) == np.float32(0.1875)).all()

def child():
    work()
    out = np.empty_like(y)
    with oa.Stream() as stream:
        oa.sigmoid_backward_get_workspace_size(g, y, out)[1].run(stream=stream)
    assert (out == np.float32(0.1875)).all()
    {in_child}

def fork(depth=0):
    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    if process.exitcode is None:
        process.kill()
        sys.exit("the child hangs")
    assert process.exitcode == 0, process.exitcode

oa.set_num_threads(4)
work()
{in_parent}
"""

FORKS = {
    "after a large call": ("pass", "fork(); work()"),
    "again and again": ("pass", "for _ in range(10):\n    fork()\n    work()"),
    "in a forked child": (
        "grandchild = multiprocessing.get_context('fork').Process(target=work)\n"
        "    grandchild.start(); grandchild.join(60); assert grandchild.exitcode == 0",
        "multiprocessing.current_process()._config['daemon'] = False; fork()",
    ),
    "while other threads call": (
        "pass",
        "stop = threading.Event()\n"
        "def busy():\n"
        "    while not stop.is_set():\n"
        "        work()\n"
        "threads = [threading.Thread(target=busy) for _ in range(3)]\n"
        "for thread in threads: thread.start()\n"
        "try:\n"
        "    for _ in range(10): fork()\n"
        "finally:\n"
        "    stop.set()\n"
        "for thread in threads: thread.join()\n",
    ),
    "beside a stream of the parent": (
        "pass",
        "out = np.empty_like(y)\n"
        "with oa.Stream() as stream:\n"
        "    oa.sigmoid_backward_get_workspace_size(g, y, out)[1].run(stream=stream)\n"
        "    fork()\n"
        "assert (out == np.float32(0.1875)).all()",
    ),
}


@pytest.mark.parametrize("name", FORKS)
def test_forked_children_make_large_calls(name: str, run_python: RunPython) -> None:
    in_child, in_parent = FORKS[name]
    run_python(FORK.format(in_child=in_child, in_parent=in_parent), timeout=240)


def test_stream_of_the_parent_is_refused_in_a_forked_child(run_python: RunPython) -> None:
    in_parent = """
shared = oa.Stream()
def child():
    executor = oa.sigmoid_backward_get_workspace_size(g, y, np.empty_like(y))[1]
    for call in (shared.synchronize, lambda: executor.run(stream=shared)):
        try:
            call()
        except RuntimeError as error:
            assert "parent" in str(error), error
        else:
            raise SystemExit("accepted")
out = np.empty_like(y)
oa.sigmoid_backward_get_workspace_size(g, y, out)[1].run(stream=shared)
shared.synchronize()
fork()
shared.synchronize()
"""
    run_python(FORK.format(in_child="pass", in_parent=in_parent), timeout=120)


def test_process_ends_with_work_still_queued(run_python: RunPython) -> None:
    code = """
import numpy as np
import openaclnn as oa
y = np.full(8_000_000, 0.25, np.float32)
stream = oa.Stream()
for _ in range(5):
    oa.sigmoid_backward_get_workspace_size(y, y, np.empty_like(y))[1].run(stream=stream)
print("end")
"""
    assert run_python(code, timeout=60) == "end"


# Streams


def test_leaving_a_stream_waits() -> None:
    g, y = sample(3)
    outs = [np.zeros_like(g) for _ in range(5)]
    with oa.Stream() as stream:
        for out in outs:
            begin(g, y, out).run(stream=stream)
    for out in reversed(outs):
        assert_right(out, g, y)


def test_stream_keeps_the_order() -> None:
    """Each step works on the result of the one before: y -> y (1 - y), a hundred times."""
    y = np.full(200_000, 0.5)
    ones, wanted = np.ones_like(y), 0.5
    with oa.Stream() as stream:
        for _ in range(100):
            begin(ones, y, y).run(stream=stream)
    result = y.copy()
    for _ in range(100):
        wanted *= 1 - wanted
    np.testing.assert_allclose(result, wanted, rtol=1e-13)


def test_synchronize_waits_and_more_may_follow() -> None:
    g, y = sample(4)
    stream = oa.Stream()
    stream.synchronize()
    for _ in range(3):
        out = np.zeros_like(g)
        begin(g, y, out).run(stream=stream)
        stream.synchronize()
        assert_right(out, g, y)
    with stream:
        begin(g, y, out).run(stream=stream)
    with stream as again:
        assert again is stream


def test_several_streams_at_once() -> None:
    streams = [oa.Stream() for _ in range(6)]
    samples = [sample(seed, 700_000) for seed in range(6)]
    outs = [[np.zeros_like(g) for _ in range(4)] for g, _ in samples]
    for i in range(4):
        for stream, (g, y), out in zip(streams, samples, outs, strict=True):
            begin(g, y, out[i]).run(stream=stream)
    for stream in reversed(streams):
        stream.synchronize()
    for (g, y), results in zip(samples, outs, strict=True):
        for out in results:
            assert_right(out, g, y)


def test_several_threads_on_one_stream() -> None:
    g, y = sample(5, 100_000)
    outs = [np.zeros_like(g) for _ in range(80)]
    with oa.Stream() as stream, ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(begin(g, y, out).run, stream=stream) for out in outs]:
            done.result(timeout=60)
    for out in outs:
        assert_right(out, g, y)


def test_queued_work_is_done_although_an_exception_leaves_the_stream() -> None:
    g, y = sample(6)
    out = np.zeros_like(g)

    def leave_with_an_exception() -> None:
        with oa.Stream() as stream:
            begin(g, y, out).run(stream=stream)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        leave_with_an_exception()
    assert_right(out, g, y)


def test_refused_call_leaves_the_stream_usable() -> None:
    g, y = sample(7)
    out = np.zeros_like(g)
    with oa.Stream() as stream:
        executor = begin(g, y, out)
        executor.run(stream=stream)
        with pytest.raises(oa.AclnnError) as caught:
            executor.run(stream=stream)
        assert caught.value.status == 561103
        second = np.zeros_like(g)
        begin(g, y, second).run(stream=stream)
    assert_right(out, g, y)
    assert_right(second, g, y)


def test_repeatable_executor_on_several_streams() -> None:
    g, y = sample(8)
    out = np.zeros_like(g)
    executor = begin(g, y, out)
    executor.repeatable = True
    for _ in range(3):
        with oa.Stream() as stream:
            out[...] = 0
            executor.run(stream=stream)
        assert_right(out, g, y)
    executor.run()
    with oa.Stream() as stream:
        for _ in range(10):
            executor.run(stream=stream)
    assert_right(out, g, y)


@pytest.mark.parametrize("make", [np.array, lambda a: torch.from_numpy(a.copy())], ids=["np", "pt"])
def test_arrays_deleted_while_work_is_queued(make: Callable[[Array], Any]) -> None:
    g, y = sample(9)
    outs = []
    with oa.Stream() as stream:
        for _ in range(8):
            inputs = make(g), make(y)
            outs.append(make(np.zeros_like(g)))
            begin(*inputs, outs[-1]).run(stream=stream)
            del inputs
            gc.collect()
            np.full_like(g, np.nan)  # takes freed memory, if any is
    for out in outs:
        assert_right(np.asarray(out), g, y)


def test_stream_deleted_while_work_is_queued_finishes_it() -> None:
    g, y = sample(10)
    outs = [np.zeros_like(g) for _ in range(4)]
    stream = oa.Stream()
    for out in outs:
        begin(g, y, out).run(stream=stream)
    del stream
    gc.collect()
    for out in outs:
        assert_right(out, g, y)


def test_arrays_are_let_go_after_the_work() -> None:
    class Watched(np.ndarray):
        pass

    stream = oa.Stream()
    g, y = (array.view(Watched) for array in sample(11, 1000))
    seen = [weakref.ref(g), weakref.ref(y)]
    executor = begin(g, y, np.empty(1000, np.float32))
    executor.run(stream=stream)
    del g, y, executor
    stream.synchronize()
    gc.collect()
    assert [reference() for reference in seen] == [None, None]


def test_memory_does_not_grow_with_the_number_of_calls(run_python: RunPython) -> None:
    code = """
import resource
import numpy as np
import openaclnn as oa
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
y = np.full(50_000, 0.25, np.float32)
out = np.empty_like(y)
def work(count):
    stream = oa.Stream()
    for i in range(count):
        oa.sigmoid_backward(y, y)
        oa.sigmoid_backward_get_workspace_size(y, y, out)[1].run(stream=stream)
        if i % 50 == 0:
            stream.synchronize()
        try:
            oa.silu_backward(y, y[1:])
        except oa.AclnnError:
            pass
    stream.synchronize()
work(500)
before = peak()
work(5000)
print(peak() - before)
"""
    assert int(run_python(code)) < 8_000_000


def test_streams_come_and_go(run_python: RunPython) -> None:
    code = """
import os
import numpy as np
import openaclnn as oa
y = np.full(1000, 0.25, np.float32)
def threads(): return len(os.listdir("/proc/self/task"))
before = threads()
for _ in range(500):
    with oa.Stream() as stream:
        oa.sigmoid_backward_get_workspace_size(y, y, np.empty_like(y))[1].run(stream=stream)
del stream
assert threads() <= before, (threads(), before)
"""
    run_python(code)


def test_running_on_what_is_no_stream_is_a_type_error() -> None:
    g, y = sample(12, 10)
    out = np.zeros_like(g)
    executor = begin(g, y, out)
    for value in (3, "stream", object()):
        with pytest.raises((TypeError, oa.AclnnError)):
            executor.run(stream=value)  # type: ignore[arg-type]
    executor.run()
    assert_right(out, g, y)


FORKED_AFTER_WORK = """
import os, sys
import numpy as np, openaclnn as oa
x = np.ones(4, "f4")

def work(stream):
    executor = oa.silu_backward_get_workspace_size(x, x, np.empty_like(x))[1]
    executor.run(stream=stream)
    stream.synchronize()

parents = oa.Stream()
work(parents)
child = os.fork()
if child == 0:
    own = oa.Stream()
    work(own)
    sys.exit(0)
print(os.waitpid(child, 0)[1])
"""


def test_child_ends_well_with_a_stream_of_its_own_beside_the_parents(
    run_python: Callable[..., str],
) -> None:
    assert run_python(FORKED_AFTER_WORK) == "0"


ONE_STREAM_FOR_ALL = """
import sys, threading
import numpy as np, openaclnn as oa
sys.setswitchinterval(1e-6)
stream = oa.Stream()
faults = []

def work():
    try:
        for i in range(400):
            g = np.ones(64 if i % 10 else 1 << 18, "f4")
            executor = oa.silu_backward_get_workspace_size(g, g, np.empty_like(g))[1]
            executor.run(stream=stream)
    except Exception as fault:
        faults.append(fault)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
stream.synchronize()
print(faults)
"""


def test_threads_may_share_a_stream(run_python: Callable[..., str]) -> None:
    assert run_python(ONE_STREAM_FOR_ALL) == "[]"
