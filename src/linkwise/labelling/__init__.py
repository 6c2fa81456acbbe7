"""Labelling a project, on a page or in a terminal.

project (data and journal together), items (rows to look at and to cluster), labelling_session (what
the journal says by row, answers, undo, redo), cluster_model (questions and clusters that follow
it), actions (corrections by hand as events), edits (corrections applied to labels), previews (what
a correction would change); images and texts (what a person looks at).
"""

from linkwise.labelling.actions import act
from linkwise.labelling.cluster_model import ClusterModel
from linkwise.labelling.labelling_session import LabellingSession
from linkwise.labelling.project import KEPT, open_project

__all__ = ["KEPT", "ClusterModel", "LabellingSession", "act", "open_project"]
