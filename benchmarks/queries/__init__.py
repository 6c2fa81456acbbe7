"""Answers that each strategy of asking needs.

cell (one strategy on one draw of a set), report, pictures, run.
"""
