"""Which pair to ask next, who answers, and when to stop."""

from linkwise.query.cobras import cobras_labels
from linkwise.query.examples import Examples
from linkwise.query.known import Known
from linkwise.query.model import Context, Question
from linkwise.query.oracles import Oracle, label_oracle, person, run
from linkwise.query.prepared_data import PreparedData
from linkwise.query.session import Progress, Session, share_in_doubt
from linkwise.query.strategies import STRATEGIES
from linkwise.query.wider_questions import LabelQuestion, SetQuestion

__all__ = [
    "STRATEGIES",
    "Context",
    "Examples",
    "Known",
    "LabelQuestion",
    "Oracle",
    "PreparedData",
    "Progress",
    "Question",
    "Session",
    "SetQuestion",
    "cobras_labels",
    "label_oracle",
    "person",
    "run",
    "share_in_doubt",
]
