"""Sphinx configuration; `make docs` runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import kernelwood

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "kernelwood"
author = "The kernelwood developers"
copyright = author
version = release = kernelwood.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "accessibility",
    "reference",  # before others import what it describes
    "commands",
    "diagrams",
    "themes",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"kernelwood {version}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]

# What is copied are the lines with prompts, without these; output (.go) is left out.
copybutton_prompt_text = r">>> |\.\.\.(?: |$)|\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .go"

autodoc_member_order = "bysource"
# Signatures have types by their last names, one parameter a line if they are long.
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
maximum_signature_line_length = 120
autosummary_generate = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",  # all are run, whether they draw or print
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,  # timings change from build to build and tell nobody anything
    "write_computation_times": False,
    "abort_on_example_error": True,
}


# Formulas become MathML, which browsers draw by themselves: no script, no network.
def draw_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def draw_block(writer: Any, node: nodes.math_block) -> None:
    formula = tex2mathml(node.astext(), as_block=True)
    writer.body.append(f'<div class="math" tabindex="0">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (draw_inline, None), (draw_block, None))


html_math_renderer = "mathml"
