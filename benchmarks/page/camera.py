"""The label page in a browser: pictures of it, and the time between frames."""

import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.page.browser import SOFTWARE_GL, started
from benchmarks.page.visitor import Visitor, running

FRAMES = 60  # over which times are taken
DESKTOP = {"viewport": {"width": 1440, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True,
    "has_touch": True,
}  # fmt: skip
ZOOMED = {"viewport": {"width": 720, "height": 450}, "device_scale_factor": 2}  # a desktop at 200 %


class Camera:
    """A browser that looks at the page of a visitor."""

    def __init__(self, visitor, chromium, folder=None):
        self.visitor, self.browser, self.folder = visitor, chromium, folder and Path(folder)

    @contextmanager
    def page(self, path="/", *, dark=False, screen=DESKTOP):
        """Open the page, and wait until it is drawn."""
        scheme = "dark" if dark else "light"
        context = self.browser.new_context(color_scheme=scheme, **screen)
        context.set_default_timeout(300_000)
        key, _, value = self.visitor.cookie.partition("=")
        url = f"http://{self.visitor.host}/"
        cookies = {key: value, "linkwise_tour": "seen"}
        context.add_cookies([{"name": k, "value": v, "url": url} for k, v in cookies.items()])
        page = context.new_page()
        page.goto(url.rstrip("/") + path)
        page.wait_for_selector("#stage[data-labels]")
        page.wait_for_selector("#ask:not([hidden])")
        yield page
        context.close()

    def shoot(self, name, **how):
        """Take a picture."""
        with self.page(**how) as page:
            time.sleep(3)
            page.screenshot(path=self.folder / f"{name}.png")

    def shoot_set(self, name, out):
        """Take a picture of the question about a set, with the rows chosen that do not belong."""
        with self.page() as page:
            page.keyboard.press("w")
            page.wait_for_selector("#wide:not([hidden])")
            for number in out:
                page.keyboard.press(str(number))
            time.sleep(3)
            page.screenshot(path=self.folder / f"{name}.png")


@contextmanager
def camera(visitor, folder=None):
    """Open a browser at the page of a visitor; pictures go to a folder."""
    with started(*SOFTWARE_GL) as chromium:
        yield Camera(visitor, chromium, folder)


RECORD = """() => {
  window.stamps = [];
  const step = (now) => {
    window.stamps.push(now);
    window.recording = requestAnimationFrame(step);
  };
  window.recording = requestAnimationFrame(step);
}"""


def frames_of(page, act):
    """Return the milliseconds between frames (60,) while something is done again and again."""
    page.evaluate(RECORD)
    number = 0
    while page.evaluate("window.stamps.length") <= FRAMES:
        act(number)
        number += 1
    stamps = page.evaluate(
        "() => { cancelAnimationFrame(window.recording); return window.stamps; }"
    )
    return np.diff(stamps[: FRAMES + 1])


def report_frames(page, n):
    """Drag and zoom the map, and print the time between frames."""
    box = page.locator("#over").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    time.sleep(3)

    def drag(i):
        for step in range(4):
            at = 0.4 * (4 * i + step)
            page.mouse.move(x + 120 * np.cos(at), y + 120 * np.sin(at))

    def zoom(i):
        page.mouse.wheel(0, -120 if i % 8 < 4 else 120)

    page.mouse.move(x, y)
    page.mouse.down()
    dragged = frames_of(page, drag)
    page.mouse.up()
    zoomed = frames_of(page, zoom)
    drawn = page.locator("#stage").get_attribute("data-drawn")
    for word, times in (("dragging", dragged), ("zooming", zoomed)):
        median, high = np.quantile(times, [0.5, 0.95])
        print(
            f"{n} points, {drawn}, {word}: median {median:.1f} ms, 95% below {high:.1f} ms",
            flush=True,
        )


def measure_frames(n):
    """Print the time of a frame on a page of n generated points, by WebGL and by Canvas2D."""
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=4, size=(6, 8))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X = centres[rng.integers(6, size=n)] + rng.normal(size=(n, 8))
        np.save(folder / "points.npy", X.astype(np.float32))
        with running(folder, "points.npy") as address:
            visitor = Visitor(address)
            visitor.question(visitor.state())
            visitor.wait_for_rest()
            with camera(visitor) as eye:
                for path in ("/", "/?draw=canvas"):
                    with eye.page(path) as page:
                        report_frames(page, n)
