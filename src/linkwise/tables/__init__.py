"""Tables of points and labels in files."""
