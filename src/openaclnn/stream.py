"""Streams: executors run in order, while Python goes on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

from openaclnn import _native

__all__ = ["Stream"]


class Stream:
    """A queue of executors, run in order on a thread of its own.

    Use it as a context manager: leaving waits until all is done. The arrays of what is queued are
    kept alive until then; what they hold must not be changed or read meanwhile. A stream does not
    survive a fork: the child needs one of its own.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> y = np.full(4, 0.5)
        >>> out = np.empty_like(y)
        >>> _, executor = oa.sigmoid_backward_get_workspace_size(np.ones_like(y), y, out)
        >>> with oa.Stream() as stream:
        ...     executor.run(stream=stream)
        >>> out
        array([0.25, 0.25, 0.25, 0.25])

    """

    def __init__(self) -> None:
        self._native = _native.Stream()
        self._held: deque[tuple[int, object]] = deque()
        # Of several threads that queue work, one at a time looks at what is held.
        self._lock = threading.Lock()
        # A call of a loaded library that has been started, and what waits for it.
        self._finish_started: Callable[[], None] | None = None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Stream can't be copied or pickled; make another")

    def synchronize(self) -> None:
        """Wait until all that was queued before is done.

        Raises:
            RuntimeError: The stream belongs to a parent process.

        """
        self._finish()
        self._native.synchronize()
        self._release()

    def run(self, executor: _native.Executor, holder: object) -> None:
        """Queue an executor; the holder, which keeps its arrays, is kept until it has run."""
        self._finish()
        self._release()
        with self._lock:
            self._held.append((executor.run_on(self._native), holder))

    def start(self, begin: Callable[[], Callable[[], None]]) -> None:
        """Begin a call of a loaded library after the one before it has been finished.

        Its result is in host memory when the next call begins, or the stream is synchronised.
        """
        self.synchronize()
        self._finish_started = begin()

    def _finish(self) -> None:
        finish, self._finish_started = self._finish_started, None
        if finish is not None:
            finish()

    def _release(self) -> None:
        completed = self._native.completed()
        with self._lock:
            done = []  # what it frees may run code of its own: after the lock
            while self._held and self._held[0][0] <= completed:
                done.append(self._held.popleft())
        done.clear()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.synchronize()
