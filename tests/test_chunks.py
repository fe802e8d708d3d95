import numpy as np
import pytest

from openaclnn.chunks import chunks
from openaclnn.files import MappedArray, create_array, open_array

KIB = 1 << 10
SHAPES = [(), (0,), (3, 0), (1,), (1000,), (7, 300), (300, 7), (5, 1, 13, 17), (1, 4099), (2,) * 8]


def zeros(shape, layout):
    return np.zeros(shape, np.float32, order=layout)


@pytest.mark.parametrize("layouts", ["C", "F", "CF", "FC", "CCF"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_element_is_visited_once(shape, layouts):
    arrays = [MappedArray(zeros(shape, layout)) for layout in layouts]
    for views in chunks(shape, arrays, chunk_bytes=KIB):
        for view in views:
            view += 1
    for mapped in arrays:
        np.testing.assert_array_equal(mapped.array, 1)


@pytest.mark.parametrize("layouts", ["C", "F", "CF"])
def test_pieces_are_no_larger_than_asked_for(layouts):
    arrays = [MappedArray(zeros((123, 45, 67), layout)) for layout in layouts]
    sizes = [view.nbytes for view, *_ in chunks((123, 45, 67), arrays, chunk_bytes=KIB)]
    assert max(sizes) <= KIB
    assert len(sizes) < 4 * sum(sizes) / KIB


@pytest.mark.parametrize(("layout", "order"), [("C", "C"), ("F", "F")])
def test_arrays_of_one_layout_are_walked_in_memory_order(layout, order):
    mapped = MappedArray(zeros((6, 50, 70), layout))
    starts = [
        view.__array_interface__["data"][0]
        for (view,) in chunks(mapped.array.shape, [mapped], chunk_bytes=KIB)
    ]
    assert starts == sorted(starts)
    assert mapped.array.flags[f"{order}_CONTIGUOUS"]


def test_pieces_of_different_layouts_reach_along_the_fast_axis_of_each():
    arrays = [MappedArray(zeros((4096, 4096), layout)) for layout in "CF"]
    views = next(iter(chunks((4096, 4096), arrays)))
    assert views[0].shape == (1024, 1024)


def test_smaller_arrays_are_broadcast():
    row = MappedArray(np.arange(40, dtype=np.float32))
    column = MappedArray(np.arange(30, dtype=np.float32)[:, None])
    result = MappedArray(np.empty((30, 40), np.float32))
    for a, b, view in chunks((30, 40), [row, column, result], chunk_bytes=256):
        assert a.shape == b.shape == view.shape
        view[...] = 100 * b + a
    np.testing.assert_array_equal(result.array, 100 * column.array + row.array)


def test_what_is_worked_through_stays_in_the_file_when_its_memory_is_released(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(100_000, dtype=np.float32).reshape(100, 1000))
    source = open_array(tmp_path / "x.npy")
    with create_array(tmp_path / "y.npy", (100, 1000), "float32") as target:
        for x, y in chunks((100, 1000), [source, target], chunk_bytes=10_000):
            y[...] = 2 * x
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), 2 * np.load(tmp_path / "x.npy"))
