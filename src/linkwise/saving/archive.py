"""Saved models: written whole or not at all, and checked while they are read."""

import hashlib
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator

from linkwise import __version__
from linkwise._files import instead_of, kind_of_file, refuse_project
from linkwise._typing import Array, FilePath
from linkwise.blocks.rows import on_cluster, read_block, row_blocks
from linkwise.saving.classes import ESTIMATORS, NUMBERS
from linkwise.saving.decode import decode
from linkwise.saving.encode import Parts, encode, refuse

FORMAT = 3  # 1: constraints without their source; up to 2: LinkClustering by other models
OLDEST = 1  # format that is read
NAME = "linkwise model"
SUFFIX = ".lwmodel"
CHUNK = 1 << 20  # bytes read at a time: more is no faster, and takes memory


def write_array(file: Any, rows: Any) -> None:
    """Write an array, or rows read in blocks, as a .npy file; the order in memory is kept."""
    shape, dtype = tuple(map(int, rows.shape)), np.dtype(rows.dtype)
    strides = [abs(stride) for stride in getattr(rows, "strides", ())]
    columns = len(shape) > 1 and strides[:1] < strides[-1:] and not rows.flags.c_contiguous
    head = {"descr": dtype.str, "fortran_order": columns, "shape": shape}
    np.lib.format.write_array_header_1_0(file, head)
    rows = rows.T if columns else rows if shape else rows.reshape(1)
    width = max(1, math.prod(rows.shape[1:]))
    for part in row_blocks(rows.shape[0], width, max(1, dtype.itemsize)):
        file.write(read_block(rows, part).tobytes())


def check_place(path: FilePath) -> Path:
    """Return where a model is written, or refuse it."""
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IsADirectoryError(f"path={str(path)!r} is a folder; name a file in it")
    refuse_project(path)
    if Path(path).suffix.lower() != SUFFIX:
        raise ValueError(
            f"path={str(path)!r}: the name of a saved model ends in {SUFFIX}; "
            f"name it {Path(path).with_suffix(SUFFIX).name!r}"
        )
    if not place.parent.is_dir():
        raise FileNotFoundError(f"path={str(path)!r}: its folder does not exist; make it first")
    return place


def save(model: BaseEstimator, path: FilePath) -> None:
    """Write a model to a file that `load` reads.

    Parameters
    ----------
    model : estimator of linkwise, fitted or not
        The file holds all parameters and all fitted attributes. A ``random_state`` that is a
        RandomState is saved with its state. A function among the parameters (a ``kernel`` of
        `KernelKMeans`) cannot be saved and raises TypeError.
    path : str or path
        Name of the file; it must end in .lwmodel. A model of that name is replaced once the new
        file is complete. A project of answers is never replaced, whatever its name.

    Raises
    ------
    TypeError, if the model or a part of it cannot be saved.
    ValueError, if the name does not end in .lwmodel.
    FileExistsError, if the file is a project of answers.

    Notes
    -----
    The file is an archive of names and arrays, not a pickle: reading it runs no code. It contains
    the points given to `fit`, because `predict` and `refit` need them, and the graph. A `CCSKL`
    of 9,298 x 256 points in float32, 9.5 MB, takes 14.5 MB. A dense affinity adds n_samples^2
    numbers, with some methods several times that. Rows and labels in files of their own
    (``fit("points.npy", out="labels.npy")``) are copied into the file, block by block.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import linkwise
    >>> X = load_iris().data
    >>> model = linkwise.CCSKL(3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     linkwise.save(model, Path(folder) / "iris.lwmodel")
    ...     again = linkwise.load(Path(folder) / "iris.lwmodel")
    >>> bool((again.predict(X) == model.labels_).all())
    True
    """
    if type(model) not in ESTIMATORS:
        refuse(model, "model", "pass an estimator of linkwise")
    if on_cluster(getattr(model, "_fit_X", None)) is not None:
        raise TypeError(
            "model was fitted to rows on a Dask cluster, and a file would hold all of them: store "
            "labels_, or fit an array of a part of the rows to save"
        )
    place = check_place(path)
    parts = Parts()
    held = encode(model, type(model).__name__, parts)
    head = {"name": NAME, "format": FORMAT, "linkwise": __version__, "model": held}
    head["digest"] = digest(held)
    try:
        with instead_of(place) as beside, zipfile.ZipFile(beside, "x") as archive:
            archive.writestr(zipfile.ZipInfo("model.json"), json.dumps(head, allow_nan=False))
            for number, rows in enumerate(parts.arrays):
                name = zipfile.ZipInfo(f"{number}.npy")
                with archive.open(name, "w", force_zip64=True) as file:
                    write_array(file, rows)
    except OSError as error:
        raise OSError(f"path={str(path)!r} was not written: {error.strerror}") from error


