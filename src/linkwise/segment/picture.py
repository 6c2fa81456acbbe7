"""Read a picture, or refuse it in one sentence.

What a file says of itself is not believed: only a few kinds of files are tried, the size in the
header is checked before a pixel is made, and whatever a decoder raises becomes one error. Pixels
come out as sRGB bytes, upright (EXIF), on white where they are transparent. More than 8 bits are
stretched from the least to the largest value. Needs Pillow, which comes with the extra ``image``.
"""

import os
import stat
import warnings

import numpy as np

from linkwise.exceptions import MissingExtra

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP")
MOST = 80_000_000  # pixels


def pillow():
    """Return PIL.Image, or say how to get it."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra("Pillow", "image") from None
    return Image


def check_size(width, height, path):
    """Refuse a picture that is too large."""
    if width * height > MOST:
        raise ValueError(
            f"{path} has {width} x {height} pixels, more than {MOST:,}; make it smaller first"
        )
    if width < 1 or height < 1:
        raise ValueError(f"{path} has no pixels")


def _stretched(values, path):
    """Return bytes of values of more than 8 bits."""
    values = values.astype(np.float64)
    low, high = values.min(), values.max()
    if not np.isfinite(high - low):
        raise ValueError(f"{path} has pixels that are no finite numbers")
    return np.rint(255 * (values - low) / (high - low or 1)).astype(np.uint8)


def _as_rgb(image, path):
    """Return the pixels of a decoded image as bytes (height, width, 3)."""
    Image = pillow()
    if image.mode[0] in "IF":  # I;16, I, F
        grey = _stretched(np.asarray(image), path)
        return np.repeat(grey[..., None], 3, axis=2)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return np.array(image if image.mode == "RGB" else image.convert("RGB"))


def _decode(file, path):
    Image = pillow()
    from PIL import ImageOps

    with Image.open(file, formats=FORMATS) as image:
        check_size(image.width, image.height, path)
        if getattr(image, "n_frames", 1) > 1:
            raise ValueError(f"{path} has {image.n_frames} pictures in it; save one of them alone")
        image.load()
        return _as_rgb(ImageOps.exif_transpose(image), path)


def read_picture(path):
    """Return the pixels of an image file, bytes (height, width, 3).

    Raises
    ------
    ValueError : the file is no picture of a known kind, damaged, or too large
    OSError : it cannot be opened
    """
    Image = pillow()
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is no plain file; name an image file")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what matters of them is checked here
                return _decode(file, path)
        except Image.UnidentifiedImageError:
            kinds = ", ".join(FORMATS[:-1])
            raise ValueError(f"{path} is no {kinds} or {FORMATS[-1]} image") from None
        except Image.DecompressionBombError:
            raise ValueError(f"{path} has more than {MOST:,} pixels; make it smaller") from None
        except MemoryError:
            raise
        except Exception as error:  # decoders raise anything on damaged files
            if isinstance(error, ValueError) and str(error).startswith(str(path)):
                raise
            raise ValueError(f"{path} is damaged ({error}); save it anew") from error


def _open_at_once(path, flags):
    """Open a file without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
