from .analysis import GIVEN as GIVEN, needs_parse as needs_parse
from .candidate_lists import Candidates as Candidates, sentences_of as sentences_of
from .card import card_of as card_of
from .claims import Claim as Claim, iter_claims as iter_claims, read_claims as read_claims
from .events import event_candidates as event_candidates
from .extractor import RelationExtractor as RelationExtractor
from .interactions import Interaction as Interaction, flatten_events as flatten_events
from .pairs import PairLabels as PairLabels, pair_candidates as pair_candidates
from .predictions import (
    Case as Case,
    CaseFragment as CaseFragment,
    Participant as Participant,
    Prediction as Prediction,
    Predictions as Predictions,
)
from .recipes import (
    RECIPES as RECIPES,
    Recipe as Recipe,
    check_options as check_options,
    find_recipe as find_recipe,
)
from .report import report_html as report_html, write_report as write_report
from .report_tables import relation_name as relation_name
from .scores import RelationScores as RelationScores, RelationValidation as RelationValidation
from .thresholds import positive_rate_threshold as positive_rate_threshold
from .verdicts import Verdict as Verdict, iter_verdicts as iter_verdicts
from .writers import (
    Judged as Judged,
    output_format as output_format,
    prediction_object as prediction_object,
    write_predictions as write_predictions,
)
