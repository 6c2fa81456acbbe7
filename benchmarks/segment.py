"""Regions by strokes: how many strokes they need, and how long one takes.

    python benchmarks/segment.py [--out DIR] [--photo FILE] [--seeds 3] [--quick]

Somebody who knows the truth draws one stroke in every region of a made scene, and then, in turn,
one through the largest mistake. Printed is the share of wrong pixels after so many strokes, for
linkwise, for the random walker of scikit-image where it is installed, and for the nearest painted
pixel by colour and place. Each method has a user of its own. Then the time of a stroke for
photographs of 0.3, 2 and 12 megapixels (--photo, else a made scene), in seconds of one core, and as
ratios. With --out, the numbers as JSON and pictures of the scenes, the strokes and the regions.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage
from scipy.spatial import cKDTree

from benchmarks.papers import images
from linkwise.segment import Segmenter, Stroke, read_picture
from linkwise.segment.colour import lab
from linkwise.segment.masks import PALETTE
from linkwise.segment.strokes import painted, values_of

MOST = 16  # strokes after the first ones
AFTER = (0, 2, 4, 8, 16)
GOOD = 0.02
SIZES = {0.3: (480, 640), 2: (1200, 1600), 12: (3000, 4000)}
SHAPE = 160, 220


def field(shape, rng, finest=1.2):
    """Return a smooth random field, in 0 ... 1."""
    row, column = np.indices(shape) / max(shape)
    total = np.zeros(shape)
    for _ in range(3):
        a, b = rng.uniform(0.3, finest, 2)
        total += np.cos(2 * np.pi * (a * row + b * column + rng.uniform()))
    return (total - total.min()) / np.ptp(total)


def coloured(region, colours, rng, *, light=0.6, noise=8.0, blur=0.7):
    """Return the picture of regions with a colour each, unevenly lit, with noise."""
    shade = 1 + light * (field(region.shape, rng) - 0.5)
    rgb = np.asarray(colours, dtype=float)[region] * shade[..., None]
    rgb = ndimage.gaussian_filter(rgb, (blur, blur, 0)) + rng.normal(0, noise, rgb.shape)
    return np.clip(rgb, 0, 255).astype(np.uint8)


def discs(places, shape=SHAPE):
    """Return 1 inside of ellipses (row, column, height, width), else 0."""
    row, column = np.indices(shape)
    found = np.zeros(shape, dtype=int)
    for y, x, h, w in places:
        found[((row - y) / h) ** 2 + ((column - x) / w) ** 2 < 1] = 1
    return found


def two_things(shape=SHAPE):
    row, column = np.indices(shape)
    region = discs([(80, 60, 52, 38)], shape)
    region[(abs(row - 75) < 45) & (abs(column - 165) < 32)] = 2
    return region


def thin(rng):
    """Return stalks three pixels wide, and the ground."""
    row, column = np.indices(SHAPE)
    region = np.zeros(SHAPE, dtype=int)
    for start in (50, 110, 170):
        bend = 14 * np.sin(row / rng.uniform(18, 30) + rng.uniform(0, 6))
        region[(abs(column - start - bend) < 2) & (row > 20)] = 1
    return region


def grey(brightness):
    return np.repeat(np.rint(255 * brightness).astype(np.uint8)[..., None], 3, axis=2)


def scene(name, seed):
    """Return (rgb, region) of a made scene."""
    if name in ("occluder", "objects"):  # of the kind of figure 7 of affinity propagation
        image = images.occluder(f"{name}{seed}") if name == "occluder" else images.objects()
        return grey(image.brightness), image.region
    rng = np.random.default_rng(seed)
    three = [[80, 115, 85], [200, 120, 90], [90, 90, 190]]
    if name == "things":
        region = two_things()
        return coloured(region, three, rng), region
    if name == "noise":
        region = two_things()
        return coloured(region, three, rng, noise=45), region
    if name == "faint":
        region = two_things()
        return coloured(region, [[120, 125, 120], [130, 120, 118], [116, 120, 132]], rng, light=0.1,
                        noise=3), region  # fmt: skip
    if name == "thin":
        region = thin(rng)
        return coloured(region, [[150, 170, 190], [60, 90, 40]], rng), region
    if name == "alike":  # three things that look the same; one is wanted
        region = discs([(80, 110, 40, 28)])
        look = np.maximum(region, discs([(60, 35, 36, 26), (100, 185, 36, 26)]))
        return coloured(look, three[:2], rng), region
    if name == "gradient":  # a hill whose brightness is that of some of the sky
        row, column = np.indices(SHAPE)
        region = (row > 95 + 25 * np.sin(column / 35 + rng.uniform(0, 6))).astype(int)
        rgb = np.where(region[..., None] > 0, [150, 160, 150], [90, 130, 200])
        rgb = rgb + (row[..., None] - 80) * np.where(region[..., None] > 0, -0.5, [1.0, 0.6, 0.1])
        return np.clip(rgb + rng.normal(0, 4, rgb.shape), 0, 255).astype(np.uint8), region
    raise ValueError(f"no scene {name!r}")


SCENES = ("things", "noise", "faint", "thin", "alike", "gradient", "occluder", "objects")


def stroke_through(wrong, region):
    """Return a stroke through the largest wrong patch, along its longer way at its middle."""
    patches = [ndimage.label(wrong & (region == r))[0] for r in np.unique(region)]
    sizes = [np.bincount(patch.ravel())[1:] for patch in patches]
    r = int(np.argmax([size.max(initial=0) for size in sizes]))
    patch = patches[r] == 1 + np.argmax(sizes[r])
    depth = ndimage.distance_transform_edt(np.pad(patch, 1))[1:-1, 1:-1]
    at = np.unravel_index(depth.argmax(), depth.shape)
    ends = []
    for line, middle in ((patch[at[0]], at[1]), (patch[:, at[1]], at[0])):
        outside = np.flatnonzero(~np.pad(line, 1)) - 1
        ends.append((outside[outside < middle].max() + 1, outside[outside > middle].min() - 1))
    across = ends[0][1] - ends[0][0] >= ends[1][1] - ends[1][0]
    low, high = ends[0] if across else ends[1]
    inset = min(3, (high - low) // 3)
    run = (low + inset + 0.5, high - inset + 0.5)
    points = [(end, at[0] + 0.5) if across else (at[1] + 0.5, end) for end in run]
    return Stroke(str(r + 1), tuple(points), 3 if depth.max() > 4 else 0)


def nearest(rgb):
    """Return a method: the colour of the nearest painted pixel, by L*a*b* and place."""
    shape = rgb.shape[:2]
    X = np.concatenate([lab(rgb), 30 / max(shape) * np.moveaxis(np.indices(shape), 0, -1)], axis=2)

    def mask(strokes):
        paint = painted(strokes, values_of([s.colour for s in strokes]), shape, shape)
        on = paint > 0
        return paint[on][cKDTree(X[on]).query(X.reshape(-1, 5))[1]].reshape(shape)

    return mask


def walker(rgb):
    """Return a method: the random walker of scikit-image."""
    from skimage.segmentation import random_walker

    shape = rgb.shape[:2]

    def mask(strokes):
        paint = painted(strokes, values_of([s.colour for s in strokes]), shape, shape)
        return random_walker(rgb / 255, paint.astype(int), beta=130, mode="cg_j", channel_axis=-1)

    return mask


def methods():
    """Return {name: function(rgb) -> function(strokes) -> mask} of what can be imported."""
    found = {"linkwise": lambda rgb: Segmenter(rgb).mask, "nearest colour": nearest}
    try:
        import skimage.segmentation  # noqa: F401
    except ImportError:
        return found
    return found | {"random walker": walker}


def user(mask, region, most=MOST):
    """Return (errors after the first strokes and after each more, strokes, the last regions)."""
    strokes = [stroke_through(region == r, region) for r in np.unique(region)]
    errors: list = []
    while True:
        found = mask(strokes)
        wrong = found != region + 1
        errors.append(float(wrong.mean()))
        if len(errors) > most or not wrong.any():
            return errors, strokes, found
        strokes.append(stroke_through(wrong, region))


def shown(rgb, mask, strokes):
    """Return a picture with its regions tinted, bordered, and the strokes on top."""
    colours = np.array([list(bytes.fromhex(colour[1:])) for colour in PALETTE])
    out = 0.6 * rgb + 0.4 * colours[(mask.astype(int) - 1) % len(colours)]
    edge = np.zeros(mask.shape, dtype=bool)
    edge[:, :-1] |= mask[:, 1:] != mask[:, :-1]
    edge[:-1] |= mask[1:] != mask[:-1]
    out[edge] = 255
    paint = painted(strokes, values_of([s.colour for s in strokes]), mask.shape, mask.shape)
    out[paint > 0] = colours[paint[paint > 0] - 1]
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


def sheet(side=190, gap=10, good=0.97):
    """Return a picture of figure 7's kinds: scenes, clusters without strokes, strokes, regions."""
    colours = np.array([list(bytes.fromhex(colour[1:])) for colour in PALETTE], dtype=np.uint8)
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
        paint = painted(strokes, values_of([s.colour for s in strokes]), region.shape, region.shape)
        drawn = np.where(paint[..., None] > 0, colours[np.maximum(paint, 1) - 1], rgb)
        plain = segmenter.mask([], n_regions=region.max() + 1)
        for row, tile in enumerate([rgb, colours[plain - 1], drawn, colours[found - 1]]):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="a folder for segment.json and pictures")
    parser.add_argument("--photo", help="a photograph to measure time on")
    parser.add_argument("--seeds", type=int, default=3, help="scenes of a kind")
    parser.add_argument("--quick", action="store_true", help="one seed, no 12 megapixels")
    given = parser.parse_args()
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
    seeds = 1 if given.quick else given.seeds
    errors = quality(seeds, given.out)
    show_quality(errors)
    if given.out:
        sheet().save(given.out / "segment-grey.png")
    rgb, _ = scene("things", 0)
    photo = read_picture(given.photo) if given.photo else rgb
    seconds = speed(photo, [0.3, 2] if given.quick else list(SIZES), peers=(0.3,))
    print()
    show_speed(seconds)
    if given.out:
        told = {"errors": errors, "seconds": {str(size): row for size, row in seconds.items()}}
        (given.out / "segment.json").write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
