from collections.abc import Sequence


class TensorView:
    """A view of elements in memory, for phase one."""

    def __init__(self, address: int, type: str, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> None:
        """Strides and offset count elements; the memory must outlive the view."""

    @property
    def type(self) -> str: ...

    @property
    def type_number(self) -> int: ...

    @property
    def element_size(self) -> int: ...

    @property
    def address(self) -> int: ...

    @property
    def shape(self) -> list[int]: ...

    @property
    def strides(self) -> list[int]: ...

def view_of_dlpack(capsule: object, writable: bool) -> TensorView | None:
    """
    The view of a live DLPack capsule of CPU memory, which it keeps; else None.
    """

class Stream:
    """A queue of executors that run in order on their own thread."""

    def __init__(self) -> None: ...

    def completed(self) -> int:
        """The number of the last piece of work that is done."""

    def synchronize(self) -> None:
        """Wait until all that was queued before is done."""

class Executor:
    """A call that passed phase one."""

    @property
    def workspace_size(self) -> int: ...

    @property
    def repeatable(self) -> bool: ...

    @repeatable.setter
    def repeatable(self, arg: bool, /) -> None: ...

    def run(self) -> None:
        """Run and wait."""

    def run_on(self, stream: Stream) -> int:
        """Queue on the stream; gives the number of the piece of work."""

def call(operator: int, first: object | None, second: object | None, result: object | None) -> bool:
    """
    Both phases in one. False, with nothing done, if an argument needs adapting first.
    """

def begin(operator: int, first: TensorView | None, second: TensorView | None, result: TensorView | None) -> Executor:
    """Phase one: the executor of a call that is allowed."""

def result_of(operator: int, first: TensorView | None, second: TensorView | None) -> tuple[str, list[int]]:
    """The type and the shape of the result for such inputs."""

def operators() -> list[tuple[str, str, tuple[str, str, str], list[tuple[str, tuple[str, ...], bool, bool]]]]:
    """
    The operator table: name, C name, arguments; by series: types, broadcast, mixed types.
    """

def products() -> list[tuple[str, tuple[str, ...]]]:
    """The products: series, SoC names."""

def get_product() -> str: ...

def set_product(name: str) -> None: ...

def get_num_threads() -> int: ...

MOST_THREADS: int = 1024

def set_num_threads(count: int) -> None: ...

def instruction_set() -> str: ...

def status_name(status: int) -> str: ...
