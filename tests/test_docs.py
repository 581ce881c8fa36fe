"""Every Python block of the README and the documentation runs and shows what it says."""

from __future__ import annotations

import doctest
import re
from codeop import compile_command
from pathlib import Path
from unittest.mock import patch

import pytest

from kernelwood.persist import MODELS

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("docs/kernels/*.md")])
# What the button of the site copies: lines with these prompts, without them (docs/conf.py).
PROMPT = r">>> |\.\.\.(?: |$)|\$ "
COPIED = re.compile(PROMPT)
FENCE = re.compile(r"^```(?P<language>[^\n]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


def python_blocks(text: str) -> list[tuple[int, str]]:
    """Return the first line number, counted from 0, and the code of every Python block."""
    return [
        (text.count("\n", 0, block.start("code")), block["code"])
        for block in FENCE.finditer(text)
        if block["language"] == "python"
    ]


def failures(page: str, text: str) -> str:
    """Run the blocks of a page in one namespace; return what went wrong.

    Models that a page registers are forgotten afterwards.
    """
    names: dict[str, object] = {"__name__": "__main__"}
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
    with patch.dict(MODELS):
        for line, code in python_blocks(text):
            if ">>> " in code:
                test = doctest.DocTestParser().get_doctest(code, names, page, page, line)
                runner.run(test, out=said.append, clear_globs=False)
                names = test.globs
            else:
                exec(compile("\n" * line + code, page, "exec"), names)
    return "".join(said)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_run_and_show_what_they_say(
    page: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    said = failures(page.name, page.read_text(encoding="utf-8"))
    if said:
        pytest.fail(said, pytrace=False)


def pasted(code: str) -> list[str]:
    """Return the errors of an interactive Python to which a snippet is pasted without prompts."""
    lines = [line[prompt.end() :] for line in code.split("\n") if (prompt := COPIED.match(line))]
    said: list[str] = []
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        try:
            complete = compile_command("\n".join(waiting), symbol="single")
        except SyntaxError as failure:
            said.append(f"{failure.msg}: {line!r}")
            complete = None
            waiting = []
        if complete is not None:
            waiting = []
    return [
        *said,
        *[f"not complete, end the block with an empty line: {line!r}" for line in waiting],
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_snippets_can_be_pasted(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = [block for block in FENCE.finditer(text) if block["language"] in ("python", "pycon")]
    assert [said for block in blocks for said in pasted(block["code"])] == []


def test_the_site_copies_lines_without_prompts() -> None:
    settings = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert f'copybutton_prompt_text = r"{PROMPT}"' in settings


def test_snippets_that_cannot_be_pasted_are_noticed() -> None:
    loop = ">>> for n in range(2):\n...     n\n"
    assert pasted(f"{loop}0\n1\n>>> n\n1\n") == ["invalid syntax: 'n'"]
    assert len(pasted(loop)) == 2
    assert pasted(f"{loop}...\n0\n1\n>>> n\n1\n") == []


def test_readme_has_blocks_that_run() -> None:
    assert len(python_blocks((ROOT / "README.md").read_text(encoding="utf-8"))) >= 3


def test_a_wrong_output_is_noticed() -> None:
    assert "Expected" in failures("page", "```python\n>>> 1 + 1\n3\n```\n")


def test_an_error_in_a_block_without_prompts_is_noticed() -> None:
    with pytest.raises(ZeroDivisionError):
        failures("page", "```python\n1 / 0\n```\n")


def test_models_that_a_page_registers_are_forgotten() -> None:
    code = "from kernelwood.persist import MODELS\nMODELS['kernel', 'own'] = MODELS.popitem()[1]"
    before = dict(MODELS)
    assert not failures("page", f"```python\n{code}\n```\n")
    assert before == MODELS
