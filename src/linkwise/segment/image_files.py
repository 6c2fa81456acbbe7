"""Read an image file, or refuse it in one sentence.

A file is not trusted: only a few formats are tried, the size in the header is checked before
anything is decoded, and every error of a decoder becomes one ValueError. The pixels are sRGB bytes.
EXIF rotation is applied, and transparent pixels are put on white. Values of more than 8 bits are
scaled from the smallest to the largest one. This needs Pillow, which comes with the extra
``image``.
"""

import os
import stat
import warnings

import numpy as np

from linkwise.exceptions import MissingExtra

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP")
MOST = 80_000_000  # pixels; larger images may exhaust the memory


def pillow():
    """Return PIL.Image, or raise MissingExtra."""
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtra("Pillow", "image") from None
    return Image


def check_size(width, height, path):
    """Refuse an image that is too large."""
    if width * height > MOST:
        raise ValueError(
            f"{path} has {width} x {height} pixels, more than {MOST:,}; scale it down first"
        )
    if width < 1 or height < 1:
        raise ValueError(f"{path} has no pixels; choose another image")


def _stretched(values, path):
    """Return values of more than 8 bits, scaled to bytes."""
    values = values.astype(np.float64)
    low, high = values.min(), values.max()
    if not np.isfinite(high - low):
        raise ValueError(f"{path} has pixels that are not finite numbers; save it without them")
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
            raise ValueError(
                f"{path} has {image.n_frames} images; save one of them as a file of its own"
            )
        image.load()
        return _as_rgb(ImageOps.exif_transpose(image), path)


def read_image(path):
    """Return the pixels of an image file, bytes (height, width, 3).

    Raises
    ------
    ValueError : the file has no known format, is damaged, or is too large
    OSError : the file cannot be opened
    """
    Image = pillow()
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is not a regular file; name an image file")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of Pillow that matter are errors below
                return _decode(file, path)
        except Image.UnidentifiedImageError:
            kinds = ", ".join(FORMATS[:-1])
            raise ValueError(f"{path} is not a {kinds} or {FORMATS[-1]} image") from None
        except Image.DecompressionBombError:
            raise ValueError(f"{path} has more than {MOST:,} pixels; scale it down first") from None
        except MemoryError:
            raise
        except Exception as error:  # on damaged files a decoder may raise anything
            if isinstance(error, ValueError) and str(error).startswith(str(path)):
                raise
            raise ValueError(f"{path} is damaged ({error}); save it again") from error


def _open_at_once(path, flags):
    """Open a file; do not wait for a writer if it is a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
