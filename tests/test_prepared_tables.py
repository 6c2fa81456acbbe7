"""Laws of tables as they are: every format, categories, empty cells, new rows, texts by a model."""

import datetime
import gzip
import io
import json
import re
import uuid
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linkwise
from linkwise import Constraints
from linkwise.cli import main
from linkwise.cli.arguments import EXAMPLES, MISSING, UNSEEN, parser
from linkwise.constraints.ids import as_sample_id
from linkwise.labelling.items import read_items
from linkwise.tables import preparation, read_links, read_points

PLANS = ["basic", "plus", "pro"]
CELLS = [  # id, age, income, plan, city, note: three groups, i % 3
    [
        f"c{i:02d}",
        "" if i == 7 else str(20 + 20 * (i % 3) + i % 4),
        str(1000 * (i % 3) + 10 * (i % 5)),
        PLANS[i % 3],
        "" if i == 4 else "Köln" if i % 2 else "Ulm",
        f"note {i}",
    ]
    for i in range(30)
]
NAMES = ["id", "age", "income", "plan", "city", "note"]
LINKS = "id_a,id_b,kind\nc00,c03,must\nc01,c04,must\nc00,c01,cannot\nc01,c02,cannot\n"


def text_table(delimiter=",", rows=CELLS, names=NAMES):
    return "\n".join(delimiter.join(row) for row in [names, *rows]) + "\n"


def typed(cell):
    return None if cell == "" else int(cell) if cell.isdecimal() else cell


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(text_table(), encoding="utf-8")
    Path("links.csv").write_text(LINKS)
    return tmp_path


@pytest.fixture
def call(here, capsys, monkeypatch):
    """Run a command line; return its exit code, stdout and stderr."""

    def run(line, stdin=b""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main(line.split() if isinstance(line, str) else line)
        return code, *capsys.readouterr()

    return run


def write_table_as(suffix):
    """Write the table of CELLS in a format; return the name of its file."""
    columns = {name: [typed(row[j]) for row in CELLS] for j, name in enumerate(NAMES)}
    path = Path(f"table{suffix}")
    if suffix == ".tsv":
        path.write_text(text_table("\t"), encoding="utf-8")
    elif suffix == ".jsonl":
        rows = [dict(zip(NAMES, map(typed, row), strict=True)) for row in CELLS]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(pyarrow.table(columns), path)
    elif suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in [NAMES, *([typed(cell) for cell in row] for row in CELLS)]:
            book.active.append(row)
        book.save(path)
    else:
        path = Path("data.csv")
    return str(path)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"])
def test_every_format_gives_the_same_points(here, suffix, packed):
    expected = read_points("data.csv")
    name = write_table_as(suffix)
    if packed:
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))
        name += ".gz"
    found = read_points(name)
    assert_array_equal(found.X, expected.X)
    assert found.ids == [row[0] for row in CELLS]
    assert (found.recognised, found.note) == ("id", expected.note)
    items = read_items(name)
    assert_array_equal(items.X, expected.X)
    assert items.cells[7][:3] == ["", "1020", "plus"]
    assert items.categories == ["plan", "city"]


def test_the_recipe_of_the_manual_gives_the_same_points(here):
    """docs/tables.md: what the command does, by scikit-learn."""
    pandas = pytest.importorskip("pandas")
    manual = Path(__file__).parents[1] / "docs" / "tables.md"
    code = re.search(r"```python\n(.*?)```", manual.read_text(encoding="utf-8"), re.DOTALL)[1]
    scope = {}
    exec(code, scope)
    assert scope["X"].shape == (4, 7)
    X = scope["prepare"].fit_transform(pandas.read_csv("data.csv"))
    assert_allclose(X, read_points("data.csv").X)


