"""What benchmarks share while they run.

output (progress lines, files, command lines), machine (what it ran on), points (data sets), process
(one function in one fresh process), pool (many jobs on a few processes), cells (what has run, and
the loop that runs the rest).
"""
