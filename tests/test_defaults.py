"""Public classes and commands with their default arguments, without a seed and with the largest.

Each class gets only the arguments that have no default; its object is fitted, used, saved, loaded
and used again. The classes, functions and commands come from the public names and tables of the
package: one that has no row here fails a test.
"""

import inspect
import json
from functools import cache
from typing import Any, NamedTuple

import click
import numpy as np
import pytest
from click.testing import CliRunner

import kernelwood as kw
from kernelwood.cli import main
from kernelwood.datasets import load_interactions, load_questions
from kernelwood.kernels import KERNELS, Power, Product, Scaled, Sum
from kernelwood.learners import LEARNERS
from kernelwood.persist import MODELS
from kernelwood.relations import RECIPES
from kernelwood.seeds import LARGEST_SEED
from kernelwood.similarity import SIMILARITIES
from kernelwood.views import VIEWS

SEEDS = pytest.mark.parametrize("seed", [None, LARGEST_SEED], ids=["no seed", "largest seed"])

# Public classes that only hold values: nothing is fitted, and nothing is compared.
VALUES = {
    "Argument", "Attribute", "Candidate", "Dependency", "Document", "Entity", "Event", "Example",
    "Forest", "Graph", "Origin", "Predicate", "Relation", "RoleSpan", "Sentence", "Sequence",
    "Token", "Tree", "Vocabulary",
}  # fmt: skip
# Classes of files that are parts of others and have no public name.
PARTS = {"BitBlock", "BitForest"}


# Small data.


@cache
def questions():
    return load_questions()[:102]  # as few as leave something to choose from 100 references


def trees():
    return [question.view("tree") for question in questions()]


def labels():
    return [question.label for question in questions()]


@cache
def documents(split="train"):
    """Return the sentences of a few documents."""
    sentences = list(load_interactions(split))
    few = sorted({name_of(sentence) for sentence in sentences})[: 5 if split == "train" else 2]
    return [sentence for sentence in sentences if name_of(sentence) in few]


def name_of(sentence):
    return sentence.id.split(".")[0]


@cache
def paths():
    return kw.relations.pair_candidates(documents()).examples("path")


def events():
    """Return documents with an event and its meaning, whose nodes are called as entities are."""
    verbs = [("promotes", "Positive"), ("blocks", "Negative")] * 3
    return [
        kw.Example(f"d{i}", views={"sentence": event_sentence(*verb)})
        for i, verb in enumerate(verbs)
    ]


def event_sentence(verb, kind):
    words, end = ["Raf", verb, "Mek"], 4 + len(verb)
    roles = (kw.text.Argument("Cause", "T1"), kw.text.Argument("Theme", "T2"))
    return kw.Sentence.from_words(
        words,
        dependencies=[(1, "nsubj", 0), (1, "dobj", 2)],
        entities=[
            kw.text.Entity("T1", "protein", ((0, 3),), "Raf"),
            kw.text.Entity("T9", kind, ((4, end),), verb),
            kw.text.Entity("T2", "protein", ((end + 1, end + 4),), "Mek"),
        ],
        events=[kw.text.Event("E1", kind, "T9", roles)],
        amr=kw.Graph.from_penman(f"(T9 / {verb}-01 :ARG0 (T1 / protein) :ARG1 (T2 / protein))"),
    )


def vectors():
    words = sorted({word for question in questions() for word in question.view("words").nodes})
    return kw.Vectors(words, np.random.default_rng(0).normal(size=(len(words), 5)))


def forests():
    return [kw.Forest(["S", "x", "y"], [(0, (1,), p), (0, (2,), 1 - p)], 0) for p in (0.5, 0.25)]


# Rows.


class Row(NamedTuple):
    """How to make, fit and use an object of one class."""

    use: Any  # returns results of the object that can be compared
    arguments: Any = tuple  # returns the arguments that have no default
    fit: Any = None  # returns the arguments of fit, if there is one


def _gram(kernel):
    return kernel.gram(STRUCTURES[kernel._accepts()]())


def _pair_gram(kernel):
    return kernel.gram([(trees()[i], trees()[i + 1]) for i in range(6)])


def _search(index):
    return index.search(trees()[:4])


