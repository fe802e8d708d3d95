import errno
import io
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.torch
import torch

from openaclnn.files import FileError, create_array, open_array

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float64": torch.float64,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}
SHAPES = [(), (0,), (3, 0, 2), (5,), (2, 3, 4)]


def sample(type_name, shape):
    """Numbers that are exact in every type, as a PyTorch tensor."""
    count = int(np.prod(shape, dtype=int))
    return (torch.arange(count, dtype=torch.float32) - 2.5).reshape(shape).to(TYPES[type_name])


def as_numpy(tensor):
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(BFLOAT16)
    return tensor.numpy()


def assert_same(actual, expected):
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


def write(spec, array, **options):
    with create_array(spec, array.shape, array.dtype, **options) as file:
        file.array[...] = array


def names(directory):
    return sorted(path.name for path in directory.iterdir())


# Reading what others wrote.


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", TYPES)
def test_npy_from_numpy_is_read(tmp_path, type_name, shape):
    expected = as_numpy(sample(type_name, shape))
    np.save(tmp_path / "x.npy", expected)
    assert_same(open_array(tmp_path / "x.npy").array, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", [name for name in TYPES if name != "complex128"])
def test_safetensors_from_the_safetensors_library_is_read(tmp_path, type_name, shape):
    tensor = sample(type_name, shape)
    safetensors.torch.save_file(
        {"first": torch.ones(3), "a:b": tensor}, tmp_path / "x.safetensors", {"made": "here"}
    )
    assert_same(open_array(f"{tmp_path}/x.safetensors:a:b").array, as_numpy(tensor))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", TYPES)
def test_bin_is_read_with_a_type_and_a_shape(tmp_path, type_name, shape):
    expected = as_numpy(sample(type_name, shape))
    expected.tofile(tmp_path / "x.bin")
    read = open_array(tmp_path / "x.bin", dtype=expected.dtype, shape=shape)
    assert_same(read.array, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", TYPES)
def test_pt_from_pytorch_is_read(tmp_path, type_name, shape):
    tensor = sample(type_name, shape)
    torch.save(tensor, tmp_path / "one.pt")
    torch.save({"grad": tensor, "step": 7, "other": torch.ones(2)}, tmp_path / "some.pt")
    assert_same(open_array(tmp_path / "one.pt").array, as_numpy(tensor))
    assert_same(open_array(f"{tmp_path}/some.pt:grad").array, as_numpy(tensor))


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.t(),
        lambda t: t[1:, ::2],
        lambda t: t[:1].expand(5, 6),
        lambda t: t[2, 3],
        lambda t: torch.nn.Parameter(t),
    ],
    ids=["transposed", "sliced", "expanded", "one element", "parameter"],
)
@pytest.mark.parametrize("type_name", ["float32", "bfloat16"])
def test_pt_with_a_view_of_a_larger_storage_is_read(tmp_path, view, type_name):
    tensor = view(sample(type_name, (4, 6)))
    torch.save(tensor, tmp_path / "x.pt")
    assert_same(open_array(tmp_path / "x.pt").array, as_numpy(tensor.detach()))


@pytest.mark.parametrize("dtype", [">f4", ">f2", ">c16"])
def test_big_endian_npy_keeps_its_values(tmp_path, dtype):
    expected = as_numpy(sample("float32", (3, 4))).astype(dtype)
    np.save(tmp_path / "x.npy", expected)
    assert_same(open_array(tmp_path / "x.npy").array, expected)


def test_fortran_order_npy_is_read_without_reordering(tmp_path):
    expected = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    np.save(tmp_path / "x.npy", expected)
    read = open_array(tmp_path / "x.npy").array
    assert_same(read, expected)
    assert read.strides == expected.strides


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_npy_version_is_read(tmp_path, version):
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    with (tmp_path / "x.npy").open("wb") as file:
        np.lib.format.write_array(file, expected, version)
    assert_same(open_array(tmp_path / "x.npy").array, expected)


