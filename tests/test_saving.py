"""Models in files: what comes back is what was saved, or an error in words."""

import io
import json
import zipfile
from contextlib import suppress
from inspect import signature
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

import linkwise
from linkwise import (
    CCSKL,
    ConstrainedGaussianMixture,
    ConstrainedPCA,
    Constraints,
    COPKMeans,
    KernelKMeans,
    LinkClustering,
    MPCKMeans,
    NormalizedCuts,
    Pair,
    PCKMeans,
    PropagatedSpectralClustering,
    SpectralLearning,
    load,
    sample_pairs,
    save,
)
from linkwise.blocks.rows import ComputedRows, LazyRows
from linkwise.estimators.spectral_base import SpectralClusterer
from linkwise.graph import build_affinity
from linkwise.journal import Data, Journal, read_project
from linkwise.saving.archive import FORMAT
from linkwise.saving.classes import NOT_SAVED

PUBLIC = [getattr(linkwise, name) for name in linkwise.__all__]
ESTIMATORS = [  # those that need no other estimator, as WithConstraints does
    kind
    for kind in PUBLIC
    if isinstance(kind, type) and issubclass(kind, BaseEstimator) and hasattr(kind, "traits")
]
AFFINITIES = ("rbf", "heat", "anchors", "precomputed")
FURTHER = [
    (LinkClustering, {"effort": "balanced"}),
    (CCSKL, {"sigma": "local"}),
    (CCSKL, {"affinity": "rbf", "sigma": "local"}),
    (CCSKL, {"affinity_params": {"metric": "cosine", "search": "approximate"}}),
    (SpectralLearning, {"normalization": "additive"}),
    (SpectralLearning, {"affinity": "anchors", "normalization": "additive"}),
    (NormalizedCuts, {"assign": "kmeans"}),
    (PropagatedSpectralClustering, {"algorithm": "a", "eps": (0.3, 0.6)}),
    (KernelKMeans, {"kernel": "nearest_neighbors", "version": "ncut"}),
    (KernelKMeans, {"kernel": "heat"}),
    (KernelKMeans, {"kernel": "precomputed"}),
    (KernelKMeans, {"kernel": "poly", "kernel_params": {"degree": 2}}),
    (MPCKMeans, {"metric": "diagonal", "shared_metric": False}),
    (ConstrainedGaussianMixture, {"covariance_type": "tied"}),
]
CASES = (
    [(kind, {}) for kind in ESTIMATORS]
    + [
        (kind, {"affinity": affinity})
        for kind in ESTIMATORS
        if issubclass(kind, SpectralClusterer)
        for affinity in AFFINITIES
        if affinity in str(kind._parameter_constraints["affinity"][0])
    ]
    + FURTHER
)
quiet = pytest.mark.filterwarnings(
    "ignore::linkwise.exceptions.ConstraintWarning",
    "ignore::linkwise.exceptions.ConvergenceWarning",
)


def made(kind, **params):
    """Return a small estimator for three clusters with seed 0, where it has these parameters."""
    told = {"n_clusters": 3, "n_components": 4, "effort": "fast", "random_state": 0, "n_init": 2}
    known = kind._get_param_names()
    return kind(**{name: told[name] for name in told if name in known} | params)


def fitted(model, X, links):
    """Return a model fitted with constraints, if it takes any."""
    takes = "constraints" in signature(model.fit).parameters
    return model.fit(X, constraints=links) if takes else model.fit(X)


