"""What goes wrong, as exceptions with the C interface's statuses."""

from __future__ import annotations

from openaclnn import _native

__all__ = ["AclnnError", "AclnnParameterError", "AclnnTypeError"]

PARAMETER_NULL = 161001
PARAMETER_INVALID = 161002
INNER_NULLPTR = 561103


class AclnnError(Exception):
    """A call was refused; its text says what came and what is accepted.

    Attributes:
        status: The status that the C function returns, e.g. 561003.
        status_name: Its name, e.g. "ACLNN_ERR_INNER_FIND_KERNEL_ERROR".
        operator: The operator's name in the C interface, e.g. "aclnnSiluBackward".
        argument: The argument at fault, e.g. "gradOutput"; empty if it is none.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> x = np.zeros(3, np.float32)
        >>> with oa.product("Ascend310P3"):
        ...     try:
        ...         oa.silu_backward(x, x)
        ...     except oa.AclnnError as error:
        ...         print(error.status, error.status_name, error.operator)
        561003 ACLNN_ERR_INNER_FIND_KERNEL_ERROR aclnnSiluBackward

    """

    def __init__(self, message: str, status: int, operator: str = "", argument: str = "") -> None:
        super().__init__(message, status, operator, argument)
        self.status = status
        self.status_name = _native.status_name(status)
        self.operator = operator
        self.argument = argument

    def __str__(self) -> str:
        return str(self.args[0])


class AclnnParameterError(AclnnError, ValueError):
    """An argument is missing or not accepted: statuses 161001 and 161002.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> try:
        ...     oa.silu_backward(np.zeros(3, np.float32), np.zeros(4, np.float32))
        ... except ValueError as error:
        ...     print(error)  # doctest: +ELLIPSIS
        aclnnSiluBackward on Ascend910B1 (Atlas A2): self has shape [4] but gradOutput has [3]; ...

    """


class AclnnTypeError(AclnnParameterError, TypeError):
    """An argument's data type, or the kind of array it is, is not accepted: status 161002.

    Example:
        >>> import numpy as np, openaclnn as oa
        >>> x = np.zeros(3, np.int32)
        >>> try:
        ...     oa.silu_backward(x, x)
        ... except TypeError as error:
        ...     print(error.argument, error.status)
        gradOutput 161002

    """


def from_fault(
    status: int, operator: str, argument: str, message: str, is_type_fault: bool
) -> AclnnError:
    """Make the exception for a fault that the core found."""
    if is_type_fault:
        return AclnnTypeError(message, status, operator, argument)
    if status in (PARAMETER_NULL, PARAMETER_INVALID):
        return AclnnParameterError(message, status, operator, argument)
    return AclnnError(message, status, operator, argument)
