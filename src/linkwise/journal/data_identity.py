"""The data that a project is about, and the refusal of other data."""

import os
from pathlib import Path
from typing import NamedTuple

from linkwise._wording import counted
from linkwise.exceptions import warn
from linkwise.journal.file import FilePath


class Data(NamedTuple):
    """The data that answers are about.

    Attributes
    ----------
    name : str, the name of the file, without its folder
    sha256 : str, the checksum of the file
    n_rows : int
    named_by : str, "row" if answers name row numbers, else "id"
    """

    name: str
    sha256: str
    n_rows: int
    named_by: str


def _checksum(path: FilePath) -> str:
    """Return the checksum of a file, or of the names and checksums of the files below a folder."""
    from hashlib import file_digest, sha256

    if not os.path.isdir(path):
        with open(path, "rb") as file:
            return file_digest(file, "sha256").hexdigest()
    total = sha256()
    for found in sorted(item for item in Path(path).rglob("*") if item.is_file()):
        total.update(f"{found.relative_to(path).as_posix()}\0{_checksum(found)}\n".encode())
    return total.hexdigest()


def describe(path: FilePath, n_rows: int, *, ids: bool = False) -> Data:
    """Return the Data of a file or folder of n_rows rows, known by ids or by their numbers."""
    name = os.path.basename(os.path.normpath(path))
    return Data(name, _checksum(path), int(n_rows), "id" if ids else "row")


def check_data(path: FilePath, theirs: Data, data: Data) -> None:
    """Refuse data that are not those a project is about."""
    if theirs.named_by != data.named_by:
        ways = {"row": "row number", "id": "id"}
        raise ValueError(
            f"{path} names rows by {ways[theirs.named_by]}, not by {ways[data.named_by]}; "
            "name the column of ids as it was when the project began"
        )
    if (theirs.sha256, theirs.n_rows) != (data.sha256, data.n_rows):
        then, now = (
            f"({counted(d.n_rows, 'row')}, sha256 {d.sha256[:12]})" for d in (theirs, data)
        )
        if theirs.name == data.name:
            fault = f"as it was {then}, and it has changed {now}; bring the old file back"
        else:
            fault = f"{then}, not about {data.name} {now}; name that file"
            if theirs.named_by == "id" and data.n_rows > theirs.n_rows:
                fault += f" (if it is {theirs.name} with more rows, give it that name)"
        raise ValueError(
            f"{path} has answers about {theirs.name} {fault}, or begin another project and import "
            "the answers there"
        )


def is_grown(theirs: Data, data: Data) -> bool:
    """Tell whether data may be those a project is about with more rows; ids name the rows."""
    same_file = theirs.name == data.name and theirs.named_by == data.named_by == "id"
    return same_file and data.n_rows > theirs.n_rows


def check_rows(path: FilePath, theirs: Data, data: str, n_rows: int, *, ids: bool) -> None:
    """Refuse to apply the answers of a project to rows that may be others.

    Answers that name row numbers need the very same file. Answers that name ids rely on the user:
    an id means the same thing in every file. Another file then leads to a warning, and is used.
    """
    named_by = "id" if ids else "row"
    if theirs.named_by == "row" and data == "-":
        raise ValueError(f"{path} names rows by number, of {theirs.name}; name that file")
    if data != "-":
        mine = describe(data, n_rows, ids=ids)
        if theirs.named_by != named_by or named_by == "row":
            check_data(path, theirs, mine)
        elif mine.sha256 != theirs.sha256:
            warn(
                f"{path} has answers about {theirs.name}, and {data} is not that file or has "
                "changed; they are taken over by id",
            )
