"""Regions by strokes: how many strokes they need, and how long one takes.

A simulated user who knows the regions draws one stroke in every region of a generated scene. Then
the user draws, one at a time, a stroke through the largest mistake. Printed is the share of wrong
pixels after so many strokes, for linkwise, for the random walker of scikit-image where it is
installed, and for the nearest painted pixel by colour and place. Each method has a user of its own.
Then come images of the kind of figure 7 of affinity propagation with links of one kind only. Then
the same user cuts an object out of each photograph. Printed is the intersection over union
after two to six strokes, also for GrabCut where OpenCV is installed, and by how much a stroke made
it worse at most. Then comes the time of a stroke on photographs of 0.3, 2 and 12 megapixels, in
seconds of one core and as ratios.
"""

import json
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.runs.output import write
from benchmarks.segment.one_kind import one_kind, show_one_kind
from benchmarks.segment.photographs import OUTLINES, photograph
from benchmarks.segment.scenes import SCENES, scene
from benchmarks.segment.segmenters import methods, methods_for_two, nearest, paint_of, walker
from benchmarks.segment.user import MOST, overlap, stroke_through, user
from linkwise.segment import PALETTE, Segmenter, Stroke, read_image

AFTER = (0, 2, 4, 8, 16)
GOOD = 0.02  # share of wrong pixels that is hard to see
STROKES = 6  # on a photograph, as many as a person draws without losing patience
SIZES = {0.3: (480, 640), 2: (1200, 1600), 12: (3000, 4000)}
COLOURS = np.array([list(bytes.fromhex(colour[1:])) for colour in PALETTE], dtype=np.uint8)


def shown(rgb, mask, strokes):
    """Return a picture with its regions tinted, bordered, and the strokes on top."""
    out = 0.6 * rgb + 0.4 * COLOURS[(mask.astype(int) - 1) % len(COLOURS)]
    edge = np.zeros(mask.shape, dtype=bool)
    edge[:, :-1] |= mask[:, 1:] != mask[:, :-1]
    edge[:-1] |= mask[1:] != mask[:-1]
    out[edge] = 255
    paint = paint_of(strokes, mask.shape)
    out[paint > 0] = COLOURS[paint[paint > 0] - 1]
    return out.astype(np.uint8)