def test_what_was_done_is_one_line(call):
    code, _, err = call("fit data.csv -k 3 --method pck-means --links links.csv -o labels.csv")
    assert code == 0
    assert err.splitlines()[1] == (
        "linkwise: note: data.csv: 2 columns of numbers, standardized; categories 'plan', 'city' "
        "one-hot in 6 columns; 1 empty cell of numbers filled by the median; 1 empty cell of "
        "categories kept apart; left out: 'note' (30 different texts)"
    )
    labels = dict(line.split(",") for line in Path("labels.csv").read_text().splitlines()[1:])
    assert len({(label, int(name[2:4]) % 3) for name, label in labels.items()}) == 3
    assert call("fit data.csv -k 3 --columns income --method pck-means --id id")[2].count("\n") == 1


def test_empty_numbers_become_what_was_asked_for(here):
    ages = np.array([int(row[1]) for row in CELLS if row[1]])
    for how, value in (("median", np.median(ages)), ("mean", ages.mean())):
        X = read_points("data.csv", columns=["age"], missing=how).X
        assert X[7, 0] == pytest.approx(value)
    cities = read_points("data.csv", columns=["city"], missing="most-frequent").X
    assert_array_equal(cities.sum(axis=1), 1)
    assert cities.shape == (30, 2)
    assert read_points("data.csv", columns=["city"]).X.shape == (30, 3)
    Path("na.csv").write_text("x,y\nNA,1\nnull,2\n3, \nNaN,4\n")
    assert_array_equal(read_points("na.csv").X, [[3, 1], [3, 2], [3, 2], [3, 4]])
    np.save("gap.npy", np.array([[1, np.nan], [3, 4], [5, 6]], dtype="f4"))
    found = read_points("gap.npy")
    assert_array_equal(found.X, np.array([[1, 5], [3, 4], [5, 6]], dtype="f4"))
    assert "1 empty cell of numbers filled by the median" in found.note


def test_categories_are_those_named_and_rare_ones_share_a_column(here):
    X = read_points("data.csv", columns=["income"], categories=["income"], id_column="id")
    assert X.X.shape == (30, 15)
    assert read_points("data.csv", categories=["none"]).X.shape == (30, 2)
    order = read_points("data.csv", columns=["plan"], ordered={"plan": PLANS}).X
    assert_array_equal(order.ravel(), [i % 3 for i in range(30)])
    many = "x\n" + "".join(f"v{i % 80}\n" * (3 if i % 80 < 40 else 1) for i in range(160))
    Path("many.csv").write_text(many)
    made = read_points("many.csv").preparation.columns[0]
    assert len(made.values) == preparation.MOST - 1
    assert len(made.values) + len(made.rare) == 80
    assert_array_equal(read_points("many.csv").X.sum(axis=1), 1)


def test_columns_of_one_name_are_used_both(call):
    Path("twice.csv").write_text("x,x,y\n1,5,2\n3,6,4\n2,7,9\n")
    assert_array_equal(read_points("twice.csv").X[0], [1, 5, 2])
    assert_array_equal(read_items("twice.csv").X[0], [1, 5, 2])
    assert call("fit twice.csv -k 2 --method pck-means --save m.lwmodel -o l.csv")[0] == 0
    assert call("predict m.lwmodel twice.csv")[1] == Path("l.csv").read_text()


