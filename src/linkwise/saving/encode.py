"""A model, turned into the values of model.json and a list of arrays."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from linkwise.arrays import caller_of, to_host
from linkwise.blocks.rows import is_external
from linkwise.constraints.ids import as_array, as_ids
from linkwise.saving.classes import (
    ATTRIBUTES,
    ESTIMATORS,
    METHODS,
    NOT_SAVED,
    NUMBERS,
    PLAIN,
    SPARSE,
    TUPLES,
    check_names,
    kind_of,
)


class Parts:
    """The arrays and objects of a model that were met while it is encoded."""

    def __init__(self):
        self.arrays = []  # held here, so that no address is used again
        self.number = {}  # of arrays, by their place in memory
        self.objects = {}  # numbers of objects, by `state_of`
        self.copies = {}  # (array of another library, the same of NumPy), by id

    def portable(self, value):
        """Return an array of another library, or its dtype, as that of NumPy."""
        if type(value).__module__ == "torch" and type(value).__name__ == "dtype":
            return np.dtype(str(value).rpartition(".")[2])
        if caller_of(value).library == "numpy":
            return value
        if id(value) not in self.copies:
            self.copies[id(value)] = value, to_host(value)
        return self.copies[id(value)][1]

    def add(self, rows):
        """Return the number of an array; two arrays in the same memory have the same number."""
        key: Any = id(rows)
        if isinstance(rows, np.ndarray):
            key = rows.ctypes.data, rows.shape, rows.strides, rows.dtype.str
        if key not in self.number:
            self.number[key] = len(self.arrays)
            self.arrays.append(rows)
        return self.number[key]


def state_of(value):
    """Return what identifies an object: its state, which a copy made by a fit shares."""
    return id(vars(value) if hasattr(value, "__dict__") else value)


def refuse(value, where, remedy):
    """Raise TypeError for a value that cannot be saved."""
    raise TypeError(f"{where} is of type {type(value).__name__}, which cannot be saved; {remedy}")


def encode(value, where, parts):
    """Return the entry of model.json that stands for a value.

    Parameters
    ----------
    value : any
    where : str, what to call it in an error
    parts : Parts, to which its arrays are added
    """
    value = parts.portable(value)
    if type(value) in PLAIN or (type(value) is float and math.isfinite(value)):
        return value
    if type(value) is list:
        return encode_list(value, where, parts)
    if (held := state_of(value)) in parts.objects:
        return {"again": parts.objects[held]}
    kind = kind_of(value)
    if kind is None:
        refuse(value, where, "numbers, texts, arrays, lists, dicts, Constraints and estimators can")
    return {kind: ENCODE[kind](value, where, parts)}


def encode_list(values, where, parts):
    if set(map(type, values)) <= PLAIN:  # quick for many ids
        return list(values)
    return [encode(value, f"{where}[{i}]", parts) for i, value in enumerate(values)]


def encode_dict(values, where, parts):
    return [
        [encode(key, f"a key of {where}", parts), encode(value, f"{where}[{key!r}]", parts)]
        for key, value in values.items()
    ]


def encode_array(array, where, parts):
    if array.dtype.kind not in NUMBERS:
        refuse(array, f"{where}, an array of {array.dtype},", "arrays of numbers and texts can")
    return parts.add(array)


def encode_objects(array, where, parts):
    return [list(array.shape), encode_list(array.ravel().tolist(), where, parts)]


def encode_scalar(value, where, parts):
    if type(value.item()) not in (bool, int, float, str):
        refuse(value, where, "use a number or a text of Python")
    return [value.dtype.str, encode(value.item(), where, parts)]


def encode_sparse(matrix, where, parts):
    if matrix.ndim != 2:
        refuse(matrix, f"{where}, of {matrix.ndim} dimensions,", "matrices can")
    arrays = [getattr(matrix, name) for name in SPARSE[type(matrix)]]
    return [list(map(int, matrix.shape)), *encode_list(arrays, where, parts)]


def encode_constraints(links, where, parts):
    _, columns = links.__reduce__()
    return encode_list(columns if len(links.groups) else columns[:-1], where, parts)


def encode_random_state(random, where, parts):
    told = random.get_state(legacy=False)
    if told["bit_generator"] != "MT19937":
        refuse(random, f"{where}, by {told['bit_generator']},", "use an integer")
    key, position = told["state"]["key"], int(told["state"]["pos"])
    return [encode(key, where, parts), position, int(told["has_gauss"]), float(told["gauss"])]


def encode_method(method, where, parts):
    if method.__name__ not in METHODS or type(method.__self__) not in ESTIMATORS:
        refuse(method, where, "a model cannot hold functions")
    return [method.__name__, encode(method.__self__, where, parts)]


def encode_object(value, where, parts):
    parts.objects[state_of(value)] = len(parts.objects)
    check_names(type(value), vars(value))
    held = {}
    for name, part in vars(value).items():
        if name in NOT_SAVED:
            continue
        if name == "_fit_X" and is_external(part):
            held[name] = {"array": parts.add(part)}
            continue
        if name == "_sample_id" and part is not None:
            part = as_ids(as_array(part, "sample_id"), lambda i: f"sample_id[{i}]")
        held[name] = encode(part, f"{where}.{name}", parts)
    return held


ENCODE: dict[str, Callable] = {
    "float": lambda value, where, parts: repr(value),
    "tuple": encode_list,
    "dict": encode_dict,
    "array": encode_array,
    "objects": encode_objects,
    "scalar": encode_scalar,
    "dtype": lambda value, where, parts: value.str,
    "RandomState": encode_random_state,
    "Constraints": encode_constraints,
    "method": encode_method,
}
ENCODE |= {kind.__name__: encode_sparse for kind in SPARSE}
ENCODE |= {kind.__name__: encode_list for kind in TUPLES}
ENCODE |= {kind.__name__: encode_object for kind in (*ESTIMATORS, *ATTRIBUTES)}
