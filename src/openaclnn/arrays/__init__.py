"""Arrays of NumPy, PyTorch and everything that exports DLPack, as views without copying.

Each kind of array has an adapter; a call's arrays must all be of one kind. A framework's adapter is
imported when the first of its arrays comes, so that nothing here imports a framework.
"""

from openaclnn.arrays.adapter import Adapter, Argument
from openaclnn.arrays.kind import adapter_for

__all__ = ["Adapter", "Argument", "adapter_for"]
