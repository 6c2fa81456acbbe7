"""Strokes: lines drawn on an image, and the pixels they cover.

A stroke is a colour, a polyline in pixels of the full-size image (x to the right, y down, from
its upper left corner; pixel (i, j) spans i..i+1, j..j+1) and a width. A later stroke covers an
earlier one.

    covered = pixels whose centre is within width / 2 of the line, and those that the line enters

Cost: O(length + box of the stroke).
"""

import json
import math
import os
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from linkwise.journal.events import checked_body

POINTS = 10_000  # of a stroke; more than a person draws in one line
COLOURS = 255  # values of a byte in a mask, without 0
FILE = 32 << 20  # bytes of a stroke file; more than a person draws, and little memory
SEGMENTS = 256  # of a polyline at a time, to bound memory


class Stroke(NamedTuple):
    """A line on an image: the name of its colour, its points (x, y), its width."""

    colour: str
    points: tuple
    width: float


def checked_stroke(body, shape):
    """Return the Stroke of the body of a "stroke" event, on an image of (height, width)."""
    body = checked_body("stroke", body)
    height, width = shape[:2]
    if len(body["points"]) > POINTS:
        raise ValueError(f"points: a stroke has at most {POINTS}; got {len(body['points'])}")
    for i, (x, y) in enumerate(body["points"]):
        if not (0 <= x <= width and 0 <= y <= height):
            raise ValueError(
                f"points[{i}] is {x:g}, {y:g}, outside the image of {width} x {height} pixels"
            )
    if body["width"] > max(height, width):
        raise ValueError(
            f"width is {body['width']:g}, larger than the image of {width} x {height} pixels"
        )
    return Stroke(body["colour"], tuple(map(tuple, body["points"])), body["width"])


def read_strokes(path, shape):
    """Return the Strokes in a JSON file: a list of {"colour", "points", "width"}."""
    if os.path.getsize(path) > FILE:
        raise ValueError(
            f"{path} has more than {FILE:,} bytes, too many for a stroke file; check the name"
        )
    try:
        with open(path, encoding="utf-8") as file:
            bodies = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f'{path} is not JSON ({error}); write a list of {{"colour", "points", "width"}}'
        ) from None
    if isinstance(bodies, dict) and isinstance(bodies.get("strokes"), list):
        bodies = bodies["strokes"]
    if not isinstance(bodies, list):
        raise ValueError(f'{path} must be a list of {{"colour", "points", "width"}}')
    found = []
    for number, body in enumerate(bodies):
        try:
            found.append(checked_stroke(body, shape))
        except ValueError as error:
            raise ValueError(f"{path}: stroke {number}: {error}") from None
    return found


def _along(points):
    """Yield points (m, 2) on a polyline (n, 2), at most half a pixel apart, in several parts."""
    yield points
    for start in range(0, len(points) - 1, SEGMENTS):
        a, b = points[start:-1][:SEGMENTS], points[start + 1 :][:SEGMENTS]
        count = math.ceil(2 * np.abs(b - a).max(initial=0)) + 1
        t = np.linspace(0, 1, count + 1)[None, :, None]
        yield (a[:, None] + t * (b - a)[:, None]).reshape(-1, 2)


def covered(stroke, full, shape):
    """Return (rows, columns) of the pixels under a stroke.

    Parameters
    ----------
    stroke : Stroke, in pixels of an image of the shape `full`
    full, shape : (height, width) of the image, and of the one to paint on
    """
    scale = np.array([shape[1] / full[1], shape[0] / full[0]])
    line = np.asarray(stroke.points, dtype=np.float64) * scale  # (n, 2), x and y
    radius = stroke.width / 2 * scale.mean()
    last = np.array([shape[1], shape[0]]) - 1
    low = np.maximum(np.floor(line.min(axis=0) - radius).astype(int) - 1, 0)
    high = np.minimum(np.floor(line.max(axis=0) + radius).astype(int) + 1, last)
    box = np.zeros((high - low + 1)[::-1], dtype=bool)
    for points in _along(line):
        x, y = (np.minimum(np.floor(points).astype(int), last) - low).T
        box[y, x] = True
    if radius > 0.5:
        box = ndimage.distance_transform_edt(~box) <= radius
    row, column = np.nonzero(box)
    return row + low[1], column + low[0]


def values_of(colours):
    """Return {colour: value in a mask, 1 ... 255}, for names of colours in order of appearance.

    A name that is such a number is its own value. Other names get the smallest free values. The
    value of a number does not depend on the other strokes.

    >>> values_of(["sky", "2", "sea"])
    {'sky': 1, '2': 2, 'sea': 3}
    """
    numbers = {str(number): number for number in range(1, COLOURS + 1)}
    if len(set(colours)) > COLOURS:
        raise ValueError(f"strokes have {len(set(colours))} colours; a mask has at most {COLOURS}")
    taken = {numbers[c] for c in colours if c in numbers}
    free = (value for value in range(1, COLOURS + 1) if value not in taken)
    found = {}
    for colour in colours:
        if colour not in found:
            found[colour] = numbers[colour] if colour in numbers else next(free)
    return found


def painted(strokes, values, full, shape):
    """Return the value of the colour on top of every pixel, uint8 (shape), 0 for none."""
    paint = np.zeros(shape, dtype=np.uint8)
    for stroke in strokes:
        paint[covered(stroke, full, shape)] = values[stroke.colour]
    return paint
