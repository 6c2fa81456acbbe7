"""Room 10: which pair to ask next, who answers, and when to stop."""

from linkwise.query.cobras import cobras_labels
from linkwise.query.known import Known
from linkwise.query.oracles import Oracle, label_oracle, person, run
from linkwise.query.scene import Scene
from linkwise.query.session import Progress, Session
from linkwise.query.state import Question, State
from linkwise.query.strategies import STRATEGIES

__all__ = [
    "STRATEGIES",
    "Known",
    "Oracle",
    "Progress",
    "Question",
    "Scene",
    "Session",
    "State",
    "cobras_labels",
    "label_oracle",
    "person",
    "run",
]
