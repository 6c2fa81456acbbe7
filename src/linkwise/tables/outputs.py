"""Files that a command is about to write."""

import os


def check_output(path, *, force=False):
    """Refuse a path that cannot, or should not, be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; name a file in it")
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} is a pipe or a device; name a file")
    if os.path.exists(path) and not force:
        raise FileExistsError(f"{path} exists; --force overwrites it")
    if not os.path.isdir(folder):
        raise ValueError(f"{path}: its folder does not exist; make it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: its folder is not writable; choose another")
