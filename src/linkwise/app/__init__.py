"""Pages in the browser: `linkwise label`, `linkwise segment`.

security (who may ask for what), server (a page of given routes, served to one person); of the label
page hub (the journal, and what follows it), views (what is shown), corrections (what is done by
hand), worker and engine (the clustering, in a process of its own), clusters (labels in which
corrections hold), messages (what hub and worker send each other), routes (its requests), label
(start to end).
"""
