"""Write docs/operators.md from the operator table: python docs/write_operators.py."""

from pathlib import Path

import openaclnn as oa

TEXT = """\
# The operators

This page is written by `python docs/write_operators.py` from the table that the checks use.

    sigma(x) = 1 / (1 + exp(-x))

| operator | result | x, y |
| --- | --- | --- |
| aclnnSiluBackward | gradInput = gradOutput * s'(x), s'(x) = sigma(x) * (1 + x - x * sigma(x)) | \
x = self, the forward's input |
| aclnnSigmoidBackward | gradInput = gradOutput * y * (1 - y); for complex types \
gradOutput * conj(y * (1 - y)) | y = output, the forward's output sigma(x) |

## Products

The product is set for the whole process: by the environment variable OPENACLNN_SOC, or from \
Python \
with `openaclnn.set_product` and `openaclnn.product`. The default is {default}. A name that \
ends in * \
stands for all names with that beginning.

{products}

## Data types

{types}

Where the types must be equal, all three tensors have the same one. On Ascend 950 they may differ: \
aclnnSiluBackward gives FLOAT for two different input types; for aclnnSigmoidBackward the input \
types \
promote (FLOAT16 with BFLOAT16 to FLOAT, COMPLEX64 with DOUBLE to COMPLEX128), and the result \
is cast \
to gradInput's type, which may be any but a real one for a complex result.

## Shapes, strides, memory

* Rank 0 to 8. Empty tensors are fine.
* The three shapes are equal; on Ascend 950 the inputs broadcast, and gradInput has the shape that \
they broadcast to.
* Any strides and offsets that are not negative. A stride of 0 repeats an input's element.
* gradInput must not overlap itself, nor an input, unless it is exactly the same view: same \
address, \
shape and strides. That is in place, and fine. Views that lie between each other's elements, \
such as \
two column halves of one matrix, do not overlap.
* Inputs that PyTorch or NumPy would have to copy for the core are copied by the one-call \
functions \
only: NumPy arrays of another byte order, misaligned ones, negative strides, strides that are no \
multiple of the element size, and PyTorch tensors with a pending conjugation. As `out`, and in the \
two-phase functions, they are refused.

## Faults

Phase one checks in this order; the first fault decides. In Python it is raised as an \
`AclnnError`, \
with the status in `.status`.

| fault | status |
| --- | --- |
| workspaceSize or executor is null (C interface) | 161001 ACLNN_ERR_PARAM_NULLPTR |
| a tensor is null | 161001 ACLNN_ERR_PARAM_NULLPTR |
| the operator is not supported on the product | 561003 ACLNN_ERR_INNER_FIND_KERNEL_ERROR |
| a data type that the product does not take; types that differ where they must not | \
161002 ACLNN_ERR_PARAM_INVALID |
| a rank over 8; shapes that differ, or do not broadcast to gradInput's | \
161002 ACLNN_ERR_PARAM_INVALID |
| a view that reaches past 64-bit offsets; gradInput overlapping itself, or an input otherwise \
than \
exactly | 161002 ACLNN_ERR_PARAM_INVALID |

Whether views overlap is decided exactly. That can take long for layouts of many odd strides, \
so the \
search is cut off after a million steps; such a gradInput is refused too, and the message says \
that \
it can't be shown not to overlap.

Phase two of an executor that has been run and is not repeatable gives 561103 \
ACLNN_ERR_INNER_NULLPTR.

## Results

* float32: within 4 ULP of the exact result for SiLU, within 2 ULP for the sigmoid, whatever \
gradOutput. `tests/test_numerics.py` measures it.
* float16 and bfloat16: computed in float32 and rounded once; within 1 ULP.
* float64: within 2 ULP. Complex: the formula by components.
* s'(+inf) = 1 and s'(-inf) = -0; NaN gives NaN. Subnormal numbers are kept, even where the \
calling \
thread flushes them. Nothing overflows on the way where the exact result is finite.
* The bits do not depend on layout, alignment, number of threads, streams, or working in place. \
They \
may differ between instruction sets.
"""


def table(rows: list[tuple[str, ...]]) -> str:
    """Lay out a Markdown table; the first row is its head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"|{' --- |' * len(rows[0])}")
    return "\n".join(lines)


def products() -> str:
    """Give the table of products."""
    return table(
        [("series", "SoC names"), *((series, ", ".join(n)) for series, n in oa.products().items())]
    )


def types() -> str:
    """Give the table of types by series and operator."""
    rows: list[tuple[str, ...]] = [("series", *(op.c_name for op in oa.operators()))]
    for series in oa.products():
        cells = []
        for op in oa.operators():
            cell = ", ".join(op.types[series]) or "not supported"
            if series in op.broadcasting:
                cell += "; inputs broadcast"
            if series in op.mixed_types:
                cell += "; types may differ"
            cells.append(cell)
        rows.append((series, *cells))
    return table(rows)


def page() -> str:
    """Give the whole page."""
    return TEXT.format(default=oa.get_product(), products=products(), types=types())


if __name__ == "__main__":
    Path(__file__).with_name("operators.md").write_text(page(), encoding="utf-8")
