"""Files that a command is about to write.

A project is never overwritten, and neither are the data that a project stands on: answers name
the rows of these very data. A file is the data of a project if it has the same content, or if it
lies beside the project under the name that the project remembers.
"""

import os
from hashlib import file_digest
from pathlib import Path

from linkwise._files import kind_of_file, refuse_project
from linkwise.journal import project_data


def check_output(path, *, force=False, projects=()):
    """Refuse a path that cannot, or should not, be written.

    Parameters
    ----------
    path : str or path
    force : bool, whether a file that exists may be overwritten
    projects : paths of projects that are in use; those in the folder of `path` are considered too
    """
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; name a file in it")
    if os.path.exists(path):
        if not os.path.isfile(path):
            raise ValueError(f"{path} is a pipe or a device; name a file")
        refuse_project(path)
        refuse_data(path, projects)
        if not force:
            raise FileExistsError(f"{path} exists; --force overwrites it")
    if not os.path.isdir(folder):
        raise ValueError(f"{path}: its folder does not exist; make it first")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: its folder is not writable; choose another")


def refuse_data(path, projects=()):
    """Raise FileExistsError if a file is the data of one of these projects, or of one beside it."""
    place = Path(os.path.realpath(path))
    candidates = (*projects, *sorted(place.parent.glob("*.linkwise")))
    nearby = [p for p in candidates if os.access(p, os.R_OK) and kind_of_file(p) == "project"]
    if not nearby:
        return
    with open(place, "rb") as file:
        checksum = file_digest(file, "sha256").hexdigest()
    for project in nearby:
        if is_data_of(place, checksum, project):
            raise FileExistsError(
                f"{path} is the data of the project {Path(project).name}, and is never "
                "overwritten; name another file"
            )


def is_data_of(path, checksum, project):
    """Tell whether a file, a resolved Path, is the data of a project."""
    project = Path(os.path.realpath(project))
    try:
        data = project_data(project)
    except (ValueError, OSError):  # damaged: told by its name
        return project.with_suffix("") == path.with_suffix("")
    return checksum == data.sha256 or path == project.with_name(data.name)
