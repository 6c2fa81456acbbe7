"""Agreement with the classes and answers kept, over data sets, pairs and wrong answers.

protocol (points, pairs, scores) and texts (generated ones); entrants, peers and classifiers (who
takes part); jobs, cell (one fit), timing and estimate; standing (means, differences, ranks);
tables, answers (what more, few and no answers do), pictures, report, run.
"""