def test_columns_of_numbers_keep_their_distances_unless_categories_stand_beside(here):
    assert_array_equal(read_points("data.csv", columns=["income"]).X[:2, 0], [0, 1010])
    X = read_points("data.csv", columns=["income", "plan"]).X
    assert_allclose([X[:, 0].mean(), X[:, 0].std()], [0, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("line", "fragment"),
    [
        ("fit data.csv --missing refuse", "line 9, column 'age': the cell is empty"),
        ("fit data.csv --columns agee", "no column 'agee'; did you mean 'age'?"),
        ("fit data.csv --columns Note", "no column 'Note'; did you mean 'note'?"),
        ("fit data.csv --columns note", "column 'note' cannot be clustered by: 30 different"),
        ("fit data.csv --categories plann", "no column 'plann'; did you mean 'plan'?"),
        ("fit data.csv --columns age --categories plan", "name it in --columns too"),
        ("fit void.csv --columns y", "the column 'y' cannot be clustered by: no value"),
        ("fit nothing.csv", "no column is left to cluster by: 'y' has no value"),
        ("fit cut.csv.gz", "cut.csv.gz: the gzip file is cut short or damaged"),
        ("fit plain.csv.gz", "plain.csv.gz: not a gzip file, though its name ends in .gz"),
        ("fit latin.csv", "line 2: not UTF-8 text; save the file as UTF-8, or name its encoding"),
        ("fit wide.csv", "such as --encoding utf-16"),
        ("fit data.csv --encoding ascii", "line 3: not ascii text"),
        ("fit data.csv --encoding klingon", "the encoding 'klingon' is not known"),
        ("fit semi.csv", "fields seem to be separated by ';'; --delimiter"),
        ("fit data.csv --sheet A", "--sheet names a sheet of an .xlsx file"),
        ("fit x.npy --delimiter ;", "--delimiter is for .csv, .tsv and .jsonl files"),
        ("fit x.npy --categories 0", "--categories is for tables"),
        ("fit bad.jsonl", 'bad.jsonl, line 2: expected an object such as {"age"'),
        ("fit nested.jsonl", "line 1, column 'x': expected a number or a text, got [1]"),
        ("fit data.csv --ordinal plan=basic<plus", "'pro' is not in the order basic < plus"),
        ("fit odd.csv", "line 4, column 'x': 'about 3' is not a number"),
        ("label data.csv --terminal --embed a:b", "--embed says how texts become points"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_in_one_sentence(call, line, fragment):
    Path("void.csv").write_text("x,y\n1,\n2,\n")
    Path("nothing.csv").write_text("id,y\na,\nb,\n")
    Path("cut.csv.gz").write_bytes(gzip.compress(text_table().encode())[:-9])
    Path("plain.csv.gz").write_text("x\n1\n")
    Path("latin.csv").write_bytes("x,y\n1,é\n".encode("latin-1"))
    Path("wide.csv").write_bytes("x,y\n1,2\n".encode("utf-16"))
    Path("semi.csv").write_text("x;y\n1;2\n3;4\n")
    Path("bad.jsonl").write_text('{"x": 1}\n{"x": \n')
    Path("nested.jsonl").write_text('{"x": [1]}\n')
    Path("odd.csv").write_text("x\n1\n2\nabout 3\n")
    np.save("x.npy", np.eye(3))
    code, out, err = call(line if line.startswith("label") else f"{line} -k 2 --method pck-means")
    assert (code, out) == (3, "")
    assert fragment in err
    assert err.count("\n") == 1
    assert not list(Path().glob("*.linkwise"))


def test_other_delimiters_encodings_and_sheets_are_read_where_they_are_named(here):
    expected = read_points("data.csv")
    Path("data.txt").write_bytes(text_table(";").encode("cp1252"))
    found = read_points("data.txt", delimiter=";", encoding="cp1252")
    assert_array_equal(found.X, expected.X)
    Path("wide.csv").write_text(text_table(), encoding="utf-16")
    assert_array_equal(read_points("wide.csv", encoding="utf-16").X, expected.X)
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "May"
    book.active.append(["x", "y"])
    book.active.append([1, 2.5])
    book.active.append([3, None])
    book.create_sheet("June").append([5])
    book.save("book.xlsx")
    assert_array_equal(read_points("book.xlsx").X, [[1, 2.5], [3, 2.5]])
    assert "the sheet 'May' is read, not 'June'" in read_points("book.xlsx").note
    assert_array_equal(read_points("book.xlsx", sheet="June").X, [[5]])
    with pytest.raises(ValueError, match=r"no sheet 'june'; did you mean 'June'\? its sheets are"):
        read_points("book.xlsx", sheet="june")
    Path("cut.xlsx").write_bytes(Path("book.xlsx").read_bytes()[:500])
    with pytest.raises(ValueError, match=r"not a readable \.xlsx file"):
        read_points("cut.xlsx")


def test_a_column_whose_first_text_comes_late_is_read_again(here, monkeypatch):
    monkeypatch.setattr("linkwise.tables.table.BATCH", 10)
    codes = [f"{i % 3:02d}" if i < 50 else "x" for i in range(120)]
    Path("late.csv").write_text("code,n\n" + "".join(f"{c},{i}\n" for i, c in enumerate(codes)))
    made = read_points("late.csv").preparation
    assert made.columns[0].values == ["00", "01", "02", "x"]


def test_typed_columns_of_parquet_are_read(here):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ids = [uuid.UUID(int=i) for i in range(4)]
    times = [datetime.datetime(2026, 5, 3, 14, i) for i in range(4)]
    big = [2**60 + i for i in range(4)]
    table = pyarrow.table(
        {
            "uuid": pyarrow.array([i.bytes for i in ids], pyarrow.binary(16)),
            "when": pyarrow.array(times, pyarrow.timestamp("us")),
            "key": big,
            "plan": pyarrow.array(["a", "b", "a", "b"]).dictionary_encode(),
            "flag": [True, False, None, True],
            "tags": [[1], [2], [3], [4]],
        }
    )
    parquet.write_table(table, "typed.parquet")
    assert read_points("typed.parquet").ids == [str(i) for i in ids]
    assert read_points("typed.parquet", id_column="when").ids[1] == "2026-05-03 14:01:00"
    assert read_points("typed.parquet", id_column="key").ids == [str(i) for i in big]
    found = read_points("typed.parquet", columns=["plan", "flag"])
    assert_allclose(found.X[:2, :2], [[1, 0], [0, 1]])
    assert "'tags' (list<" in read_points("typed.parquet", id_column="uuid").note
    links = pyarrow.table(
        {
            "id_a": pyarrow.array([ids[0].bytes], pyarrow.binary(16)),
            "id_b": pyarrow.array([ids[1].bytes], pyarrow.binary(16)),
            "kind": ["must"],
        }
    )
    parquet.write_table(links, "links.parquet")
    assert read_links("links.parquet").must_link.tolist() == [[str(ids[0]), str(ids[1])]]
    Path("cut.parquet").write_bytes(Path("typed.parquet").read_bytes()[:200])
    for read in (read_points, read_links):
        with pytest.raises(ValueError, match=r"cut\.parquet: not a readable \.parquet file"):
            read("cut.parquet")


def test_an_anndata_file_is_clustered_by_its_components(here):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    obs = pandas.DataFrame(
        {"type": pandas.Categorical(["B", "T"] * 5), "depth": np.arange(10.0)},
        index=[f"cell{i}" for i in range(10)],
    )
    data = anndata.AnnData(rng.random((10, 60)).astype("f4"), obs=obs)
    data.write_h5ad("plain.h5ad")
    assert read_points("plain.h5ad").X.shape == (10, 9)
    data.obsm["X_pca"] = rng.random((10, 3))
    data.write_h5ad("cells.h5ad")
    Path("cells.h5ad.gz").write_bytes(gzip.compress(Path("cells.h5ad").read_bytes()))
    for name in ("cells.h5ad", "cells.h5ad.gz"):
        found = read_points(name)
        assert_allclose(found.X, data.obsm["X_pca"])
        assert found.ids[3] == "cell3"
        items = read_items(name)
        assert items.names == ["type", "depth"]
        assert items.cells[1] == ["T", "1"]
    save = "fit plain.h5ad -k 2 --method pck-means --save m.lwmodel -o l.csv"
    assert main(save.split()) == 0
    assert main(["predict", "m.lwmodel", "plain.h5ad"]) == 3  # components of other rows differ
    assert main(f"{save} --columns X --force".split()) == 0
    assert read_points("cells.h5ad", columns=["X"]).X.shape == (10, 60)
    assert read_points("cells.h5ad", columns=["type", "depth"]).X.shape == (10, 3)
    Path("cut.h5ad").write_bytes(Path("cells.h5ad").read_bytes()[:700])
    with pytest.raises(ValueError, match=r"not a readable \.h5ad file"):
        read_points("cut.h5ad")


def test_new_rows_are_prepared_as_the_old_ones(call):
    line = "fit data.csv -k 3 --links links.csv --method pck-means --save m.lwmodel --quiet"
    code, expected, _ = call(line)
    assert code == 0
    # other order of rows and columns, one column more, other statistics
    order = [5, 0, 3, 1, 4, 2]
    rows = [[row[j] for j in order] for row in CELLS[10:14]]
    Path("new.csv").write_text(text_table(rows=rows, names=[NAMES[j] for j in order]))
    code, out, err = call("predict m.lwmodel new.csv")
    assert code == 0
    assert set(out.splitlines()) <= set(expected.splitlines())
    assert len(out.splitlines()) == 5
    assert "m.lwmodel: n = 4, sizes " in err
    code, out, _ = call("predict m.lwmodel data.csv --json -o again.csv --quiet")
    assert Path("again.csv").read_text() == expected
    assert json.loads(out)["n"] == 30
    model = linkwise.load("m.lwmodel")
    made = preparation.Preparation.from_dict(model.preparation_)
    assert_array_equal(made.columns[2].values, PLANS)


@pytest.mark.parametrize(
    ("change", "options", "fragment"),
    [
        (("pro", "gold"), "", "line 4, column 'plan': the category 'gold' was not seen when"),
        (("pro", ""), "", "line 4, column 'plan': the cell is empty, which was not seen"),
        (("income", "incom"), "", "no column 'income', which the model was fitted with; did you"),
        (("1010", "many"), "", "line 3, column 'income': 'many' is not a number, as it was"),
        (("c02", "c01"), "", "the id 'c01' stands on line 3 as well"),
        (("", ""), "-o m.lwmodel", "expected a name that ends in .csv"),
    ],
)
def test_new_rows_that_do_not_fit_the_model_are_refused(call, change, options, fragment):
    line = "fit data.csv -k 3 --method pck-means --save m.lwmodel --quiet -o labels.csv"
    assert call(line)[0] == 0
    text = text_table(rows=CELLS[:3])
    Path("new.csv").write_text(text.replace(*change) if change[0] else text)
    code, out, err = call(f"predict m.lwmodel new.csv {options}")
    assert (code, out) == (2 if options else 3, "")
    assert fragment in err
    assert err.count("\n") == 1
    if "gold" in change:
        assert call("predict m.lwmodel new.csv --unseen ignore")[0] == 0


def test_what_is_no_model_does_not_predict(call):
    linkwise.save(linkwise.COPKMeans(), "empty.lwmodel")
    X = np.arange(20.0).reshape(10, 2)
    linkwise.save(linkwise.PCKMeans(2, random_state=0).fit(X), "plain.lwmodel")
    for line, fragment in {
        "predict none.lwmodel data.csv": "none.lwmodel: no such file",
        "predict data.csv data.csv": "data.csv is not a saved model",
        "predict empty.lwmodel data.csv": "empty.lwmodel: the model is not fitted",
        "predict plain.lwmodel data.csv": "line 9, column 'age': the cell is empty",
        "predict plain.lwmodel wide.csv": "wide.csv has 3 columns to cluster by, but the model was",
    }.items():
        Path("wide.csv").write_text("1,2,3\n4,5,6\n")
        code, out, err = call(line)
        assert (code, out, err.count("\n")) == (3, "", 1)
        assert fragment in err
    np.save("new.npy", X[:3])
    assert call("predict plain.lwmodel new.npy")[0] == 0


def test_rows_join_the_clusters_of_a_model_by_its_preparation(call):
    line = "fit old.csv -k 3 --links links.csv --effort fast --save m.lwmodel --standardize"
    Path("old.csv").write_text(text_table(rows=CELLS[:24]), encoding="utf-8")
    Path("new.csv").write_text(text_table(rows=CELLS[24:]), encoding="utf-8")
    assert call(f"{line} -o old-labels.csv")[0] == 0
    code, out, _ = call("fit new.csv --into m.lwmodel")
    assert code == 0
    labels = dict(line.split(",") for line in out.splitlines()[1:])
    assert len(labels) == 30
    assert labels['"c24"'] == labels['"c00"']
    assert hasattr(linkwise.load("m.lwmodel"), "preparation_")


def test_a_project_opens_again_with_the_same_preparation(call):
    line = "label data.csv --terminal --missing mean --categories plan"
    assert call(line, b"s\nd\nq\n")[0] == 0
    from linkwise.journal import read_project
    from linkwise.labelling.project import items_of

    project = read_project("data.linkwise")
    assert project.settings["categories"] == ["plan"]
    assert project.settings["missing"] == "mean"
    items = items_of("data.csv", project, "data.linkwise")
    expected = read_points("data.csv", missing="mean", categories=["plan"]).X
    assert_array_equal(items.X, expected)
    for options in ("", "--id id"):
        line = f"fit data.csv --links data.linkwise -k 3 --method pck-means {options}"
        code, _, err = call(line)
        assert (code, "'plan' one-hot in 3 columns" in err) == (0, True)
    assert call("label data.csv --terminal", b"s\nq\n")[0] == 0
    assert read_project("data.linkwise").settings["categories"] == ["plan"]


def test_a_project_of_an_earlier_version_is_clustered_by_numbers_alone(here):
    from linkwise.labelling.project import KEPT, items_of, open_project, settings_of

    settings = dict.fromkeys(KEPT) | {"columns": ["income", "plan"]}
    _, journal = open_project("data.csv", "data.linkwise", settings)
    with journal:
        journal.configure(categories=None)
    from linkwise.journal import read_project

    assert settings_of("data.linkwise", dict.fromkeys(KEPT))["categories"] == []
    items = items_of("data.csv", read_project("data.linkwise"), "data.linkwise")
    assert items.X.shape == (30, 1)


def embed(texts):
    """Vectors of texts for --embed: how often each of four letters occurs."""
    embed.seen += texts
    return [[text.count(letter) for letter in "note"] for text in texts]


embed.seen = []


def test_texts_become_points_by_a_function_once(call, monkeypatch):
    import sys

    module = type(sys)("mine")
    module.embed = embed
    monkeypatch.setitem(sys.modules, "mine", module)
    embed.seen = []
    line = "label data.csv --terminal --text note"
    assert call(f"{line} --embed mine:embed", b"s\nq\n")[0] == 0
    assert len(embed.seen) == 30
    assert Path("data.linkwise.vectors.npz").is_file()
    # a project opens by its stored vectors; it does not run what it names
    assert call("label data.csv --terminal", b"s\nq\n")[0] == 0
    assert call("export data.linkwise --labels data.csv -o labels.csv")[0] == 0
    assert len(embed.seen) == 30
    Path("data.linkwise.vectors.npz").unlink()
    code, _, err = call("label data.csv --terminal", b"q\n")
    assert (code, err.count("\n")) == (3, 1)
    assert "30 texts of the project have no vector" in err
    assert "--embed mine:embed" in err
    assert call(f"{line} --embed mine:embed", b"q\n")[0] == 0
    assert len(embed.seen) == 60
    # more rows: only their texts are embedded
    more = [["c30", "30", "5", "pro", "Ulm", "a new note"]]
    Path("data.csv").write_text(text_table(rows=CELLS + more), encoding="utf-8")
    assert call(f"{line} --embed mine:embed", b"q\n")[0] == 0
    assert embed.seen[60:] == ["a new note"]


@pytest.mark.parametrize(
    ("name", "fragment"),
    [
        ("nonsense", "--embed nonsense: expected model2vec:FOLDER"),
        ("no_such_module:f", "--embed no_such_module:f: No module named 'no_such_module'"),
        ("json:nothing", "--embed json:nothing: nothing is not there in the module json"),
        ("json:__name__", "--embed json:__name__: __name__ is not a function"),
        ("builtins:len", "expected a vector for each of 30 texts, shape (30, d), got shape ()"),
        ("json:loads", "--embed json:loads: it failed for 30 texts: TypeError"),
    ],
)
def test_what_is_no_embedding_is_refused(call, name, fragment):
    code, _, err = call(f"label data.csv --terminal --text note --embed {name}", b"q\n")
    assert (code, err.count("\n")) == (3, 1)
    assert fragment in err
    assert not list(Path().glob("data.linkwise*"))


def test_texts_become_points_by_a_model_of_model2vec(call):
    model2vec = pytest.importorskip("model2vec")
    tokenizers = pytest.importorskip("tokenizers")
    words = {"[UNK]": 0, "[PAD]": 1, "cats": 2, "dogs": 3, "prices": 4, "shares": 5}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    vectors = np.array([[0, 0], [0, 0], [1, 0], [1, 0.1], [0, 1], [0.1, 1]], dtype=np.float32)
    model2vec.StaticModel(vectors, tokenizer).save_pretrained("model")
    texts = ["cats dogs", "dogs", "prices shares", "shares"] * 3
    Path("texts.csv").write_text("id,text\n" + "".join(f"{i},{t}\n" for i, t in enumerate(texts)))
    line = "label texts.csv --terminal --text text --embed model2vec:model"
    code, _, err = call(line, b"s\nq\n")
    assert (code, err) == (0, "")
    items = read_items("texts.csv", text="text", embed="model2vec:model")
    S = items.X @ items.X.T
    assert S[0, 1] > 0.99
    assert S[0, 2] < 0.2
    code, _, err = call(line.replace(":model", ":nowhere/model"), b"q\n")
    assert (code, err.count("\n")) == (3, 1)
    assert "the model cannot be loaded" in err


TIMES = [datetime.datetime(2026, 5, 3, 14, 30), datetime.datetime(2026, 5, 4)]


@pytest.mark.parametrize(
    "ids",
    [
        TIMES,
        [np.datetime64(t) for t in TIMES],
        np.array(TIMES, dtype="datetime64[ns]"),
        np.array(TIMES, dtype="datetime64[m]"),
        ["2026-05-03 14:30:00", "2026-05-04"],
    ],
)
def test_time_stamps_are_the_same_ids_in_all_libraries(ids):
    assert as_sample_id(ids).tolist() == ["2026-05-03 14:30:00", "2026-05-04"]
    pandas = pytest.importorskip("pandas")
    for form in (pandas.Series(TIMES), pandas.DatetimeIndex(TIMES), list(pandas.Series(TIMES))):
        assert_array_equal(as_sample_id(form), as_sample_id(ids))
    with pytest.raises(ValueError, match="an id is missing"):
        as_sample_id(pandas.Series([TIMES[0], pandas.NaT]))


def test_uuids_and_time_stamps_name_rows_everywhere(here):
    pandas = pytest.importorskip("pandas")
    from linkwise.evaluate import kept

    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0], [9, 9]], 10, axis=0) + rng.random((20, 2))
    start = pandas.Timestamp("2026-05-03 08:00", tz="UTC")
    for ids in (
        [uuid.UUID(int=i) for i in range(20)],
        list(pandas.date_range(start, periods=20, freq="h")),
        pandas.date_range("2026-01-01", periods=20).to_numpy(),
    ):
        links = Constraints([(ids[0], ids[1])], [(ids[0], ids[10])])
        model = linkwise.PCKMeans(2, random_state=0).fit(X, constraints=links, sample_id=ids)
        assert kept(model.labels_, links, sample_id=ids)[:2] == (1, 1)
        linkwise.save(model, "m.lwmodel")
        again = linkwise.load("m.lwmodel")
        assert again.refit(links).violations_ == []
        for suffix in ("csv", "jsonl"):
            links.write(f"links.{suffix}")
            assert Constraints.read(f"links.{suffix}").ids.tolist() == links.ids.tolist()
        frame = links.to_frame()
        assert Constraints.from_table(frame).ids.tolist() == links.ids.tolist()
        frame["id_a"], frame["id_b"] = [ids[0]] * 2, [ids[1], ids[10]]
        assert Constraints.from_table(frame).ids.tolist() == links.ids.tolist()


def test_uuids_and_time_stamps_name_rows_in_files(call):
    ids = [str(uuid.UUID(int=i)) for i in range(6)]
    times = [f"2026-05-03 {i:02d}:00:00" for i in range(6)]
    for column, names in (("uuid", ids), ("when", times)):
        rows = "".join(f"{name},{9 * (i % 2)}\n" for i, name in enumerate(names))
        Path("d.csv").write_text(f"{column},x\n{rows}")
        Path("l.csv").write_text(f"id_a,id_b,kind\n{names[0]},{names[2]},must\n")
        line = f"fit d.csv -k 2 --id {column} --links l.csv --method pck-means -o out.csv --force"
        code, _, err = call(line)
        assert (code, "links kept: 1 of 1" in err) == (0, True)
        assert f'"{names[5]}",' in Path("out.csv").read_text()
    Path("l.csv").write_text("id_a,id_b,kind\n2026-05-03,2026-05-03 02:00:00,must\n")
    assert "links kept: 1 of 1" in call(line)[2]  # a date is its midnight
    Path("l.csv").write_text("id_a,id_b,kind\n2026-05-03T01:00:00,2026-05-03 00:00:00,must\n")
    assert "did you mean '2026-05-03 01:00:00'?" in call(line)[2]


def test_uuids_and_time_stamps_name_rows_in_parts(call):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    Path("parts").mkdir()
    ids = [uuid.UUID(int=i) for i in range(40)]
    times = [datetime.datetime(2026, 5, 3, i // 2, 30 * (i % 2)) for i in range(40)]
    for part in (0, 1):
        rows = range(20 * part, 20 * part + 20)
        columns = {
            "id": pyarrow.array([ids[i].bytes for i in rows], pyarrow.binary(16)),
            "when": pyarrow.array([times[i] for i in rows], pyarrow.timestamp("us")),
            "x": [9.0 * (i % 2) + i / 99 for i in rows],
        }
        parquet.write_table(pyarrow.table(columns), f"parts/{part}.parquet")
    for column, names in (("id", ids), ("when", times)):
        Path("l.csv").write_text(f"id_a,id_b,kind\n{names[0]},{names[22]},must\n")
        line = f"fit parts/*.parquet -k 2 --anchors 10 --id {column} --columns x --links l.csv"
        code, _, err = call(f"{line} -o {column}-labels")
        assert (code, "links kept: 1 of 1" in err) == (0, True), err


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".csv.gz", ".parquet", ".xlsx"])
def test_damaged_files_are_read_or_refused_in_one_line(here, suffix):
    name = write_table_as(suffix.removesuffix(".gz"))
    raw = Path(name).read_bytes()
    raw = gzip.compress(raw) if suffix.endswith(".gz") else raw
    rng = np.random.default_rng(0)
    for turn in range(12 if suffix == ".xlsx" else 30):
        a = int(rng.integers(len(raw)))
        b = len(raw) if turn % 3 == 0 else a + int(rng.integers(1, 9))
        Path(f"bad{suffix}").write_bytes(raw[:a] + rng.bytes(turn % 5) + raw[b:])
        try:
            read_points(f"bad{suffix}")
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017


def test_a_graph_of_categories_alone_is_warned_of():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    numbers = np.eye(3)[y] * 4 + rng.standard_normal((400, 3))
    numbers /= numbers.std(axis=0)
    one_hot = np.eye(3)[rng.integers(3, size=400)]
    with pytest.warns(UserWarning, match=r"(9\d|100)% of the edges .* in all 3 columns of 0 and 1"):
        linkwise.CCSKL(3, random_state=0).fit(np.hstack([numbers, one_hot]))
    linkwise.CCSKL(3, random_state=0).fit(np.hstack([numbers, 0.3 * one_hot]))


def test_every_command_has_examples_that_its_parser_takes():
    import shlex

    for command, lines in EXAMPLES.items():
        assert lines
        for line in lines:
            program, name, *_ = words = shlex.split(line)
            assert (program, name) == ("linkwise", command)
            assert parser().parse_args(words[1:]).run.__name__ == command
    commands = parser()._subparsers._group_actions[0].choices
    assert set(commands) == set(EXAMPLES)
    assert all("examples:\n  linkwise " in made.format_help() for made in commands.values())


def test_the_choices_of_the_command_line_are_those_of_the_preparation():
    assert MISSING == preparation.MISSING
    assert UNSEEN == preparation.UNSEEN
