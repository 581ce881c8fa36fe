from .adaptation import (
    Adaptation as Adaptation,
    Drift as Drift,
    DriftMonitor as DriftMonitor,
    Estimate as Estimate,
    Rating as Rating,
)
from .audit import Audit as Audit, OperatingPoint as OperatingPoint
from .brat_folder import BratFolder as BratFolder
from .calibration import (
    Calibration as Calibration,
    positive_rate_threshold as positive_rate_threshold,
)
from .candidates import (
    NONE as NONE,
    Candidates as Candidates,
    PairLabels as PairLabels,
    event_candidates as event_candidates,
    pair_candidates as pair_candidates,
    pairs_in as pairs_in,
)
from .card import card_of as card_of
from .corpus import (
    GIVEN as GIVEN,
    SentenceTable as SentenceTable,
    default_parser as default_parser,
    example_entries as example_entries,
    needs_parse as needs_parse,
    read_sentences as read_sentences,
    text_entries as text_entries,
)
from .end_to_end import (
    EndToEnd as EndToEnd,
    Rates as Rates,
    score_end_to_end as score_end_to_end,
)
from .entity_remarks import (
    ENTITY_REMARKS as ENTITY_REMARKS,
    NO_ENTITIES as NO_ENTITIES,
    entity_types as entity_types,
    type_remark as type_remark,
    warn_of_entities as warn_of_entities,
)
from .evidence import TrainingCases as TrainingCases
from .example_making import (
    CANDIDATES as CANDIDATES,
    ExampleMaker as ExampleMaker,
    attempted as attempted,
)
from .extractor import RelationExtractor as RelationExtractor
from .fact_files import FACT_FORMATS as FACT_FORMATS, fact_format as fact_format
from .fact_statements import check_statement_types as check_statement_types
from .facts import (
    Fact as Fact,
    FactCounter as FactCounter,
    FactEntity as FactEntity,
    Facts as Facts,
    FactSentence as FactSentence,
)
from .frames import pandas_frame as pandas_frame
from .interactions import Interaction as Interaction, flatten_events as flatten_events
from .learning_curve import CurvePoint as CurvePoint, LearningCurve as LearningCurve
from .network import draw_network as draw_network
from .pictures import SENTENCE_WIDTH as SENTENCE_WIDTH, describe as describe, table_row as table_row
from .prediction_stream import (
    PredictionCounts as PredictionCounts,
    Predictor as Predictor,
    add_entities as add_entities,
    entity_finder as entity_finder,
    predict_sentences as predict_sentences,
    predict_stream as predict_stream,
    text_predictor as text_predictor,
    with_entities as with_entities,
)
from .predictions import (
    Case as Case,
    CaseFragment as CaseFragment,
    Evidence as Evidence,
    Participant as Participant,
    Prediction as Prediction,
    Predictions as Predictions,
)
from .recipes import (
    RECIPES as RECIPES,
    Recipe as Recipe,
    check_options as check_options,
    find_recipe as find_recipe,
    kernel_on as kernel_on,
)
from .relation_classes import (
    ARROWS as ARROWS,
    RelationClasses as RelationClasses,
    is_backward as is_backward,
    is_directed as is_directed,
    type_of as type_of,
)
from .report import (
    relation_name as relation_name,
    report_html as report_html,
    write_report as write_report,
)
from .report_contents import ReportContents as ReportContents
from .scores import (
    Overlap as Overlap,
    RelationScores as RelationScores,
    RelationValidation as RelationValidation,
)
from .shared_sentences import NearSentence as NearSentence, SharedSentences as SharedSentences
from .verification import (
    Verdict as Verdict,
    Verdicts as Verdicts,
    iter_verdicts as iter_verdicts,
    map_types as map_types,
)
from .wording import (
    MarkedText as MarkedText,
    path_text as path_text,
    spell_path as spell_path,
)
from .writers import (
    AnnotatedDocument as AnnotatedDocument,
    DocumentPredictions as DocumentPredictions,
    annotated_documents as annotated_documents,
    output_format as output_format,
    output_formats as output_formats,
    prediction_columns as prediction_columns,
    prediction_object as prediction_object,
    prediction_row as prediction_row,
    write_annotated as write_annotated,
    write_predictions as write_predictions,
)
