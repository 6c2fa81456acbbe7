"""Pictures and embeddings as points to label."""

import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from linkwise.cli import main
from linkwise.journal import default_project, read_project
from linkwise.labelling.images import image_points
from linkwise.labelling.items import read_items
from linkwise.labelling.picture_features import (
    SIDE,
    features,
    gradient_pairs,
    gradients,
    picture_points,
)
from linkwise.labelling.project import KEPT, cluster, open_project, settings_of

image = pytest.importorskip("PIL.Image")
draw = pytest.importorskip("PIL.ImageDraw")


def shape(corners, rng):
    """Return a picture of a shape of any colour, size and place: a circle, a square, ... ."""
    colours = [tuple(rng.integers(0, 256, 3).tolist()) for _ in range(2)]
    picture = image.new("RGB", (SIDE, SIDE), colours[0])
    radius = rng.uniform(14, 24)
    x, y = rng.uniform(radius, SIDE - radius, 2)
    angle = np.arange(corners) * 2 * np.pi / corners + rng.uniform(-0.3, 0.3)
    angle += np.pi / 4 if corners == 4 else -np.pi / 2
    radius = np.where(np.arange(corners) % 2, 0.4 * radius, radius) if corners == 10 else radius
    ends = np.stack([x + radius * np.cos(angle), y + radius * np.sin(angle)], axis=1)
    draw.Draw(picture).polygon([tuple(end) for end in ends.tolist()], fill=colours[1])
    return np.asarray(picture)


CORNERS = {"circle": 60, "square": 4, "triangle": 3, "star": 10}


def shapes(n, seed=0):
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 4
    return [shape([*CORNERS.values()][kind], rng) for kind in kinds], kinds


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.makedirs("photos/more")
    pictures, _ = shapes(12)
    for i, pixels in enumerate(pictures):
        image.fromarray(pixels).save(f"photos/{'more/' if i % 2 else ''}{i:02d}.png")
    (tmp_path / "photos" / "notes.txt").write_text("not an image")
    (tmp_path / "photos" / ".hidden.png").write_text("nor this")
    return tmp_path


@pytest.mark.parametrize("seed", range(2))
def test_shapes_are_told_apart_by_the_points_of_pictures(seed):
    pictures, kinds = shapes(160, seed)
    found = KMeans(4, n_init=10, random_state=0).fit_predict(picture_points(pictures))
    assert adjusted_rand_score(kinds, found) > 0.5  # 16 x 16 colours: .00


def test_pairs_of_gradients_do_not_change_when_a_thing_moves():
    still, moved = np.full((2, SIDE, SIDE, 3), 90, dtype=np.uint8)
    still[10:25, 12:30], moved[31:46, 25:43] = 200, 200
    first, second = (gradient_pairs(*gradients(pixels)) for pixels in (still, moved))
    assert_allclose(first, second, atol=1e-6)
    assert np.linalg.norm(features(still)[0] - features(moved)[0]) > 0.5


def test_even_pictures_are_one_point():
    pictures = [np.full((SIDE, SIDE, 3), 120, dtype=np.uint8)] * 3
    assert_allclose(picture_points(pictures), 0, atol=1e-6)


def test_a_folder_of_images_is_a_data_set(folder):
    items = read_items("photos")
    assert len(items.X) == 12
    assert items.ids[:2] == ["00.png", "02.png"]
    assert items.ids[-1] == "more/11.png"
    assert items.cells[0] == ["00.png"]
    assert items.used == "12 images; 1 other file left out"
    assert_allclose(items.X, image_points(items.ids, "photos"))
    assert default_project("photos/") == "photos.linkwise"
    assert default_project(".") == f"{folder}.linkwise"


def test_the_project_of_a_folder_opens_again_and_notices_changes(folder):
    project = "photos.linkwise"
    items, journal = open_project("photos", project, dict.fromkeys(KEPT))
    with journal:
        journal.answer("00.png", "02.png", False)
    again = settings_of(project, dict.fromkeys(KEPT))
    open_project("photos", project, again)[1].close()
    labels = cluster("photos", read_project(project), project)[1].labels
    assert labels[items.ids.index("00.png")] != labels[items.ids.index("02.png")]
    os.remove("photos/04.png")
    with pytest.raises(ValueError, match="has changed"):
        open_project("photos", project, again)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["empty"], "empty has no images, 0 other files"),
        (["photos", "--id", "x"], "folder of images"),
        (["photos", "--embedding", "three.npy"], "three.npy has 3 rows, but photos has 12"),
        (["photos", "--embedding", "nan.npy"], "nan.npy"),
        (["photos", "--embedding", "none.npy"], "none.npy"),
        (["photos", "--embedding", "x.csv"], "name a .npy file"),
        (["broken"], "is not a readable picture"),
    ],
)
def test_folders_and_embeddings_that_cannot_be_used_are_refused(folder, capsys, words, fault):
    os.makedirs("empty")
    os.makedirs("broken")
    (folder / "broken" / "a.png").write_bytes(b"no picture")
    np.save("three.npy", np.zeros((3, 2)))
    np.save("nan.npy", np.full((12, 2), np.nan))
    assert main(["label", *words, "--terminal"]) == 3
    said = capsys.readouterr().err
    assert fault in said
    assert said.count("\n") == 1


def test_an_embedding_gives_the_points_and_the_data_are_shown(folder):
    X = np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32)
    np.save("vectors.npy", X)
    items = read_items("photos", embedding="vectors.npy")
    assert_array_equal(items.X, X)
    assert items.image == 0
    assert items.used == "the 5 columns of vectors.npy"
    rows = [f"t{i},some words {i}" for i in range(12)]
    (folder / "texts.csv").write_text("\n".join(["id,text", *rows]))
    for text in ("text", None):  # no column of numbers is needed
        items = read_items("texts.csv", id_column="id", text=text, embedding="vectors.npy")
        assert_array_equal(items.X, X)
        assert items.cells[3] == ["some words 3"]
        assert (items.text is None) == (text is None)
    scaled = read_items("texts.csv", text="text", embedding="vectors.npy", standardize=True).X
    assert_allclose(scaled.std(axis=0), 1, rtol=1e-5)


def test_the_embedding_of_a_project_is_kept(folder):
    np.save("vectors.npy", np.arange(24.0).reshape(12, 2))
    given = dict.fromkeys(KEPT) | {"embedding": "vectors.npy"}
    open_project("photos", "p.linkwise", given)[1].close()
    items, journal = open_project("photos", "p.linkwise", settings_of("p.linkwise", given))
    journal.close()
    assert items.X.shape == (12, 2)
