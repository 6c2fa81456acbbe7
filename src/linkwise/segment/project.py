"""An image and its project of strokes: opened together, segmented, exported."""

from linkwise._wording import counted
from linkwise.journal import Journal, check_data, describe, read_project
from linkwise.journal.settings import is_count, project_settings, settled
from linkwise.segment.image_files import read_image
from linkwise.segment.masks import write_cutout, write_mask
from linkwise.segment.segmenter import SUPERPIXELS, Segmenter
from linkwise.segment.strokes import COLOURS, checked_stroke, read_strokes

RULES = {
    "regions": lambda value: is_count(value, 1, COLOURS),
    "superpixels": lambda value: is_count(value, 2),
    "only_touching": lambda value: isinstance(value, bool),
}
KEPT = tuple(RULES)  # settings of a project that the command line has too
NAME = 80  # characters of the name of a brush; more do not fit on the page


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


def checked_names(names):
    """Return the names of brushes, {colour: text}; refuse anything else."""
    fits = isinstance(names, dict) and all(
        isinstance(text, str)
        and text.isprintable()
        and 0 < len(text) <= NAME
        and len(colour) <= NAME
        for colour, text in names.items()
    )
    if not fits or len(names) > COLOURS:
        raise ValueError(
            f"names must be texts of 1 to {NAME} characters, one for each of at most {COLOURS} "
            f"brushes; got {str(names)[:80]}"
        )
    return dict(names)


def names_of(settings, path):
    """Return the names of brushes in the settings of a project, {colour: text}."""
    try:
        return checked_names(settings.get("names") or {})
    except ValueError as error:
        raise ValueError(f"{path}: the setting names is damaged: {error}") from None


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
    n, only = settings["superpixels"] or SUPERPIXELS, bool(settings["only_touching"])
    return Segmenter(rgb, n_superpixels=n, only_touching=only)


def value_of(region, names):
    """Return the value of a region that a user names: its value, its colour or its name."""
    said = {str(value): value for value in names}
    said |= {text: value for value, text in names.items() if text is not None}
    if region not in said:
        listed = ", ".join(said)
        raise ValueError(f"there is no region {region!r}; there are {listed}")
    return said[region]


def segment_file(image, output, *, strokes=None, project=None, cutout=None, settings):
    """Write the mask of an image, or one region cut out; return a summary.

    Parameters
    ----------
    image, output : paths
    strokes, project : the file of strokes, or the project that has them
    cutout : str or None, the region to cut out: its value, its colour or its name
    settings : dict, KEPT
    """
    rgb = read_image(image)
    lines, called = [], {}
    if strokes is not None:
        lines = read_strokes(strokes, rgb.shape)
    elif project is not None:
        kept = read_project(project)
        check_data(project, kept.data, described(image, rgb))
        lines = strokes_of(kept.state, rgb.shape, project)
        called = names_of(kept.settings, project)
    segmenter = segmenter_of(rgb, settings)
    mask = segmenter.mask(lines, n_regions=settings["regions"])
    names = segmenter.regions(lines, n_regions=settings["regions"]).names
    names = {value: called.get(colour, colour) for value, colour in names.items()}
    if cutout is None:
        write_mask(output, mask)
    else:
        write_cutout(output, rgb, mask == value_of(cutout, names))
    return f"{output}: {shares(mask, names)}; {counted(len(lines), 'stroke')}"


def shares(mask, names):
    """Return the share of each region in a mask, in words."""
    parts = []
    for value, colour in sorted(names.items()):
        name = "not painted" if colour is None else "" if colour == str(value) else colour
        share = f"{(mask == value).mean():.1%}"
        parts.append(f"{value}{f' ({name})' if name else ''} {share}")
    return ", ".join(parts)
