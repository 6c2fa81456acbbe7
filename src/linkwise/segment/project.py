"""Images and their project of strokes: opened together, segmented, exported."""

from pathlib import Path

from linkwise._wording import counted
from linkwise.journal import Journal, check_data, describe, read_project
from linkwise.journal.settings import is_count, project_settings, settled
from linkwise.segment.album import Album
from linkwise.segment.masks import write_cutout, write_mask
from linkwise.segment.strokes import COLOURS, checked_stroke, read_strokes

RULES = {
    "regions": lambda value: is_count(value, 1, COLOURS),
    "superpixels": lambda value: is_count(value, 2),
    "only_touching": lambda value: isinstance(value, bool),
}
KEPT = tuple(RULES)  # settings of a project that the command line has too
NAME = 80  # characters of the name of a brush; more do not fit on the page


def described(album):
    """Return the Data of an image file, whose pixels are its rows, or of a folder of images."""
    return describe(album.path, album.n_rows, ids=album.is_folder)


def settings_of(path, given):
    """Return the settings to use: those given, else those of the project, else None."""
    return settled(given, project_settings(path, RULES)[0])


def strokes_of(state, shape, path, image=None):
    """Return the Strokes of a log that count, those on one image."""
    drawn = [body for body in state.strokes if body.get("image") == image]
    try:
        return [
            checked_stroke({name: value for name, value in body.items() if name != "image"}, shape)
            for body in drawn
        ]
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
    """Return (Album, Journal): one or more images, and the log of strokes, created if new."""
    album = Album(image)
    ids = album.names if album.is_folder else None
    journal = Journal(path, data=described(album), ids=ids)
    try:
        if not album.is_folder:
            strokes_of(journal.state, album.pixels(None).shape, path)
        journal.configure(**settings)
    except BaseException:
        journal.close()
        raise
    return album, journal


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
    album, lines, called = Album(image), [], {}
    shape = album.pixels(None).shape
    if strokes is not None:
        lines = read_strokes(strokes, shape)
    elif project is not None:
        kept = read_project(project)
        check_data(project, kept.data, described(album))
        lines = strokes_of(kept.state, shape, project)
        called = names_of(kept.settings, project)
    return _write(album, None, output, lines, called, cutout=cutout, settings=settings)


def _write(album, name, output, lines, called, *, cutout, settings):
    """Write the mask of one image, or a region cut out; return a summary."""
    segmenter = album.segmenter(name, settings)
    mask = segmenter.mask(lines, n_regions=settings["regions"])
    names = segmenter.regions(lines, n_regions=settings["regions"]).names
    names = {value: called.get(colour, colour) for value, colour in names.items()}
    if cutout is None:
        write_mask(output, mask)
    else:
        write_cutout(output, segmenter.rgb, mask == value_of(cutout, names))
    return f"{output}: {shares(mask, names)}; {counted(len(lines), 'stroke')}"


def segment_folder(folder, output, *, project, cutout=None, settings):
    """Write the masks of the images of a project that have strokes, or one region of each cut out.

    Parameters
    ----------
    folder, output : paths; every image gets a .png file below the output, with its name
    project : path of the project that has the strokes
    cutout : str or None, the region to cut out; images that do not have it are left out
    settings : dict, KEPT

    Returns
    -------
    str, a summary with a line for each file
    """
    album, kept = Album(folder), read_project(project)
    check_data(project, kept.data, described(album))
    called = names_of(kept.settings, project)
    drawn = {body.get("image") for body in kept.state.strokes}
    found = []
    for name in album.names:
        if name not in drawn:
            continue
        lines = strokes_of(kept.state, album.pixels(name).shape, project, name)
        colours = {line.colour for line in lines}
        if cutout is not None and not colours & {cutout, *_colours_called(cutout, called)}:
            continue
        place = Path(output, name).with_suffix(".png")
        place.parent.mkdir(parents=True, exist_ok=True)
        found.append(
            _write(album, name, str(place), lines, called, cutout=cutout, settings=settings)
        )
    if not found:
        what = "strokes" if cutout is None else f"strokes of {cutout!r}"
        raise ValueError(f"{project} has no {what}; draw some on the page first")
    left = len(album.names) - len(found)
    return "\n".join([*found, f"{counted(len(found), 'file')}; {counted(left, 'image')} left out"])


def _colours_called(name, called):
    return [colour for colour, text in called.items() if text == name]


def shares(mask, names):
    """Return the share of each region in a mask, in words."""
    parts = []
    for value, colour in sorted(names.items()):
        name = "not painted" if colour is None else "" if colour == str(value) else colour
        share = f"{(mask == value).mean():.1%}"
        parts.append(f"{value}{f' ({name})' if name else ''} {share}")
    return ", ".join(parts)
