"""Images and strokes in files, and the command line over them."""

import json
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("PIL")

from PIL import Image

from linkwise.cli import main
from linkwise.journal import read_project
from linkwise.segment import Segmenter, Stroke, image_files, read_image, read_strokes, write_mask
from linkwise.segment.masks import PALETTE, encoded
from linkwise.segment.project import open_project


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width, height):
    """Return a png that says it is so large, with hardly any data."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def two_halves(height=40, width=60):
    rgb = np.zeros((height, width, 3), dtype=np.uint8)
    rgb[:, : width // 2] = [200, 60, 40]
    rgb[:, width // 2 :] = [40, 60, 200]
    return rgb


LEFT = {"colour": "1", "points": [[10, 5], [10, 35]], "width": 2}
RIGHT = {"colour": "2", "points": [[50, 20]], "width": 2}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(two_halves()).save("halves.png")
    (tmp_path / "strokes.json").write_text(json.dumps([LEFT, RIGHT]))
    return tmp_path


# reading


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.tiff", "a.webp", "a.jpg"])
def test_known_kinds_are_read(tmp_path, name):
    rgb = two_halves()
    options = {"lossless": True} if name.endswith("webp") else {}
    Image.fromarray(rgb).save(tmp_path / name, **options)
    found = read_image(tmp_path / name)
    assert found.dtype == np.uint8
    assert_allclose(found.astype(int), rgb, atol=120 if name.endswith("jpg") else 0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_turned_photograph_is_upright(tmp_path, orientation):
    rgb = np.zeros((30, 50, 3), dtype=np.uint8)
    rgb[:10, :20] = 255  # a white corner, upper left
    turns = {
        1: rgb, 2: rgb[:, ::-1], 3: rgb[::-1, ::-1], 4: rgb[::-1], 5: rgb.swapaxes(0, 1),
        6: np.rot90(rgb, 1), 7: rgb.swapaxes(0, 1)[::-1, ::-1], 8: np.rot90(rgb, -1),
    }  # fmt: skip
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = np.ascontiguousarray(turns[orientation])
    Image.fromarray(stored).save(tmp_path / "a.png", exif=exif)
    assert_array_equal(read_image(tmp_path / "a.png"), rgb)


def test_other_modes_become_colours(tmp_path):
    grey = np.arange(200, dtype=np.uint8).reshape(10, 20)
    Image.fromarray(grey).save(tmp_path / "grey.png")
    assert_array_equal(read_image(tmp_path / "grey.png"), np.repeat(grey[..., None], 3, axis=2))
    clear = np.zeros((4, 4, 4), dtype=np.uint8)
    Image.fromarray(clear).save(tmp_path / "clear.png")
    assert np.all(read_image(tmp_path / "clear.png") == 255)
    deep = np.array([[1000, 3000], [2000, 1000]], dtype=np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    assert_array_equal(read_image(tmp_path / "deep.png")[..., 0], [[0, 255], [128, 0]])
    Image.fromarray(grey).convert("1").save(tmp_path / "bits.png")
    assert set(np.unique(read_image(tmp_path / "bits.png"))) <= {0, 255}
    Image.fromarray(two_halves()).convert("CMYK").save(tmp_path / "ink.jpg")
    assert read_image(tmp_path / "ink.jpg").shape == (40, 60, 3)
    palette = Image.fromarray(two_halves()).convert("P")
    palette.save(tmp_path / "palette.png", transparency=0)
    assert read_image(tmp_path / "palette.png").shape == (40, 60, 3)
    Image.fromarray(np.array([[0.0, np.nan]], dtype=np.float32)).save(tmp_path / "nan.tiff")
    with pytest.raises(ValueError, match="not finite numbers"):
        read_image(tmp_path / "nan.tiff")


def whole(kind):
    import io

    out = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (60, 80, 3), dtype=np.uint8)).save(
        out, kind
    )
    return out.getvalue()


BAD = {
    "bomb.png": (lambda: png_header(60_000, 60_000), "pixels"),
    "wide.png": (lambda: png_header(40_000, 4_000), "40000 x 4000 pixels, more than 80,000,000"),
    "half.png": (lambda: whole("PNG")[:3000], "damaged"),
    "half.jpg": (lambda: whole("JPEG")[:2000], "damaged"),
    "lies.png": (lambda: png_header(500, 500), "damaged"),
    "text.png": (lambda: b"id,x,y\n1,2,3\n", "is not a JPEG"),
    "empty.jpg": (lambda: b"", "is not a JPEG"),
    "page.svg": (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not a JPEG"),
    "moving.gif": (lambda: whole("GIF"), "is not a JPEG"),
    "script.jpg": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not a JPEG"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_images_are_refused_in_one_sentence(tmp_path, capsys, name):
    make, fault = BAD[name]
    (tmp_path / name).write_bytes(make())
    assert main(["segment", str(tmp_path / name), "--regions", "2", "-o", "m.npy"]) == 3
    said = capsys.readouterr().err
    assert fault in said
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert not os.path.exists("m.npy")


@pytest.mark.parametrize("seed", range(30))
def test_bytes_gone_wrong_are_read_or_refused(tmp_path, seed):
    rng = np.random.default_rng(seed)
    raw = bytearray(whole(("PNG", "JPEG", "TIFF", "WEBP", "BMP")[seed % 5]))
    for place in rng.integers(0, len(raw) if seed % 2 else 200, 12):
        raw[place] = rng.integers(256)
    (tmp_path / "a").write_bytes(raw)
    read, said = None, ""
    try:
        read = read_image(tmp_path / "a")
    except ValueError as error:
        said = str(error)
    assert said.startswith(str(tmp_path / "a")) or read.shape[2] == 3


def test_several_images_in_one_file_are_refused(tmp_path):
    frames = [Image.fromarray(two_halves())] * 3
    frames[0].save(tmp_path / "a.tiff", save_all=True, append_images=frames[1:])
    with pytest.raises(ValueError, match="3 images"):
        read_image(tmp_path / "a.tiff")


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(ValueError, match="not a regular file"):
        read_image(tmp_path / "pipe.png")
    with pytest.raises(IsADirectoryError):
        read_image(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_image(tmp_path / "none.png")


def test_the_limit_is_on_pixels(tmp_path, monkeypatch):
    Image.fromarray(two_halves()).save(tmp_path / "a.png")
    monkeypatch.setattr(image_files, "MOST", 2399)
    with pytest.raises(ValueError, match="60 x 40 pixels"):
        read_image(tmp_path / "a.png")
    monkeypatch.setattr(image_files, "MOST", 2400)
    assert read_image(tmp_path / "a.png").shape == (40, 60, 3)


# masks


def test_masks_are_read_back_as_they_were(tmp_path):
    mask = np.random.default_rng(0).integers(1, 256, (30, 20)).astype(np.uint8)
    write_mask(tmp_path / "m.npy", mask)
    assert_array_equal(np.load(tmp_path / "m.npy"), mask)
    write_mask(tmp_path / "m.png", mask)
    with Image.open(tmp_path / "m.png") as image:
        assert image.mode == "P"
        assert_array_equal(np.asarray(image), mask)
        rgb = np.asarray(image.convert("RGB"))
    first = tuple(bytes.fromhex(PALETTE[0][1:]))
    assert {tuple(p) for p in rgb[mask == 1].tolist()} == {first}
    with pytest.raises(ValueError, match=r"\.png or \.npy"):
        write_mask(tmp_path / "m.jpg", mask)


# strokes


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("5", "must be a list"),
        ('[{"colour": "1"}]', "stroke 0: stroke: expected colour, points, width"),
        ('[{"colour": "1", "points": [[NaN, 1]]}]', "finite"),
        ('[{"colour": "1", "points": [[100, 1]]}]', "stroke 0: points.0. is 100, 1, outside"),
        ('[{"colour": 1, "points": [[1, 1]]}]', "colour must be a text"),
    ],
)
def test_bad_files_of_strokes_are_refused(tmp_path, text, fault):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(ValueError, match=fault):
        read_strokes(tmp_path / "s.json", (40, 60))


def test_strokes_may_stand_in_an_object(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps({"strokes": [LEFT]}))
    assert read_strokes(tmp_path / "s.json", (40, 60)) == [Stroke("1", ((10, 5), (10, 35)), 2)]


# the command


def test_a_mask_by_a_file_of_strokes(folder, capsys):
    assert main(["segment", "halves.png", "--strokes", "strokes.json", "-o", "mask.png"]) == 0
    assert capsys.readouterr().err == "mask.png: 1 50.0%, 2 50.0%; 2 strokes\n"
    with Image.open("mask.png") as image:
        mask = np.asarray(image)
    assert np.all(mask[:, :30] == 1)
    assert np.all(mask[:, 30:] == 2)
    assert not os.path.exists("halves.linkwise")
    assert main(["segment", "halves.png", "--strokes", "strokes.json", "-o", "mask.png"]) == 2
    assert "--force" in capsys.readouterr().err


def test_a_mask_without_strokes(folder, capsys):
    assert main(["segment", "halves.png", "--regions", "2", "-o", "mask.npy"]) == 0
    assert "0 strokes" in capsys.readouterr().err
    mask = np.load("mask.npy")
    assert len(np.unique(mask[:, :30])) == len(np.unique(mask[:, 30:])) == 1
    assert mask[0, 0] != mask[0, -1]


@pytest.mark.parametrize(
    ("words", "code", "fault"),
    [
        (["halves.png", "--strokes", "strokes.json"], 2, "needs -o"),
        (["halves.png", "--strokes", "strokes.json", "--project", "p", "-o", "m.png"], 2, "one of"),
        (
            ["halves.png", "--regions", "1", "--strokes", "strokes.json", "-o", "m.png"],
            3,
            "2 colours",
        ),
        (["halves.png", "--strokes", "strokes.json", "-o", "m.jpg"], 3, ".png or .npy"),
        (["halves.png", "--strokes", "none.json", "-o", "m.png"], 3, "no such file"),
        (["halves.png", "--project", "none.linkwise", "-o", "m.png"], 3, "no such file"),
        (["none.png", "-o", "m.png"], 3, "no such file"),
        (["halves.png", "-o", "halves.png"], 2, "is an input of this command"),
        (["halves.png", "--regions", "0", "-o", "m.png"], 2, "1..255"),
    ],
)
def test_wrong_commands_are_refused(folder, capsys, words, code, fault):
    assert main(["segment", *words]) == code
    said = capsys.readouterr().err
    assert fault in said
    assert said.count("\n") == 1
    assert not os.path.exists("m.png")


SETTINGS = {"regions": None, "superpixels": None, "only_touching": None}


def test_a_project_keeps_strokes_and_undo_is_exact(folder, capsys):
    album, journal = open_project("halves.png", "halves.linkwise", SETTINGS)
    with journal:
        for body in (LEFT, RIGHT, LEFT | {"colour": "3", "points": [[30, 2]]}):
            journal.stroke(**body)
        journal.undo()
    assert main(["segment", "halves.png", "-o", "mask.npy"]) == 0
    assert "2 strokes" in capsys.readouterr().err
    strokes = [Stroke("1", ((10, 5), (10, 35)), 2), Stroke("2", ((50, 20),), 2)]
    assert_array_equal(np.load("mask.npy"), Segmenter(album.pixels(None)).mask(strokes))
    assert len(read_project("halves.linkwise").events) == 4


def test_a_region_is_cut_out_by_its_value_its_colour_or_its_name(folder, capsys):
    album, journal = open_project("halves.png", "halves.linkwise", SETTINGS)
    with journal:
        journal.stroke(**LEFT)
        journal.stroke(**RIGHT)
        journal.configure(names={"2": "right half"})
    for region, inside in (("1", np.arange(60) < 30), ("right half", np.arange(60) >= 30)):
        words = ["segment", "halves.png", "--cutout", region, "-o", "cut.png", "--force"]
        assert main(words) == 0
        assert "2 (right half) 50.0%" in capsys.readouterr().err
        with Image.open("cut.png") as image:
            pixels = np.asarray(image)
        assert_array_equal(pixels[..., :3], album.pixels(None))
        assert_array_equal(pixels[..., 3], np.where(inside, 255, 0) * np.ones((40, 1)))
    assert main(["segment", "halves.png", "--cutout", "sky", "-o", "sky.png"]) == 3
    assert "no region 'sky'; there are 1, 2, right half" in capsys.readouterr().err
    assert main(["segment", "halves.png", "--cutout", "1", "-o", "sky.npy"]) == 3
    assert "end the name in .png" in capsys.readouterr().err


def test_a_folder_of_images_gets_a_folder_of_masks(folder, capsys):
    os.makedirs("photos/more")
    for name in ("a.png", "b.jpg", "more/c.png"):
        Image.fromarray(two_halves()).save(f"photos/{name}", quality=95)
    _, journal = open_project("photos", "photos.linkwise", SETTINGS)
    with journal:
        for name in ("a.png", "more/c.png"):
            journal.stroke(**LEFT, image=name)
        journal.stroke(**RIGHT, image="more/c.png")
        journal.configure(names={"2": "right half"})
    assert main(["segment", "photos", "-o", "masks"]) == 0
    said = capsys.readouterr().err
    assert "masks/more/c.png: 1 50.0%, 2 (right half) 50.0%; 2 strokes" in said
    assert "2 files; 1 image left out" in said
    with Image.open("masks/more/c.png") as image:
        assert_array_equal(np.asarray(image)[0], np.where(np.arange(60) < 30, 1, 2))
    assert sorted(p.name for p in Path("masks").rglob("*.png")) == ["a.png", "c.png"]
    assert main(["segment", "photos", "-o", "masks"]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main(["segment", "photos", "-o", "cut", "--cutout", "right half"]) == 0
    assert [p.name for p in Path("cut").rglob("*.png")] == ["c.png"]
    capsys.readouterr()
    assert main(["segment", "photos", "-o", "no", "--cutout", "sky"]) == 3
    assert "has no strokes of 'sky'" in capsys.readouterr().err
    assert main(["segment", "photos", "-o", "m", "--strokes", "strokes.json"]) == 2
    assert main(["segment", "photos", "-o", "photos"]) == 2
    Image.fromarray(two_halves()).save("photos/d.png")  # one more: names know the others
    with pytest.warns(UserWarning, match="1 row more"):
        open_project("photos", "photos.linkwise", SETTINGS)[1].close()
    os.remove("photos/a.png")
    with pytest.raises(ValueError, match="has changed"):
        open_project("photos", "photos.linkwise", SETTINGS)


def test_a_mask_never_overwrites_the_image_of_a_project(folder, capsys):
    open_project("halves.png", "halves.linkwise", SETTINGS)[1].close()
    Image.fromarray(two_halves()[::-1, ::-1]).save("other.png")
    before = Path("halves.png").read_bytes()
    assert main(["segment", "other.png", "-o", "halves.png", "--force"]) == 2
    assert "halves.png is the data of the project" in capsys.readouterr().err
    assert Path("halves.png").read_bytes() == before


def test_a_project_of_another_image_is_refused(folder, capsys):
    open_project("halves.png", "p.linkwise", SETTINGS)[1].close()
    Image.fromarray(two_halves()[::-1, ::-1]).save("other.png")
    assert main(["segment", "other.png", "--project", "p.linkwise", "-o", "m.npy"]) == 3
    assert "halves.png" in capsys.readouterr().err


def test_strokes_outside_of_the_image_in_a_log_are_refused(folder, capsys):
    _, journal = open_project("halves.png", "halves.linkwise", SETTINGS)
    with journal:
        journal.stroke("1", [[1e9, 5]])
    assert main(["segment", "halves.png", "-o", "mask.npy"]) == 3
    assert "outside the image" in capsys.readouterr().err


def test_settings_of_a_project_are_kept(folder, capsys):
    open_project("halves.png", "halves.linkwise", SETTINGS | {"regions": 3, "superpixels": 40})[
        1
    ].close()
    assert main(["segment", "halves.png", "-o", "three.npy"]) == 0
    assert len(np.unique(np.load("three.npy"))) == 3
    assert main(["segment", "halves.png", "--regions", "2", "-o", "two.npy"]) == 0
    assert len(np.unique(np.load("two.npy"))) == 2


@pytest.mark.parametrize("regions", ["abc", True, 0, 256, [2]])
def test_settings_that_were_tampered_with_are_refused(folder, capsys, regions):
    _, journal = open_project("halves.png", "halves.linkwise", SETTINGS)
    with journal:
        journal.configure(regions=regions)
    assert main(["segment", "halves.png", "-o", "mask.npy"]) == 3
    assert f"the setting regions is damaged, {regions!r}" in capsys.readouterr().err


def test_an_encoded_mask_is_small():
    assert len(encoded(np.ones((500, 500), dtype=np.uint8), ".png")) < 3000


@pytest.mark.slow
def test_a_photograph_of_twelve_megapixels(folder, capsys):
    rgb = np.empty((3000, 4000, 3), dtype=np.uint8)
    rgb[:] = np.linspace(60, 110, 4000)[None, :, None]
    row, column = np.ogrid[:3000, :4000]
    inside = (row - 1400) ** 2 + (column - 2100) ** 2 < 900**2
    rgb[inside] += np.array([100, 30, 0], dtype=np.uint8)
    Image.fromarray(rgb).save("large.jpg", quality=90)
    lines = [
        {"colour": "1", "points": [[1600, 1400], [2600, 1400]], "width": 40},
        {"colour": "2", "points": [[200, 200], [3800, 200], [3800, 2800]], "width": 40},
        {"colour": "2", "points": [[200, 2800], [300, 1000]], "width": 40},
    ]
    (folder / "lines.json").write_text(json.dumps(lines))
    assert main(["segment", "large.jpg", "--strokes", "lines.json", "-o", "mask.npy"]) == 0
    assert "3 strokes" in capsys.readouterr().err
    mask = np.load("mask.npy")
    assert mask.shape == (3000, 4000)
    assert np.mean((mask == 1) == inside) > 0.998
