"""
From annotated text to a relation classifier
============================================

Two texts in brat's standoff format, with proteins and the pairs of them that interact. They become
documents, sentences, candidates, sequences of words, and at last the nearest neighbors of a pair.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

import kernelwood as kw

# %%
# A corpus is a folder of texts with annotation beside them. This one is made on the spot.

TEXTS = {
    "seen": """[Raf] binds [Ras] in vitro. [Mek] was added to [Erk] in every tube.
We show that [Sos] strongly binds [Ras] . No [Raf] was left when [Mek] was measured.
[Src] was found to bind [Lck] . Both [Erk] and [Lck] are listed in the table.""",
    "new": """[Jak] weakly binds [Stat] . Levels of [Jak] and [Src] are listed in the table.""",
}
INTERACTING = {("Raf", "Ras"), ("Sos", "Ras"), ("Src", "Lck"), ("Jak", "Stat")}


def write_standoff(folder, name, marked):
    """Write a text whose proteins stand in square brackets, and its annotation."""
    text, lines, last = "", [], None
    for number, piece in enumerate(marked.replace("]", "[").split("[")):
        if number % 2:
            identifier = f"T{len(lines) + 1}"
            lines.append(f"{identifier}\tProtein {len(text)} {len(text) + len(piece)}\t{piece}")
            if last and (last[1], piece) in INTERACTING:
                lines.append(f"R{len(lines) + 1}\tinteraction Arg1:{last[0]} Arg2:{identifier}")
            last = (identifier, piece)
        text += piece
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    (folder / f"{name}.ann").write_text("\n".join(lines) + "\n", encoding="utf-8")


with tempfile.TemporaryDirectory() as name:
    for text in TEXTS:
        write_standoff(Path(name), text, TEXTS[text])
    documents = {Path(example.id).name: example for example in kw.read(name)}

# %%
# Candidates are all pairs of proteins within a sentence, labeled by the annotation.

seen = kw.relations.pair_candidates([documents["seen"]])
new = kw.relations.pair_candidates([documents["new"]])
print(f"{len(seen)} pairs to learn from, {sum(seen.labels)} of them interact; {len(new)} new ones")

# %%
# The words around a pair, with the two proteins blinded, are what the kernel compares. New pairs
# find the pairs that are talked about in the same way.

examples = seen.examples("context")
unseen = new.examples("context")
kernel = kw.OnView("context", kw.SubsequenceKernel(decay=0.7))
nearest, similarities = kernel.neighbors(unseen, examples, k=1)
for candidate, example, row, value in zip(new, unseen, nearest, similarities, strict=True):
    found = examples[row[0]]
    first, second = (entity.text for entity in candidate.entities)
    print(f"{first} and {second}: {found.label}, as in (similarity {value[0]:.2f})")
    print(f"   new:  {' '.join(example.view('context').nodes)}")
    print(f"   seen: {' '.join(found.view('context').nodes)}   [{found.origin}]")

# %%
# The similarities of the new pairs to all seen ones. Pairs that interact have a star.


def names(candidates):
    """Return the two proteins of each pair, with a star if they interact."""
    marks = ["★ " if label else "" for label in candidates.labels]
    pairs = [" – ".join(entity.text for entity in one.entities) for one in candidates]
    return [mark + pair for mark, pair in zip(marks, pairs, strict=True)]


figure, axis = plt.subplots(figsize=(8, 3), layout="constrained")
image = axis.imshow(kernel.cross(unseen, examples), cmap="Blues", vmin=0)
axis.set_xticks(range(len(seen)), names(seen), rotation=40, ha="right")
axis.set_yticks(range(len(new)), names(new))
figure.colorbar(image, ax=axis, label="similarity")
plt.show()
