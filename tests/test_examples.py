"""The examples: what they capture, and that their check finds wrong results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    command = [sys.executable, ROOT / "examples" / script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


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
        tensor.isfinite().all() and tensor.unique().numel() > 20 for tensor in tensors.values()
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
