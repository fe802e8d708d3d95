"""Another library of the same C interface, such as CANN's own, in place of the built-in core.

Everything goes as on an NPU: arrays are copied to device memory, the operator is queued on a
stream, and the result is copied back when the stream is done. This has not been run on an NPU.
"""

from __future__ import annotations

import os

from openaclnn.device.library import DeviceLibrary

__all__ = ["DeviceLibrary", "current", "load_library"]

# None: the built-in core. Until the first call, what OPENACLNN_LIBRARY says is not known.
_loaded: DeviceLibrary | None = None
_decided = False


def load_library(path: str | os.PathLike[str] | None) -> None:
    """Let the operators call another library from now on, in all threads.

    Args:
        path: A shared library that holds all functions, or a toolkit prefix or its library folder
            with libascendcl.so, libnnopbase.so and libopapi.so, such as CANN's. None returns to the
            built-in core.

    The environment variable OPENACLNN_LIBRARY does the same before the first call, and
    OPENACLNN_DEVICE is the number of the device, by default 0. Rules, results and messages are
    then the library's. It has been tested with this package's own library, not on an NPU.

    Raises:
        OSError: A library can't be loaded, or lacks a function.
        AclnnError: The library can't be initialised, or has no such device.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> oa.load_library(oa.toolkit.path())
        >>> oa.silu_backward(np.ones(2, np.float32), np.zeros(2, np.float32))
        array([0.5, 0.5], dtype=float32)
        >>> oa.load_library(None)

    """
    global _loaded, _decided
    _loaded = None if path is None else DeviceLibrary(path)
    _decided = True


def current() -> DeviceLibrary | None:
    """Give the library that was loaded, if any."""
    if not _decided:
        load_library(os.environ.get("OPENACLNN_LIBRARY") or None)
    return _loaded