def alike(a, b, seen=()):
    """Check that two values are the same through and through, and laid out alike."""
    assert type(a) is type(b) or (isinstance(a, np.memmap) and type(b) is np.ndarray)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.flags.c_contiguous == b.flags.c_contiguous or not a.flags.forc
        assert_array_equal(a, b)
    elif sparse.issparse(a):
        assert (a.format, a.shape) == (b.format, b.shape)
        parts = ("row", "col") if a.format == "coo" else ("indices", "indptr")
        for name in ("data", *parts):
            alike(getattr(a, name), getattr(b, name))
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            alike(one, other, seen)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for name in a.keys() - {"seconds"}:
            alike(a[name], b[name], seen)
    elif hasattr(a, "__self__"):
        assert a.__name__ == b.__name__
        alike(a.__self__, b.__self__, seen)
    elif isinstance(a, np.random.RandomState):
        assert_array_equal(a.get_state()[1], b.get_state()[1])
        assert a.get_state()[2:] == b.get_state()[2:]
    elif hasattr(a, "__dict__"):
        if id(a) not in seen:
            kept = [{k: v for k, v in vars(one).items() if k not in NOT_SAVED} for one in (a, b)]
            alike(*kept, (*seen, id(a)))
            if isinstance(a, ComputedRows):
                assert_array_equal(np.asarray(a), np.asarray(b))
    else:
        assert a == b or (a != a and b != b)


def through_a_file(model, folder):
    save(model, folder / "m.lwmodel")
    return load(folder / "m.lwmodel")


def check_all(model, folder, X, new, other):
    """Check that a model comes back whole, and works on as it would have."""
    again = through_a_file(model, folder)
    alike(model, again)
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(model, method):
            for points in (X, new):
                alike(getattr(model, method)(points), getattr(again, method)(points))
    if hasattr(model, "refit"):
        alike(model.refit(other), again.refit(other))
        if hasattr(model, "predict"):
            alike(model.predict(new), again.predict(new))


@pytest.fixture(scope="module")
def points(iris):
    """Points, new points, constraints and others."""
    X, y = iris[0][::2], iris[1][::2]
    new = iris[0][1::2][::3]
    return X, new, sample_pairs(y, 40, random_state=0), sample_pairs(y, 30, random_state=1)


@quiet
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("kind", "params"), CASES, ids=lambda case: getattr(case, "__name__", case)
)
def test_every_estimator_comes_back_as_it_was(kind, params, dtype, points, tmp_path):
    X, new, links, other = points
    X, new = X.astype(dtype), new.astype(dtype)
    if "precomputed" in params.values():
        graph = build_affinity(X, "rbf", n_neighbors=0, sigma="r")
        X, new = graph.W, graph.weights(new)
    model = fitted(made(kind, **params), X, links)
    check_all(model, tmp_path, X, new, other)


@quiet
@pytest.mark.parametrize("kind", [k for k in ESTIMATORS if k.traits.sparse])
def test_sparse_points_come_back(kind, points, tmp_path):
    X, new, links, other = points
    X, new = (sparse.csr_array(np.where(abs(Z) > 0.5, Z, 0)) for Z in (X, new))
    model = fitted(made(kind), X, links)
    check_all(model, tmp_path, X, new, other)


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Index, pd.Series])
def test_names_of_columns_and_rows_come_back(form, points, tmp_path):
    X, _, links, _ = points
    table = pd.DataFrame(X, columns=list("abcd"))
    ids = [f"flower {row}" for row in range(len(X))]
    a, b, sign, _ = links.arrays()
    names = np.array(ids, dtype=object)
    named = Constraints.from_table({"id_a": names[a], "id_b": names[b], "kind": sign})
    model = made(PCKMeans).fit(table, constraints=named, sample_id=form(ids))
    again = through_a_file(model, tmp_path)
    assert again.violations_ == model.violations_
    alike(again.feature_names_in_, model.feature_names_in_)
    alike(again.predict(table[::2]), model.predict(table[::2]))
    alike(again.refit(named).labels_, model.refit(named).labels_)
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(table.rename(columns={"a": "z"}))


class Recorded:
    """Rows that are neither an array nor a file."""

    def __init__(self, X):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype

    def __getitem__(self, part):
        return self.X[part]


