"""Images in files, in a folder or named by a column of a table: found, and read as pixels.

A name is a path below the folder, or below the folder of the table, so a table from elsewhere
cannot show other files of this machine. The type of an image is found by its first bytes, not by
its name. ``picture_features`` makes points of the pixels.
"""

import os
import warnings
from pathlib import Path

import numpy as np

from linkwise.exceptions import MissingExtra
from linkwise.labelling.picture_features import SIDE, picture_points

SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")  # of the images in a folder
LARGEST = 50_000_000  # bytes of a file, pixels of an image: larger ones may exhaust the memory
KINDS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


def image_file(name, table):
    """Return the path of an image that a table names or that is in a folder, or refuse it."""
    folder = os.path.realpath(table if os.path.isdir(table) else Path(table).parent)
    try:
        path = os.path.realpath(os.path.join(folder, name))
        inside = os.path.commonpath([folder, path]) == folder and os.path.isfile(path)
    except ValueError:  # a NUL in the name, or another drive
        inside = False
    if not inside:
        raise ValueError(f"{table}: {name!r} is no file below {folder}")
    if os.path.getsize(path) > LARGEST:
        raise ValueError(f"{table}: the image {name!r} has more than {LARGEST:,} bytes")
    return path


def kind_of(raw):
    """Return the type of an image by its first bytes, or None."""
    if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in KINDS.items() if raw.startswith(start)), None)


def _pixels(path, name, table):
    """Return the pixels of an image, uint8 (64, 64, 3)."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(path, formats=("PNG", "JPEG", "GIF", "WEBP")) as picture:
                if picture.width * picture.height > LARGEST:
                    raise ValueError(f"{picture.width} x {picture.height} pixels are too many")
                picture.draft("RGB", (4 * SIDE, 4 * SIDE))
                small = picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX)
        except Exception as error:  # a broken picture may fail anywhere, and with anything
            raise ValueError(f"{table}: {name!r} is not a readable picture ({error})") from error
    return np.asarray(small)


def image_points(names, table):
    """Return images as points, (n, d): names in a folder, or in the folder of a table."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        raise MissingExtra("Pillow", "image") from None
    return picture_points(_pixels(image_file(name, table), name, table) for name in names)
