"""The values of model.json, turned back into a model."""

from collections.abc import Callable

import numpy as np
from scipy import sparse

from linkwise.constraints import Constraints
from linkwise.saving.classes import (
    ADDED_ATTRIBUTES,
    ADDED_PARAMETERS,
    ATTRIBUTES,
    ESTIMATORS,
    METHODS,
    NUMBERS,
    PLAIN,
    SPARSE,
    TUPLES,
    check_names,
    check_numbers,
)


def decode(value, archive):
    """Return the value that an entry of model.json stands for."""
    if type(value) in PLAIN or type(value) is float:
        return value
    if type(value) is list:
        return decode_list(value, archive)
    ((kind, held),) = value.items()
    if kind not in DECODE:
        raise ValueError(f"it holds a {kind!r}, which linkwise does not know")
    return DECODE[kind](held, archive)


def decode_list(values, archive):
    return [decode(value, archive) for value in values]


def decode_objects(held, archive):
    shape, values = held
    flat = np.empty(len(values), dtype=object)
    flat[:] = decode_list(values, archive)
    return flat.reshape(shape)


def decode_scalar(held, archive):
    dtype = decode_dtype(held[0], archive)
    return dtype.type(decode(held[1], archive))


def decode_dtype(name, archive):
    dtype = np.dtype(name)
    if dtype.kind not in NUMBERS:
        raise ValueError(f"{name!r} is not a dtype of numbers")
    return dtype


def decode_random_state(held, archive):
    key, position, has_gauss, gauss = decode_list(held, archive)
    if not (key.shape == (624,) and 0 <= position <= 624):
        raise ValueError("the state of a RandomState is not valid")
    random = np.random.RandomState()
    random.set_state(("MT19937", key, position, has_gauss, gauss))
    return random


def decode_method(held, archive):
    name, owner = held[0], decode(held[1], archive)
    if name not in METHODS or type(owner) not in ESTIMATORS:
        raise ValueError(f"{name!r} is not a method that can be saved")
    return getattr(owner, name)


def sparse_decoder(kind):
    def decode_sparse(held, archive):
        shape, (data, first, second) = held[0], decode_list(held[1:], archive)
        if kind in (sparse.coo_array, sparse.coo_matrix):
            return kind((data, (first, second)), shape=shape)
        matrix = kind((data, first, second), shape=shape)
        matrix.indices, matrix.indptr = first, second  # with their own type of integers
        matrix.check_format(full_check=True)  # compiled code trusts them
        return matrix

    return decode_sparse


def tuple_decoder(kind):
    return lambda held, archive: kind(*decode_list(held, archive))


def object_decoder(kind):
    def decode_object(held, archive):
        value = object.__new__(kind)
        archive.objects.append(value)
        if kind in ESTIMATORS:
            lacking = ADDED_PARAMETERS.keys() & set(kind._get_param_names()) - held.keys()
            held = held | {name: ADDED_PARAMETERS[name] for name in lacking}
        if "labels_" in held:
            added = ADDED_ATTRIBUTES.get(kind, {})
            held = held | {name: added[name] for name in added.keys() - held.keys()}
        check_names(kind, held)
        parts = {name: decode(part, archive) for name, part in held.items()}
        vars(value).update(parts)
        check_numbers(value)
        return value

    return decode_object


DECODE: dict[str, Callable] = {
    "float": lambda held, archive: float(held),
    "tuple": lambda held, archive: tuple(decode_list(held, archive)),
    "dict": lambda held, archive: dict(decode_list(held, archive)),
    "array": lambda held, archive: archive.array(held),
    "objects": decode_objects,
    "scalar": decode_scalar,
    "dtype": decode_dtype,
    "RandomState": decode_random_state,
    "Constraints": lambda held, archive: Constraints.from_columns(*decode_list(held, archive)),
    "again": lambda held, archive: archive.objects[held],
    "method": decode_method,
}
DECODE |= {kind.__name__: sparse_decoder(kind) for kind in SPARSE}
DECODE |= {kind.__name__: tuple_decoder(kind) for kind in TUPLES}
DECODE |= {kind.__name__: object_decoder(kind) for kind in (*ESTIMATORS, *ATTRIBUTES)}
