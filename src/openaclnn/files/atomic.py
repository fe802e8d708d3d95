"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from openaclnn.files.errors import FileError, os_errors_name

# What filesystems (and kernels that have never heard of it) answer to O_TMPFILE.
_NO_UNNAMED_FILES = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.ENOSYS}
# What filesystems without hard links answer to link().
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


def reserve(path: Path, descriptor: int, size: int) -> None:
    """Give an open file its size, with room for it on the disk.

    A write into a mapped file that finds the disk full would kill the process.

    Args:
        path: The file's name, for messages.
        descriptor: The file, open for writing.
        size: The file's size in bytes.

    Raises:
        FileError: There is no room.

    """
    if size == 0:
        return
    try:
        os.posix_fallocate(descriptor, 0, size)
    except OverflowError as error:
        raise FileError(path, f"cannot get {size} bytes: no file is that long") from error
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
            raise FileError(path, f"cannot get {size} bytes: {error.strerror}") from error
        with os_errors_name(path):
            os.ftruncate(descriptor, size)


class AtomicFile:
    """A new file that gets its name when the block ends well, and never existed otherwise.

    Inside the block the file has no name at all, so that not even a killed process leaves
    anything behind. Where a filesystem has no such files, a hidden one next to the target takes
    their place.

    Args:
        path: The file to make.
        replace: Whether an existing file is replaced, in one step. Without this, the name is
            refused on entry, and once more (by the operating system, so without a race) at the
            end, if it exists.

    Raises:
        FileError: The file exists, cannot be made, or (inside the block) has no room.

    """

    def __init__(self, path: Path, *, replace: bool = False) -> None:
        self.path = path
        self._replace = replace
        # A replaced symbolic link stays one: what it points to is replaced.
        self._target = Path(os.path.realpath(path) if replace else os.path.abspath(path))  # noqa: PTH100
        self._hidden: Path | None = None
        self._descriptor = -1

    @property
    def descriptor(self) -> int:
        """The file, open for reading and writing."""
        return self._descriptor

    def __enter__(self) -> AtomicFile:
        self._check_target()
        with os_errors_name(self.path):
            self._open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                with os_errors_name(self.path):
                    self._commit()
        finally:
            os.close(self._descriptor)
            if self._hidden is not None:
                with suppress(FileNotFoundError):
                    self._hidden.unlink()

    def reserve(self, size: int) -> None:
        """Give the file its size in bytes, with room for it on the disk."""
        reserve(self.path, self._descriptor, size)

    def _check_target(self) -> None:
        if not self._target.parent.is_dir():
            raise FileError(self.path, "is to be written in a directory that does not exist")
        try:
            mode = os.lstat(self._target).st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise FileError(self.path, error.strerror or str(error)) from error
        if stat.S_ISDIR(mode):
            raise FileError(self.path, "is a directory, not a file")
        if not self._replace:
            raise FileError(self.path, "exists already; --force replaces it")
        if not stat.S_ISREG(mode):
            raise FileError(self.path, "is not a regular file, so it cannot be replaced")

    def _open(self) -> None:
        directory = self._target.parent
        flags = os.O_RDWR | os.O_CLOEXEC
        try:
            # The mode is what open() gives any new file; the process's umask narrows it.
            self._descriptor = os.open(directory, flags | os.O_TMPFILE, 0o666)
        except OSError as error:
            if error.errno not in _NO_UNNAMED_FILES:
                raise
        else:
            if Path(self._own_link()).exists():
                return
            os.close(self._descriptor)  # Without /proc it could never get a name.
        hidden = self._hidden_name()
        self._descriptor = os.open(hidden, flags | os.O_CREAT | os.O_EXCL, 0o666)
        self._hidden = hidden

    def _commit(self) -> None:
        os.fsync(self._descriptor)
        if self._replace:
            self._commit_replacing()
        else:
            self._commit_new()
        self._sync_directory()

    def _commit_new(self) -> None:
        try:
            self._take_name()
        except FileExistsError as error:
            raise FileError(self.path, "was made by another process in the meantime") from error

    def _take_name(self) -> None:
        try:
            self._link(self._target)
        except OSError as error:
            if self._hidden is None or error.errno not in _NO_LINKS:
                raise
            # Take the name first, then replace what is known to be our own empty file.
            os.close(os.open(self._target, os.O_CREAT | os.O_EXCL))
            self._hidden.replace(self._target)

    def _commit_replacing(self) -> None:
        if self._hidden is None:
            try:
                self._link(self._target)
            except FileExistsError:
                self._hidden = self._hidden_name()
                self._link_unnamed(self._hidden)
            else:
                return
        self._hidden.replace(self._target)

    def _link(self, name: Path) -> None:
        if self._hidden is None:
            self._link_unnamed(name)
        else:
            os.link(self._hidden, name)

    def _link_unnamed(self, name: Path) -> None:
        # With a directory descriptor (which absolute paths ignore) Python calls linkat, the one
        # call that follows the link in /proc to the file itself.
        os.link(self._own_link(), name, src_dir_fd=self._descriptor, follow_symlinks=True)

    def _own_link(self) -> str:
        return f"/proc/self/fd/{self._descriptor}"

    def _hidden_name(self) -> Path:
        return self._target.parent / f".{self._target.name[:200]}.{secrets.token_hex(8)}.tmp"

    def _sync_directory(self) -> None:
        # The file is complete and in place; that its name is on the disk too is a courtesy that
        # some filesystems and directories do not grant.
        with suppress(OSError):
            descriptor = os.open(self._target.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
