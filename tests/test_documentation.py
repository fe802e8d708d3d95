"""Generated files stand in the repository as their generators write them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

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
    assert len(derived) == 8
    assert set(derived) - {0.5} <= literals


def test_table_of_silu_is_what_its_script_derives() -> None:
    script = ROOT / "native" / "kernels" / "silu_table.py"
    derived = subprocess.run(
        [sys.executable, script], capture_output=True, check=True, text=True
    ).stdout
    table = (ROOT / "native" / "kernels" / "silu_table.hpp").read_text()
    assert derived.split() == table.split()


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_examples_of_the_readme_run(name: str) -> None:
    blocks = re.findall(
        r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL
    )
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], capture_output=True, check=False, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "561003 ACLNN_ERR_INNER_FIND_KERNEL_ERROR" in result.stdout


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_commands_of_the_readme_run(name: str, tmp_path: Path) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    (commands,) = re.findall(r"^    openaclnn info\n(?: {4}.*\n)+", text, re.M)
    shutil.copytree(ROOT / "examples" / "data", tmp_path / "examples" / "data")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    result = subprocess.run(
        ["sh", "-e", "-c", textwrap.dedent(commands)],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        check=False,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    written = {file.name for file in (tmp_path / "examples" / "data").glob("dx.*")}
    assert written == {"dx.npy", "dx.safetensors", "dx.bin"}


def test_both_readmes_hold_the_same_examples() -> None:
    code = [
        [line.partition("#")[0].rstrip() for line in re.findall(r"^(?: {4}|(?=\w)).*$", text, re.M)]
        for text in (
            "\n".join(re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.DOTALL))
            for path in (ROOT / "README.md", ROOT / "README.zh-CN.md")
        )
    ]
    assert code[0] == code[1]
