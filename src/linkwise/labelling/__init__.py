"""What a person looks at while labelling, whatever it is shown on.

words (texts made harmless, and where they differ), items (rows to look at and to cluster), fields
(two rows side by side), images (pictures as points), project (data and their project together).
"""
