import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.torch
import torch

import openaclnn as oa
from openaclnn.cli import main

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SHAPE = (30, 41)


@pytest.fixture
def inputs(tmp_path, monkeypatch):
    """A directory with g.npy, x.npy and y.npy, and nothing else."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(7)
    for name in "gx":
        np.save(f"{name}.npy", random.standard_normal(SHAPE).astype(np.float32))
    np.save("y.npy", random.random(SHAPE).astype(np.float32))
    return tmp_path


def silu_reference(g, x):
    x = x.astype(np.float64)
    s = 1 / (1 + np.exp(-x))
    return g.astype(np.float64) * s * (1 + x * (1 - s))


def sigmoid_reference(g, y):
    wide = np.result_type(g, y, np.float64)
    y = y.astype(wide)
    return g.astype(wide) * np.conj(y * (1 - y))


def silu(*extra, g="g.npy", x="x.npy", out="dx.npy"):
    return ["run", "silu_backward", "--grad-output", g, "--self", x, "--out", out, *extra]


def sigmoid(*extra, g="g.npy", y="y.npy", out="dx.npy"):
    return ["run", "sigmoid_backward", "--grad-output", g, "--output", y, "--out", out, *extra]


def assert_fault(capsys, arguments, expected):
    before = sorted(path.name for path in Path().iterdir())
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("openaclnn: error: ")
    assert captured.err.count("\n") == 1
    assert captured.err.endswith("\n")
    assert expected in captured.err
    assert sorted(path.name for path in Path().iterdir()) == before


def child(arguments, **options):
    command = [sys.executable, "-m", "openaclnn", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


# What the commands do.


@pytest.mark.usefixtures("inputs")
def test_silu_backward_of_files(capsys):
    assert main(silu()) == 0
    expected = silu_reference(np.load("g.npy"), np.load("x.npy"))
    np.testing.assert_allclose(np.load("dx.npy"), expected, rtol=1e-5, atol=1e-7)
    captured = capsys.readouterr()
    assert captured.err == ""
    for word in ("silu_backward", "Ascend910B1", "(30, 41)", "FLOAT", "1,230", "GB/s", "dx.npy"):
        assert word in captured.out


@pytest.mark.usefixtures("inputs")
def test_sigmoid_backward_of_files():
    assert main(sigmoid()) == 0
    expected = sigmoid_reference(np.load("g.npy"), np.load("y.npy"))
    np.testing.assert_allclose(np.load("dx.npy"), expected, rtol=1e-6)


@pytest.mark.usefixtures("inputs")
def test_the_result_has_the_bits_of_one_call():
    random = np.random.default_rng(3)
    g, x = random.standard_normal((2, 1000, 2100)).astype(np.float32)
    np.save("g.npy", g)
    np.save("x.npy", np.asfortranarray(x))
    assert main(silu("--quiet")) == 0
    np.testing.assert_array_equal(np.load("dx.npy"), oa.silu_backward(g, x))


@pytest.mark.usefixtures("inputs")
def test_quiet_shows_nothing(capsys):
    assert main(silu("--quiet")) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("out", ["dx.npy", "dx.safetensors", "dx.safetensors:dx", "dx.bin"])
@pytest.mark.parametrize("kind", ["npy", "safetensors", "bin", "pt"])
@pytest.mark.usefixtures("inputs")
def test_bfloat16_in_every_format(kind, out):
    tensors = {name: torch.from_numpy(np.load(f"{name}.npy")).bfloat16() for name in "gx"}
    arrays = {name: t.view(torch.int16).numpy().view(BFLOAT16) for name, t in tensors.items()}
    for name, tensor in tensors.items():
        if kind == "npy":
            np.save(f"{name}.npy", arrays[name])
        elif kind == "bin":
            arrays[name].tofile(f"{name}.bin")
        elif kind == "pt":
            torch.save(tensor, f"{name}.pt")
    safetensors.torch.save_file(tensors, "both.safetensors")
    files = (
        {"g": "both.safetensors:g", "x": "both.safetensors:x"}
        if kind == "safetensors"
        else {name: f"{name}.{kind}" for name in "gx"}
    )
    extra = ["--dtype", "bfloat16", "--shape", "30,41"] if kind == "bin" else []
    assert main(silu(*extra, **files, out=out)) == 0
    np.testing.assert_array_equal(
        read_bfloat16(out), oa.silu_backward(arrays["g"], arrays["x"]).view(np.int16)
    )


def read_bfloat16(spec):
    path, _, key = spec.partition(":")
    if path.endswith(".npy"):
        return np.load(path).view(np.int16)
    if path.endswith(".bin"):
        return np.fromfile(path, np.int16).reshape(SHAPE)
    return safetensors.torch.load_file(path)[key or "grad_input"].view(torch.int16).numpy()


@pytest.mark.usefixtures("inputs")
def test_pt_in_and_out():
    complex_y = torch.complex(torch.rand(SHAPE), torch.rand(SHAPE))
    torch.save({"g": torch.ones(SHAPE, dtype=torch.cfloat), "y": complex_y}, "both.pt")
    assert main(sigmoid(g="both.pt:g", y="both.pt:y", out="dx.pt")) == 0
    expected = sigmoid_reference(np.ones(SHAPE), complex_y.numpy())
    result = torch.load("dx.pt", weights_only=True)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,)])
@pytest.mark.usefixtures("inputs")
def test_single_elements_and_empty_arrays(shape, capsys):
    for name in "gx":
        np.save(f"{name}.npy", np.ones(shape, np.float16))
    assert main(silu()) == 0
    result = np.load("dx.npy")
    assert (result.shape, result.dtype) == (shape, np.float16)
    assert str(shape) in capsys.readouterr().out


@pytest.mark.parametrize("dtype", [">f4", ">f2"])
@pytest.mark.usefixtures("inputs")
def test_big_endian_inputs(dtype):
    for name in "gx":
        np.save(f"{name}.npy", np.load(f"{name}.npy").astype(dtype))
    assert main(silu()) == 0
    result = np.load("dx.npy")
    assert result.dtype == np.dtype(dtype).newbyteorder("=")
    expected = silu_reference(np.load("g.npy"), np.load("x.npy"))
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.usefixtures("inputs")
def test_fortran_order_inputs_give_a_fortran_order_result():
    expected = oa.silu_backward(np.load("g.npy"), np.load("x.npy"))
    for name in "gx":
        np.save(f"{name}.npy", np.asfortranarray(np.load(f"{name}.npy")))
    assert main(silu()) == 0
    assert np.load("dx.npy").flags.f_contiguous
    np.testing.assert_array_equal(np.load("dx.npy"), expected)


@pytest.mark.usefixtures("inputs")
def test_inputs_broadcast_on_ascend950(capsys):
    g = np.load("g.npy")[:, :1]
    x = np.load("x.npy")[0]
    np.save("g.npy", g)
    np.save("x.npy", x)
    assert main(silu("--product", "Ascend950PR_9599")) == 0
    assert "Ascend950PR_9599" in capsys.readouterr().out
    result = np.load("dx.npy")
    assert result.shape == SHAPE
    np.testing.assert_allclose(result, silu_reference(g, x), rtol=1e-5, atol=1e-7)
    assert oa.get_product() == "Ascend910B1"


@pytest.mark.parametrize(
    ("make", "first", "second", "expected"),
    [
        (silu, np.float16, np.float32, np.float32),
        (silu, np.float16, BFLOAT16, np.float32),
        (sigmoid, np.float16, BFLOAT16, np.float32),
        (sigmoid, np.complex64, np.float64, np.complex128),
        (sigmoid, np.float16, np.float64, np.float64),
    ],
)
@pytest.mark.usefixtures("inputs")
def test_types_mix_on_ascend950(make, first, second, expected):
    for name, dtype in (("g", first), ("x", second), ("y", second)):
        np.save(f"{name}.npy", np.load(f"{name}.npy").astype(dtype))
    assert main(make("--product", "Ascend950PR_9599")) == 0
    assert np.load("dx.npy").dtype == expected


@pytest.mark.usefixtures("inputs")
def test_threads_hold_for_one_run_and_change_nothing():
    before = oa.get_num_threads()
    assert main(silu("--threads", "1", out="one.npy")) == 0
    assert main(silu("--threads", "3", out="three.npy")) == 0
    assert oa.get_num_threads() == before
    np.testing.assert_array_equal(np.load("one.npy"), np.load("three.npy"))


def test_info_names_all_that_decides_a_result(capsys):
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    words = ["Ascend910B1", oa.instruction_set(), oa.__version__, str(oa.get_num_threads())]
    words += [operator.name for operator in oa.operators()]
    words += [name for names in oa.products().values() for name in names]
    for word in [*words, *oa.products(), "COMPLEX128", "BFLOAT16"]:
        assert word in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--version"], f"openaclnn {oa.__version__}\n"),
        (["--help"], "Usage: openaclnn"),
        ([], "Usage: openaclnn"),
        (["run", "--help"], "--grad-output"),
    ],
)
def test_version_and_help(capsys, arguments, expected):
    assert main(arguments) == 0
    assert expected in capsys.readouterr().out


def test_every_input_of_every_operator_is_an_option(capsys):
    main(["run", "--help"])
    text = capsys.readouterr().out
    for operator in oa.operators():
        for name in operator.python_arguments:
            assert f"--{name.replace('_', '-')} " in text


# Faults: status 2, one line, and no file.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["run"], "Missing argument 'OPERATOR'"),
        (["run", "relu_backward", "--out", "o.npy"], "there are silu_backward, sigmoid_backward"),
        (silu("--colour"), "--colour"),
        (silu("--threads", "many"), "--threads"),
        (silu("--threads", "0"), "count is 0; a number from 1 to 1024"),
        (silu("--threads", "99999999999"), "count is 99999999999; a number from 1 to 1024"),
        (silu("--product", "Ascend1"), "known are Ascend310P1"),
        (silu()[:-2], "Missing option '--out'"),
        ([*silu()[:4], "--out", "o.npy"], "takes --grad-output and --self; --self is missing"),
        (
            [
                "run",
                "silu_backward",
                "--grad-output",
                "g.npy",
                "--output",
                "y.npy",
                "--out",
                "o.npy",
            ],
            "silu_backward takes --grad-output and --self, not --output",
        ),
        (sigmoid("--self", "x.npy"), "takes --grad-output and --output, not --self"),
        (silu("--dtype", "float32"), "describe .bin files"),
        (silu("--dtype", "float33", "--shape", "3", g="g.bin"), "'float33' is no element type"),
        (silu("--dtype", "float32", "--shape", "3,-1", g="g.bin"), "'3,-1' is no shape"),
        (silu("--dtype", "float32", "--shape", "", g="g.bin"), "'' is no shape"),
        (silu(g="missing.npy"), "missing.npy: No such file or directory"),
        (silu(g="g.txt"), "g.txt: has none of the known suffixes"),
        (silu(g="g.safetensors:"), "after the colon"),
        (silu(out="missing/dx.npy"), "directory that does not exist"),
        (silu(out="x.npy"), "x.npy: exists already; --force replaces it"),
        (silu(out="dx.txt"), "known suffixes"),
        (silu("--product", "Ascend310P3"), "aclnnSiluBackward"),
    ],
)
@pytest.mark.usefixtures("inputs")
def test_wrong_usage_is_one_line(capsys, arguments, expected):
    assert_fault(capsys, arguments, expected)


@pytest.mark.parametrize(
    ("g", "x", "expected"),
    [
        (np.ones(3, np.float32), np.ones(4, np.float32), "shape"),
        (np.ones((2, 3), np.float32), np.ones(3, np.float32), "shape"),
        (np.ones((16, 16), np.float32), np.ones(0, np.float32), "shape"),
        (np.ones((1,) * 9, np.float32), np.ones((1,) * 9, np.float32), "9"),
        (np.ones(3, np.float32), np.ones(3, np.float16), "FLOAT16"),
        (np.ones(3, np.float64), np.ones(3, np.float64), "DOUBLE"),
        (np.ones(3, np.complex64), np.ones(3, np.complex64), "COMPLEX64"),
        (np.ones(3, np.int32), np.ones(3, np.int32), "aclnnSiluBackward"),
        (np.ones(3, bool), np.ones(3, bool), "aclnnSiluBackward"),
        (np.ones(3, np.longdouble), np.ones(3, np.longdouble), "aclnnSiluBackward"),
    ],
)
@pytest.mark.usefixtures("inputs")
def test_what_the_operator_refuses_is_one_line(capsys, g, x, expected):
    np.save("g.npy", g)
    np.save("x.npy", x)
    assert_fault(capsys, silu(), expected)


@pytest.mark.usefixtures("inputs")
def test_files_that_lie_are_one_line(capsys):
    np.save("pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    Path("short.npy").write_bytes(Path("g.npy").read_bytes()[:-1])
    Path("huge.safetensors").write_bytes((2**60).to_bytes(8, "little") + b"{}")
    Path("empty.npy").touch()
    assert_fault(capsys, silu(g="pickled.npy"), "pickled.npy: holds pickled Python objects")
    assert_fault(capsys, silu(g="short.npy"), "short.npy: is truncated")
    assert_fault(capsys, silu(g="huge.safetensors"), "claims a header of 1152921504606846976 bytes")
    assert_fault(capsys, silu(g="empty.npy"), "empty.npy: is empty")


@pytest.mark.usefixtures("inputs")
def test_a_view_of_more_elements_than_any_memory_is_one_line(capsys):
    for name in "gx":
        torch.save(torch.ones(1).expand(2**58), f"{name}.pt")
    assert_fault(capsys, silu(g="g.pt", x="x.pt"), "bytes")


@pytest.mark.usefixtures("inputs")
def test_running_out_of_memory_is_one_line(capsys, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr(oa, "silu_backward", exhausted)
    assert_fault(capsys, silu(), "out of memory")


@pytest.mark.usefixtures("inputs")
def test_force_replaces_even_an_input():
    expected = oa.silu_backward(np.load("g.npy"), np.load("x.npy"))
    assert main(silu("--force", out="x.npy")) == 0
    np.testing.assert_array_equal(np.load("x.npy"), expected)


# The process around it.


def test_a_fault_is_one_line_of_a_real_process(inputs):
    result = child(silu(g="missing.npy"), cwd=inputs)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "openaclnn: error: missing.npy: No such file or directory\n"


def test_output_that_is_no_terminal_has_no_colours_and_any_encoding(inputs):
    (inputs / "é\udce9.npy").write_bytes((inputs / "g.npy").read_bytes())
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    result = child(silu(out="é\udce9-out.npy"), cwd=inputs, env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert "\x1b" not in result.stdout
    assert result.stdout.isascii()
    assert child(["info"], env=environment).stdout.isascii()


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_do_no_harm(inputs, redirection):
    script = f'exec "$@" {redirection}'
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "openaclnn", *silu()]
    result = subprocess.run(command, cwd=inputs, capture_output=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")
    expected = oa.silu_backward(np.load(inputs / "g.npy"), np.load(inputs / "x.npy"))
    np.testing.assert_array_equal(np.load(inputs / "dx.npy"), expected)


@pytest.mark.parametrize("arguments", [["--help"], ["info"], silu()])
def test_a_reader_that_has_left_is_no_fault(inputs, arguments):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "openaclnn", *arguments]
    result = subprocess.run(command, cwd=inputs, stdout=writing, stderr=subprocess.PIPE, timeout=60)
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_full_disk_behind_standard_output_is_one_line():
    command = [sys.executable, "-m", "openaclnn", "info"]
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert result.returncode == 2
    assert result.stderr == b"openaclnn: error: No space left on device\n"


def test_pytorch_is_imported_for_its_files_only(inputs):
    code = (
        "import sys\n"
        "from openaclnn.cli import main\n"
        "main(sys.argv[1:])\n"
        "print('torch' in sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *silu()], cwd=inputs, capture_output=True, text=True
    )
    assert result.stdout.endswith("False\n")


SLOW_RUN = """
import sys, time
import openaclnn.commands.run as run
from openaclnn.cli import main