@pytest.mark.parametrize("order", ["C", "F", "rows of another kind"])
def test_rows_and_labels_in_files_are_read_in(order, points, tmp_path):
    X, new, links, other = points
    X = X.astype(np.float32)
    np.save(tmp_path / "X.npy", np.asfortranarray(X) if order == "F" else X)
    rows = tmp_path / "X.npy" if order in ("C", "F") else Recorded(X)
    model = made(CCSKL, affinity="anchors")
    model.fit(rows, constraints=links, out=tmp_path / "labels.npy")
    again = through_a_file(model, tmp_path)
    assert_array_equal(again._fit_X, X)
    assert again._fit_X.flags.c_contiguous == (order != "F")
    assert type(again.labels_) is np.ndarray
    alike(model.labels_, again.labels_)
    alike(model.predict(new), again.predict(new))
    alike(model.refit(other).labels_, again.refit(other).labels_)


def test_rows_that_are_computed_when_asked_for_come_back(points, tmp_path, monkeypatch):
    X, new, links, other = points
    for room in ("estimators.spectral_base", "embedding.anchored", "graph.anchors"):
        monkeypatch.setattr(f"linkwise.{room}.IN_MEMORY", 0)
    model = made(CCSKL, affinity="anchors").fit(X, constraints=links)
    assert isinstance(model.embedding_, LazyRows)
    assert isinstance(model._graph_.Z.indices, np.memmap)
    again = through_a_file(model, tmp_path)
    assert again.embedding_.function.__self__ is again
    assert again._basis.map.Z is again._graph_.Z is again.affinity_matrix_.Z
    check_all(model, tmp_path, X, new, other)


def members(path):
    with zipfile.ZipFile(path) as archive:
        return {info.filename: info.file_size for info in archive.infolist()}


def test_an_array_is_stored_once(rng, tmp_path):
    X = rng.standard_normal((400, 50))
    model = COPKMeans(3, random_state=0).fit(X)
    model.other_ = X.view()
    model.inner_ = COPKMeans(2, random_state=0).fit(X)
    save(model, tmp_path / "m.lwmodel")
    assert sum(size > X.nbytes for size in members(tmp_path / "m.lwmodel").values()) == 1
    again = load(tmp_path / "m.lwmodel")
    assert again.other_ is again.inner_._fit_X is again._fit_X


def test_models_within_models_come_back(points, tmp_path):
    X, new, links, other = points
    outer, inner = made(COPKMeans).fit(X), made(CCSKL).fit(X, constraints=links)
    outer.chosen_, outer.tried_ = inner, {("CCSKL", 20): [inner, None], "map": made(ConstrainedPCA)}
    outer.given_ = links
    again = through_a_file(outer, tmp_path)
    alike(outer.chosen_, again.chosen_)
    assert again.chosen_ is again.tried_["CCSKL", 20][0]
    assert again.given_ == links
    assert again.tried_["map"].get_params() == made(ConstrainedPCA).get_params()
    alike(inner.refit(other).predict(new), again.chosen_.refit(other).predict(new))


def test_a_model_not_yet_fitted_comes_back_as_its_parameters(points, tmp_path):
    X, _, links, _ = points
    model = CCSKL(3, affinity_params={"metric": "cosine"}, random_state=np.random.RandomState(5))
    model.random_state.standard_normal(3)
    again = through_a_file(model, tmp_path)
    alike(model, again)
    fitted = (one.fit(X, constraints=links).labels_ for one in (model, again))
    assert_array_equal(*fitted)


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    | st.floats(width=32).map(np.float32) | st.integers(0, 255).map(np.uint8)
    | st.sampled_from([np.str_("a"), np.bool_(True), np.dtype(np.float32)])
    | arrays(st.sampled_from(["<f4", ">f8", "?", "<i8", "<U3", "<c16"]), st.sampled_from(
        [(), (0,), (3,), (2, 0), (2, 3), (2, 1, 3)]))
    | st.lists(st.text(), max_size=3).map(lambda words: np.array([*words, None], dtype=object))
    | st.sampled_from([
        getattr(sparse, f"{form}_{kind}")(np.tri(4, 3) / 7)
        for form in ("csr", "csc", "coo") for kind in ("array", "matrix")])
    | st.just(Pair("a", "b", -1, 0.5))
)  # fmt: skip
keys = st.text() | st.integers() | st.tuples(st.text(), st.integers())
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_values_come_back_as_they_were(tmp_path_factory, value):
    model = COPKMeans()
    model.value_ = value
    alike(value, through_a_file(model, tmp_path_factory.mktemp("values")).value_)


