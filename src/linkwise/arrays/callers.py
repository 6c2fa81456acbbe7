"""Whose arrays they are: take them in, and give results back in the same library and device."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from linkwise.arrays import host


class Caller(NamedTuple):
    """The library and device of the arrays that a user passed."""

    library: str  # "numpy", "torch", "cupy", ...
    device: Any  # None for NumPy
    namespace: Any  # module of the library that makes arrays; None for NumPy

    def same(self, other: "Caller") -> bool:
        """Tell whether two callers use one library and one device."""
        return (self.library, str(self.device)) == (other.library, str(other.device))

    def __str__(self) -> str:
        return "NumPy" if self.library == "numpy" else f"{self.library} on {self.device}"

    def give(self, A: Any) -> Any:
        """Return an array that was computed here as an array of the caller."""
        if self.library == "numpy":
            return to_host(A) if on_device(A) else A
        if is_sparse(A) or not (isinstance(A, np.ndarray) or on_device(A)):
            return A
        if self.library == "torch":
            return door(self).asarray(A, self)
        if self.library == "cupy":
            with self.device:  # its asarray takes no device
                return self.namespace.from_dlpack(A) if on_device(A) else self.namespace.asarray(A)
        return self.namespace.asarray(to_host(A), device=self.device)


NUMPY = Caller("numpy", None, None)


def library_of(X: Any) -> str:
    """Return the name of the package that the type of X comes from."""
    return type(X).__module__.partition(".")[0]


def is_tensor(X: Any) -> bool:
    """Tell whether X is a tensor of torch."""
    return library_of(X) == "torch" and hasattr(X, "layout")


def on_device(X: Any) -> bool:
    """Tell whether X is computed by torch: a tensor, as `take` returned it."""
    return is_tensor(X)


def on_cpu(X: Any) -> bool:
    """Tell whether the memory of X is that of the CPU, which NumPy can read."""
    kind = getattr(getattr(X, "device", None), "type", None)  # torch
    if kind is not None:
        return bool(kind == "cpu")
    place = getattr(X, "__dlpack_device__", None)
    return place is None or int(place()[0]) == 1  # kDLCPU


def caller_of(X: Any) -> Caller:
    """Return whose array X is; lists, tables, sparse matrices and files count as NumPy's."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return NUMPY
    if is_tensor(X):
        return Caller("torch", X.device, None)
    if hasattr(X, "__array_namespace__") and hasattr(X, "__dlpack__"):
        return Caller(library_of(X), X.device, X.__array_namespace__())
    if library_of(X) == "cupy" and hasattr(X, "__dlpack__"):
        return Caller("cupy", X.device, import_module("cupy"))
    return NUMPY


def take(X: Any) -> Any:
    """Return X as an array that this library computes with.

    An array in the memory of the CPU becomes a NumPy array that shares it. An array on another
    device becomes a tensor of torch. All else is returned as it is.
    """
    caller = caller_of(X)
    if caller.library == "numpy":
        return X
    if caller.library == "torch":
        X = X.detach()
        return X.numpy() if on_cpu(X) and not is_sparse(X) else X
    if not on_cpu(X):
        from linkwise.arrays import tensors

        return tensors.adopt(X)
    try:
        return np.asarray(X)
    except (RuntimeError, TypeError):  # a device that array-api-strict made up
        return np.asarray(X.to_device(caller.namespace.Device("CPU_DEVICE")))


def send(X: Any, device: Any) -> Any:
    """Return points that `take` returned on a device such as "cuda"; None: where they are."""
    if device is None:
        return X
    if on_device(X):
        if str(X.device) in (str(device), f"{device}:0"):
            return X
        raise ValueError(
            f"X is on {X.device}, and device={str(device)!r}: leave device out, or pass X on that "
            "device"
        )
    if not isinstance(X, np.ndarray) or isinstance(X, np.memmap):
        raise TypeError(
            f"device={str(device)!r} takes points in a dense array, and X is a "
            f"{type(X).__name__}: leave device out"
        )
    try:
        from linkwise.arrays import tensors
    except ImportError:
        raise ImportError(
            f"device={str(device)!r} needs torch: pip install 'linkwise[gpu]', or leave device out"
        ) from None
    return take(tensors.sent(X, device))


@contextmanager
def memory_in_words() -> Iterator[None]:
    """Say in one sentence that the memory of a device does not suffice."""
    try:
        yield
    except RuntimeError as error:
        if library_of(error) != "torch" or type(error).__name__ != "OutOfMemoryError":
            raise
        raise MemoryError(
            "the device has too little free memory: use fewer rows, end other programs that use "
            "it, or compute on the CPU (pass X.cpu(), or leave device out)"
        ) from None


def door(X: Any) -> ModuleType:
    """Return the module with the operations for X that have no standard form."""
    if on_device(X) or (isinstance(X, Caller) and X.library == "torch"):
        from linkwise.arrays import tensors

        return tensors
    return host


class PerKind:
    """A function that has one form for each kind of array, chosen by its first argument.

    The decorated function is the form for NumPy and SciPy; ``@name.of_tensors`` adds that for
    tensors of torch. The first argument may be a list of arrays.
    """

    __qualname__: str

    def __init__(self, of_host: Callable[..., Any]) -> None:
        update_wrapper(self, of_host)
        self._forms = {host.__name__: of_host}

    def of_tensors(self, form: Callable[..., Any]) -> Callable[..., Any]:
        """Add the form for tensors."""
        self._forms["linkwise.arrays.tensors"] = form
        return form

    def __reduce__(self) -> str:
        return self.__qualname__  # pickled by name, as functions are

    def __call__(self, X: Any, *args: Any, **options: Any) -> Any:
        first = X[0] if isinstance(X, list) else X
        return self._forms[door(first).__name__](X, *args, **options)


def namespace(X: Any) -> Any:
    """Return the array namespace of X: NumPy, or torch by the names of the standard."""
    return door(X).xp()


def is_sparse(X: Any) -> bool:
    """Tell whether X is a sparse matrix of SciPy or torch."""
    return bool(sparse.issparse(X)) or (is_tensor(X) and "sparse" in str(X.layout))


def dtype_name(A: Any) -> str:
    """Return the name of the dtype of an array of any library, such as "float32"."""
    return str(A.dtype).rpartition(".")[2]  # without "torch."


def to_host(A: Any) -> Any:
    """Return an array, or a sparse matrix, as that of NumPy or SciPy."""
    A = take(A)
    return door(A).to_host(A)
