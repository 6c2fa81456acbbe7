"""The label page at work: a simulated expert, pictures of the page, and the time of a frame.

browser (Chromium), visitor (the page without a browser), camera (the page in one), run.
"""
