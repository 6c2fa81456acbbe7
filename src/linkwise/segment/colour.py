"""Colours in which distances match perception, and smaller images.

sRGB to CIE L*a*b* (D65). Equal distances in it look about equally different:

    (1)  c = ((v + .055) / 1.055)^2.4, or v / 12.92 where v <= .04045      v = byte / 255
    (2)  (X, Y, Z) = M c, divided by those of white, the sums of the rows of M
    (3)  L = 116 f(Y) - 16,  a = 500 (f(X) - f(Y)),  b = 200 (f(Y) - f(Z))
         f(t) = t^(1/3), or 7.787 t + 16/116 where t <= .008856
"""

import numpy as np

M = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip
M_WHITE = (M / M.sum(axis=1, keepdims=True)).T.astype(np.float32)
BYTES = np.arange(256) / 255
LINEAR = np.where(BYTES <= 0.04045, BYTES / 12.92, ((BYTES + 0.055) / 1.055) ** 2.4).astype(
    np.float32
)  # Eq. (1)


def lab(rgb):
    """Return L*a*b* of sRGB bytes, float32 of the same shape (..., 3).

    >>> lab(np.array([[255, 255, 255], [255, 0, 0]], dtype=np.uint8)).round(1) + 0.0
    array([[100. ,   0. ,   0. ],
           [ 53.2,  80.1,  67.2]], dtype=float32)
    """
    t = LINEAR[rgb] @ M_WHITE  # Eq. (2)
    f = np.where(t <= 0.008856, 7.787 * t + 16 / 116, np.cbrt(t)).astype(np.float32)
    x, y, z = f[..., 0], f[..., 1], f[..., 2]
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)  # Eq. (3)


def working_shape(shape, most):
    """Return (height, width) with about the same proportions and at most `most` pixels."""
    height, width = shape
    scale = min(1.0, (most / (height * width)) ** 0.5)
    h, w = max(1, round(height * scale)), max(1, round(width * scale))
    return min(h, max(1, most // w)), min(w, most)


def shrink(rgb, shape):
    """Return a smaller image, the means over boxes of pixels, uint8 (*shape, 3)."""
    for axis, (old, new) in enumerate(zip(rgb.shape[:2], shape, strict=True)):
        if new == old:
            continue
        edges = np.arange(new + 1) * old // new
        total = np.add.reduceat(rgb, edges[:-1], axis=axis, dtype=np.float32)
        count = np.diff(edges).astype(np.float32)
        rgb = total / (count[:, None, None] if axis == 0 else count[:, None])
    return rgb if rgb.dtype == np.uint8 else np.rint(rgb).astype(np.uint8)
