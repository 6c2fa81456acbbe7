"""Agreement with the classes and answers kept, over data sets, pairs and wrong answers.

protocol (points, pairs, scores), entrants and peers (who takes part), jobs and cell (one fit),
standing (means, differences, ranks), tables, pictures, report, run.
"""