@pytest.mark.parametrize("layout", [
    lambda A: A, np.asfortranarray, lambda A: A[::2], lambda A: A[:, ::-1],
    lambda A: np.asfortranarray(A)[:, ::-1], lambda A: np.asfortranarray(A)[1:, 1:],
])  # fmt: skip
def test_numbers_that_lie_together_stay_together(layout, rng, tmp_path):
    model = COPKMeans()
    A = model.value_ = layout(rng.standard_normal((6, 5)))
    B = through_a_file(model, tmp_path).value_
    assert_array_equal(A, B)
    assert np.argmin(np.abs(A.strides)) == np.argmin(np.abs(B.strides))


def test_the_same_model_is_the_same_file(points, tmp_path):
    X, _, links, _ = points
    model = made(CCSKL).fit(X, constraints=links)
    save(model, tmp_path / "one.lwmodel")
    save(load(tmp_path / "one.lwmodel"), tmp_path / "two.lwmodel")
    assert (tmp_path / "one.lwmodel").read_bytes() == (tmp_path / "two.lwmodel").read_bytes()


@pytest.mark.parametrize(("value", "message"), [
    (lambda x: x, r"COPKMeans.value_ is of type function, which cannot be saved"),
    ({"a": [1, {3}]}, r"COPKMeans.value_\['a'\]\[1\] is of type set"),
    (KMeans(), r"COPKMeans.value_ is of type KMeans"),
    (np.zeros(2, dtype="M8[s]"), r"COPKMeans.value_, an array of datetime64"),
    (np.array([b"x", object()], dtype=object), r"COPKMeans.value_\[0\] is of type bytes"),
    (np.ma.masked_array([1.0]), r"COPKMeans.value_ is of type MaskedArray"),
    (sparse.lil_array((2, 2)), r"COPKMeans.value_ is of type lil_array"),
    (COPKMeans().fit, r"COPKMeans.value_ is of type method"),
    (np.random.RandomState(np.random.PCG64(0)), r"COPKMeans.value_, by PCG64"),
    (np.complex128(1j), r"COPKMeans.value_ is of type complex128"),
])  # fmt: skip
def test_what_cannot_be_saved_is_named(value, message, tmp_path):
    model = COPKMeans()
    model.value_ = value
    with pytest.raises(TypeError, match=message):
        save(model, tmp_path / "m.lwmodel")
    assert not list(tmp_path.iterdir())


def test_a_function_among_the_parameters_is_named(points, tmp_path):
    model = KernelKMeans(3, kernel=lambda X, Y: X @ Y.T, random_state=0).fit(points[0])
    with pytest.raises(TypeError, match=r"KernelKMeans.kernel is of type function"):
        save(model, tmp_path / "m.lwmodel")


def test_only_estimators_of_linkwise_are_saved(tmp_path):
    class Mine(COPKMeans):
        pass

    for model in (KMeans(), Mine(), Constraints(), None):
        with pytest.raises(TypeError, match="pass an estimator of linkwise"):
            save(model, tmp_path / "m.lwmodel")


