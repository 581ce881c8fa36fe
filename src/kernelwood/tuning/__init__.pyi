from .gates import GateLearner as GateLearner
from .neighborhood_loss import neighbor_loss as neighbor_loss
from .planted import planted_paths as planted_paths
from .report import GateReport as GateReport, LabelReport as LabelReport
