"""What the adapter of a kind of array does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from openaclnn._native import TensorView
from openaclnn.errors import PARAMETER_INVALID, AclnnParameterError, AclnnTypeError


@dataclass(frozen=True)
class Argument:
    """An argument of an operator, for errors to name."""

    operator: str
    name: str

    def refuse(self, text: str) -> NoReturn:
        """Raise the error that the argument is not accepted: `text` follows its name."""
        raise AclnnParameterError(
            f"{self.operator}: {self.name} {text}", PARAMETER_INVALID, self.operator, self.name
        )

    def refuse_type(self, text: str) -> NoReturn:
        """Raise the error that the argument's type or kind is not accepted."""
        raise self.type_error(text)

    def type_error(self, text: str) -> AclnnTypeError:
        """Give that error, to be raised from another."""
        return AclnnTypeError(
            f"{self.operator}: {self.name} {text}", PARAMETER_INVALID, self.operator, self.name
        )


class Adapter(Protocol):
    """Turns arrays of one kind into views, and makes new ones.

    A view holds no memory: whoever uses one keeps the `holder` beside it alive until it is used.
    An array that is resized in place can still take its memory away: `unmoved` tells.
    """

    def input_view(
        self, array: Any, argument: Argument, *, may_copy: bool
    ) -> tuple[TensorView, object]:
        """Give the view of an input and its holder: the array, or a copy where one must be."""
        ...

    def output_view(self, array: Any, argument: Argument) -> tuple[TensorView, object]:
        """Give the view of an array to be written and its holder: never a copy."""
        ...

    def unmoved(self, holder: Any, view: TensorView) -> bool:
        """Tell whether the holder's elements still lie where the view says."""
        ...

    def written(self, holder: Any) -> None:
        """Note that the elements of an output's holder were changed."""
        ...

    def empty(self, prototype: Any, type_name: str, shape: tuple[int, ...]) -> Any:
        """Make an array to be written, laid out like the prototype if their shapes are equal."""
        ...

    def finished(self, result: Any, prototype: Any) -> Any:
        """Give a result that `empty` made as an array of the prototype's kind."""
        ...
