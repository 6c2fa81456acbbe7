"""Regions of pictures by strokes: how many strokes they need, and how long one takes.

scenes (pictures whose regions are known), segmenters (linkwise and others), user (who draws
strokes), run.
"""
