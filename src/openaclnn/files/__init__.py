"""Arrays in files: mapped into memory for reading, complete or absent when written.

Formats, by suffix: .npy, .safetensors, .bin, and .pt if PyTorch is installed.
"""

from openaclnn.files.element_types import element_type, type_name
from openaclnn.files.errors import FileError, printable
from openaclnn.files.mapping import MappedArray
from openaclnn.files.reading import open_array
from openaclnn.files.writing import create_array

__all__ = [
    "FileError",
    "MappedArray",
    "create_array",
    "element_type",
    "open_array",
    "printable",
    "type_name",
]
