"""Which kernel suits the data: gates and parameters, learned from labeled structures."""

from kernelwood.tuning.gates import GateLearner
from kernelwood.tuning.neighbor_loss import neighbor_loss
from kernelwood.tuning.planted import planted_paths
from kernelwood.tuning.report import GateReport, LabelReport

__all__ = ["GateLearner", "GateReport", "LabelReport", "neighbor_loss", "planted_paths"]
