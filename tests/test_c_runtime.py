"""Devices, streams, events, memory, tensors and executors of the C interface."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from ctypes import byref, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

import numpy as np
import pytest

import acl
from acl import LIBRARY, asked, made, message, tensor, to_device, to_host

ONES = np.ones(8, np.float32)
ZEROS = np.zeros(8, np.float32)


@pytest.fixture(autouse=True)
def device() -> Iterator[None]:
    message()
    with acl.device_set():
        yield


@pytest.fixture
def stream() -> Iterator[int]:
    handle = made(LIBRARY.aclrtCreateStream)
    yield handle
    LIBRARY.aclrtDestroyStreamForce(handle)


class Call:
    """The tensors of one silu call on eight elements, s'(0) = 1/2."""

    def __init__(self) -> None:
        self.addresses = [to_device(array) for array in (ONES, ZEROS, ZEROS)]
        self.tensors = [tensor(address, [8]) for address in self.addresses]

    def phase_one(self) -> int:
        size, executor = c_uint64(9), c_void_p()
        status = LIBRARY.aclnnSiluBackwardGetWorkspaceSize(
            *self.tensors, byref(size), byref(executor)
        )
        assert status == 0, message()
        assert size.value == 0
        assert executor.value is not None
        return executor.value

    def result(self) -> list[float]:
        return to_host(self.addresses[2], 8).tolist()

    def free(self) -> None:
        for handle, address in zip(self.tensors, self.addresses, strict=True):
            assert LIBRARY.aclDestroyTensor(handle) == 0
            assert LIBRARY.aclrtFree(address) == 0


@pytest.fixture
def call() -> Iterator[Call]:
    created = Call()
    yield created
    created.free()


def run(executor: int | None, stream: int | None = None) -> int:
    status: int = LIBRARY.aclnnSiluBackward(None, 0, executor, stream)
    return status


# --- start and end, devices, contexts


def test_second_init_and_finalize_are_reported() -> None:
    LIBRARY.aclFinalize()
    assert LIBRARY.aclFinalize() == 100037
    assert LIBRARY.aclInit(None) == 0
    assert LIBRARY.aclInit(None) == 100002
    assert LIBRARY.aclrtSetDevice(0) == 0  # finalising has freed the default context


def test_device_facts() -> None:
    assert asked(LIBRARY.aclrtGetDeviceCount, c_uint32) == 1
    assert asked(LIBRARY.aclrtGetDevice, c_int32) == 0
    assert asked(LIBRARY.aclrtGetRunMode, c_int) == 1
    version = [c_int32(), c_int32(), c_int32()]
    assert LIBRARY.aclrtGetVersion(*map(byref, version)) == 0
    assert [number.value for number in version] == [1, 13, 0]
    assert LIBRARY.aclrtSetDevice(1) == 107001
    assert LIBRARY.aclrtSetDevice(-1) == 107001


