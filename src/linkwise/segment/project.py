"""An image and its project of strokes: opened together, segmented, exported."""

from linkwise._wording import counted
from linkwise.journal import Journal, check_data, describe, read_project
from linkwise.journal.settings import is_count, project_settings, settled
from linkwise.segment.image_files import read_image
from linkwise.segment.masks import write_mask
from linkwise.segment.segmenter import SUPERPIXELS, Segmenter
from linkwise.segment.strokes import COLOURS, checked_stroke, read_strokes

RULES = {
    "regions": lambda value: is_count(value, 1, COLOURS),
    "superpixels": lambda value: is_count(value, 2),
}
KEPT = tuple(RULES)  # settings of a project


def described(image, rgb):
    """Return the Data of an image file: its pixels are its rows."""
    return describe(image, rgb.shape[0] * rgb.shape[1])


def settings_of(path, given):
    """Return the settings to use: those given, else those of the project, else None."""
    return settled(given, project_settings(path, RULES)[0])


def strokes_of(state, shape, path):
    """Return the Strokes of a log that count."""
    try:
        return [checked_stroke(body, shape) for body in state.strokes]
    except ValueError as error:
        raise ValueError(f"{path}: the log has a bad stroke: {error}") from None


def open_project(image, path, settings):
    """Return (pixels, Journal): an image, and the log of strokes on it, created if new."""
    rgb = read_image(image)
    journal = Journal(path, data=described(image, rgb))
    try:
        strokes_of(journal.state, rgb.shape, path)
        journal.configure(**settings)
    except BaseException:
        journal.close()
        raise
    return rgb, journal


def segmenter_of(rgb, settings):
    """Return the Segmenter of an image with the settings of a project."""
    return Segmenter(rgb, n_superpixels=settings["superpixels"] or SUPERPIXELS)


def segment_file(image, output, *, strokes=None, project=None, settings):
    """Write the mask of an image by a file of strokes or a project; return a summary."""
    rgb = read_image(image)
    lines = []
    if strokes is not None:
        lines = read_strokes(strokes, rgb.shape)
    elif project is not None:
        kept = read_project(project)
        check_data(project, kept.data, described(image, rgb))
        lines = strokes_of(kept.state, rgb.shape, project)
    segmenter = segmenter_of(rgb, settings)
    mask = segmenter.mask(lines, n_regions=settings["regions"])
    write_mask(output, mask)
    names = segmenter.regions(lines, n_regions=settings["regions"]).names
    return f"{output}: {shares(mask, names)}; {counted(len(lines), 'stroke')}"


def shares(mask, names):
    """Return the share of each region in a mask, in words."""
    parts = []
    for value, colour in sorted(names.items()):
        name = "not painted" if colour is None else "" if colour == str(value) else colour
        share = f"{(mask == value).mean():.1%}"
        parts.append(f"{value}{f' ({name})' if name else ''} {share}")
    return ", ".join(parts)