def quality(seeds, folder, names=SCENES):
    """Return {scene: {method: [errors of each seed]}}."""
    found: dict = {}
    for name in names:
        found[name] = {}
        for method, make in methods().items():
            runs = []
            for seed in range(1 if name == "objects" else seeds):  # there is one of those
                rgb, region = scene(name, seed)
                errors, strokes, mask = user(make(rgb), region)
                runs.append(errors)
                if folder and seed == 0:
                    picture = Image.fromarray(shown(rgb, mask, strokes))
                    zoom = max(1, 440 // max(picture.size))
                    size = picture.width * zoom, picture.height * zoom
                    picture.resize(size, Image.Resampling.NEAREST).save(
                        folder / f"{name}-{method.replace(' ', '-')}.png"
                    )
            found[name][method] = runs
    return found


def on_photographs(names):
    """Return {object: {method: overlaps after 2, 3, ... strokes}} of the photographs there are."""
    there = {name: photo for name in names if (photo := photograph(name)) is not None}
    return {
        name: {
            method: overlap(make(rgb), region, most=STROKES)
            for method, make in methods_for_two().items()
        }
        for name, (rgb, region) in there.items()
    }


def show_photographs(found):
    heads = range(2, STROKES + 1)
    print(f"| object | method | {' | '.join(map(str, heads))} | worse by |")
    print("|---|---|" + "--:|" * (len(heads) + 1))
    for name, by_method in found.items():
        for method, run in by_method.items():
            told = run + [run[-1]] * (len(heads) - len(run))
            worse = max(0.0, *(a - b for a, b in pairwise(told)))
            shares = " | ".join(f"{value:.3f}" for value in told)
            print(f"| {name} | {method} | {shares} | {worse:.3f} |")


def sheet(side=190, gap=10, good=0.97):
    """Return a picture of figure 7's kinds: scenes, clusters without strokes, strokes, regions."""
    page = Image.new("RGB", (4 * (side + gap) + gap, 4 * (side + gap) + gap), "white")
    for column, (name, seed) in enumerate(
        [*(("occluder", seed) for seed in range(3)), ("objects", 0)]
    ):
        rgb, region = scene(name, seed)
        segmenter = Segmenter(rgb)
        strokes = [stroke_through(region == r, region) for r in np.unique(region)]
        while np.mean((found := segmenter.mask(strokes)) == region + 1) < good:
            strokes.append(stroke_through(found != region + 1, region))
        print(f"{name} {seed}: {len(strokes)} strokes, {np.mean(found == region + 1):.1%} right")
        paint = paint_of(strokes, region.shape)
        drawn = np.where(paint[..., None] > 0, COLOURS[np.maximum(paint, 1) - 1], rgb)
        plain = segmenter.mask([], n_regions=region.max() + 1)
        for row, tile in enumerate([rgb, COLOURS[plain - 1], drawn, COLOURS[found - 1]]):
            large = Image.fromarray(tile).resize((side, side), Image.Resampling.NEAREST)
            page.paste(large, (gap + column * (side + gap), gap + row * (side + gap)))
    return page


def after(runs, more):
    """Return the mean error when so many strokes were drawn after the first ones."""
    return float(np.mean([run[min(more, len(run) - 1)] for run in runs]))


def needed(runs):
    """Return the median number of strokes, after the first ones, to an error of GOOD."""
    counts = [next((i for i, e in enumerate(run) if e <= GOOD), np.inf) for run in runs]
    return float(np.median(counts))


def show_quality(found):
    heads = [f"+{more}" if more else "one each" for more in AFTER]
    print(f"| scene | method | {' | '.join(heads)} | strokes to {GOOD:.0%} |")
    print("|---|---|" + "--:|" * (len(AFTER) + 1))
    for name, by_method in found.items():
        for method, runs in by_method.items():
            errors = " | ".join(f"{100 * after(runs, more):.1f}" for more in AFTER)
            count = needed(runs)
            text = f"> {MOST}" if np.isinf(count) else f"{count:g}"
            print(f"| {name} | {method} | {errors} | {text} |")


def timed(work, *args):
    began = time.process_time()
    found = work(*args)
    return found, time.process_time() - began


def lines_on(shape):
    """Return strokes of three colours, as on a photograph with a thing in its middle."""
    height, width = shape
    marks = {"1": [(0.42, 0.45), (0.5, 0.6), (0.58, 0.45)], "2": [(0.1, 0.15), (0.12, 0.85)],
             "3": [(0.9, 0.15), (0.9, 0.5)]}  # fmt: skip
    more = {"1": [(0.45, 0.5), (0.55, 0.5)]}
    return [
        Stroke(colour, tuple((x * width, y * height) for x, y in points), width / 100)
        for colour, points in [*marks.items(), *more.items()]
    ]


def speed(photo, sizes, peers):
    """Return {megapixels: {what: seconds}}."""
    found = {}
    for size in sizes:
        rgb = np.asarray(Image.fromarray(photo).resize(SIZES[size][::-1]))
        strokes = lines_on(rgb.shape[:2])
        row: dict = {}
        segmenter, row["open"] = timed(Segmenter, rgb)
        segmenter.regions(strokes[:2])
        row["stroke"] = min(timed(segmenter.regions, strokes[:n])[1] for n in (3, 4))
        row["first mask"] = timed(segmenter.mask, strokes[:3])[1]
        row["mask"] = timed(segmenter.mask, strokes)[1]
        if size in peers:
            row["nearest colour"] = timed(nearest(rgb), strokes)[1]
            if "random walker" in methods():
                row["random walker"] = timed(walker(rgb), strokes)[1]
        found[size] = row
    return found


def show_speed(found):
    names = list(next(iter(found.values())))
    print(f"| megapixels | {' | '.join(names)} |")
    print("|--:|" + "--:|" * len(names))
    for size, row in found.items():
        told = [f"{row[name]:.2f}" if name in row else "" for name in names]
        print(f"| {size} | {' | '.join(told)} |")
    first, last = found[min(found)], found[max(found)]
    print(f"\na stroke at {max(found)} megapixels / at {min(found)}: ", end="")
    print(f"{last['stroke'] / first['stroke']:.1f}")
    for size, row in found.items():
        for peer in ("nearest colour", "random walker"):
            if peer in row:
                print(f"{peer} / a stroke of linkwise, {size} megapixels: ", end="")
                print(f"{row[peer] / row['stroke']:.0f}")


def run(*, out, photo, seeds, quick):
    """Measure errors and seconds, print both, and write them to a folder.

    Parameters
    ----------
    out : folder for segment.json and pictures, or None
    photo : name of a photograph to measure time on, or None for a generated scene
    seeds : int, scenes of a kind
    quick : bool, one seed, one photograph and no 12 megapixels
    """
    folder = Path(out) if out else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    errors = quality(1 if quick else seeds, folder)
    show_quality(errors)
    print()
    show_one_kind(one_kind("A" if quick else "ABCD", 1 if quick else 3))
    print()
    overlaps = on_photographs(["flower"] if quick else OUTLINES)
    show_photographs(overlaps)
    if folder:
        sheet().save(folder / "segment-grey.png")
    rgb = read_image(photo) if photo else scene("things", 0)[0]
    seconds = speed(rgb, [0.3, 2] if quick else list(SIZES), peers=(0.3,))
    print()
    show_speed(seconds)
    if folder:
        found = {
            "errors": errors,
            "overlaps": overlaps,
            "seconds": {str(size): row for size, row in seconds.items()},
        }
        write(folder / "segment.json", json.dumps(found, indent=1))
