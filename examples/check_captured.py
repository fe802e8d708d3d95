"""Check what `openaclnn run` made of the captured gradients, against mpmath.

Every element is compared with the exact result, computed to 60 digits from the definition. The
error is counted in ULP: units in the last place of the result's type at the exact result, where
subnormal numbers have the unit of the least one. A result of another shape or data type than the
operator's input fails whatever its values: a wider type would hide rounding errors.

The time is that of a call from Python on the same tensors, without the files.

Run it with: python examples/check_captured.py DATA_DIRECTORY RESULT_DIRECTORY
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from safetensors.torch import load_file

import openaclnn as oa

mp.mp.dps = 60


@dataclass(frozen=True)
class Precision:
    """A data type's significant bits, and the exponent of its least subnormal number."""

    bits: int
    least_exponent: int

    def ulp(self, exact: Any) -> Any:
        """Give the unit in the last place at a number."""
        exponent = mp.frexp(exact)[1] - self.bits if exact != 0 else self.least_exponent
        return mp.ldexp(1, max(exponent, self.least_exponent))


PRECISIONS = {"float32": Precision(24, -149), "bfloat16": Precision(8, -133)}

# The most ULP that a result may be off.
LIMITS = {
    ("silu", "float32"): 4.0,
    ("silu", "bfloat16"): 1.0,
    ("sigmoid", "float32"): 2.0,
    ("sigmoid", "bfloat16"): 1.0,
}


def silu_factor(x: float) -> Any:
    """Give s'(x), s(x) = x sigma(x)."""
    sigma = 1 / (1 + mp.exp(-mp.mpf(x)))
    return sigma * (1 + x * (1 - sigma))


def sigmoid_factor(y: float) -> Any:
    """Give y (1 - y)."""
    return mp.mpf(y) * (1 - mp.mpf(y))


FACTORS = {"silu": ("self", silu_factor), "sigmoid": ("output", sigmoid_factor)}


def errors(operator: str, dtype: str, data: dict[str, Any], result: Any) -> list[float]:
    """Give each element's error in ULP; ValueError if the result has not the input's form."""
    argument, factor = FACTORS[operator]
    expected = data[f"{operator}.{argument}"]
    if (result.dtype, result.shape) != (expected.dtype, expected.shape):
        raise ValueError(
            f"{operator}_backward, {dtype}: the result is {result.dtype} {tuple(result.shape)}, "
            f"not {expected.dtype} {tuple(expected.shape)}"
        )
    triples = zip(
        *(
            tensor.double().flatten().tolist()
            for tensor in (data[f"{operator}.grad_output"], expected, result)
        ),
        strict=True,
    )
    found = []
    for grad_output, x, actual in triples:
        exact = grad_output * factor(x)
        found.append(float(abs(actual - exact) / PRECISIONS[dtype].ulp(exact)))
    return found


def run_time(operator: str, data: dict[str, Any]) -> float:
    """Give the seconds of one call, the best of many."""
    function = getattr(oa, f"{operator}_backward")
    grad_output = data[f"{operator}.grad_output"]
    x = data[f"{operator}.{FACTORS[operator][0]}"]
    out = torch.empty_like(x)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        function(grad_output, x, out=out)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    """Check all results, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the directory of the captured gradients")
    parser.add_argument("results", type=Path, help="the directory of what openaclnn run wrote")
    options = parser.parse_args()
    table = Table(
        title="Gradients of a real training step, against mpmath",
        caption="time: a call from Python, the best of 200",
    )
    table.add_column("operator", no_wrap=True)
    for heading in ("shape", "type", "worst ULP", "limit", "<= 0.5", "time"):
        table.add_column(heading, justify="right", no_wrap=True)
    failed = False
    for (operator, dtype), limit in LIMITS.items():
        data = load_file(options.data / f"digits_{dtype}.safetensors")
        result = load_file(options.results / f"{operator}_{dtype}.safetensors")["grad_input"]
        try:
            found = np.array(errors(operator, dtype, data, result))
        except ValueError as fault:
            print(f"FAILED: {fault}")
            return 1
        failed = failed or not found.max() <= limit
        table.add_row(
            f"{operator}_backward",
            "x".join(map(str, result.shape)),
            dtype,
            f"{found.max():.2f}",
            f"{limit:g}",
            f"{(found <= 0.5).mean():.1%}",
            f"{run_time(operator, data) * 1e6:.1f} us",
        )
    Console().print(table)
    print("FAILED: an error is over its limit" if failed else "all within their limits")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
