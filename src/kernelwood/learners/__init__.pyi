from .base import (
    Contributions as Contributions,
    Evidence as Evidence,
    StructureClassifier as StructureClassifier,
    Support as Support,
)
from .bit_forest import BitForest as BitForest
from .hash_forest import HashForestClassifier as HashForestClassifier
from .hash_neighbors import HashNeighborsClassifier as HashNeighborsClassifier
from .kernel_neighbors import KernelNeighborsClassifier as KernelNeighborsClassifier
from .kernel_network import KernelNetworkClassifier as KernelNetworkClassifier
from .kernel_ranker import KernelRanker as KernelRanker
from .kernel_ridge import (
    GrowingFactor as GrowingFactor,
    KernelRidgeClassifier as KernelRidgeClassifier,
)
from .kernel_svc import KernelSVC as KernelSVC, fit_sigmoid as fit_sigmoid
from .landmark_ridge import LandmarkRidgeClassifier as LandmarkRidgeClassifier
from .registry import LEARNERS as LEARNERS
from .svm_machines import add_gram as add_gram, compute_gram as compute_gram
