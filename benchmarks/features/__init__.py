"""What users ask of a clustering beyond its labels: new rows, sizes, strays, one record each."""