def slow_chunks(*arguments):
    for views in chunks(*arguments, chunk_bytes=1024):
        yield views
        print("part", flush=True)
        time.sleep(60)

chunks, run.chunks = run.chunks, slow_chunks
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("out", ["dx.npy", "dx.safetensors", "dx.bin", "dx.pt"])
@pytest.mark.parametrize(
    ("number", "status", "line"),
    [
        (signal.SIGKILL, -signal.SIGKILL, ""),
        (signal.SIGTERM, -signal.SIGTERM, ""),
        (signal.SIGINT, 130, "openaclnn: error: interrupted\n"),
    ],
)
def test_a_stopped_run_leaves_no_file(inputs, out, number, status, line):
    before = sorted(inputs.iterdir())
    command = [sys.executable, "-c", SLOW_RUN, *silu(out=out)]
    with subprocess.Popen(
        command, cwd=inputs, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == "part\n"
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (status, line)
    assert sorted(inputs.iterdir()) == before


@pytest.mark.parametrize("shows", [True, False])
def test_long_work_shows_its_progress_on_a_terminal(inputs, shows):
    code = (
        "import sys\n"
        "from openaclnn.commands import console\n"
        "from openaclnn.cli import main\n"
        "console._LONG_WORK_BYTES = 0\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", code, *silu(*([] if shows else ["--quiet"]))]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    subprocess.run(
        command, cwd=inputs, stdout=subprocess.PIPE, stderr=theirs, env=environment, check=True
    )
    os.set_blocking(ours, False)
    try:
        text = os.read(ours, 100_000)
    except BlockingIOError:
        text = b""
    os.close(ours)
    os.close(theirs)
    assert (b"silu_backward" in text) == shows


def sparse_npy(path, shape, order):
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": order == "F", "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 4 * int(np.prod(shape)))


@pytest.mark.parametrize("orders", ["CC", "CF"])
def test_memory_does_not_grow_with_the_files(tmp_path, orders):
    shape = (12_000, 12_500)
    for name, order in zip("gx", orders, strict=True):
        sparse_npy(tmp_path / f"{name}.npy", shape, order)
    code = (
        "import sys\n"
        "from openaclnn.cli import main\n"
        "status = main(sys.argv[1:])\n"
        "print(open('/proc/self/status').read())\n"
        "sys.exit(status)\n"
    )
    command = [sys.executable, "-c", code, *silu("--quiet")]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    (tmp_path / "dx.npy").unlink()
    assert (result.returncode, result.stderr) == (0, "")
    peak_kib = int(re.search(r"VmHWM:\s+(\d+) kB", result.stdout)[1])
    assert peak_kib < 300_000
