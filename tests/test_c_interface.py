"""The headers and libraries of the toolkit prefix compile, link, load and hold what they say."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import openaclnn as oa
from openaclnn import toolkit

ROOT = Path(__file__).parents[1]
PREFIX = toolkit.path()
INCLUDE = PREFIX / "include"
LIB = PREFIX / "lib64"
HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h"))
NAMES = ["ascendcl", "nnopbase", "opapi", "opapi_nn", "opapi_math", "acl_rt"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
PATHS = [f"-I{INCLUDE}", f"-I{INCLUDE / 'aclnn'}"]


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def declared_functions() -> set[str]:
    found: set[str] = set()
    for header in HEADERS:
        found |= set(re.findall(r"\b([aA]cl\w+)\(", (INCLUDE / header).read_text()))
    return found


def exported(library: Path) -> set[str]:
    lines = run("nm", "-D", "--defined-only", library).stdout.splitlines()
    return {line.split()[2] for line in lines}


@pytest.mark.parametrize(
    ("compiler", "options"),
    [("gcc", ["-x", "c", "-std=c11"]), ("g++", ["-x", "c++", "-std=c++11"])],
    ids=["C11", "C++11"],
)
@pytest.mark.parametrize("header", HEADERS)
def test_header_compiles_alone_without_warnings(
    header: str, compiler: str, options: list[str]
) -> None:
    run(compiler, *options, *STRICT, *PATHS, "-fsyntax-only", INCLUDE / header)


# Numbers that programs were compiled with elsewhere: a sample of every enumeration and family.
CONSTANTS = {
    "ACL_DT_UNDEFINED": -1, "ACL_FLOAT": 0, "ACL_FLOAT16": 1, "ACL_INT8": 2, "ACL_INT32": 3,
    "ACL_UINT8": 4, "ACL_INT16": 6, "ACL_INT64": 9, "ACL_DOUBLE": 11, "ACL_BOOL": 12,
    "ACL_STRING": 13, "ACL_COMPLEX64": 16, "ACL_COMPLEX128": 17, "ACL_BF16": 27, "ACL_INT4": 29,
    "ACL_COMPLEX32": 33, "ACL_HIFLOAT8": 34, "ACL_FLOAT4_E1M2": 41,
    "ACL_FORMAT_UNDEFINED": -1, "ACL_FORMAT_NCHW": 0, "ACL_FORMAT_ND": 2, "ACL_FORMAT_HWCN": 16,
    "ACL_FORMAT_FRACTAL_NZ": 29, "ACL_FRACTAL_Z_3D": 33, "ACL_FORMAT_NCL": 47,
    "ACL_FORMAT_FRACTAL_NZ_C0_32": 51, "ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT": 2,
    "ACL_DEVICE": 0, "ACL_HOST": 1, "ACL_MEM_MALLOC_HUGE_FIRST": 0,
    "ACL_MEM_MALLOC_HUGE1G_ONLY_P2P": 7, "ACL_MEM_TYPE_LOW_BAND_WIDTH": 0x100,
    "ACL_MEM_TYPE_HIGH_BAND_WIDTH": 0x1000, "ACL_MEMCPY_HOST_TO_DEVICE": 1,
    "ACL_MEMCPY_DEVICE_TO_HOST": 2, "ACL_MEMCPY_DEFAULT": 4, "ACL_HBM_MEM_P2P_NORMAL": 9,
    "ACL_EVENT_STATUS_RESERVED": 2, "ACL_EVENT_RECORDED_STATUS_NOT_READY": 0,
    "ACL_EVENT_RECORDED_STATUS_COMPLETE": 1, "ACL_EVENT_WAIT_STATUS_RESERVED": 0xFFFF,
    "ACL_STREAM_STATUS_NOT_READY": 1, "ACL_CALLBACK_BLOCK": 1, "ACL_EVENT_SYNC": 1,
    "ACL_EVENT_CAPTURE_STREAM_PROGRESS": 2, "ACL_EVENT_TIME_LINE": 8, "ACL_STREAM_FAST_SYNC": 2,
    "ACL_STOP_ON_FAILURE": 1, "ACL_SUCCESS": 0, "ACL_ERROR_NONE": 0,
    "ACL_ERROR_INVALID_PARAM": 100000, "ACL_ERROR_REPEAT_INITIALIZE": 100002,
    "ACL_ERROR_REPEAT_FINALIZE": 100037, "ACL_ERROR_BAD_ALLOC": 200000,
    "ACL_ERROR_STORAGE_OVER_LIMIT": 300000, "ACL_ERROR_RT_FAILURE": 500003,
    "ACL_ERROR_RT_PARAM_INVALID": 107000, "ACL_ERROR_RT_INVALID_HANDLE": 107017,
    "ACL_ERROR_RT_DEVICE_TASK_ABORT": 107022, "ACL_ERROR_RT_MEMORY_ALLOCATION": 207001,
    "ACL_ERROR_RT_REPORT_TIMEOUT": 507012, "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT": 507047,
    "ACLNN_SUCCESS": 0, "ACLNN_ERR_PARAM_NULLPTR": 161001, "ACLNN_ERR_PARAM_INVALID": 161002,
    "ACLNN_ERR_RUNTIME_ERROR": 361001, "ACLNN_ERR_INNER": 561000,
    "ACLNN_ERR_INNER_FIND_KERNEL_ERROR": 561003, "ACLNN_ERR_INNER_NULLPTR": 561103,
    "ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID": 561119,
}  # fmt: skip


@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "c11"), ("g++", "c++11")])
def test_constants_have_their_numbers(tmp_path: Path, compiler: str, standard: str) -> None:
    keyword = "_Static_assert" if standard == "c11" else "static_assert"
    lines = ['#include "acl/acl.h"', '#include "aclnn/acl_meta.h"']
    lines += [f'{keyword}({name} == {value}, "{name}");' for name, value in CONSTANTS.items()]
    source = tmp_path / ("constants.c" if standard == "c11" else "constants.cpp")
    source.write_text("\n".join([*lines, ""]))
    run(compiler, f"-std={standard}", *STRICT, *PATHS, "-fsyntax-only", source)


def test_only_what_the_headers_declare_is_exported() -> None:
    own = {"openaclnn_engine", "openaclnn_functions"}
    assert exported(LIB / "libopenaclnn.so") == declared_functions() | own


@pytest.mark.parametrize("name", NAMES)
def test_library_of_every_name_has_every_function(name: str) -> None:
    assert exported(LIB / f"lib{name}.so") == declared_functions()


PROGRAM = """
#include <stdio.h>
#include "acl/acl.h"
#include "aclnnop/aclnn_silu_backward.h"
int main(void) {
    if (aclInit(0) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
    if (aclnnSiluBackwardGetWorkspaceSize(0, 0, 0, 0, 0) != ACLNN_ERR_PARAM_NULLPTR) return 2;
    printf("%s\\n", aclrtGetSocName());
    return aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS;
}
"""


@pytest.mark.parametrize(
    "names",
    [["ascendcl", "nnopbase", "opapi"], ["ascendcl", "nnopbase", "opapi_nn", "opapi_math"],
     ["acl_rt", "opapi"], ["openaclnn"]],
    ids="+".join,
)  # fmt: skip
def test_program_links_with_the_usual_names(tmp_path: Path, names: list[str]) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    libraries = [f"-l{name}" for name in names]
    run("gcc", *STRICT, *PATHS, source, f"-L{LIB}", *libraries, "-o", tmp_path / "program")
    result = run(tmp_path / "program", LD_LIBRARY_PATH=str(LIB), OPENACLNN_SOC="Ascend910B4")
    assert result.stdout == "Ascend910B4\n"


def test_program_builds_with_the_options_of_the_command(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    command = [sys.executable, "-m", "openaclnn", "toolkit", "--cflags", "--libs"]
    run("gcc", source, *run(*command).stdout.split(), "-o", tmp_path / "program")
    assert run(tmp_path / "program").stdout == "Ascend910B1\n"


def test_program_builds_with_pkg_config(tmp_path: Path) -> None:
    if shutil.which("pkg-config") is None:
        pytest.skip("there is no pkg-config here")
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    options = run(
        "pkg-config", "--cflags", "--libs", "openaclnn", PKG_CONFIG_PATH=str(LIB / "pkgconfig")
    ).stdout.split()
    run("gcc", source, *options, "-o", tmp_path / "program")
    assert run(tmp_path / "program").stdout == "Ascend910B1\n"


def cmake() -> str:
    beside = Path(sys.executable).with_name("cmake")
    found = str(beside) if beside.exists() else shutil.which("cmake")
    assert found is not None
    return found


def test_program_builds_with_the_cmake_package(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(PROGRAM)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.14)\nproject(program C)\n"
        "find_package(OpenACLNN 0.1 CONFIG REQUIRED)\nadd_executable(program program.c)\n"
        "target_link_libraries(program OpenACLNN::aclnn)\n"
    )
    run(cmake(), "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={PREFIX}")
    run(cmake(), "--build", tmp_path / "b")
    assert run(tmp_path / "b" / "program").stdout == "Ascend910B1\n"


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("examples")
    source = ROOT / "examples" / "c"
    run(cmake(), "-S", source, "-B", build, "-DCMAKE_C_FLAGS=-Werror", "-DCMAKE_CXX_FLAGS=-Werror",
        ASCEND_HOME_PATH=str(PREFIX))  # fmt: skip
    run(cmake(), "--build", build)
    return build


@pytest.mark.parametrize(
    "name", ["silu_contiguous", "sigmoid_strided", "silu_repeatable", "sigmoid_plain"]
)
def test_example_gives_right_results_and_nothing_to_report(examples: Path, name: str) -> None:
    result = run(examples / name, LD_LIBRARY_PATH=str(LIB), OPENACLNN_CHECK="1")
    assert result.stdout.startswith(f"{name}: ")
    assert result.stderr == ""


LOADED_BY_NAME = """
import ctypes, sys
libraries = {name: ctypes.CDLL(f"{sys.argv[1]}/lib{name}.so") for name in sys.argv[2:]}
first = libraries.pop("ascendcl")
assert first.aclInit(None) == 0
for library in libraries.values():
    assert library.aclInit(None) == 100002  # the same state
first.aclGetRecentErrMsg.restype = ctypes.c_char_p
assert b"aclInit" in first.aclGetRecentErrMsg()
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libopenaclnn" in line}
assert len(mapped) == 1, mapped
"""


def test_libraries_loaded_by_name_share_one_state() -> None:
    run(sys.executable, "-c", LOADED_BY_NAME, LIB, *NAMES)


def test_product_set_from_python_is_seen_in_c() -> None:
    library = ctypes.CDLL(str(LIB / "libascendcl.so"))
    library.aclrtGetSocName.restype = ctypes.c_char_p
    with oa.product("Ascend310P1"):
        assert library.aclrtGetSocName() == b"Ascend310P1"
    assert library.aclrtGetSocName() == b"Ascend910B1"
