"""The label page at work.

A simulated expert labels pictures of handwritten digits by the true digits. Printed are the time to
the next question (the median of each 50 answers) and the adjusted Rand index of the clusters shown;
with pictures of the page at 0, 100 and 300 answers, in dark mode, on a phone, at a zoom of 200 %,
and with a question about a set in which some rows do not belong. Or, in a browser: a page of many
generated points is dragged and zoomed by mouse events, and the time between frames is printed,
drawn by WebGL (by software: there may be no graphics card) and by Canvas2D. Pictures and frames
need Playwright and a Chromium.
"""

import csv
import json
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from benchmarks.page.camera import PHONE, ZOOMED, camera, measure_frames
from benchmarks.page.visitor import Visitor, running

SHOWN = (0, 100, 300)  # answers at which pictures are taken
SETS_FROM = 20  # answers before a question about a set is shown


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


def shoot(eye, visitor, number):
    """Take the pictures of a number of answers, if there are any."""
    if eye is None or number not in SHOWN:
        return
    visitor.wait_for_rest()
    eye.shoot(f"page-{number}")
    if number == SHOWN[1]:
        eye.shoot("page-phone", screen=PHONE)
        eye.shoot("page-zoom", screen=ZOOMED)
    if number == SHOWN[-1]:
        eye.shoot("page-dark", dark=True)


def shoot_set(eye, visitor, y):
    """Take the picture of a question about a set, if the page has one; tell whether it has."""
    wider = visitor.state()["wider"]
    if wider is None or wider["kind"] != "set":
        return False
    first, *others = (y[one["row"]] for one in wider["rows"])
    out = [number for number, label in enumerate(others, 2) if label != first]
    if out:
        visitor.wait_for_rest()
        eye.shoot_set("page-set", out)
    return bool(out)


def print_progress(visitor, y, number, times):
    """Print the time to the next question and the agreement after a number of answers."""
    visitor.wait_for_rest()
    score = adjusted_rand_score(y, visitor.labels())
    median = 1000 * np.median(times[-50:]) if times else 0
    print(f"{number:4d} answers: next question {median:6.1f} ms, ARI {score:.3f}", flush=True)


def print_times(visitor, times):
    """Print what the page doubts in the end, and the times of all answers."""
    visitor.wait_for_rest()
    review = [round(found["wrong"], 3) for found in visitor.state()["suspects"]]
    print(f"{len(review)} answers offered for review, though all are right: {review}")
    median, high = 1000 * np.quantile(times, [0.5, 0.95])
    print(f"median of all {median:.1f} ms, 95% below {high:.1f} ms")


def answer_as_expert(visitor, eye, y, answers, think):
    """Answer questions by the classes y; return the seconds to each next question."""
    question = visitor.question(visitor.state())
    times: list[float] = []
    to_shoot = eye is not None  # a question about a set
    for number in range(answers + 1):
        shoot(eye, visitor, number)
        if to_shoot and number >= SETS_FROM:
            to_shoot = not shoot_set(eye, visitor, y)
        if number % 50 == 0:
            print_progress(visitor, y, number, times)
        if question is None or number == answers:
            break
        time.sleep(think)
        a, b = question["a"], question["b"]
        body = {"a": a, "b": b, "same": bool(y[a] == y[b]), "client": f"expert-{number:04d}"}
        started = time.perf_counter()
        question = visitor.question(json.loads(visitor.ask("POST", "/api/answer", body)[0]))
        times.append(time.perf_counter() - started)
    return times


def run(*, answers, rows, think, shots, frames, points):
    """Measure the page and print the figures.

    Parameters
    ----------
    answers : int, how many the expert gives
    rows : int, digits in the table
    think : float, seconds before an answer
    shots : folder for pictures of the page, or None
    frames : bool, measure the time of a frame instead
    points : int, on the page of frames
    """
    if frames:
        measure_frames(points)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        y = write_digits(folder, rows)
        with running(
            folder, "digits.csv", "--id", "id", "--image", "picture", "--as", "Ada"
        ) as address:
            visitor = Visitor(address)
            with camera(visitor, shots) if shots else nullcontext() as eye:
                times = answer_as_expert(visitor, eye, y, answers, think)
            if times:
                print_times(visitor, times)
