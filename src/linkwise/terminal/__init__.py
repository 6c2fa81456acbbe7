"""Labelling in a terminal: `linkwise label --terminal`.

start (from the start to the end), dialogue (the questions), screen (a question on the screen), keys
(an answer), layout (the width of texts).
"""
