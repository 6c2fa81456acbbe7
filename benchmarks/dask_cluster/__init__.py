"""CCSKL on a Dask cluster of two workers: the same labels, its cost, and killed workers."""