def test_misaligned_safetensors_data_is_read(tmp_path):
    text = b'{"x":{"dtype":"F64","shape":[3],"data_offsets":[0,24]}}'
    text += b" " * (1 - len(text) % 2)
    assert (8 + len(text)) % 8
    expected = np.array([1.5, 2.5, -3.5])
    (tmp_path / "x.safetensors").write_bytes(
        len(text).to_bytes(8, "little") + text + expected.tobytes()
    )
    assert_same(open_array(tmp_path / "x.safetensors").array, expected)


def test_arrays_read_cannot_be_written(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    torch.save(torch.zeros(3), tmp_path / "x.pt")
    assert not open_array(tmp_path / "x.npy").array.flags.writeable
    assert not open_array(tmp_path / "x.pt").array.flags.writeable


def test_released_memory_is_read_again_from_the_file(tmp_path):
    expected = np.arange(1_000_000, dtype=np.float32)
    np.save(tmp_path / "x.npy", expected)
    mapped = open_array(tmp_path / "x.npy")
    mapped.array.sum()
    before = resident_file_pages()
    mapped.release(mapped.array)
    assert before - resident_file_pages() > 3_000
    assert_same(mapped.array, expected)


def test_released_memory_of_a_pt_file_is_read_again(tmp_path):
    expected = torch.arange(1_000_000, dtype=torch.float32)
    torch.save(expected, tmp_path / "x.pt")
    mapped = open_array(tmp_path / "x.pt")
    mapped.array.sum()
    before = resident_file_pages()
    mapped.release(mapped.array)
    assert before - resident_file_pages() > 3_000
    assert_same(mapped.array, expected.numpy())


def resident_file_pages():
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("RssFile"))
    return int(line.split()[1])


