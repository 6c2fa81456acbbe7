"""Models in files, without pickle.

A saved model (.lwmodel) is one zip archive, not compressed, of

    model.json      the model, with numbers in place of its arrays
    0.npy, 1.npy    its arrays; one that several parts of the model share is stored once

In model.json null, true and false, integers, finite floats, texts and lists stand for themselves.
Every other value is an object with one entry, its kind and its content:

    (1)  {"float": "nan"}                          also "inf" and "-inf"
    (2)  {"tuple": [...]}, {"dict": [[key, value], ...]}
    (3)  {"array": 3}                              the array in 3.npy
    (4)  {"objects": [[2], ["a", "b"]]}            an array of objects: its shape, its entries
    (5)  {"scalar": ["<f4", 0.5]}, {"dtype": "<f4"}
    (6)  {"csr_array": [[n, d], data, indices, indptr]}
    (7)  {"RandomState": [key, position, has_gauss, gauss]}
    (8)  {"Pair": [3, 8, 1, 1.0]}                  a NamedTuple, field by field
    (9)  {"CCSKL": {"n_clusters": 3, ...}}         an object, attribute by attribute
    (10) {"again": 2}                              the third object of kind (9), counted from 0
    (11) {"method": ["_embed", {"again": 0}]}      a method that computes rows on demand

The classes of (8) and (9) are those in `saving.classes` and no others: nothing is imported by a
name from a file, and nothing in a file is run. Their attributes are part of the format: a change
to one of these classes, or to the attributes of an estimator, needs a new FORMAT.

Cost: one pass over the arrays, in blocks when writing; reading takes the memory of the model.
"""

from linkwise.saving.archive import load, save

__all__ = ["load", "save"]
