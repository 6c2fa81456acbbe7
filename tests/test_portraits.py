"""Laws of what clusters are about."""

import numpy as np
import pytest

from linkwise.labelling.items import Items, text_points
from linkwise.labelling.labelling_session import LabellingSession
from linkwise.labelling.portraits import called, columns, keywords, portraits
from linkwise.labelling.project import KEPT, open_project

WORDS = {0: "card payment", 1: "train ticket", 2: "garden plant"}
LABELS = np.arange(30) % 3


def texts(seed=0):
    rng = np.random.default_rng(seed)
    filler = ["please", "today", "hello", "thanks"]
    return [f"{WORDS[z]} {' '.join(rng.choice(filler, 2))}" for z in LABELS.tolist()]


def items_of(said):
    return Items(text_points(said), None, ["text"], [[text] for text in said], [None], 0, "text")


def test_keywords_are_the_words_that_set_a_cluster_apart():
    found = keywords(texts(), LABELS, 2)
    assert {z: set(words) for z, words in found.items()} == {
        z: set(words.split()) for z, words in WORDS.items()
    }
    order = np.random.default_rng(1).permutation(30)
    again = keywords([texts()[i] for i in order], LABELS[order], 2)
    assert {z: set(w) for z, w in again.items()} == {z: set(w) for z, w in found.items()}


def test_texts_without_words_have_no_keywords():
    assert keywords(["", "!", "?"], np.array([0, 0, 1])) == {0: [], 1: []}


def test_columns_are_ranked_by_their_shift():
    X = np.column_stack((LABELS, np.tile([0.0, 1], 15), np.zeros(30)))
    items = Items(X, None, ["z", "odd", "same"], X, X.std(axis=0).tolist(), None, "numbers")
    found = columns(items, LABELS)
    assert [name for name, _ in found[0]] == ["z"]
    assert found[0][0][1] == pytest.approx(-found[2][0][1]) == pytest.approx(-1.22)
    assert found[1] == []


def test_a_portrait_has_examples_of_its_cluster_and_none_of_strays():
    labels = np.where(np.arange(30) == 4, -1, LABELS)
    for one in portraits(items_of(texts()), labels):
        assert one.size == (labels == one.label).sum()
        assert set(one.keywords[:2]) == set(WORDS[one.label].split())
        assert (labels[one.typical + one.borderline] == one.label).all()


def test_rows_are_called_by_their_contents(tmp_path):
    said = [f"{text} {i}" for i, text in enumerate(texts())]
    said[3] = "a long text, " * 20
    assert called(items_of(said), 0) == f"“{said[0]}”"
    assert len(called(items_of(said), 3)) <= 82
    path = tmp_path / "data.csv"
    path.write_text("id,text\n" + "".join(f'r{i},"{text}"\n' for i, text in enumerate(said)))
    settings = dict.fromkeys(KEPT) | {"id_column": "id", "text": "text"}
    items, journal = open_project(str(path), str(tmp_path / "p.linkwise"), settings)
    with journal:
        session = LabellingSession(items, journal)
        event = session.answer(0, 1, True)
        assert session.words(event) == f"“{said[0]}” and “{said[1]}”: same"
        session.answer(1, 0, False)
        assert f"“{said[0]}” cannot be with “{said[1]}”" in session.conflict_words(4).replace(
            f"“{said[1]}” cannot be with “{said[0]}”", f"“{said[0]}” cannot be with “{said[1]}”"
        )
