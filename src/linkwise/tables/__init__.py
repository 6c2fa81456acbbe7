"""Tables in files: points and links in, labels out.

file_bytes (gzip), csv_rows (the cells of a text file), columns (the header, columns by name or
number), table (columns in memory), id_columns, typed_files (parquet, AnnData), formats (all files
of tables), preparation (how columns become points), points, links, labels, outputs (files that a
command is about to write).
"""

from linkwise.tables.labels import label_bytes, write_labels
from linkwise.tables.links import read_links
from linkwise.tables.outputs import check_output
from linkwise.tables.points import Points, map_points, read_points

__all__ = [
    "Points",
    "check_output",
    "label_bytes",
    "map_points",
    "read_links",
    "read_points",
    "write_labels",
]
