"""The Ascend operators aclnnSiluBackward and aclnnSigmoidBackward on any CPU."""

from importlib.metadata import version as _version

from openaclnn import toolkit
from openaclnn.device import load_library
from openaclnn.errors import AclnnError, AclnnParameterError, AclnnTypeError
from openaclnn.operators import Operator, operators, sigmoid_backward, silu_backward
from openaclnn.settings import (
    get_num_threads,
    get_product,
    instruction_set,
    product,
    products,
    set_num_threads,
    set_product,
)
from openaclnn.stream import Stream
from openaclnn.two_phase import (
    Executor,
    sigmoid_backward_get_workspace_size,
    silu_backward_get_workspace_size,
)

__version__ = _version("openaclnn")

__all__ = [
    "AclnnError",
    "AclnnParameterError",
    "AclnnTypeError",
    "Executor",
    "Operator",
    "Stream",
    "__version__",
    "get_num_threads",
    "get_product",
    "instruction_set",
    "load_library",
    "operators",
    "product",
    "products",
    "set_num_threads",
    "set_product",
    "sigmoid_backward",
    "sigmoid_backward_get_workspace_size",
    "silu_backward",
    "silu_backward_get_workspace_size",
    "toolkit",
]
