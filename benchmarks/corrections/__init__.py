"""How local corrections by hand are: random right corrections in labelling sessions.

run   corrections of each set, and the table of what they changed
"""