def test_a_failed_save_leaves_the_old_file(points, tmp_path, monkeypatch):
    path = tmp_path / "m.lwmodel"
    save(COPKMeans(5), path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("linkwise.saving.archive.write_array", full)
    with pytest.raises(OSError, match="was not written: No space left"):
        save(made(COPKMeans).fit(points[0]), path)
    assert load(path).n_clusters == 5
    assert list(tmp_path.iterdir()) == [path]


def test_the_name_of_a_model_ends_in_its_suffix(tmp_path):
    for name in ("model", "model.linkwise", "points.csv"):
        with pytest.raises(
            ValueError, match=r"ends in \.lwmodel; name it '(model|points)\.lwmodel'"
        ):
            save(COPKMeans(), tmp_path / name)
    assert not list(tmp_path.iterdir())
    save(COPKMeans(4), tmp_path / "MODEL.LWMODEL")
    assert load(tmp_path / "MODEL.LWMODEL").n_clusters == 4


def test_a_model_under_the_old_suffix_is_read(tmp_path):
    save(COPKMeans(4), tmp_path / "m.lwmodel")
    (tmp_path / "m.lwmodel").rename(tmp_path / "m.linkwise")
    assert load(tmp_path / "m.linkwise").n_clusters == 4


@pytest.mark.parametrize("name", ["iris.linkwise", "iris.lwmodel", "iris.db"])
def test_a_project_is_never_replaced_by_a_model_nor_read_as_one(name, tmp_path):
    path = tmp_path / name
    with Journal(path, data=Data("iris.csv", "0" * 64, 3, "row")) as journal:
        journal.answer(0, 1, True)
        with pytest.raises(FileExistsError, match=r"is a project of answers, and is never"):
            save(COPKMeans(), path)  # while somebody is writing to it
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=rf"{name} is a project of answers, and is never"):
        save(COPKMeans(), path)
    assert path.read_bytes() == before
    with pytest.raises(
        ValueError, match=r"is a project of answers, not a saved model; .*\.lwmodel"
    ):
        load(path)


def test_a_model_is_not_read_as_a_project(tmp_path):
    save(COPKMeans(), tmp_path / "m.lwmodel")
    with pytest.raises(ValueError, match="is a saved model, not a project of answers"):
        read_project(tmp_path / "m.lwmodel")


def test_a_place_that_is_none_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="its folder does not exist; make it first"):
        save(COPKMeans(), tmp_path / "none" / "m.lwmodel")
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        save(COPKMeans(), tmp_path)
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(FileNotFoundError, match="no such file; name one that save wrote"):
            load(path)


@pytest.fixture(scope="module")
def small(points, tmp_path_factory):
    """The file of a model on an anchor graph, and the model."""
    path = tmp_path_factory.mktemp("small") / "m.lwmodel"
    model = made(CCSKL, affinity="anchors").fit(points[0], constraints=points[2])
    save(model, path)
    return path, model


def refused(path, fragment="the file is cut short, damaged or not a model: save"):
    """Check that a file is refused in one error that names it, without others behind it."""
    with pytest.raises(ValueError, match=fragment) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@given(st.integers(0, 2**32))
def test_a_file_cut_short_is_refused(tmp_path_factory, small, length):
    path = tmp_path_factory.mktemp("cut") / "m.lwmodel"
    raw = small[0].read_bytes()
    path.write_bytes(raw[: length % len(raw)])
    refused(path)


@given(st.integers(0, 2**32), st.integers(1, 255))
def test_a_changed_byte_is_refused_or_harmless(tmp_path_factory, small, place, change):
    path, raw = tmp_path_factory.mktemp("changed") / "m.lwmodel", bytearray(small[0].read_bytes())
    raw[place % len(raw)] ^= change
    path.write_bytes(raw)
    model = small[1]
    with suppress(ValueError):  # not so for a date, or what else is said twice in an archive
        model = load(path)
    alike(small[1], model)


def rewritten(path, old, change, **options):
    """Write an archive to another place after ``change`` of its parts, {name: bytes}."""
    with zipfile.ZipFile(old) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)


def in_json(path, old, change):
    """Write an archive to another place after ``change`` of what is in its model.json."""

    def edit(parts):
        head = json.loads(parts["model.json"])
        head.pop("digest")  # a file made by hand: every other check must hold
        change(head)
        parts["model.json"] = json.dumps(head).encode()

    rewritten(path, old, edit)


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def test_files_from_before_a_parameter_existed_are_read(small, tmp_path):
    def older(head):
        (parameters,) = head["model"].values()
        del parameters["on_unknown"]

    in_json(tmp_path / "model", small[0], older)
    model = linkwise.load(tmp_path / "model")
    assert model.on_unknown == "raise"
    assert model.get_params() == linkwise.load(small[0]).get_params()


def test_a_link_clustering_of_version_0_1_0_must_be_fitted_again():
    path = Path(__file__).parent / "models" / "link_clustering_0.1.0.linkwise"
    refused(path, "a LinkClustering fitted by linkwise 0.1.0.*; fit it again")


