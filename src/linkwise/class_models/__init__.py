"""Class models: what the features and the answers say about the cluster of every point.

views (the features prepared in several ways), learners (models of the classes in a view), beliefs
(what answers say about labels), co_training (learners and answers in turn), pair_softmax (classes
fitted to the pairs alone), similarity (learnt from answers).
"""
