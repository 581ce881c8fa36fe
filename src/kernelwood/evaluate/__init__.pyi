from .classification import (
    METRICS as METRICS,
    Average as Average,
    ClassScores as ClassScores,
    Estimate as Estimate,
    Scores as Scores,
    Spread as Spread,
    score as score,
)
from .clusters import ClusterScores as ClusterScores, cluster_scores as cluster_scores
from .comparison import Comparison as Comparison, compare as compare
from .reliability_bins import (
    Reliability as Reliability,
    ReliabilityBin as ReliabilityBin,
    reliability as reliability,
)
from .splits import (
    CorpusSplit as CorpusSplit,
    cross_corpus as cross_corpus,
    documents as documents,
    group_splits as group_splits,
)
from .table_rendering import text_table as text_table
from .validation import (
    Cost as Cost,
    Evaluation as Evaluation,
    Run as Run,
    cross_validate as cross_validate,
    train_and_test as train_and_test,
)
