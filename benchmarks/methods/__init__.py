"""Every method on small data: agreement with the classes, hard constraints, seconds at one size."""
