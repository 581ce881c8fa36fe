from .clusters import ClusterScores as ClusterScores, cluster_scores as cluster_scores
from .comparison import Comparison as Comparison, compare as compare
from .corpora import CorpusSplit as CorpusSplit, cross_corpus as cross_corpus
from .estimates import Estimate as Estimate, Spread as Spread
from .evaluation import Cost as Cost, Evaluation as Evaluation, Run as Run
from .measures import METRICS as METRICS
from .origins import documents as documents
from .scores import Average as Average, ClassScores as ClassScores, Scores as Scores, score as score
from .splits import group_splits as group_splits
from .validation import cross_validate as cross_validate, train_and_test as train_and_test