def test_thread_without_a_device_has_no_context() -> None:
    statuses = []

    def work() -> None:
        number, handle = c_int32(), c_void_p()
        statuses.append(LIBRARY.aclrtGetDevice(byref(number)))
        statuses.append(LIBRARY.aclrtGetCurrentContext(byref(handle)))
        statuses.append(LIBRARY.aclrtCreateStream(byref(handle)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert statuses == [107002] * 3


def test_devices_are_counted_per_set() -> None:
    assert LIBRARY.aclrtSetDevice(0) == 0
    assert LIBRARY.aclrtResetDevice(0) == 0
    assert asked(LIBRARY.aclrtGetDevice, c_int32) == 0  # the fixture's is left


def test_contexts_are_per_thread_and_end() -> None:
    default = made(LIBRARY.aclrtGetCurrentContext)
    context = made(LIBRARY.aclrtCreateContext, 0)
    assert made(LIBRARY.aclrtGetCurrentContext) == context
    assert LIBRARY.aclrtDestroyContext(context) == 0
    assert LIBRARY.aclrtDestroyContext(context) == 107017
    assert LIBRARY.aclrtSetCurrentContext(context) == 107017
    assert LIBRARY.aclrtGetCurrentContext(byref(c_void_p())) == 107002
    assert LIBRARY.aclrtSetCurrentContext(default) == 0


# --- streams


def host_function(action: Callable[[], None]) -> Any:
    return acl.CALLBACK(lambda _: action())


def in_turn(*actions: Callable[[], object]) -> Any:
    """Make a host function of several actions."""

    def act() -> None:
        for action in actions:
            action()

    return host_function(act)


def test_work_of_a_stream_is_done_in_order_and_asynchronously(stream: int) -> None:
    order: list[int] = []
    gate = threading.Event()
    functions = [in_turn(lambda: gate.wait(20))]
    functions += [host_function(lambda i=i: order.append(i)) for i in range(5)]
    for function in functions:
        assert LIBRARY.aclrtLaunchHostFunc(stream, function, None) == 0
    assert asked(LIBRARY.aclrtStreamQuery, c_int, stream) == 1
    assert LIBRARY.aclrtSynchronizeStreamWithTimeout(stream, 20) == 507046
    assert LIBRARY.aclrtSynchronizeDeviceWithTimeout(20) == 507046
    gate.set()
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert asked(LIBRARY.aclrtStreamQuery, c_int, stream) == 0
    assert order == list(range(5))


def test_abort_drops_what_has_not_begun(stream: int) -> None:
    order: list[str] = []
    gate = threading.Event()
    functions = [
        in_turn(lambda: gate.wait(20)),
        host_function(lambda: order.append("dropped")),
        host_function(lambda: order.append("later")),
    ]
    for function in functions[:2]:
        assert LIBRARY.aclrtLaunchHostFunc(stream, function, None) == 0
    time.sleep(0.05)
    assert LIBRARY.aclrtStreamAbort(stream) == 0
    assert LIBRARY.aclrtLaunchHostFunc(stream, functions[2], None) == 0
    gate.set()
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert order == ["later"]


def test_destroying_a_stream_finishes_what_is_queued() -> None:
    handle = made(LIBRARY.aclrtCreateStreamWithConfig, 0, 3)
    order: list[int] = []
    function = in_turn(lambda: time.sleep(0.05), lambda: order.append(1))
    assert LIBRARY.aclrtLaunchHostFunc(handle, function, None) == 0
    assert LIBRARY.aclrtDestroyStream(handle) == 0
    assert order == [1]
    for status in (
        LIBRARY.aclrtDestroyStream(handle),
        LIBRARY.aclrtSynchronizeStream(handle),
        LIBRARY.aclrtLaunchHostFunc(handle, function, None),
        LIBRARY.aclrtStreamQuery(handle, byref(c_int())),
    ):
        assert status == 107017
    assert LIBRARY.aclrtDestroyStream(None) == 107000


def test_stream_settings_are_kept(stream: int) -> None:
    assert LIBRARY.aclrtSetStreamOverflowSwitch(stream, 1) == 0
    assert asked(LIBRARY.aclrtGetStreamOverflowSwitch, c_uint32, stream) == 1
    assert LIBRARY.aclrtSetStreamFailureMode(stream, 1) == 0
    assert LIBRARY.aclrtSetStreamFailureMode(stream, 7) == 107000
    other = made(LIBRARY.aclrtCreateStream)
    ids = {asked(LIBRARY.aclrtStreamGetId, c_int32, handle) for handle in (stream, other)}
    assert len(ids) == 2
    assert LIBRARY.aclrtDestroyStream(other) == 0


@pytest.mark.parametrize("stream_is_null", [False, True])
def test_work_can_not_wait_for_its_own_stream(stream: int, stream_is_null: bool) -> None:
    handle = None if stream_is_null else stream
    statuses: list[int] = []

    def wait() -> None:
        with acl.device_set():
            statuses.append(LIBRARY.aclrtSynchronizeStream(handle))
            statuses.append(LIBRARY.aclrtSynchronizeStreamWithTimeout(handle, 10_000))
            statuses.append(LIBRARY.aclrtSynchronizeDevice())

    function = host_function(wait)
    assert LIBRARY.aclrtLaunchHostFunc(handle, function, None) == 0
    assert LIBRARY.aclrtSynchronizeStream(handle) == 0
    assert statuses == [107000, 107000, 107000]


# --- events


@pytest.fixture
def events() -> Iterator[list[int]]:
    handles = [
        made(LIBRARY.aclrtCreateEvent),
        made(LIBRARY.aclrtCreateEventWithFlag, 8),
        made(LIBRARY.aclrtCreateEventExWithFlag, 1),
    ]
    yield handles
    for handle in handles:
        assert LIBRARY.aclrtDestroyEvent(handle) == 0
        assert LIBRARY.aclrtDestroyEvent(handle) == 107017


def test_event_is_complete_when_its_stream_has_come_to_it(stream: int, events: list[int]) -> None:
    gate = threading.Event()
    function = in_turn(lambda: gate.wait(20))
    assert asked(LIBRARY.aclrtQueryEventStatus, c_int, events[0]) == 0
    assert LIBRARY.aclrtSynchronizeEvent(events[0]) == 0  # nothing to wait for
    assert LIBRARY.aclrtLaunchHostFunc(stream, function, None) == 0
    assert LIBRARY.aclrtRecordEvent(events[0], stream) == 0
    assert asked(LIBRARY.aclrtQueryEventStatus, c_int, events[0]) == 0
    assert asked(LIBRARY.aclrtQueryEvent, c_int, events[0]) == 1
    assert LIBRARY.aclrtSynchronizeEventWithTimeout(events[0], 20) == 507047
    gate.set()
    assert LIBRARY.aclrtSynchronizeEvent(events[0]) == 0
    assert asked(LIBRARY.aclrtQueryEventStatus, c_int, events[0]) == 1
    assert asked(LIBRARY.aclrtQueryEvent, c_int, events[0]) == 0
    assert LIBRARY.aclrtResetEvent(events[0], stream) == 0
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert asked(LIBRARY.aclrtQueryEventStatus, c_int, events[0]) == 0


def test_stream_waits_for_another_streams_event(stream: int, events: list[int]) -> None:
    other = made(LIBRARY.aclrtCreateStream)
    order: list[str] = []
    gate = threading.Event()
    functions = [
        in_turn(lambda: gate.wait(20), lambda: order.append("first")),
        host_function(lambda: order.append("second")),
    ]
    assert LIBRARY.aclrtLaunchHostFunc(other, functions[0], None) == 0
    assert LIBRARY.aclrtRecordEvent(events[0], other) == 0
    assert LIBRARY.aclrtStreamWaitEvent(stream, events[0]) == 0
    assert LIBRARY.aclrtLaunchHostFunc(stream, functions[1], None) == 0
    assert asked(LIBRARY.aclrtQueryEventWaitStatus, c_int, events[0]) == 1
    time.sleep(0.05)
    assert order == []
    gate.set()
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert order == ["first", "second"]
    assert asked(LIBRARY.aclrtQueryEventWaitStatus, c_int, events[0]) == 0
    assert LIBRARY.aclrtDestroyStream(other) == 0


def test_elapsed_time_needs_two_complete_records_in_order(stream: int, events: list[int]) -> None:
    milliseconds = c_float(-1)

    def elapsed(start: int, end: int) -> int:
        status: int = LIBRARY.aclrtEventElapsedTime(byref(milliseconds), start, end)
        return status

    pause = host_function(lambda: time.sleep(0.03))
    assert elapsed(events[0], events[1]) == 107006
    assert LIBRARY.aclrtRecordEvent(events[0], stream) == 0
    assert LIBRARY.aclrtLaunchHostFunc(stream, pause, None) == 0
    assert LIBRARY.aclrtRecordEvent(events[1], stream) == 0
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert elapsed(events[1], events[0]) == 107007
    assert elapsed(events[0], events[1]) == 0
    assert 25 <= milliseconds.value < 20_000


# --- callbacks


def test_callbacks_run_in_the_thread_that_subscribed(stream: int) -> None:
    ran_in: list[int] = []
    callback = host_function(lambda: ran_in.append(threading.get_native_id()))
    assert LIBRARY.aclrtLaunchCallback(callback, None, 1, stream) == 107015
    assert LIBRARY.aclrtProcessReport(10) == 107015
    ready, stop = threading.Event(), threading.Event()
    statuses: list[int] = []

    def process() -> None:
        ready.wait(20)
        statuses.append(LIBRARY.aclrtProcessReport(10))
        while not stop.is_set():
            LIBRARY.aclrtProcessReport(20)

    thread = threading.Thread(target=process)
    thread.start()
    assert thread.ident is not None
    assert LIBRARY.aclrtSubscribeReport(thread.ident, stream) == 0
    ready.set()
    while not statuses:
        time.sleep(0.005)
    assert statuses == [507012]
    for blocking in (0, 1):
        assert LIBRARY.aclrtLaunchCallback(callback, None, blocking, stream) == 0
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert ran_in[-1] == thread.native_id
    assert LIBRARY.aclrtUnSubscribeReport(thread.ident, stream) == 0
    assert LIBRARY.aclrtUnSubscribeReport(thread.ident, stream) == 107015
    stop.set()
    thread.join()
    assert len(ran_in) == 2


# --- memory


@pytest.mark.parametrize("name", ["aclrtMalloc", "aclrtMallocAlign32", "aclrtMallocCached"])
def test_device_memory_is_aligned_and_counted(name: str) -> None:
    free, total = c_size_t(), c_size_t()
    assert LIBRARY.aclrtGetMemInfo(1, byref(free), byref(total)) == 0
    before = free.value
    address = made(getattr(LIBRARY, name), 1_000_000, 0)
    assert address % 64 == 0
    assert LIBRARY.aclrtGetMemInfo(1, byref(free), byref(total)) == 0
    assert before - free.value == 1_000_000
    assert LIBRARY.aclrtFree(address) == 0


def test_wrong_frees_and_sizes_are_reported() -> None:
    address = made(LIBRARY.aclrtMalloc, 64, 0)
    host = made(LIBRARY.aclrtMallocHost, 64)
    assert LIBRARY.aclrtFree(host) == 107000
    assert LIBRARY.aclrtFreeHost(address) == 107000
    assert LIBRARY.aclrtFree(address + 8) == 107000
    assert LIBRARY.aclrtFree(ONES.ctypes.data) == 107000
    assert LIBRARY.aclrtFree(None) == 107000
    assert LIBRARY.aclrtFree(address) == 0
    assert LIBRARY.aclrtFree(address) == 107000
    assert LIBRARY.aclrtFreeHost(host) == 0
    untouched = c_void_p(5)
    assert LIBRARY.aclrtMalloc(byref(untouched), 0, 0) == 107000
    assert LIBRARY.aclrtMalloc(byref(untouched), 2**62, 0) == 207001
    assert untouched.value == 5


def test_copies_and_fills_stay_within_their_memory() -> None:
    address = made(LIBRARY.aclrtMalloc, 32, 0)
    host = np.arange(8, dtype=np.float32)
    data = host.ctypes.data
    assert LIBRARY.aclrtMemcpy(address, 32, data, 32, acl.TO_DEVICE) == 0
    assert LIBRARY.aclrtMemcpy(address, 16, data, 32, acl.TO_DEVICE) == 107000
    assert LIBRARY.aclrtMemcpy(address, 64, data, 64, acl.TO_DEVICE) == 107000
    assert LIBRARY.aclrtMemcpy(address, 32, data, 32, acl.TO_HOST) == 107000
    assert LIBRARY.aclrtMemcpy(address, 32, data, 32, 9) == 107000
    assert LIBRARY.aclrtMemcpy(address, 32, data, 32, acl.DEFAULT) == 0
    assert LIBRARY.aclrtMemcpy(None, 32, data, 32, acl.DEFAULT) == 107000
    assert LIBRARY.aclrtMemset(address, 16, 0, 32) == 107000
    assert LIBRARY.aclrtMemset(address, 64, 0, 64) == 107000
    assert to_host(address, 8).tolist() == host.tolist()
    assert LIBRARY.aclrtMemset(address, 32, 0xFF, 16) == 0
    assert np.isnan(to_host(address, 8)).tolist() == [True] * 4 + [False] * 4
    assert LIBRARY.aclrtFree(address) == 0


def test_two_dimensional_and_asynchronous_copies(stream: int) -> None:
    source = np.arange(24, dtype=np.float32).reshape(4, 6)
    address = made(LIBRARY.aclrtMalloc, 4 * 12, 0)
    status = LIBRARY.aclrtMemcpy2d(address, 12, source.ctypes.data, 24, 12, 4, acl.TO_DEVICE)
    assert status == 0
    assert to_host(address, 12).tolist() == source[:, :3].ravel().tolist()
    target = np.zeros((4, 6), np.float32)
    copied = LIBRARY.aclrtMemcpy2dAsync(
        target.ctypes.data, 24, address, 12, 12, 4, acl.TO_HOST, stream
    )
    assert copied == 0
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    np.testing.assert_array_equal(target[:, :3], source[:, :3])
    too_wide = LIBRARY.aclrtMemcpy2d(address, 12, source.ctypes.data, 24, 16, 4, acl.TO_DEVICE)
    assert too_wide == 107000
    assert LIBRARY.aclrtMemsetAsync(address, 48, 0, 48, stream) == 0
    flat = np.ones(12, np.float32)
    assert LIBRARY.aclrtMemcpyAsync(flat.ctypes.data, 48, address, 48, acl.TO_HOST, stream) == 0
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert not flat.any()
    assert LIBRARY.aclrtFree(address) == 0


NULL_OUT = [
    ("aclrtGetDevice", (None,), 107000),
    ("aclrtGetDeviceCount", (None,), 107000),
    ("aclrtGetRunMode", (None,), 107000),
    ("aclrtGetVersion", (None, None, None), 107000),
    ("aclrtCreateContext", (None, 0), 107000),
    ("aclrtGetCurrentContext", (None,), 107000),
    ("aclrtCreateStream", (None,), 107000),
    ("aclrtStreamQuery", (None, None), 107000),
    ("aclrtCreateEvent", (None,), 107000),
    ("aclrtQueryEventStatus", (None, None), 107000),
    ("aclrtEventElapsedTime", (None, None, None), 107000),
    ("aclrtMalloc", (None, 8, 0), 107000),
    ("aclrtMallocHost", (None, 8), 107000),
    ("aclrtGetMemInfo", (0, None, None), 107000),
    ("aclGetViewOffset", (None, None), 161001),
    ("aclGetDataType", (None, None), 161001),
    ("aclGetViewShape", (None, None, None), 161001),
    ("aclSetRawTensorAddr", (None, None), 161001),
    ("aclGetTensorListSize", (None, None), 161001),
]


@pytest.mark.parametrize(("name", "arguments", "status"), NULL_OUT)
def test_null_is_refused(name: str, arguments: tuple[Any, ...], status: int) -> None:
    assert getattr(LIBRARY, name)(*arguments) == status
    text = message()
    assert text is not None
    assert name in text


# --- tensors


def test_tensor_gives_back_what_it_was_made_of() -> None:
    data = to_device(ONES)
    handle = LIBRARY.aclCreateTensor(
        acl.numbers([2, 3]), 2, acl.BF16, acl.numbers([4, 1]), 1, 29, acl.numbers([9]), 1, data
    )
    assert asked(LIBRARY.aclGetViewOffset, c_int64, handle) == 1
    assert asked(LIBRARY.aclGetFormat, c_int, handle) == 29
    assert asked(LIBRARY.aclGetDataType, c_int, handle) == acl.BF16
    assert asked(LIBRARY.aclGetRawTensorAddr, c_void_p, handle) == data
    for function, expected in (
        (LIBRARY.aclGetViewShape, [2, 3]),
        (LIBRARY.aclGetViewStrides, [4, 1]),
        (LIBRARY.aclGetStorageShape, [9]),
    ):
        array, count = ctypes.POINTER(c_int64)(), c_uint64()
        assert function(handle, byref(array), byref(count)) == 0
        assert array[: count.value] == expected
    assert LIBRARY.aclSetRawTensorAddr(handle, data + 4) == 0
    assert asked(LIBRARY.aclGetRawTensorAddr, c_void_p, handle) == data + 4
    assert LIBRARY.aclDestroyTensor(handle) == 0
    assert LIBRARY.aclDestroyTensor(handle) == 161002
    assert LIBRARY.aclGetFormat(handle, byref(c_int())) == 161002
    assert LIBRARY.aclDestroyTensor(None) == 0
    assert LIBRARY.aclrtFree(data) == 0


@pytest.mark.parametrize(
    ("shape", "strides", "offset"), [([-1], [1], 0), ([2], [-1], 0), ([2], [1], -1)]
)
def test_tensor_of_negative_numbers_is_not_made(
    shape: list[int], strides: list[int], offset: int
) -> None:
    assert tensor(None, shape, strides=strides, offset=offset) is None
    text = message()
    assert text is not None
    assert "negative" in text


def test_tensor_list_owns_its_tensors() -> None:
    handles = (c_void_p * 2)(tensor(None, [1]), tensor(None, [2]))
    made_list = LIBRARY.aclCreateTensorList(handles, 2)
    assert asked(LIBRARY.aclGetTensorListSize, c_uint64, made_list) == 2
    assert LIBRARY.aclDestroyTensorList(made_list) == 0
    assert LIBRARY.aclDestroyTensor(handles[0]) == 161002


def test_lists_are_made_of_live_objects_only() -> None:
    live, dead = tensor(None, [1]), tensor(None, [1])
    assert LIBRARY.aclDestroyTensor(dead) == 0
    assert LIBRARY.aclCreateTensorList((c_void_p * 2)(live, dead), 2) is None
    text = message()
    assert text is not None
    assert "value[1]" in text
    assert LIBRARY.aclCreateScalarList((c_void_p * 1)(live), 1) is None
    assert LIBRARY.aclDestroyTensor(live) == 0


KINDS = ["IntArray", "FloatArray", "BoolArray", "Scalar", "TensorList", "ScalarList"]


@pytest.mark.parametrize("kind", KINDS)
def test_objects_that_are_not_alive_are_refused(kind: str) -> None:
    value = (c_int64 * 1)(0)
    made_of = (value, acl.FLOAT) if kind == "Scalar" else (value, 1)
    create, destroy = (getattr(LIBRARY, f"acl{verb}{kind}") for verb in ("Create", "Destroy"))
    handle = create(*made_of)
    assert handle is not None
    other = tensor(None, [1])
    assert destroy(handle) == 0
    buffer = (ctypes.c_char * 256)()
    for wrong in (handle, other, 0xDEAD, ctypes.addressof(buffer)):
        assert destroy(wrong) == 161002
        if kind != "Scalar":
            assert getattr(LIBRARY, f"aclGet{kind}Size")(wrong, byref(c_uint64())) == 161002
    assert destroy(None) == 0
    assert LIBRARY.aclDestroyTensor(other) == 0


# --- executors


def test_executor_runs_once_and_then_is_gone(call: Call, stream: int) -> None:
    executor = call.phase_one()
    assert run(executor, stream) == 0
    assert run(executor, stream) == 561103
    assert LIBRARY.aclDestroyAclOpExecutor(executor) == 561103
    assert LIBRARY.aclSetAclOpExecutorRepeatable(executor) == 561103
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert call.result() == [0.5] * 8
    never_run = call.phase_one()
    assert LIBRARY.aclDestroyAclOpExecutor(never_run) == 0
    assert run(never_run) == 561103
    assert run(None) == 161001
    assert run(0x1234) == 561103
    assert LIBRARY.aclDestroyAclOpExecutor(None) == 561103
    assert LIBRARY.aclSetAclOpExecutorRepeatable(None) == 561103


def test_executor_is_not_used_up_by_a_stream_that_is_not_alive(call: Call) -> None:
    executor = call.phase_one()
    assert run(executor, 0x5678) == 361001
    assert run(executor) == 0


def test_tensors_may_be_destroyed_after_phase_one(call: Call) -> None:
    executor = call.phase_one()
    for handle in call.tensors:
        assert LIBRARY.aclDestroyTensor(handle) == 0
    call.tensors = [None, None, None]
    assert run(executor) == 0
    assert LIBRARY.aclrtSynchronizeStream(None) == 0
    assert call.result() == [0.5] * 8


@pytest.mark.parametrize("prefix", ["acl", "Acl"])
def test_repeatable_executor_runs_on_refreshed_addresses(
    call: Call, stream: int, prefix: str
) -> None:
    executor = call.phase_one()
    assert LIBRARY.aclSetAclOpExecutorRepeatable(executor) == 0
    twos, other = to_device(2 * ONES), to_device(ZEROS)
    set_input = getattr(LIBRARY, f"{prefix}SetInputTensorAddr")
    set_output = getattr(LIBRARY, f"{prefix}SetOutputTensorAddr")
    set_any = getattr(LIBRARY, f"{prefix}SetTensorAddr")
    assert run(executor, stream) == 0
    assert set_input(executor, 0, call.tensors[0], twos) == 0
    assert set_output(executor, 0, call.tensors[2], other) == 0
    assert asked(LIBRARY.aclGetRawTensorAddr, c_void_p, call.tensors[2]) == other
    assert run(executor, None) == 0
    assert LIBRARY.aclrtSynchronizeDevice() == 0
    assert call.result() == [0.5] * 8
    assert to_host(other, 8).tolist() == [1.0] * 8
    assert set_any(executor, 2, call.tensors[2], call.addresses[2]) == 0
    assert run(executor, stream) == 0
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert call.result() == [1.0] * 8
    assert set_input(executor, 2, call.tensors[0], twos) == 161002
    assert set_output(executor, 1, call.tensors[0], twos) == 161002
    assert set_any(executor, 3, call.tensors[0], twos) == 161002
    assert set_input(None, 0, call.tensors[0], twos) == 561103
    assert set_input(executor, 0, None, twos) == 561103
    handles = (c_void_p * 1)(tensor(None, [1]))
    tensors = LIBRARY.aclCreateTensorList(handles, 1)
    for which in ("Input", "Output", ""):
        dynamic = getattr(LIBRARY, f"{prefix}SetDynamic{which}TensorAddr")
        assert dynamic(executor, 0, 0, tensors, twos) == 161002
    assert LIBRARY.aclDestroyTensorList(tensors) == 0
    assert LIBRARY.aclDestroyAclOpExecutor(executor) == 0
    assert run(executor) == 561103
    for address in (twos, other):
        assert LIBRARY.aclrtFree(address) == 0


def test_null_address_is_refused_in_phase_two(call: Call) -> None:
    assert LIBRARY.aclSetRawTensorAddr(call.tensors[1], None) == 0
    executor = call.phase_one()
    assert run(executor) == 161001
    text = message()
    assert text is not None
    assert "self has a null address" in text
    assert LIBRARY.aclSetInputTensorAddr(executor, 1, call.tensors[1], call.addresses[1]) == 0
    assert run(executor) == 0


def test_ten_thousand_executors_in_flight(call: Call, stream: int) -> None:
    executors = [call.phase_one() for _ in range(10_000)]
    assert len(set(executors)) == 10_000
    assert all(run(executor, stream) == 0 for executor in executors[::2])
    assert LIBRARY.aclrtSynchronizeStream(stream) == 0
    assert all(LIBRARY.aclDestroyAclOpExecutor(executor) == 0 for executor in executors[1::2])
    assert call.result() == [0.5] * 8


# --- faults


def phase_one_status(tensors: list[int | None]) -> int:
    """Run phase one on tensors that it refuses: the out-parameters must stay."""
    size, executor = c_uint64(77), c_void_p(99)
    status: int = LIBRARY.aclnnSiluBackwardGetWorkspaceSize(*tensors, byref(size), byref(executor))
    assert (size.value, executor.value) == (77, 99)
    return status


def test_faults_of_phase_one_give_their_status_and_leave_the_rest(call: Call) -> None:
    grad_output, x, grad_input = call.tensors
    size, executor = c_uint64(), c_void_p()
    one = LIBRARY.aclnnSiluBackwardGetWorkspaceSize
    assert one(grad_output, x, grad_input, None, byref(executor)) == 161001
    assert one(grad_output, x, grad_input, byref(size), None) == 161001
    data = call.addresses[2]
    wrong = {
        "null": (None, 161001),
        "type": (tensor(data, [8], acl.DOUBLE), 161002),
        "other type": (tensor(data, [8], acl.FLOAT16), 161002),
        "shape": (tensor(data, [2, 4]), 161002),
        "rank": (tensor(data, [1] * 8 + [8]), 161002),
        "extent": (tensor(data, [8], strides=[2**61]), 161002),
        "itself": (tensor(data, [8], strides=[0]), 161002),
        "an input": (tensor(call.addresses[1], [8], strides=[1], offset=1), 161002),
    }
    for name, (handle, status) in wrong.items():
        assert phase_one_status([grad_output, x, handle]) == status, name
        text = message()
        assert text is not None
        assert re.match(
            r"\[PID:\d+\] \d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} "
            r"AclNN_Parameter_Error\(EZ1001\): aclnnSiluBackward on Ascend910B1 .*gradInput",
            text,
        ), text
        assert message() is None
        LIBRARY.aclDestroyTensor(handle)
    assert phase_one_status([grad_output, 0x42, grad_input]) == 161002


def test_recent_error_is_each_threads_own() -> None:
    assert LIBRARY.aclrtFree(None) == 107000
    seen: list[str | None] = []
    thread = threading.Thread(target=lambda: seen.append(message()))
    thread.start()
    thread.join()
    assert seen == [None]
    assert message() is not None


def test_eight_threads_at_once() -> None:
    wrong: list[object] = []

    def work() -> None:
        with acl.device_set():
            call, stream = Call(), made(LIBRARY.aclrtCreateStream)
            for _ in range(100):
                if run(call.phase_one(), stream) or LIBRARY.aclrtSynchronizeStream(stream):
                    wrong.append(message())
                if call.result() != [0.5] * 8:
                    wrong.append(call.result())
            call.free()
            assert LIBRARY.aclrtDestroyStream(stream) == 0

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


FORKING = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from acl import LIBRARY as L, made
from test_c_runtime import Call, run
L.aclrtSetDevice(0)
call, stream = Call(), made(L.aclrtCreateStream)
executor, other = call.phase_one(), call.phase_one()
assert run(call.phase_one(), stream) == 0
child = os.fork()
if child == 0:
    signal.alarm(60)
    assert L.aclrtSynchronizeStream(stream) == 107017
    assert run(executor, None) == 0
    assert L.aclrtSynchronizeStream(None) == 0
    assert run(other, made(L.aclrtCreateStream)) == 0
    assert call.result() == [0.5] * 8
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert L.aclrtDestroyStream(stream) == 0
"""


def test_forked_child_has_default_streams_but_not_the_parents_own(
    run_child: Callable[..., tuple[str, str]],
) -> None:
    run_child(FORKING.format(tests=os.path.dirname(__file__)))  # noqa: PTH120


# --- the checker mode

CHECKED = """
import sys
sys.path.insert(0, {tests!r})
import numpy as np
import acl
from acl import LIBRARY as L, made, tensor, to_device, to_host
from test_c_runtime import Call, run, ONES
L.aclInit(None)
L.aclrtSetDevice(0)
call = Call()
stream = made(L.aclrtCreateStream)
{body}
L.aclrtSynchronizeDevice()
L.aclrtDestroyStream(stream)
call.free()
L.aclrtResetDevice(0)
L.aclFinalize()
sys.stdout.flush()
"""

REPORTS = {
    "nothing for a program that is right": (
        "run(call.phase_one(), stream); L.aclrtSynchronizeStream(stream); call.result()", None,
    ),
    "a result read before synchronising": (
        "run(call.phase_one(), stream); call.result()",
        "aclrtMemcpy reads gradInput at .* the result of aclnnSiluBackward",
    ),
    "a result read before synchronising with the default stream": (
        "run(call.phase_one(), None); call.result()", "aclrtMemcpy reads gradInput",
    ),
    "memory freed before synchronising": (
        "x = to_device(ONES); L.aclSetRawTensorAddr(call.tensors[1], x)\n"
        "run(call.phase_one(), stream); L.aclrtFree(x)", "aclrtFree frees self at",
    ),
    "freed memory": (
        "x = to_device(ONES); L.aclSetRawTensorAddr(call.tensors[1], x); L.aclrtFree(x)\n"
        "run(call.phase_one(), stream)", "self at .* is in device memory that was freed",
    ),
    "memory that is not the device's": (
        "L.aclSetRawTensorAddr(call.tensors[1], ONES.ctypes.data)\nrun(call.phase_one(), stream)",
        "self at .* is not device memory",
    ),
    "a view that reaches past its allocation": (
        "x = made(L.aclrtMalloc, 1000, 0); L.aclrtFree(x)\n"
        "L.aclSetRawTensorAddr(call.tensors[1], call.addresses[1] + 4)\n"
        "run(call.phase_one(), stream)", "self at .* reaches 4 bytes past its allocation",
    ),
    "an executor that was never run": ("call.phase_one()", "was never run, nor destroyed"),
    "a repeatable executor that was never destroyed": (
        "e = call.phase_one(); L.aclSetAclOpExecutorRepeatable(e); run(e, stream)",
        "aclnnSiluBackward was never destroyed",
    ),
    "memory that was never freed": (
        "made(L.aclrtMalloc, 12345, 0)", "12345 bytes of device memory at .* never freed",
    ),
    "a tensor that was never destroyed": ("tensor(None, [3])", "1 tensors were never destroyed"),
    "a stream that was never destroyed": (
        "made(L.aclrtCreateStream)", "1 streams were never destroyed",
    ),
    "an event that was never destroyed": (
        "made(L.aclrtCreateEvent)", "1 events were never destroyed",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REPORTS)
def test_checker_mode_reports(what: str, run_child: Callable[..., tuple[str, str]]) -> None:
    body, expected = REPORTS[what]
    code = CHECKED.format(tests=os.path.dirname(__file__), body=body)  # noqa: PTH120
    _, errors = run_child(code, OPENACLNN_CHECK="1")
    if expected is None:
        assert errors == ""
    else:
        assert re.search(f"OpenACLNN check: .*{expected}", errors), errors
    _, errors = run_child(code)
    assert errors == ""


@pytest.fixture
def run_child() -> Callable[..., tuple[str, str]]:

    def run(code: str, **environment: str) -> tuple[str, str]:
        child = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert child.returncode == 0, child.stderr
        return child.stdout, child.stderr

    return run
