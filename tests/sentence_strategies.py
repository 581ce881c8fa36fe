"""Annotated sentences and documents to test with: hypothesis strategies."""

from hypothesis import strategies as st

from kernelwood.structures import Graph, Tree
from kernelwood.text import (
    ROOT,
    Argument,
    Attribute,
    Dependency,
    Document,
    EmptyNode,
    Entity,
    Event,
    Multiword,
    Predicate,
    Relation,
    RoleSpan,
    Sentence,
    Token,
)

# Accents as characters of their own (NFD), characters beyond 16 bits, and what markup trips over.
WORDS = [
    "Raf",
    "binds",
    "IL-2",
    "cafe\u0301",
    "😀",
    "𝔸𝛽",
    "結合",
    "(",
    '"',
    "<&>",
    "'s",
    "_",
]
BLANKS = [" ", " ", " ", "", "  "]

words = st.sampled_from(WORDS)
blanks = st.sampled_from(BLANKS)
names = st.sampled_from(["", "NN", "VBZ", "nsubj", "nmod:of", "Theme", "né", "𝛽-x"])
types = st.sampled_from(["protein", "Binding", "Entity+x", "né"])


def sentences(
    *,
    of=words,
    between=blanks,
    labels=names,
    min_tokens=0,
    max_tokens=5,
    columns=True,
    syntax=True,
    one_root=False,
    tree=True,
    amr=True,
    entities=True,
    events=True,
    predicates=True,
    enhanced=True,
    multiwords=True,
    metadata=True,
):
    """Well-formed sentences; every part that is switched on is there, empty or missing.

    Parameters
    ----------
    of, between, labels : strategies of str
        Word forms, what stands between two of them, and all other names (lemmas, parts of speech,
        relations, roles, constituents).
    min_tokens, max_tokens : int
        Number of tokens.
    columns : bool
        Lemmas, parts of speech, features and the like; without, tokens have text and place only.
    syntax, tree, amr, predicates, enhanced, multiwords, metadata : bool
        Parts of a sentence. ``enhanced`` brings empty nodes, ``amr`` alignments.
    one_root : bool
        Dependencies, if any, make a tree over all the tokens.
    entities : bool
        Entities, some of them discontinuous or without a place, and relations among them.
    events : bool
        Events, nested ones among them, and attributes; needs ``entities``.
    """
    return _sentences(locals() | {"min_tokens": min_tokens if not one_root else max(min_tokens, 1)})


@st.composite
def documents(draw, *, of=words, labels=names, max_words=8, events=True):
    """Documents of a few lines, with entities, relations, events and attributes."""
    forms = draw(st.lists(of, max_size=max_words))
    between = st.sampled_from([" ", " ", ". ", "\n", "\n\n"])
    text = "".join(form + draw(between) for form in forms)
    standoff = draw(_standoff(text, labels, events))
    return Document(text, **standoff, metadata=draw(_metadata(labels)))


@st.composite
def _sentences(draw, wanted):
    of, labels = wanted["of"], wanted["labels"]
    forms = draw(st.lists(of, min_size=wanted["min_tokens"], max_size=wanted["max_tokens"]))
    text, tokens, joined = draw(_texts(forms, wanted))
    parts = {"multiwords": joined}
    n_tokens = len(tokens)
    if wanted["syntax"] and draw(st.booleans()):
        parts["dependencies"] = draw(_dependencies(n_tokens, labels, wanted["one_root"]))
    if wanted["tree"] and tokens and draw(st.booleans()):
        parts["tree"] = draw(constituents([token.text for token in tokens], labels))
    if wanted["amr"] and draw(st.booleans()):
        parts["amr"], parts["alignments"] = draw(_meanings(n_tokens, labels))
    if wanted["entities"] and draw(st.booleans()):
        parts |= draw(_standoff(text, labels, wanted["events"]))
    if wanted["predicates"] and tokens and draw(st.booleans()):
        parts["predicates"] = draw(st.lists(_predicates(n_tokens, labels), max_size=2))
    if wanted["enhanced"] and draw(st.booleans()):
        parts["empty"] = draw(_empty_nodes(n_tokens, of, labels))
        parts["enhanced"] = draw(_any_dependencies(n_tokens + len(parts["empty"]), labels))
    if wanted["metadata"]:
        parts["metadata"] = draw(_metadata(labels))
    return Sentence(text, tokens, **parts, start=draw(st.sampled_from([0, 0, 7, 70_000])))


@st.composite
def _texts(draw, forms, wanted):
    """Text, tokens and multiwords; the tokens of a multiword have its place, not their own."""
    text, tokens, joined, position = "", [], [], 0
    columns = st.lists(wanted["labels"], max_size=5) if wanted["columns"] else st.just([])
    while position < len(forms):
        width = 1
        if wanted["multiwords"] and position + 1 < len(forms) and draw(st.integers(0, 3)) == 0:
            width = draw(st.integers(2, len(forms) - position))
        group = forms[position : position + width]
        surface = group[0] if width == 1 else "".join(group)
        if width > 1:
            joined.append(Multiword(position, position + width, surface, draw(wanted["labels"])))
        place = len(text), len(text) + len(surface)
        tokens += [Token(form, *place, *draw(columns)) for form in group]
        position += width
        text += surface + (draw(wanted["between"]) if position < len(forms) else "")
    return text, tokens, joined