def _predict(learner):
    return [
        getattr(learner, name)(trees()[:9])
        for name in ("predict", "predict_proba", "decision_function")
        if hasattr(learner, name)
    ]


def _extract(extractor, test=None):
    found = extractor.predict(test or documents("test"), all=True)
    assert found
    return [one.to_dict(evidence=number < 1) for number, one in enumerate(found)]


def _similar(similarity):
    names = ["what::w", "is::v", "who::w"]
    return [
        similarity.table(names, names),
        kw.SubtreeKernel(similarity=similarity).gram(trees()[:4]),
    ]


def _halves():
    return kw.SubsetTreeKernel(), kw.PartialTreeKernel()


LABELED = {"arguments": lambda: (kw.SubsetTreeKernel(),), "fit": lambda: (trees(), labels())}
STRUCTURES = {
    kw.arrays.SequenceBatch: lambda: [question.view("words") for question in questions()[:6]],
    kw.arrays.TreeBatch: lambda: trees()[:6],
    kw.arrays.ForestBatch: forests,
    kw.arrays.GraphBatch: lambda: [d.view("sentence").dependency_graph() for d in documents()[:6]],
    kw.arrays.VectorBatch: lambda: [[1.0, 0.5], [0.25, -2.0]],
    kw.arrays.ExampleBatch: lambda: questions()[:6],
}
ROWS = {
    **{kernel: Row(_gram) for kernel in KERNELS.values()},
    kw.OnView: Row(_gram, lambda: ("tree", kw.SubtreeKernel())),
    kw.Normalized: Row(_gram, lambda: (kw.SubtreeKernel(normalize=False),)),
    kw.PairKernel: Row(_pair_gram, lambda: (kw.SubtreeKernel(),)),
    Sum: Row(_gram, _halves),
    Product: Row(_gram, _halves),
    Scaled: Row(_gram, lambda: (kw.SubtreeKernel(), 0.5)),
    Power: Row(_gram, lambda: (kw.SubtreeKernel(), 2)),
    **{similarity: Row(_similar, lambda: (vectors(),)) for similarity in SIMILARITIES.values()},
    SIMILARITIES["exact"]: Row(_similar),
    SIMILARITIES["table"]: Row(_similar, lambda: (["what::w", "who::w"], [[1, 0.5], [0.5, 1]])),
    kw.Vectors: Row(
        lambda made: [made.words, made.matrix], lambda: (["what", "is"], [[1.0, 2.0], [0.0, 3.0]])
    ),
    **{learner: Row(_predict, **LABELED) for learner in LEARNERS.values()},
    kw.KernelRanker: Row(
        lambda made: made.predict(trees()[:9]),
        lambda: (kw.SubsetTreeKernel(),),
        lambda: (trees(), [len(label) for label in labels()]),
    ),
    kw.KernelHasher: Row(lambda made: made.transform(trees()[:9]), **LABELED),
    kw.NystromEmbedder: Row(lambda made: made.transform(trees()[:9]), **LABELED),
    kw.HashIndex: Row(_search, **LABELED),
    kw.EmbeddingIndex: Row(_search, **LABELED),
    kw.ReferenceSelector: Row(
        lambda made: [made.indices_, made.subsets_],
        lambda: (kw.SubsequenceKernel(),),
        # One more than it chooses, with two classes: it takes a step for each of 100 references.
        lambda: ([kw.Sequence([*"abc"][: 1 + i % 3]) for i in range(101)], [*"ab" * 50, "a"]),
    ),
    kw.GateLearner: Row(
        lambda made: [made.gates_, made.trace_, made.kernel_.gram(paths()[:6])],
        lambda: (kw.OnView("path", kw.SubsequenceKernel()),),
        lambda: (paths(), [path.label for path in paths()]),
    ),
    kw.KernelKMeans: Row(
        lambda made: [made.labels_, made.predict(trees()[:9]), made.transform(trees()[:9])],
        lambda: (3, kw.SubsetTreeKernel()),
        lambda: (trees(),),
    ),
    kw.SentenceIndex: Row(
        lambda made: made.search(documents("test")[:3]), fit=lambda: (documents(),)
    ),
    kw.RelationExtractor: Row(_extract, fit=lambda: (documents(),)),
    kw.ForestParser: Row(
        lambda made: made.parse(["What", "is", "a", "wug", "?"]), fit=lambda: (trees(),)
    ),
    kw.EntityTagger: Row(
        lambda made: made.mentions("RAK2 activates TORP1."), fit=lambda: (documents(),)
    ),
    kw.Dictionary: Row(
        lambda made: made.find("Raf-1 binds MEK."), lambda: ([("Raf1", "protein"), ("MEK", "x")],)
    ),
}


