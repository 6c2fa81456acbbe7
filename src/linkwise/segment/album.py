"""The images of a project: one file, or those of a folder, each read when it is needed.

The image of a project about one file has no name of its own, None. The images of a folder are named
by their paths below it, as in the strokes of the log.
"""

import os
from threading import Lock
from typing import Any

from linkwise._files import images_below
from linkwise.segment.image_files import read_image
from linkwise.segment.segmenter import SUPERPIXELS, Segmenter

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp")  # of images in a folder
HELD = 3  # images whose superpixels are kept: a person goes back and forth


def segmenter_of(rgb, settings):
    """Return the Segmenter of an image with the settings of a project."""
    n, only = settings["superpixels"] or SUPERPIXELS, bool(settings["only_touching"])
    return Segmenter(rgb, n_superpixels=n, only_touching=only)


class Album:
    """The images of a project.

    Parameters
    ----------
    path : path of an image, or of a folder of images

    Attributes
    ----------
    names : list, [None] for one image, else the names of all
    """

    def __init__(self, path):
        self.path = path
        self.is_folder = os.path.isdir(path)
        self.names: list[Any] = images_below(path, SUFFIXES)[0] if self.is_folder else [None]
        self._first = None if self.is_folder else read_image(path)
        self._held: dict = {}  # name: Segmenter, the one used last at the end
        self._mutex = Lock()

    @property
    def n_rows(self):
        """How many rows the data of the project have: images, or the pixels of one."""
        return len(self.names) if self._first is None else self._first[..., 0].size

    def title(self, name):
        """Return what an image is called."""
        return os.path.basename(self.path) if name is None else name

    def pixels(self, name):
        """Return the pixels of an image, uint8 (height, width, 3)."""
        return read_image(os.path.join(self.path, name)) if self._first is None else self._first

    def segmenter(self, name, settings):
        """Return the Segmenter of an image, made in about a second; the last few are kept."""
        if name not in self.names:
            raise ValueError(f"{self.path} has no image {str(name)[:80]!r}; choose one of the list")
        with self._mutex:
            found = self._held.get(name)
        if found is None:  # without the mutex: other images can be used meanwhile
            found = segmenter_of(self.pixels(name), settings)
        with self._mutex:
            self._held.pop(name, None)
            self._held[name] = found
            while len(self._held) > HELD:
                del self._held[next(iter(self._held))]
        return found
