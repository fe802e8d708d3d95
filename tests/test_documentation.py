"""Generated files stand in the repository as their generators write them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_operators_page_is_what_the_table_says() -> None:
    code = "import write_operators; print(write_operators.page(), end='')"
    page = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT / "docs", capture_output=True, check=True, text=True
    ).stdout
    assert page == (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")


def test_stub_of_the_extension_is_what_the_extension_says(tmp_path: Path) -> None:
    stub = tmp_path / "_native.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "openaclnn._native", "-o", stub],
        check=True,
    )
    assert stub.read_text() == (ROOT / "src" / "openaclnn" / "_native.pyi").read_text()


def test_constants_of_the_kernels_are_what_their_script_derives() -> None:
    script = ROOT / "native" / "kernels" / "constants.py"
    printed = subprocess.run(
        [sys.executable, script], capture_output=True, check=True, text=True
    ).stdout
    formulas = (ROOT / "native" / "kernels" / "formulas.hpp").read_text()
    derived = [float.fromhex(line.split()[1]) for line in printed.splitlines()[:-1]]
    literals = {
        float.fromhex(word.strip("(),;").removesuffix("f"))
        for word in formulas.replace("(", " ").split()
        if word.lstrip("-").startswith("0x1") and "p" in word
    }
    assert len(derived) == 14
    assert set(derived) - {0.5} <= literals
