"""`openaclnn toolkit`: where the C headers and libraries are."""

from __future__ import annotations

from typing import Annotated

import typer

from openaclnn import toolkit as prefix
from openaclnn.commands.console import show_plain


def toolkit(
    path: Annotated[bool, typer.Option("--path", help="Show the prefix only.")] = False,
    cflags: Annotated[bool, typer.Option("--cflags", help="Show the compiler's options.")] = False,
    libs: Annotated[bool, typer.Option("--libs", help="Show the linker's options.")] = False,
) -> None:
    """Show where the C headers and libraries are, and how to build with them."""
    wanted = [
        text
        for asked, text in (
            (path, str(prefix.path())),
            (cflags, prefix.cflags()),
            (libs, prefix.libs()),
        )
        if asked
    ]
    show_plain(" ".join(wanted) if wanted else _explanation())


def _explanation() -> str:
    root = prefix.path()
    return "\n".join(
        [
            f"prefix     {root}",
            f"headers    {root / 'include'}",
            f"libraries  {root / 'lib64'}",
            "",
            "Compile and link one file:",
            "    c++ program.cpp $(openaclnn toolkit --cflags --libs)",
            "Build files that look for CANN:",
            "    export ASCEND_HOME_PATH=$(openaclnn toolkit --path)",
            "    export ASCEND_CUSTOM_PATH=$ASCEND_HOME_PATH",
            "    export LD_LIBRARY_PATH=$ASCEND_HOME_PATH/lib64:$LD_LIBRARY_PATH",
            "CMake:",
            "    find_package(OpenACLNN CONFIG REQUIRED)  # target OpenACLNN::aclnn",
            "    cmake -DCMAKE_PREFIX_PATH=$(openaclnn toolkit --path) ...",
            "pkg-config:",
            "    PKG_CONFIG_PATH=$(openaclnn toolkit --path)/lib64/pkgconfig pkg-config "
            "--cflags --libs openaclnn",
        ]
    )
