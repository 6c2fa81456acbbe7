"""Generated scenes, pictures whose regions are known."""

import numpy as np
from scipy import ndimage

from benchmarks.papers import images

SHAPE = 160, 220


def coloured(region, colours, rng, *, light=0.6, noise=8.0, blur=0.7):
    """Return the picture of regions with a colour each, unevenly lit, with noise."""
    shade = 1 + light * (images.field(region.shape, rng) - 0.5)
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
    """Return two things, and the ground."""
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
    """Return a picture of brightness 0 ... 1."""
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