def digest(held: Any) -> str:
    """Return a checksum of the description of a model."""
    text = json.dumps(held, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def outdated(head: dict[str, Any]) -> bool:
    """Tell whether a file holds a fitted LinkClustering of an older format."""
    held = head["model"].get("LinkClustering")
    return int(head["format"]) < FORMAT and held is not None and "labels_" in held


class Archive:
    """An open file of a model, and the arrays and objects read from it so far."""

    def __init__(self, file: Any) -> None:
        self.zip = zipfile.ZipFile(file)
        self.arrays: dict[int, Array] = {}
        self.objects: list[Any] = []
        members = self.zip.infolist()
        size = os.fstat(file.fileno()).st_size
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("its parts are compressed; those of a model never are")
        if sum(member.file_size for member in members) > size:
            raise ValueError("its parts are larger than the file")

    def array(self, number: int) -> Array:
        """Return the array of that number."""
        if number not in self.arrays:
            self.arrays[number] = read_array(self.zip, f"{int(number)}.npy")
        return self.arrays[number]


def read_array(archive: zipfile.ZipFile, name: str) -> Array:
    """Return the array in a .npy file of an archive; its type and length are checked."""
    headers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    with archive.open(name) as file:
        shape, columns, dtype = headers[np.lib.format.read_magic(file)](file)
        nbytes = archive.getinfo(name).file_size - file.tell()
        if dtype.kind not in NUMBERS or math.prod(shape) * dtype.itemsize != nbytes:
            raise ValueError(f"{name} is not the array that its header describes")
        flat = np.empty(math.prod(shape), dtype)
        memory = flat.view(np.uint8).data  # a slice of it takes exactly as many bytes as it has
        for start in range(0, nbytes, CHUNK):  # the last read compares the checksum
            memory[start : start + CHUNK] = file.read(CHUNK)
    return flat.reshape(shape, order="F" if columns else "C")


def not_json(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python's json reads though they are not JSON."""
    raise ValueError(f"model.json holds {name}")


def load(path: FilePath) -> Any:
    """Return the model in a file that `save` wrote.

    Parameters
    ----------
    path : str or path
        A .lwmodel file. Models of earlier versions, whose names end in .linkwise, are read too:
        the content counts, not the name.

    Returns
    -------
    estimator
        `predict`, `transform` and `refit` give the same results as before the model was saved.
        Arrays are read into memory; ``sample_id``, however it was given, is an array.

    Raises
    ------
    ValueError, if the file is not a model, is damaged or has another format.

    Notes
    -----
    Nothing that a file names is imported or run. The indices that compiled code relies on are
    checked. `load` cannot tell whether the numbers come from a real fit.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"path={str(path)!r}: no such file; name one that save wrote")
    if kind_of_file(path) == "project":
        raise ValueError(
            f"{path} is a project of answers, not a saved model; read it by "
            "linkwise.journal.read_project, or name a .lwmodel file"
        )
    with open(path, "rb") as file:
        try:
            archive = Archive(file)
            head = json.loads(archive.zip.read("model.json"), parse_constant=not_json)
            if head["name"] != NAME:
                raise ValueError(f"it calls itself {head['name']!r}")
            written, version = int(head["format"]), str(head["linkwise"])
            if written == FORMAT and head.get("digest", "") not in ("", digest(head["model"])):
                raise ValueError("its description does not match its checksum")
            if OLDEST <= written <= FORMAT and not outdated(head):
                model = decode(head["model"], archive)
                if type(model) not in ESTIMATORS:
                    raise ValueError(
                        f"it holds a {type(model).__name__}, which is not an estimator"
                    )
                return model
        except MemoryError:
            raise
        except Exception as error:  # a broken archive may fail anywhere, and with anything
            fault = str(error.args[-1])[:200] if error.args else type(error).__name__
            raise ValueError(
                f"{path} is not a readable model ({fault}); the file is cut short, damaged or not "
                "a model: save the model again by linkwise.save"
            ) from None
    if written < FORMAT:
        raise ValueError(
            f"{path} holds a LinkClustering fitted by linkwise {version}, whose models this "
            "version does not have; fit it again"
        )
    raise ValueError(
        f"{path} was written by linkwise {version} in format {written}; this is linkwise "
        f"{__version__}, which reads formats up to {FORMAT}: install linkwise {version}, or save "
        "the model again"
    )
