"""Masks in files: the value of the region of every pixel, 1 ... 255.

A .png file stores the values as its bytes, with a palette to view them. A .npy file is the array.
A cut-out is the image with everything outside of one region transparent, as .png.
"""

import io
import os

import numpy as np

from linkwise._files import write_whole
from linkwise.segment.image_files import pillow

# visible on photographs, and distinct for colour-blind readers; after nine colours they repeat
PALETTE = (
    "#ee6677", "#4477aa", "#ccbb44", "#228833", "#aa3377", "#66ccee", "#ee7733", "#009988",
    "#bbbbbb",
)  # fmt: skip
FORMATS = (".png", ".npy")


def palette_bytes():
    """Return red, green and blue of the values 0 ... 255; 0 is black."""
    rgb = [bytes.fromhex(colour[1:]) for colour in PALETTE]
    return bytes(3) + b"".join(rgb[value % len(rgb)] for value in range(255))


def check_format(path, *, cutout=False):
    """Refuse a file name without the suffix of a known format."""
    suffix = os.path.splitext(path)[1].lower()
    if cutout and suffix != ".png":
        raise ValueError(f"{path}: a cut-out is a .png file; end the name in .png")
    if suffix not in FORMATS:
        raise ValueError(
            f"{path}: a mask is a {' or '.join(FORMATS)} file; end the name in one of these"
        )


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
    """Write a mask to a .png or .npy file, completely or not at all."""
    check_format(path)
    write_whole(path, encoded(mask, os.path.splitext(path)[1].lower()))


def cut_out(rgb, inside):
    """Return an image, transparent outside of a region, as the bytes of a .png file."""
    out = io.BytesIO()
    alpha = np.where(inside, 255, 0).astype(np.uint8)
    pillow().fromarray(np.dstack([rgb, alpha])).save(out, "PNG")
    return out.getvalue()


def write_cutout(path, rgb, inside):
    """Write an image, transparent outside of a region, to a .png file, completely or not at all."""
    check_format(path, cutout=True)
    write_whole(path, cut_out(rgb, inside))
