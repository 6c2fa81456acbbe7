"""Modules whose examples are left out where an optional library is missing."""

from importlib.util import find_spec

collect_ignore = []
if find_spec("torch") is None:
    collect_ignore += [
        f"linkwise/arrays/{name}.py" for name in ("nearest_tensors", "products", "tensors")
    ]
if find_spec("torch") is None or find_spec("triton") is None:
    collect_ignore.append("linkwise/arrays/triton_kernels.py")