# Writing for others to read.


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", TYPES)
def test_npy_is_written_as_numpy_reads_it(tmp_path, type_name, shape):
    expected = as_numpy(sample(type_name, shape))
    write(tmp_path / "x.npy", expected)
    read = np.load(tmp_path / "x.npy")
    assert_same(read.view(BFLOAT16) if type_name == "bfloat16" else read, expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", [name for name in TYPES if name != "complex128"])
def test_safetensors_is_written_as_the_library_reads_it(tmp_path, type_name, shape):
    tensor = sample(type_name, shape)
    write(f"{tmp_path}/x.safetensors:my key", as_numpy(tensor))
    read = safetensors.torch.load_file(tmp_path / "x.safetensors")
    assert list(read) == ["my key"]
    assert_same(as_numpy(read["my key"]), as_numpy(tensor))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", TYPES)
def test_bin_is_written_as_bare_elements(tmp_path, type_name, shape):
    expected = as_numpy(sample(type_name, shape))
    write(tmp_path / "x.bin", expected)
    assert (tmp_path / "x.bin").read_bytes() == expected.tobytes()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("type_name", TYPES)
def test_pt_is_written_as_pytorch_reads_it(tmp_path, type_name, shape):
    tensor = sample(type_name, shape)
    write(tmp_path / "one.pt", as_numpy(tensor))
    write(f"{tmp_path}/named.pt:grad", as_numpy(tensor))
    assert torch.equal(torch.load(tmp_path / "one.pt", weights_only=True), tensor)
    named = torch.load(tmp_path / "named.pt", weights_only=True)
    assert list(named) == ["grad"]
    assert torch.equal(named["grad"], tensor)
    assert zipfile.ZipFile(tmp_path / "one.pt").testzip() is None


def test_the_key_of_a_safetensors_result_defaults_to_grad_input(tmp_path):
    write(tmp_path / "x.safetensors", np.ones(3, np.float32))
    assert list(safetensors.torch.load_file(tmp_path / "x.safetensors")) == ["grad_input"]


def test_fortran_order_is_kept_where_the_format_can_say_so(tmp_path):
    expected = np.arange(6, dtype=np.float32).reshape(2, 3)
    write(tmp_path / "x.npy", expected, order="F")
    write(tmp_path / "x.bin", expected, order="F")
    read = np.load(tmp_path / "x.npy")
    assert_same(read, expected)
    assert read.flags.f_contiguous
    assert (tmp_path / "x.bin").read_bytes() == expected.tobytes()


def test_big_endian_types_are_written_in_native_order(tmp_path):
    write(tmp_path / "x.npy", np.arange(3, dtype=">f4"))
    assert_same(np.load(tmp_path / "x.npy"), np.arange(3, dtype=np.float32))


def test_safetensors_has_no_complex128(tmp_path):
    with pytest.raises(FileError, match="cannot hold COMPLEX128"):
        write(tmp_path / "x.safetensors", np.zeros(3, np.complex128))
    assert names(tmp_path) == []


# Choosing a tensor.


@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_the_key_may_be_left_out_for_a_single_tensor(tmp_path, suffix):
    save_dict(tmp_path / f"x.{suffix}", {"only": torch.ones(3)})
    assert_same(open_array(tmp_path / f"x.{suffix}").array, np.ones(3, np.float32))


@pytest.mark.parametrize("suffix", ["safetensors", "pt"])
def test_one_of_several_tensors_must_be_named(tmp_path, suffix):
    save_dict(tmp_path / f"x.{suffix}", {"a": torch.ones(3), "b": torch.ones(3)})
    with pytest.raises(FileError, match=r"holds 2 tensors; name one as x\.\w+:KEY \(a, b\)"):
        open_array(tmp_path / f"x.{suffix}")
    with pytest.raises(FileError, match="has no tensor 'c'; it holds a, b"):
        open_array(f"{tmp_path}/x.{suffix}:c")


def save_dict(path, tensors):
    if path.suffix == ".pt":
        torch.save(tensors, path)
    else:
        safetensors.torch.save_file(tensors, path)


@pytest.mark.parametrize("name", ["x.txt", "x", "x.npy:key", "x.safetensors:", "x.pt:"])
def test_a_name_that_tells_no_format_or_key_is_refused(name):
    with pytest.raises(FileError, match=r"suffixes|after the colon"):
        open_array(name)


# Malformed files: one clear line each, and no memory spent on them.


def npy(header, data=b"", *, version=1, length=None):
    text = header.encode() if isinstance(header, str) else header
    width = 2 if version == 1 else 4
    claimed = len(text) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + claimed.to_bytes(width, "little") + text + data


def npy_of(descr="<f4", shape="(3,)", order="False"):
    return npy(f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}}}", bytes(12))


def saved(array, **options):
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


MALFORMED_NPY = {
    "empty": (b"", "is empty"),
    "another format": (b"PK\x03\x04" + bytes(100), "does not begin with NumPy's mark"),
    "ends in the mark": (b"\x93NUM", "does not begin"),
    "ends before the header": (b"\x93NUMPY\x01\x00", "is truncated"),
    "ends in the header": (saved(np.zeros(3))[:50], "is truncated"),
    "ends in the data": (saved(np.zeros(300))[:-1], "is truncated: shape (300,) of float64"),
    "more than the data": (saved(np.zeros(3)) + b"x", "has 1 bytes after the array"),
    "pickled objects": (
        saved(np.array([{}, []], dtype=object), allow_pickle=True),
        "holds pickled Python objects, and those are never loaded",
    ),
    "records": (saved(np.zeros(3, "i4,f4")), "holds records"),
    "texts": (saved(np.array(["a", "b"])), "not numbers"),
    "times": (saved(np.zeros(3, "M8[s]")), "not numbers"),
    "unknown version": (npy("{}", version=9)[:-2] + bytes(9), "version 9.0"),
    "huge header": (npy("{}", version=2, length=2**32 - 1), "claims a header of 4294967295 bytes"),
    "long header": (npy(b" " * 60_000), "claims a header of 60000 bytes"),
    "header with a call": (npy("__import__('os').getpid()"), "not a plain Python dictionary"),
    "header not text": (npy(b"\xff\xfe\xfd" * 9), "not a plain Python dictionary"),
    "deep header": (npy("(" * 9_000), "not a plain Python dictionary"),
    "header without a shape": (npy("{'descr': '<f4'}" + " " * 9), "without exactly"),
    "negative shape": (npy_of(shape="(-3,)"), "shape is (-3,)"),
    "fractional shape": (npy_of(shape="(3.0,)"), "shape is (3.0,)"),
    "shape of truths": (npy_of(shape="(True,)"), "shape is (True,)"),
    "shape not a tuple": (npy_of(shape="3"), "shape is 3"),
    "huge shape": (npy_of(shape=f"({2**62}, {2**62})"), "is truncated"),
    "huge empty shape": (npy_of(shape=f"({2**62}, {2**62}, 0)"), "is no array's"),
    "shape of a hundred axes": (npy_of(shape=str((1,) * 100)), "shape is"),
    "odd escapes": (npy(r"{'descr': '\d'}" + " " * 9), "without exactly"),
    "outdated type code": (npy_of(descr="|a3"), "not numbers"),
    "order not a truth": (npy_of(order="2"), "fortran_order"),
    "nonsense type": (npy_of(descr="<q9!"), "is none"),
}


