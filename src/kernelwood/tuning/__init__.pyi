from .gate_report import GateReport as GateReport, LabelReport as LabelReport
from .gates import GateLearner as GateLearner
from .neighbor_search import neighbor_loss as neighbor_loss
from .planted import planted_paths as planted_paths