def test_another_format_is_refused_in_words(small, tmp_path):
    def newer(head):
        head |= {"format": FORMAT + 1, "linkwise": "9.9.9", "model": {"Unheard": {}}}

    path = tmp_path / "m.lwmodel"
    in_json(path, small[0], newer)
    refused(path, r"written by linkwise 9.9.9 in format 4; .* install linkwise 9.9.9")


def test_files_of_another_kind_are_refused(small, tmp_path):
    path = tmp_path / "m.lwmodel"
    for raw in (b"", b"PK\x05\x06" + bytes(18), b"id,label\n0,1\n", npy(np.zeros(3))):
        path.write_bytes(raw)
        refused(path)
    np.savez(tmp_path / "other.npz", X=np.zeros(3))
    refused(tmp_path / "other.npz", "There is no item named 'model.json'")
    in_json(path, small[0], lambda head: head.update(name="a picture"))
    refused(path, "it calls itself 'a picture'")
    rewritten(path, small[0], lambda parts: None, compression=zipfile.ZIP_DEFLATED)
    refused(path, "its parts are compressed")
    rewritten(path, small[0], lambda parts: parts.pop("0.npy"))
    refused(path)


@pytest.mark.parametrize("model", [
    {"os.system": "true"}, {"subprocess.Popen": ["true"]}, {"again": 0}, {"array": "../../x"},
    {"array": -1}, {"method": ["fit", {"COPKMeans": {}}]}, {"dtype": "O"}, {"scalar": ["O", 1]},
    {"COPKMeans": {"n_clusters": 3}}, {"COPKMeans": [3]}, {}, {"tuple": [], "dict": []}, 3, None,
    {"Pair": [1, 2, 1, 1.0]}, {"Pair": [1]}, {"dict": [[[], 1]]}, {"objects": [[2, 2], ["a"]]},
    {"csr_array": [[2, 2], 1, 1, 1]}, {"NeighbourAffinity": {"X": 1}}, {"float": "__import__"},
    {"Interpolation": {"indices": {"array": 0}, "weights": 1, "shape": [1, 0], "dtype": 1}},
])  # fmt: skip
def test_nothing_but_models_is_made(model, small, tmp_path):
    in_json(tmp_path / "m.lwmodel", small[0], lambda head: head.update(model=model))
    refused(tmp_path / "m.lwmodel")


def test_json_that_is_none_is_refused(small, tmp_path):
    for text in (b"[" * 100_000, b"NaN", b"\xff", b"{}", b'{"name": "linkwise model"}', b"[]"):
        rewritten(
            tmp_path / "m.lwmodel", small[0], lambda parts, t=text: parts.update({"model.json": t})
        )
        refused(tmp_path / "m.lwmodel")


class Trap:
    """What pickle would run."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def test_arrays_run_nothing_and_are_as_long_as_they_say(small, tmp_path):
    path = tmp_path / "m.lwmodel"
    huge = npy(np.zeros(3)).replace(b"(3,), }         ", b"(300000000000,),")
    assert b"300000000000" in huge
    pickled = npy(np.array([Trap()], dtype=object), allow_pickle=True)
    records = npy(np.zeros(3, dtype=[("a", "f8")]))
    for raw in (pickled, records, huge, npy(np.zeros(3))[:-1], npy(np.zeros(3)) + b"x", b""):
        rewritten(path, small[0], lambda parts, raw=raw: parts.update({"0.npy": raw}))
        refused(path)
    assert not Trap.sprung


def test_numbers_of_rows_that_compiled_code_would_trust_are_checked(points, tmp_path):
    X, _, links, _ = points
    graph, anchors = made(CCSKL).fit(X, constraints=links), made(CCSKL, affinity="anchors").fit(X)
    graph._graph_.W.indices[3] = 10**6
    anchors._graph_.Z.indices[3, 0] = 60_000
    for model in (graph, anchors):
        save(model, tmp_path / "m.lwmodel")
        refused(tmp_path / "m.lwmodel")
