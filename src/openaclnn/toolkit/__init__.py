"""The toolkit prefix: C headers and libraries, for programs written against CANN's.

The prefix holds include/ and lib64/. With the environment variable ASCEND_HOME_PATH set to it, the
usual build files of aclnn programs find headers and libraries there under the names that they know.

Example:
    >>> import openaclnn as oa
    >>> (oa.toolkit.path() / "include" / "acl" / "acl.h").exists()
    True

"""

from __future__ import annotations

from pathlib import Path

__all__ = ["cflags", "libs", "path"]


def path() -> Path:
    """Give the prefix.

    Example:
        >>> from openaclnn import toolkit
        >>> (toolkit.path() / "lib64" / "libascendcl.so").exists()
        True

    """
    return Path(__file__).parent


def cflags() -> str:
    """Give the compiler's options that find the headers.

    Example:
        >>> from openaclnn import toolkit
        >>> toolkit.cflags().startswith("-I")
        True

    """
    include = path() / "include"
    return f"-I{include} -I{include / 'aclnn'} -I{include / 'aclnnop'}"


def libs() -> str:
    """Give the linker's options; the program finds the library by itself when it runs.

    Example:
        >>> from openaclnn import toolkit
        >>> toolkit.libs().split()[-1]
        '-lopenaclnn'

    """
    lib = path() / "lib64"
    return f"-L{lib} -Wl,-rpath,{lib} -lopenaclnn"
