"""The page at work: a simulated expert, pictures of it, and the time of a frame.

    python benchmarks/page.py [--answers 300] [--rows 1797] [--think 0.5] [--shots DIR]
    python benchmarks/page.py --frames [--points 200000]

The first starts `linkwise label` on pictures of handwritten digits, answers by the true digits, and
prints the time to the next question (median of each 50 answers) and the adjusted Rand index of the
clusters shown; with --shots, pictures of the page at 0, 100 and 300 answers. The second opens a
page of many generated points, drags and zooms the map by mouse events, and prints the time between
frames, drawn by WebGL (by software: there may be no graphics card) and by Canvas2D. Both the
pictures and the frames need Playwright and a Chromium.
"""

import argparse
import csv
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

FRAMES = 60


def write_digits(folder, n):
    """Write n digits as pictures and a table of their names; return which digits they are."""
    X, y = load_digits(return_X_y=True)
    rows = np.sort(np.random.default_rng(0).choice(len(X), n, replace=False))
    (folder / "digits").mkdir()
    with open(folder / "digits.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "picture"])
        for row in rows.tolist():
            ink = 255 - np.clip(16 * X[row].reshape(8, 8), 0, 255).astype(np.uint8)
            name = f"digits/{row:04d}.png"
            Image.fromarray(ink).resize((96, 96), Image.Resampling.BICUBIC).save(folder / name)
            table.writerow([f"{row:04d}", name])
    return y[rows]


class Visitor:
    """Somebody with the printed address."""

    def __init__(self, address):
        self.host, path = re.fullmatch(r"http://([^/]+)(/.*)", address).groups()
        reply = self.ask("GET", path)
        self.cookie = reply[1]["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.host, timeout=600)
        headers = {"Origin": f"http://{self.host}", "Content-Type": "application/json"}
        headers |= {"Cookie": self.cookie} if hasattr(self, "cookie") else {}
        connection.request(method, path, body and json.dumps(body), headers)
        reply = connection.getresponse()
        raw = reply.read()
        connection.close()
        return raw, reply.headers

    def state(self):
        return json.loads(self.ask("GET", "/api/state")[0])

    def question(self, state):
        """Return the question of a state, waiting for one if there is none yet."""
        while state["question"] is None and (state["thinking"] or not state["ready"]):
            time.sleep(0.01)
            state = self.state()
        return state["question"]

    def rested(self, seconds=60):
        """Wait until clusters and map stand still, or so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.state()
            if state["map"] > 1 and not state["stale"]:
                return
            time.sleep(0.5)

    def labels(self):
        return np.frombuffer(self.ask("GET", "/api/labels")[0], "<i4")


@contextmanager
def running(folder, *options):
    """Run `linkwise label`; yield the address it prints."""
    line = [sys.executable, "-m", "linkwise", "label", *options, "--no-browser"]
    environ = os.environ | {"XDG_STATE_HOME": str(folder / "state")}
    process = subprocess.Popen(line, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True)
    try:
        yield re.search(r"http://\S+", process.stdout.readline())[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


class Camera:
    """A browser that looks at the page."""

    def __init__(self, visitor, folder=None):
        from playwright.sync_api import sync_playwright

        self.visitor, self.folder = visitor, folder and Path(folder)
        self.play = sync_playwright().start()
        self.browser = self.play.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
        )

    @contextmanager
    def page(self, path="/", *, dark=False):
        """Open the page, and wait until it is drawn."""
        scheme = "dark" if dark else "light"
        context = self.browser.new_context(
            viewport={"width": 1440, "height": 900}, color_scheme=scheme
        )
        context.set_default_timeout(300_000)
        key, _, value = self.visitor.cookie.partition("=")
        url = f"http://{self.visitor.host}/"
        context.add_cookies([{"name": key, "value": value, "url": url}])
        page = context.new_page()
        page.goto(url.rstrip("/") + path)
        page.wait_for_selector("#stage[data-labels]")
        page.wait_for_selector("#ask:not([hidden])")
        yield page
        context.close()

    def shoot(self, name, *, dark=False):
        """Take a picture."""
        with self.page(dark=dark) as page:
            time.sleep(3)
            page.screenshot(path=self.folder / f"{name}.png")

    def close(self):
        self.browser.close()
        self.play.stop()


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


def measure_frames(n):
    """Print the time of a frame while the map is dragged and zoomed."""
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=4, size=(6, 8))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        X = centres[rng.integers(6, size=n)] + rng.normal(size=(n, 8))
        np.save(folder / "points.npy", X.astype(np.float32))
        with running(folder, "points.npy") as address:
            visitor = Visitor(address)
            visitor.question(visitor.state())
            visitor.rested()
            camera = Camera(visitor)
            for path in ("/", "/?draw=canvas"):
                with camera.page(path) as page:
                    report_frames(page, n)
            camera.close()


def report_frames(page, n):
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--rows", type=int, default=1797)
    parser.add_argument("--think", type=float, default=0.5, help="seconds for an answer")
    parser.add_argument("--shots", metavar="DIR")
    parser.add_argument("--frames", action="store_true", help="measure the time of a frame")
    parser.add_argument("--points", type=int, default=200_000, help="of --frames")
    args = parser.parse_args()
    if args.frames:
        measure_frames(args.points)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        y = write_digits(folder, args.rows)
        with running(folder, "digits.csv", "--id", "id", "--image", "picture") as address:
            visitor = Visitor(address)
            camera = Camera(visitor, args.shots) if args.shots else None
            question, times = visitor.question(visitor.state()), []
            for number in range(args.answers + 1):
                if camera and number in (0, 100, 300):
                    visitor.rested()
                    camera.shoot(f"page-{number}")
                    if number == 300:
                        camera.shoot("page-dark", dark=True)
                if number % 50 == 0:
                    time.sleep(2)
                    score = adjusted_rand_score(y, visitor.labels())
                    median = 1000 * np.median(times[-50:]) if times else 0
                    print(
                        f"{number:4d} answers: next question {median:6.1f} ms, ARI {score:.3f}",
                        flush=True,
                    )
                if question is None or number == args.answers:
                    break
                time.sleep(args.think)
                a, b = question["a"], question["b"]
                started = time.perf_counter()
                body = {
                    "a": a,
                    "b": b,
                    "same": bool(y[a] == y[b]),
                    "client": f"expert-{number:04d}",
                }
                question = visitor.question(json.loads(visitor.ask("POST", "/api/answer", body)[0]))
                times.append(time.perf_counter() - started)
            if camera:
                camera.close()
            if times:
                visitor.rested()
                review = [round(found["wrong"], 3) for found in visitor.state()["suspects"]]
                print(f"{len(review)} answers offered for review, though all are right: {review}")
                median, high = 1000 * np.quantile(times, [0.5, 0.95])
                print(f"median of all {median:.1f} ms, 95% below {high:.1f} ms")


if __name__ == "__main__":
    main()
