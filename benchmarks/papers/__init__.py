"""The experiments of four papers: their protocols, figures and claims, and a computed verdict.

protocol (what they share); ccskl, kernel, propagation and csc, one paper each, with lines and
images for the figures of propagation that need no data; series (means over draws), claims and
verdicts, pictures, report, run.
"""
