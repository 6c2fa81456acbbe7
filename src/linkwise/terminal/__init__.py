"""Labelling in a terminal: `linkwise label --terminal`.

text (the width of texts), screen (a question), keys (an answer), label (the loop), project (a
session).
"""
