"""Texts as points by an embedding: a model on this computer, or a function of the user.

    model2vec:FOLDER             a static model of model2vec, in a folder or by its name on its hub
    sentence-transformers:NAME   a model of sentence-transformers, in a folder or by its name
    MODULE:FUNCTION              a function (list of n texts) -> array (n, d); the module is looked
                                 for in the working folder too

Vectors are scaled to length 1. Those of a project are kept in one file beside it, by the checksum
of each text, so that a text is embedded once: a project that opens again, or whose file got more
rows, computes only the vectors of new texts.

A function runs only if the command line names it. A project that came from somebody else opens by
its stored vectors, and does not run what it names.
"""

import importlib
import io
import os
import sys
from hashlib import sha256

import numpy as np

from linkwise._files import write_whole
from linkwise._wording import counted

STORED = "stored:"  # before the name of a function that may not be run
MODEL2VEC, SENTENCES = "model2vec", "sentence-transformers"
WAYS = "model2vec:FOLDER, sentence-transformers:NAME, or MODULE:FUNCTION"


def check_name(name):
    """Return (library or module, what to take from it) of a name, or refuse it."""
    library, colon, rest = name.removeprefix(STORED).partition(":")
    if not (colon and library and rest):
        raise ValueError(f"--embed {name}: expected {WAYS}")
    return library, rest


def from_project(name):
    """Return the name of an embedding that a project names: a function may not be run by it."""
    if name is None or check_name(name)[0] in (MODEL2VEC, SENTENCES):
        return name
    return f"{STORED}{name}"


def named(name):
    """Return the name of an embedding for a project to keep."""
    return None if name is None else name.removeprefix(STORED)


def load_function(name):
    """Return the function (list of texts) -> vectors of a name."""
    library, rest = check_name(name)
    if library == MODEL2VEC:
        package = _imported(MODEL2VEC, name)
        return _loaded(lambda: package.StaticModel.from_pretrained(rest), name).encode
    if library == SENTENCES:
        package = _imported("sentence_transformers", name)
        return _loaded(lambda: package.SentenceTransformer(rest), name).encode
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    module = _imported(library, name)
    function = getattr(module, rest, None)
    if not callable(function):
        fault = "is not a function" if hasattr(module, rest) else "is not there"
        raise ValueError(f"--embed {name}: {rest} {fault} in the module {library}")
    return function


def _imported(module, name):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.replace("_", "-")
        library = check_name(name)[0] in (MODEL2VEC, SENTENCES)
        remedy = f"pip install {package}" if library else f"{WAYS} is expected"
        raise ValueError(f"--embed {name}: {error}; {remedy}") from error


def _loaded(load, name):
    try:
        return load()
    except Exception as error:  # each library has errors of its own
        first = str(error).strip().split("\n")[0][:200]
        raise ValueError(
            f"--embed {name}: the model cannot be loaded ({first}); name a folder that holds one"
        ) from error


def computed(function, text_of, name):
    """Return the vectors of {checksum: text} as float32 (n, d); refuse anything else."""
    n = len(text_of)
    try:
        vectors = function(list(text_of.values()))
    except Exception as error:  # a function of the user may fail anyhow
        raise ValueError(
            f"--embed {name}: it failed for {counted(n, 'text')}: {type(error).__name__}: {error}"
        ) from error
    try:
        vectors = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        vectors = np.empty(0, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != n or not vectors.shape[1]:
        raise ValueError(
            f"--embed {name}: expected a vector for each of {n} texts, shape ({n}, d), got shape "
            f"{vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        raise ValueError(f"--embed {name}: it returned values that are not finite")
    return vectors


def _key(text):
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def read_vectors(path, name):
    """Return {checksum of a text: vector} in the file of a project; {} if there is none."""
    if path is None or not os.path.isfile(path):
        return {}
    try:
        with np.load(path, allow_pickle=False) as held:
            if str(held["name"]) != name:
                return {}
            keys, vectors = held["keys"], held["vectors"]
            return {key.tobytes(): vector for key, vector in zip(keys, vectors, strict=True)}
    except Exception:  # damaged: the vectors are computed again
        return {}


def write_vectors(path, name, vector_of):
    """Write {checksum of a text: vector} to the file of a project, whole or not at all."""
    keys = np.frombuffer(b"".join(vector_of), dtype=np.uint8).reshape(-1, 32)
    raw = io.BytesIO()
    np.savez(raw, name=np.array(name), keys=keys, vectors=np.array(list(vector_of.values())))
    write_whole(path, raw.getvalue())


def embedded(texts, name, path=None):
    """Return texts as points (n, d) by an embedding, scaled to length 1.

    Parameters
    ----------
    texts : list of str
    name : str, see the module; with "stored:" in front, a function is not run
    path : str or None, the file of vectors that were computed before, which is brought up to date
    """
    from sklearn.preprocessing import normalize

    plain = named(name)
    keys = [_key(text) for text in texts]
    vector_of = read_vectors(path, plain)
    new = {key: text for key, text in zip(keys, texts, strict=True) if key not in vector_of}
    if new and name.startswith(STORED):
        raise ValueError(
            f"{counted(len(new), 'text')} of the project {'has' if len(new) == 1 else 'have'} no "
            f"vector in {path}, and a project does not run a function by itself; name it again: "
            f"linkwise label DATA --embed {plain}"
        )
    if new:
        function = load_function(plain)
        found = computed(function, new, plain)
        if vector_of and found.shape[1] != len(next(iter(vector_of.values()))):
            vector_of, new = {}, dict(zip(keys, texts, strict=True))  # the function has changed
            found = computed(function, new, plain)
        vector_of |= dict(zip(new, found, strict=True))
        if path is not None:
            write_vectors(path, plain, vector_of)
    return normalize(np.array([vector_of[key] for key in keys], dtype=float))