@st.composite
def _dependencies(draw, n_tokens, labels, one_root):
    if not one_root and draw(st.booleans()):
        return draw(_any_dependencies(n_tokens, labels))
    order = draw(st.permutations(range(n_tokens)))
    edges = []
    for place, dependent in enumerate(order):
        head = order[draw(st.integers(0, place - 1))] if place else ROOT
        edges.append(Dependency(head, draw(labels) if place else "root", dependent))
    return sorted(edges, key=lambda edge: edge.dependent)


def _any_dependencies(n_nodes, labels):
    """Any graph: several heads, loops, cycles, several roots or none."""
    if not n_nodes:
        return st.just([])
    ends = st.integers(0, n_nodes - 1)
    edges = st.builds(Dependency, st.just(ROOT) | ends, labels, ends)
    return st.lists(edges, max_size=n_nodes + 2, unique=True)


@st.composite
def constituents(draw, forms, labels=names):
    """Trees over the given words: some with part-of-speech tags, some with long unary chains."""
    tagged = draw(st.booleans())
    nodes = [Tree(draw(labels), [Tree(form)]) if tagged else Tree(form) for form in forms]
    while len(nodes) > 1:
        first = draw(st.integers(0, len(nodes) - 2))
        end = draw(st.integers(first + 2, len(nodes)))
        nodes[first:end] = [Tree(draw(labels), nodes[first:end])]
    [tree] = nodes
    for _ in range(draw(st.integers(0, 2))):
        tree = Tree(draw(labels), [tree])
    return tree


@st.composite
def _meanings(draw, n_tokens, labels):
    """A connected graph with variables or numbers as ids, and tokens for some of its nodes."""
    n_nodes = draw(st.integers(1, 4))
    ids = draw(st.sampled_from([["a", "b2", "né", "𝛽"], [0, 1, 2, 3], ["1", 1, "x", 7]]))[:n_nodes]
    edges = [
        (ids[draw(st.integers(0, place - 1))], draw(labels), ids[place])
        for place in range(1, n_nodes)
    ]
    ends = st.sampled_from(ids)
    edges += draw(st.lists(st.tuples(ends, labels, ends), max_size=2))
    graph = Graph([(name, draw(labels)) for name in ids], edges, ids[0])
    if not n_tokens:
        return graph, []
    indices = st.lists(st.integers(0, n_tokens - 1), min_size=1, max_size=2, unique=True)
    aligned = draw(st.lists(ends, max_size=2, unique=True))
    return graph, [(name, tuple(sorted(draw(indices)))) for name in aligned]


@st.composite
def _standoff(draw, text, labels, with_events):
    """Return entities, relations, events and attributes by name."""
    entities = [
        draw(_entities(text, f"T{number}")) for number in range(1, draw(st.integers(0, 3)) + 1)
    ]
    things = [entity.id for entity in entities]
    if not things:
        return {}
    events = []
    for number in range(1, draw(st.integers(0, 3)) + 1 if with_events else 1):
        filled = _arguments(labels, things + [event.id for event in events])
        trigger = draw(st.sampled_from(things))
        events.append(Event(f"E{number}", draw(types), trigger, tuple(draw(filled))))
    targets = things + [event.id for event in events]
    relations = [
        Relation(name, draw(types), tuple(draw(_arguments(labels, targets))), draw(st.booleans()))
        for name in draw(st.sampled_from([[], ["R1"], ["R1", "R2"], ["*", "*"]]))
    ]
    attributes = [
        Attribute(f"A{number}", draw(types), draw(st.sampled_from(targets)), draw(labels))
        for number in range(1, draw(st.integers(0, 2)) + 1 if with_events else 1)
    ]
    return {
        "entities": entities,
        "relations": relations,
        "events": draw(st.permutations(events)),  # an event may be named before it is described
        "attributes": attributes,
    }


def _arguments(labels, targets):
    return st.lists(st.builds(Argument, labels, st.sampled_from(targets)), max_size=3)


@st.composite
def _entities(draw, text, name):
    """An entity of up to three spans, or of none."""
    ends = st.lists(st.integers(0, len(text)), unique=True, max_size=6).map(sorted)
    cuts = draw(ends)
    spans = tuple(zip(cuts[::2], cuts[1::2], strict=False))
    return Entity(name, draw(types), spans, " ".join(text[start:end] for start, end in spans))


@st.composite
def _predicates(draw, n_tokens, labels):
    cuts = draw(st.lists(st.integers(0, n_tokens), unique=True, max_size=6).map(sorted))
    spans = [RoleSpan(draw(labels), *span) for span in zip(cuts[::2], cuts[1::2], strict=False)]
    token = draw(st.integers(0, n_tokens - 1))
    return Predicate(token, draw(labels), draw(st.sampled_from(["", "01"])), tuple(spans))


@st.composite
def _empty_nodes(draw, n_tokens, of, labels):
    places = draw(st.lists(st.integers(-1, n_tokens - 1), max_size=2).map(sorted))
    return [EmptyNode(place, draw(of), *draw(st.lists(labels, max_size=5))) for place in places]


def _metadata(labels):
    return st.lists(st.tuples(labels, st.none() | labels), max_size=2)
