"""Time, memory and agreement over sizes of data.

sheets (generated data), contestants, stages (clocks inside a fit), trial (one run of a contestant),
floors (what the machine allows), growth (slopes), report, pictures, run.
"""