def safetensors_of(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    claimed = len(text) if length is None else length
    return claimed.to_bytes(8, "little") + text + data


def tensor(begin, end, shape, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


MALFORMED_SAFETENSORS = {
    "empty": (b"", "is empty"),
    "too short": (b"\x01\x00", "is truncated"),
    "header of 2^60 bytes": (
        safetensors_of({}, length=2**60),
        "claims a header of 1152921504606846976 bytes",
    ),
    "header of 2^64 - 1 bytes": (safetensors_of({}, length=2**64 - 1), "claims a header"),
    "header over the limit": (safetensors_of(b" " * (9 << 20)), "is not taken"),
    "header not JSON": (safetensors_of(b"{nonsense"), "not JSON"),
    "header not text": (safetensors_of(b"\xff" * 20), "not JSON"),
    "deep header": (safetensors_of(b"[" * 100_000), "not JSON"),
    "header a list": (safetensors_of([1]), "not a JSON object"),
    "no tensor": (safetensors_of({}), "holds no tensor"),
    "a key twice": (
        safetensors_of(b'{"a":1,"a":1}'),
        "a key is there twice",
    ),
    "metadata not an object": (safetensors_of({"__metadata__": 3}), "__metadata__"),
    "tensor not an object": (safetensors_of({"a": [1]}), "'a' has not exactly dtype"),
    "type not a text": (safetensors_of({"a": tensor(0, 4, [1], 7)}, bytes(4)), "not a text"),
    "unknown type": (safetensors_of({"a": tensor(0, 4, [4], "F8_E4M3")}, bytes(4)), "F8_E4M3"),
    "offsets past the end": (safetensors_of({"a": tensor(0, 12, [3])}, bytes(8)), "is truncated"),
    "offsets of 2^60": (
        safetensors_of({"a": tensor(2**60, 2**60 + 12, [3])}, bytes(12)),
        "is truncated",
    ),
    "offsets backwards": (safetensors_of({"a": tensor(12, 0, [3])}, bytes(12)), "offsets [12, 0]"),
    "negative offset": (safetensors_of({"a": tensor(-4, 8, [3])}, bytes(12)), "offsets [-4, 8]"),
    "three offsets": (
        safetensors_of({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 1, 2]}}, bytes(12)),
        "offsets [0, 1, 2]",
    ),
    "fractional offset": (safetensors_of({"a": tensor(0, 12.0, [3])}, bytes(12)), "offsets"),
    "offsets overlap": (
        safetensors_of({"a": tensor(0, 12, [3]), "b": tensor(8, 20, [3])}, bytes(20)),
        "'b' overlaps another",
    ),
    "offsets leave a hole": (
        safetensors_of({"a": tensor(0, 12, [3]), "b": tensor(16, 28, [3])}, bytes(28)),
        "'b' leaves a hole",
    ),
    "bytes of no tensor": (
        safetensors_of({"a": tensor(0, 12, [3])}, bytes(20)),
        "8 bytes that belong to no tensor",
    ),
    "size not the shape's": (
        safetensors_of({"a": tensor(0, 12, [4])}, bytes(12)),
        "12 bytes, which shape [4] of F32",
    ),
    "huge shape": (safetensors_of({"a": tensor(0, 12, [2**62, 2**62])}, bytes(12)), "12 bytes"),
    "negative shape": (safetensors_of({"a": tensor(0, 12, [-1, -3])}, bytes(12)), "[-1, -3]"),
    "line breaks in a key": (safetensors_of({"a\nb": tensor(0, 4, [2])}, bytes(4)), r"a\nb"),
}


