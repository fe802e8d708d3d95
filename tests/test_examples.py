"""The examples: what they capture, and that their check finds wrong results."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pytest
import torch
from safetensors.torch import load_file, save_file

import openaclnn as oa

ROOT = Path(__file__).parents[1]
DATA = ROOT / "examples" / "data"
SHAPES = {
    "silu.grad_output": (128, 64),
    "silu.self": (128, 64),
    "sigmoid.grad_output": (128, 32),
    "sigmoid.output": (128, 32),
}


def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "examples" / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def load_check() -> ModuleType:
    path = ROOT / "examples" / "check_captured.py"
    specification = importlib.util.spec_from_file_location("check_captured", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["check_captured"] = module  # its dataclass looks its module up by name
    specification.loader.exec_module(module)
    return module


def write_results(directory: Path) -> None:
    for dtype in ("float32", "bfloat16"):
        data = load_file(DATA / f"digits_{dtype}.safetensors")
        silu = oa.silu_backward(data["silu.grad_output"], data["silu.self"])
        sigmoid = oa.sigmoid_backward(data["sigmoid.grad_output"], data["sigmoid.output"])
        save_file({"grad_input": silu}, directory / f"silu_{dtype}.safetensors")
        save_file({"grad_input": sigmoid}, directory / f"sigmoid_{dtype}.safetensors")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_captured_files_hold_what_both_operators_take(dtype: str) -> None:
    path = DATA / f"digits_{dtype}.safetensors"
    tensors = load_file(path)
    assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == SHAPES
    assert {str(tensor.dtype) for tensor in tensors.values()} == {f"torch.{dtype}"}
    assert path.stat().st_size < 500_000
    assert all(
        tensor.isfinite().all() and len(set(tensor.flatten().tolist())) > 20
        for tensor in tensors.values()
    )


def test_captured_files_are_those_of_the_training(tmp_path: Path) -> None:
    result = run("train_digits.py", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    for dtype in ("float32", "bfloat16"):
        again = load_file(tmp_path / f"digits_{dtype}.safetensors")
        kept = load_file(DATA / f"digits_{dtype}.safetensors")
        for name, tensor in kept.items():
            # Another processor may sum in another order.
            assert (again[name].float() - tensor.float()).abs().max() <= 0.05 * tensor.abs().max()


def test_training_does_not_replace_files_unasked(tmp_path: Path) -> None:
    (tmp_path / "digits_float32.safetensors").write_bytes(b"kept")
    result = run("train_digits.py", "--out", tmp_path)
    assert result.returncode == 2
    assert "--force" in result.stderr
    assert (tmp_path / "digits_float32.safetensors").read_bytes() == b"kept"


def test_check_passes_right_results(tmp_path: Path) -> None:
    write_results(tmp_path)
    result = run("check_captured.py", DATA, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "all within their limits" in result.stdout


def test_check_fails_a_single_element_that_is_off_by_six_units(tmp_path: Path) -> None:
    write_results(tmp_path)
    path = tmp_path / "silu_float32.safetensors"
    result = load_file(path)["grad_input"]
    result.view(-1).view(dtype=torch.int32)[77] += 6
    save_file({"grad_input": result}, path)
    checked = run("check_captured.py", DATA, tmp_path)
    assert checked.returncode == 1
    assert "FAILED" in checked.stdout


# With y = 1/2 the exact result is g/4: a power of two, a number within a binade, subnormal, zero.
@pytest.mark.parametrize(
    ("dtype", "grad_output", "unit"),
    [
        (torch.float32, 4.0, Fraction(1, 2**23)),
        (torch.float32, 6.0, Fraction(1, 2**23)),
        (torch.float32, 2.0**-140, Fraction(1, 2**149)),
        (torch.bfloat16, 4.0, Fraction(1, 2**7)),
        (torch.bfloat16, 2.0**-124, Fraction(1, 2**133)),
        (torch.float32, 0.0, Fraction(1, 2**149)),
    ],
)
@pytest.mark.parametrize("units", [-3, 0, 1, 5])
def test_a_result_that_is_off_by_so_many_units_is_measured_so(
    dtype: torch.dtype, grad_output: float, unit: Fraction, units: int
) -> None:
    name = str(dtype).removeprefix("torch.")
    off = float(Fraction(grad_output) / 4 + units * unit)
    data = {
        "sigmoid.grad_output": torch.tensor([grad_output], dtype=dtype),
        "sigmoid.output": torch.tensor([0.5], dtype=dtype),
    }
    result = torch.tensor([off], dtype=torch.float64).to(dtype)
    assert float(result[0]) == off
    assert load_check().errors("sigmoid", name, data, result) == [abs(units)]


@pytest.mark.parametrize("form", ["wider", "reshaped", "nan"])
def test_check_fails_a_result_of_another_form_or_with_a_nan(tmp_path: Path, form: str) -> None:
    write_results(tmp_path)
    path = tmp_path / "silu_bfloat16.safetensors"
    result = load_file(path)["grad_input"]
    if form == "wider":
        result = result.float()
    elif form == "reshaped":
        result = result.reshape(64, 128)
    else:
        result[3, 3] = torch.nan
    save_file({"grad_input": result}, path)
    checked = run("check_captured.py", DATA, tmp_path)
    assert checked.returncode == 1
    assert "FAILED" in checked.stdout