def public_classes():
    """Yield the classes that users can name or save, but for those that only hold values."""
    named = {name: getattr(kw, name) for name in kw.__all__}
    for name, value in named.items():
        if inspect.isclass(value) and not issubclass(value, Exception) and name not in VALUES:
            yield value
    yield from (*KERNELS.values(), *LEARNERS.values(), *SIMILARITIES.values())
    yield from (row.load_class() for row in MODELS.values())
    for module in filter(inspect.ismodule, named.values()):
        for value in map(vars(module).get, module.__all__):
            if hasattr(value, "get_params") or hasattr(value, "fit"):
                yield value


def takes_seed(cls):
    return "random_state" in inspect.signature(cls).parameters


def made(cls, seed):
    """Return an object of the arguments it needs, and perhaps a seed; fitted, if it can be."""
    row = ROWS[cls]
    given = {} if seed is None else {"random_state": seed}
    model = cls(*row.arguments(), **given)
    return model.fit(*row.fit()) if row.fit else model


def is_loaded_as_it_was(model, use, path):
    before = use(model)
    kw.save(model, path)
    np.testing.assert_equal(use(kw.load(path)), before)
    if takes_seed(type(model)):
        assert 0 <= model.seed_ <= LARGEST_SEED
        assert model.random_state in (None, model.seed_)


def test_every_class_has_a_row():
    bases = {
        kw.Kernel,
        kw.kernels.CombinedKernel,
        kw.similarity.Similarity,
        kw.features.Estimator,
        kw.features.StructureEstimator,
        kw.features.HashingEstimator,
        kw.features.HashCollection,
        kw.learners.StructureClassifier,
    }
    classes = {cls for cls in public_classes() if cls.__name__ not in PARTS} - bases
    assert classes - set(STRUCTURES) == set(ROWS)
    assert classes & set(STRUCTURES) == set(STRUCTURES)


def arguments_without_default(cls):
    found = inspect.signature(cls).parameters.values()
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one for one in found if one.default is one.empty and one.kind not in kinds]


@pytest.mark.parametrize("cls", ROWS, ids=lambda cls: cls.__name__)
def test_rows_give_what_has_no_default_and_nothing_else(cls):
    assert len(ROWS[cls].arguments()) == len(arguments_without_default(cls))


SEEDED = [cls for cls in ROWS if takes_seed(cls)]