def assert_refused(path, expected, **options):
    tracemalloc.start()
    try:
        with pytest.raises(FileError) as caught:
            open_array(path, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert expected in text.replace("\\\\", "\\")
    assert "\n" not in text
    assert len(text) < 1_000
    assert peak < 64 << 20
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("case", MALFORMED_NPY)
def test_malformed_npy_is_refused(tmp_path, case):
    content, expected = MALFORMED_NPY[case]
    (tmp_path / "x.npy").write_bytes(content)
    assert_refused(tmp_path / "x.npy", expected)


@pytest.mark.parametrize("case", MALFORMED_SAFETENSORS)
def test_malformed_safetensors_is_refused(tmp_path, case):
    content, expected = MALFORMED_SAFETENSORS[case]
    (tmp_path / "x.safetensors").write_bytes(content)
    assert_refused(tmp_path / "x.safetensors", expected)


def test_a_huge_header_that_is_really_there_is_not_read(tmp_path):
    with (tmp_path / "x.npy").open("wb") as file:
        file.write(npy("{", version=2, length=3 << 30))
        file.truncate(4 << 30)
    assert_refused(tmp_path / "x.npy", "claims a header")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "--dtype and --shape must be given"),
        ({"dtype": "float32"}, "--dtype and --shape must be given"),
        ({"dtype": "float32", "shape": (4,)}, "is 12 bytes long, and shape (4,) of float32"),
        ({"dtype": "float32", "shape": (2,)}, "makes 8 bytes"),
        ({"dtype": "float32", "shape": (2**62, 2**62)}, "is 12 bytes long"),
        ({"dtype": "float32", "shape": (0,)}, "makes 0 bytes"),
    ],
)
def test_bin_of_another_size_is_refused(tmp_path, options, expected):
    (tmp_path / "x.bin").write_bytes(bytes(12))
    assert_refused(tmp_path / "x.bin", expected, **options)


class Hostile:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def archive(**parts):
    buffer = io.BytesIO()
    method = parts.pop("method", zipfile.ZIP_STORED)
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in parts.items():
            file.writestr(f"archive/{name.replace('__', '/').replace('_pkl', '.pkl')}", content)
    return buffer.getvalue()


def saved_pt(content, **options):
    buffer = io.BytesIO()
    torch.save(content, buffer, **options)
    return buffer.getvalue()


