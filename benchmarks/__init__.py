"""Benchmarks: the same data for every contestant, each in a process of its own."""
