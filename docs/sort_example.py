"""Sorts keys and moves values with pyopencl, as docs/sort.md describes.

python3 sort_example.py [PATH OF libradixpic_sort.so]
"""

import ctypes
import sys

import numpy as np
import pyopencl as cl

KEY_BITS, CELLS, COUNT = 10, 1 << 10, 1 << 20


class Shape(ctypes.Structure):
    """struct radixpic_sorter_shape of radixpic/sort.h."""

    _fields_ = [(name, ctypes.c_uint32) for name in ("most", "key_bytes", "key_bits", "cells", "any_order")]


class Lists(ctypes.Structure):
    """struct radixpic_sorter_lists."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("keys", "permutation", "sorted_keys", "offsets")]


library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libradixpic_sort.so.1")
library.radixpic_error.restype = ctypes.c_char_p


def handle(of):
    """What OpenCL calls an object of pyopencl."""
    return ctypes.c_void_p(of.int_ptr)


def call(function, *arguments):
    if getattr(library, function)(*arguments) != 0:
        sys.exit(library.radixpic_error().decode())


context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context)
keys = np.random.default_rng(1).integers(0, CELLS, COUNT, dtype=np.uint32)
values = keys.astype(np.float32)


def buffer_of(array):
    return cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)


key_buffer, permutation, from_buffer, to_buffer = (buffer_of(array) for array in (keys, keys, values, values))
lists = Lists(keys=key_buffer.int_ptr, permutation=permutation.int_ptr)
shape = Shape(most=COUNT, key_bytes=4, key_bits=KEY_BITS)

# one sorter for as many sorts as there are to come
sorter = ctypes.c_void_p()
device, made = handle(context.devices[0]), ctypes.byref(sorter)
call("radixpic_sorter_create", handle(context), device, ctypes.byref(shape), None, made)
call("radixpic_sorter_sort", sorter, handle(queue), ctypes.c_uint32(COUNT), ctypes.byref(lists), 0, None, None)
call(
    "radixpic_sorter_move", sorter, handle(queue), ctypes.c_uint32(COUNT), handle(permutation),
    ctypes.c_size_t(values.itemsize), handle(from_buffer), handle(to_buffer), 0, None, None,
)  # fmt: skip
library.radixpic_sorter_destroy(ctypes.byref(sorter))

order = np.empty_like(keys)
cl.enqueue_copy(queue, values, to_buffer)  # the queue is in order, and these copies wait for it
cl.enqueue_copy(queue, order, permutation)
same = np.array_equal(order, np.argsort(keys, kind="stable")) and np.array_equal(values, keys[order])
print(f"{COUNT} keys of {KEY_BITS} bits are {'sorted, as by numpy' if same else 'in a wrong order'}")
sys.exit(0 if same else 1)