def altered_pt(content, old, new):
    """A .pt file with a lie in its pickled part, and an otherwise sound archive."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved_pt(content))) as source,
        zipfile.ZipFile(buffer, "w") as target,
    ):
        for name in source.namelist():
            part = source.read(name)
            if name.endswith("data.pkl"):
                assert old in part
                part = part.replace(old, new)
            target.writestr(name, part)
    return buffer.getvalue()


ONE_BYTE_THREE = b"K\x03"
MALFORMED_PT = {
    "empty": (lambda: b"", "is empty"),
    "another format": (lambda: bytes(200), "no PyTorch file in the zip format"),
    "truncated": (lambda: saved_pt(torch.ones(99))[:-100], "or is truncated"),
    "old format": (
        lambda: saved_pt(torch.ones(3), _use_new_zipfile_serialization=False),
        "no PyTorch file in the zip format",
    ),
    "compressed": (
        lambda: archive(data_pkl=bytes(1 << 20), method=zipfile.ZIP_DEFLATED),
        "compressed part archive/data.pkl",
    ),
    "not pickled": (
        lambda: archive(data_pkl=b"nonsense", version="3", byteorder="little"),
        "or is damaged",
    ),
    "other byte order": (
        lambda: archive(data_pkl=b"", version="3", byteorder="big"),
        "byte order",
    ),
    "a list": (lambda: saved_pt([torch.ones(3)]), "holds a list"),
    "no tensor": (lambda: saved_pt({"a": 3}), "holds no tensor"),
    "sparse": (lambda: saved_pt(torch.eye(3).to_sparse()), "no plain array"),
    "conjugated": (lambda: saved_pt(torch.ones(3, dtype=torch.cfloat).conj()), "no plain array"),
    "type NumPy lacks": (lambda: saved_pt(torch.ones(3).to(torch.float8_e5m2)), "no plain array"),
    "shape larger than its storage": (
        lambda: altered_pt(torch.ones(3), ONE_BYTE_THREE + b"\x85", b"J\x00\x00\x00\x40\x85"),
        "is damaged",
    ),
    "shape and storage larger than the file": (
        lambda: altered_pt(torch.ones(3), ONE_BYTE_THREE, b"J\x00\x00\x00\x40"),
        "is damaged",
    ),
}


@pytest.mark.parametrize("case", MALFORMED_PT)
def test_malformed_pt_is_refused(tmp_path, case):
    make, expected = MALFORMED_PT[case]
    (tmp_path / "x.pt").write_bytes(make())
    assert_refused(tmp_path / "x.pt", expected)


def test_nothing_in_a_pt_file_is_run(tmp_path):
    pickled = pickle.dumps(Hostile(tmp_path / "touched"))
    torch.save(Hostile(tmp_path / "touched"), tmp_path / "x.pt")
    (tmp_path / "y.pt").write_bytes(archive(data_pkl=pickled, version="3", byteorder="little"))
    for name in ("x.pt", "y.pt"):
        assert_refused(tmp_path / name, "holds more than tensors")
    assert not (tmp_path / "touched").exists()


def test_a_key_for_a_single_tensor_is_refused(tmp_path):
    torch.save(torch.ones(3), tmp_path / "x.pt")
    with pytest.raises(FileError, match="holds a single tensor, which has no key such as 'a'"):
        open_array(f"{tmp_path}/x.pt:a")


def test_pt_without_pytorch_says_how_to_get_it(tmp_path, monkeypatch):
    torch.save(torch.ones(3), tmp_path / "x.pt")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(FileError, match=r"pip install 'openaclnn\[torch\]'"):
        open_array(tmp_path / "x.pt")
    with pytest.raises(FileError, match=r"pip install 'openaclnn\[torch\]'"):
        write(tmp_path / "y.pt", np.ones(3))
    assert names(tmp_path) == ["x.pt"]


@pytest.mark.parametrize("suffix", ["npy", "safetensors", "bin", "pt"])
def test_what_is_no_file_is_refused(tmp_path, suffix):
    options = {"dtype": "float32", "shape": (3,)}
    (tmp_path / f"directory.{suffix}").mkdir()
    os.mkfifo(tmp_path / f"pipe.{suffix}")
    assert_refused(tmp_path / f"directory.{suffix}", "is a directory", **options)
    assert_refused(tmp_path / f"pipe.{suffix}", "is not a regular file", **options)
    assert_refused(tmp_path / f"missing.{suffix}", "No such file or directory", **options)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(3))
    (tmp_path / "x.npy").chmod(0)
    assert_refused(tmp_path / "x.npy", "Permission denied")


def test_a_name_with_line_breaks_is_shown_on_one_line(tmp_path):
    with pytest.raises(FileError) as caught:
        open_array(tmp_path / "two\nlines\x1b[2J.npy")
    assert str(caught.value).isprintable()


def test_file_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(FileError("x.npy", "is empty")))
    assert (str(error), error.path, error.fault) == ("x.npy: is empty", "x.npy", "is empty")


# A file appears when it is complete, or not at all.


@pytest.fixture(params=["unnamed", "hidden"])
def temporary(request, monkeypatch):
    """Both ways to make a file: without a name, and where the filesystem has no such thing."""
    if request.param == "hidden":
        refuse_unnamed_files(monkeypatch)
    return request.param


def refuse_unnamed_files(monkeypatch):
    def without_unnamed_files(path, flags, *rest, **options):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return real(path, flags, *rest, **options)

    real = os.open
    monkeypatch.setattr(os, "open", without_unnamed_files)


def visible(directory):
    return [name for name in names(directory) if not name.startswith(".")]


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("suffix", ["npy", "safetensors", "bin", "pt"])
def test_a_file_appears_at_the_end_of_the_block(tmp_path, suffix):
    with create_array(tmp_path / f"x.{suffix}", (3,), "float32") as file:
        file.array[...] = 1
        assert visible(tmp_path) == []
    assert names(tmp_path) == [f"x.{suffix}"]


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("suffix", ["npy", "safetensors", "bin", "pt"])
@pytest.mark.parametrize("kind", [RuntimeError, KeyboardInterrupt])
def test_an_exception_leaves_nothing(tmp_path, suffix, kind):
    with pytest.raises(kind), create_array(tmp_path / f"x.{suffix}", (3,), "float32"):
        raise kind
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", ["npy", "pt"])
def test_a_killed_process_leaves_nothing(tmp_path, suffix):
    code = (
        "import sys, time\n"
        "from openaclnn.files import create_array\n"
        "with create_array(sys.argv[1], (1_000_000,), 'float32') as file:\n"
        "    file.array[:500_000] = 1\n"
        "    print('half', flush=True)\n"
        "    time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / f"x.{suffix}")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"half\n"
        child.kill()
        assert child.wait() == -signal.SIGKILL
    assert names(tmp_path) == []


@pytest.mark.usefixtures("temporary")
def test_an_existing_file_is_refused_before_any_work(tmp_path):
    (tmp_path / "x.npy").write_text("precious")
    with pytest.raises(FileError, match="exists already; --force replaces it"):
        write(tmp_path / "x.npy", np.zeros(3))
    assert (tmp_path / "x.npy").read_text() == "precious"


@pytest.mark.usefixtures("temporary")
def test_a_file_made_in_the_meantime_is_not_overwritten(tmp_path):
    with (
        pytest.raises(FileError, match="was made by another process"),
        create_array(tmp_path / "x.npy", (3,), "float32"),
    ):
        (tmp_path / "x.npy").write_text("precious")
    assert (tmp_path / "x.npy").read_text() == "precious"
    assert names(tmp_path) == ["x.npy"]


@pytest.mark.usefixtures("temporary")
def test_of_many_writers_exactly_one_wins(tmp_path):
    wins = []
    barrier = threading.Barrier(4)

    def compete(number):
        try:
            with create_array(tmp_path / "x.npy", (1000,), "float32") as file:
                file.array[...] = number
                barrier.wait()
            wins.append(number)
        except FileError:
            pass

    threads = [threading.Thread(target=compete, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    assert_same(np.load(tmp_path / "x.npy"), np.full(1000, wins[0], np.float32))
    assert names(tmp_path) == ["x.npy"]


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("suffix", ["npy", "pt"])
def test_replace_replaces_in_one_step(tmp_path, suffix):
    path = tmp_path / f"x.{suffix}"
    path.write_text("old")
    with create_array(path, (3,), "float32", replace=True) as file:
        file.array[...] = 7
        assert path.read_text() == "old"
    assert_same(open_array(path).array, np.full(3, 7, np.float32))
    assert names(tmp_path) == [path.name]


@pytest.mark.usefixtures("temporary")
def test_replace_also_makes_new_files(tmp_path):
    write(tmp_path / "x.npy", np.ones(3), replace=True)
    assert_same(np.load(tmp_path / "x.npy"), np.ones(3))
    assert names(tmp_path) == ["x.npy"]


@pytest.mark.usefixtures("temporary")
def test_a_failed_replacement_keeps_the_old_file(tmp_path):
    (tmp_path / "x.npy").write_text("old")
    with (
        pytest.raises(RuntimeError),
        create_array(tmp_path / "x.npy", (3,), "float32", replace=True),
    ):
        raise RuntimeError
    assert (tmp_path / "x.npy").read_text() == "old"
    assert names(tmp_path) == ["x.npy"]


@pytest.mark.usefixtures("temporary")
def test_an_input_can_be_replaced_by_the_result(tmp_path):
    write(tmp_path / "x.npy", np.arange(5.0))
    source = open_array(tmp_path / "x.npy")
    with create_array(tmp_path / "x.npy", (5,), "float64", replace=True) as file:
        file.array[...] = source.array + 1
    assert_same(np.load(tmp_path / "x.npy"), np.arange(1.0, 6.0))


def test_a_filesystem_without_links_gets_files_too(tmp_path, monkeypatch):
    def no_links(*_, **__):
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    refuse_unnamed_files(monkeypatch)
    monkeypatch.setattr(os, "link", no_links)
    write(tmp_path / "x.npy", np.ones(3))
    assert_same(np.load(tmp_path / "x.npy"), np.ones(3))
    with (
        pytest.raises(FileError, match="another process"),
        create_array(tmp_path / "y.npy", (3,), "float32"),
    ):
        (tmp_path / "y.npy").write_text("precious")
    assert (tmp_path / "y.npy").read_text() == "precious"
    assert names(tmp_path) == ["x.npy", "y.npy"]


def test_a_symbolic_link_stays_one_when_its_file_is_replaced(tmp_path):
    (tmp_path / "real.npy").write_text("old")
    (tmp_path / "link.npy").symlink_to("real.npy")
    (tmp_path / "dangling.npy").symlink_to("nowhere.npy")
    for name in ("link.npy", "dangling.npy"):
        with pytest.raises(FileError, match="exists already"):
            write(tmp_path / name, np.ones(3))
    write(tmp_path / "link.npy", np.ones(3), replace=True)
    assert (tmp_path / "link.npy").is_symlink()
    assert_same(np.load(tmp_path / "real.npy"), np.ones(3))


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_the_mode_follows_the_umask(tmp_path, mask):
    before = os.umask(mask)
    try:
        write(tmp_path / "x.npy", np.ones(3))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.npy").stat().st_mode) == 0o666 & ~mask


def test_targets_that_cannot_be_are_refused(tmp_path):
    (tmp_path / "directory.npy").mkdir()
    os.mkfifo(tmp_path / "pipe.npy")
    with pytest.raises(FileError, match="in a directory that does not exist"):
        write(tmp_path / "missing" / "x.npy", np.ones(3))
    with pytest.raises(FileError, match="is a directory, not a file"):
        write(tmp_path / "directory.npy", np.ones(3), replace=True)
    with pytest.raises(FileError, match="is not a regular file"):
        write(tmp_path / "pipe.npy", np.ones(3), replace=True)


@pytest.mark.parametrize("suffix", ["npy", "safetensors", "bin", "pt"])
@pytest.mark.parametrize("length", [2**60, 2**80])
def test_a_file_too_large_for_any_disk_is_refused(tmp_path, suffix, length):
    with (
        pytest.raises(FileError, match=r"cannot get \d+ bytes|header"),
        create_array(tmp_path / f"x.{suffix}", (length,), "float32"),
    ):
        pass
    assert names(tmp_path) == []


@pytest.mark.parametrize("suffix", ["npy", "pt"])
def test_a_full_disk_is_noticed_before_any_work(tmp_path, monkeypatch, suffix):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(FileError, match=r"cannot get (140|12) bytes") as caught:
        write(tmp_path / f"x.{suffix}", np.ones(3, np.float32))
    assert "No space left on device" in str(caught.value)
    assert names(tmp_path) == []


def test_a_filesystem_that_cannot_reserve_gets_files_too(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", unsupported)
    write(tmp_path / "x.npy", np.ones(3))
    assert_same(np.load(tmp_path / "x.npy"), np.ones(3))
