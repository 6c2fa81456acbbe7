"""Masks in files: the value of every pixel's region, 1 ... 255.

A png has the values as its bytes and a palette for the eye; an npy is the array itself.
"""

import io
import os

import numpy as np

from linkwise._files import write_whole
from linkwise.segment.picture import pillow

# bright on a photograph, and told apart by colour-blind readers; the tenth is the first again
PALETTE = (
    "#ee6677", "#4477aa", "#ccbb44", "#228833", "#aa3377", "#66ccee", "#ee7733", "#009988",
    "#bbbbbb",
)  # fmt: skip
FORMATS = (".png", ".npy")


def palette_bytes():
    """Return red, green and blue of the values 0 ... 255; 0 is black."""
    rgb = [bytes.fromhex(colour[1:]) for colour in PALETTE]
    return bytes(3) + b"".join(rgb[value % len(rgb)] for value in range(255))


def check_format(path):
    """Refuse a name that says no known format."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in FORMATS:
        raise ValueError(f"{path}: a mask is written as {' or '.join(FORMATS)}; name such a file")


def encoded(mask, suffix):
    """Return a mask, uint8 (height, width), as the bytes of a .png or .npy file."""
    out = io.BytesIO()
    if suffix == ".npy":
        np.save(out, mask)
    else:
        image = pillow().fromarray(mask)
        image.putpalette(palette_bytes())
        image.save(out, "PNG")
    return out.getvalue()


def write_mask(path, mask):
    """Write a mask to a .png or .npy file, whole or not at all."""
    check_format(path)
    write_whole(path, encoded(mask, os.path.splitext(path)[1].lower()))