@pytest.mark.parametrize(
    ("cls", "seed"),
    [*((cls, None) for cls in ROWS), *((cls, LARGEST_SEED) for cls in SEEDED)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_defaults_work_and_are_loaded_as_they_were(cls, seed, tmp_path):
    is_loaded_as_it_was(made(cls, seed), ROWS[cls].use, tmp_path / "model.kw")


@pytest.mark.parametrize("kind", STRUCTURES, ids=lambda cls: cls.__name__)
def test_batches_are_loaded_as_they_were(kind, tmp_path):
    is_loaded_as_it_was(kw.batch(STRUCTURES[kind](), kind=kind), list, tmp_path / "batch.kw")


# Extractors.


@SEEDS
@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_work_and_are_loaded_as_they_were(recipe, seed, tmp_path):
    model = kw.RelationExtractor(recipe, random_state=seed).fit(documents())
    is_loaded_as_it_was(model, _extract, tmp_path / "model.kw")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_can_be_learned_from_alone(view, tmp_path):
    if VIEWS[view].subject == "interaction":
        model = kw.RelationExtractor(candidates="events", views=view).fit(events())
        is_loaded_as_it_was(model, lambda made: _extract(made, events()), tmp_path / "model.kw")
    else:
        model = kw.RelationExtractor(views=view).fit(documents())
        is_loaded_as_it_was(model, _extract, tmp_path / "model.kw")


@SEEDS
def test_an_extractor_is_cross_validated(seed):
    validation = kw.RelationExtractor(random_state=seed).cross_validate(documents())
    assert len(validation.parts) == 5 and 0 < validation.pooled.auc <= 1


# Functions with a seed.

CODES = np.random.default_rng(0).integers(2, size=(30, 6))
Y, GUESSES = np.array([*"aab"] * 10), np.array([*"aba"] * 10)
FUNCTIONS = {
    kw.evaluate.compare: lambda: (Y, Y, GUESSES),
    kw.evaluate.cross_validate: lambda: (kw.KernelSVC(kw.SubtreeKernel()), trees(), labels()),
    kw.evaluate.group_splits: lambda: (np.arange(30) // 3, Y),
    kw.evaluate.score: lambda: (Y, GUESSES),
    kw.evaluate.train_and_test: lambda: (
        kw.KernelSVC(kw.SubtreeKernel()), trees(), labels(), trees(), labels(),
    ),
    kw.information.entropy: lambda: (CODES,),
    kw.information.explain: lambda: (CODES,),
    kw.information.explain_classes: lambda: (CODES, np.arange(30) % 2),
    kw.information.mutual_information: lambda: (CODES, Y),
    kw.information.total_correlation: lambda: (CODES,),
    kw.tuning.neighbor_loss: lambda: (kw.SubtreeKernel(), trees(), labels()),
    kw.tuning.planted_paths: lambda: (20,),
}  # fmt: skip


def test_every_function_with_a_seed_has_a_row():
    named = [getattr(kw, name) for name in kw.__all__]
    for module in filter(inspect.ismodule, named.copy()):
        named += [getattr(module, name) for name in module.__all__]
    seeded = {each for each in named if inspect.isfunction(each) and takes_seed(each)}
    assert seeded == set(FUNCTIONS)


@SEEDS
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_take_every_seed(function, seed):
    assert function(*FUNCTIONS[function](), random_state=seed) is not None


# Parsers.


@pytest.mark.parametrize("name", kw.parsing.BACKENDS)
def test_every_backend_parses(name, tmp_path):
    if name == "spacy" and not pytest.importorskip("spacy").util.get_installed_models():
        pytest.skip("no model of spaCy is installed")
    if name == "stanza":
        pytest.skip("Stanza downloads its models; test_neural.py runs it on stand-ins")
    text = documents()[0].view("sentence").text
    if name == "conllu":
        kw.write(documents()[:1], tmp_path / "parses.conllu")
        name = f"conllu:{tmp_path / 'parses.conllu'}"
    [sentences] = kw.parsing.analyze(kw.parsing.load_backend(name), [kw.Document(text)])
    assert [sentence.text for sentence in sentences] == [text]
    assert all(sentence.dependencies for sentence in sentences)


# Commands.

CLAIM = {
    "text": "Raf binds Ras.",
    "entities": [
        {"id": "T1", "start": 0, "end": 3, "type": "protein"},
        {"id": "T2", "start": 10, "end": 13, "type": "protein"},
    ],
    "relation": {"type": "Binds", "first": "T1", "second": "T2"},
}
# Command -> its required parameters, and those of CHOSEN.
COMMANDS = {
    "adapt": {"model": "model.kw", "texts": "test.jsonl"},
    "cluster": {"corpus": "corpus.jsonl", "n_clusters": "2"},
    "completion": {"shell": "bash"},
    "convert": {"source": "corpus.jsonl", "target": "corpus.conllu"},
    "crossval": {"corpus": "corpus.jsonl"},
    "demo": {},
    "doctor": {},
    "embed": {"corpus": "corpus.jsonl", "out": "vectors.npy"},
    "evaluate": {"model": "model.kw", "test": "test.jsonl"},
    "explain": {"model": "model.kw", "corpus": "test.jsonl", "id": "d05.s0"},
    "extract": {"model": "model.kw", "texts": "new.txt"},
    "inspect": {"model": "model.kw"},
    "learn-gates": {"corpus": "paths.jsonl"},
    "predict": {"model": "model.kw", "corpus": "test.jsonl"},
    "sample": {"folder": "sample"},
    "search": {"source": "corpus.jsonl", "queries": "test.jsonl"},
    "serve": {"models": "model.kw"},
    "terms": {"corpus": "corpus.jsonl", "out": "terms.tsv"},
    "train": {"corpus": "corpus.jsonl", "out": "new.kw"},
    "review": {"project": "project.kwp"},
    "shards plan": {"plan": "new", "command": "convert", "arguments": ["test.jsonl", "x.kelp"]},
    "shards run": {"plan": "plan"},
    "shards status": {"plan": "plan"},
    "shards verify": {"plan": "plan"},
    "shards collect": {"plan": "plan", "out": "found.jsonl"},
    "vectors": {"texts": "texts.txt", "out": "words.npz"},
    "verify": {"model": "model.kw", "claims": "claims.jsonl"},
}
SERVERS = ("review", "serve")  # commands that run until a signal arrives
# Parameters that a command can do without only if another one is given.
CHOSEN = {
    "embed": ["out"],
    "explain": ["corpus", "id"],
    "search": ["queries"],
    "shards plan": ["arguments"],
}


def commands():
    """Return the commands by name, those of groups instead of the groups."""
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    for name, command in list(found.items()):
        if isinstance(command, click.Group):
            del found[name]
            found |= {f"{name} {inner}": made for inner, made in command.commands.items()}
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with the files that commands read."""
    folder = tmp_path_factory.mktemp("commands")
    kw.write(documents(), folder / "corpus.jsonl")
    kw.write(documents("test"), folder / "test.jsonl")
    kw.write(paths(), folder / "paths.jsonl")
    kw.save(kw.RelationExtractor().fit(documents()), folder / "model.kw")
    (folder / "new.txt").write_text(CLAIM["text"])
    words = [word for question in questions() for word in question.view("words").nodes]
    (folder / "texts.txt").write_text(" ".join(words * 5))  # as often as words are counted
    (folder / "new.ann").write_text("T1\tprotein 0 3\tRaf\nT2\tprotein 10 13\tRas\n")
    (folder / "claims.jsonl").write_text(json.dumps(CLAIM))
    kw.web.build_project(folder / "project.kwp", documents("test")).close()
    plan = kw.scale.make_plan(
        folder / "plan", "predict", [folder / "test.jsonl"], model=folder / "model.kw"
    )
    kw.scale.run(plan)
    return folder


def run(folder, monkeypatch, name, values, *options):
    """Run a command on files of a folder with values of some of its parameters."""
    monkeypatch.chdir(folder)
    if name in SERVERS:
        pytest.importorskip("uvicorn")
        monkeypatch.setattr("kernelwood.web.run", lambda app, **options: None)
    given = []
    for parameter in commands()[name].params:
        if parameter.name in values:
            is_option = isinstance(parameter, click.Option)
            value = values[parameter.name]
            listed = value if isinstance(value, list) else [value]
            given += [*parameter.opts[-1:] * is_option, *listed]
    return CliRunner().invoke(main, [*name.split(), *given, *options])


def test_every_command_has_a_row_of_what_it_requires():
    required = {
        name: {parameter.name for parameter in command.params if parameter.required}
        for name, command in commands().items()
    }
    assert required == {
        name: values.keys() - CHOSEN.get(name, []) for name, values in COMMANDS.items()
    }


@pytest.mark.parametrize("name", CHOSEN)
def test_commands_that_require_one_of_several_say_so(name, folder, monkeypatch):
    values = {key: value for key, value in COMMANDS[name].items() if key not in CHOSEN[name]}
    result = run(folder, monkeypatch, name, values)
    assert (result.exit_code, "Error:" in result.stderr) == (2, True), result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_work_with_what_they_require(name, folder, monkeypatch):
    result = run(folder, monkeypatch, name, COMMANDS[name])
    assert (result.exit_code, "Traceback" in result.output) == (0, False), result.output


@pytest.mark.parametrize(
    "name",
    [name for name, command in commands().items() if any(p.name == "seed" for p in command.params)],
)
def test_commands_take_the_largest_seed(name, folder, monkeypatch):
    result = run(folder, monkeypatch, name, COMMANDS[name], "--seed", str(LARGEST_SEED))
    assert (result.exit_code, "Traceback" in result.output) == (0, False), result.output
