"""Pages: what is text stays text, and what is seen can be read."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from kernelwood import pages
from kernelwood.pages import Section, bar, diverging_bar, element, interval, joined, page, table

VOID = {"br", "meta", "wbr"}


class Outline(HTMLParser):
    """Collects what a page holds, and whether all that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def schemes():
    light, dark = pages._STYLE.split("@media (prefers-color-scheme: dark)")
    return {
        name: dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", text))
        for name, text in (("light", light), ("dark", dark))
    }


@given(st.text(st.sampled_from("<>&\"'/!=;ampb é")))
def test_text_comes_out_as_it_went_in(text):
    made = Outline(element("p", text, title=text))
    assert (made.text, made.tags) == (text, [("p", {"title": text})])


def test_attributes_cannot_be_left_by_a_quote():
    [(_, attributes)] = Outline(element("p", "x", title='" onclick="x')).tags
    assert attributes == {"title": '" onclick="x'}


def test_line_ends_of_text_are_kept():
    assert joined(["a\nb"]) == "a\nb"


def test_a_lone_surrogate_can_be_written():
    assert element("p", "\ud800").encode() == "<p>\N{REPLACEMENT CHARACTER}</p>".encode()


def test_what_is_opened_is_closed():
    made = page("t", [Section("a", "A", table(["x", ">y"], [["1", bar(0.5, "half")]], "note"))])
    assert Outline(made).open == []


def test_a_page_says_its_language():
    assert ("html", {"lang": "en"}) in Outline(page("t", [])).tags


def test_a_page_forbids_scripts_and_the_network():
    tags = Outline(page("t", [])).tags
    [policy] = [a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "script" not in policy


def test_wide_things_scroll_with_the_keyboard():
    attributes = dict(Outline(table(["a"], [["b"]])).tags)["div"]
    assert attributes["tabindex"] == "0"


def test_pictures_have_a_name():
    for picture in (bar(1, "x"), interval(0, 0.5, 1, "x"), diverging_bar(-1, "x")):
        assert dict(Outline(picture).tags)["svg"]["aria-label"] == "x"


@pytest.mark.parametrize("share", [-1.0, 2.0, float("nan"), float("inf")])
def test_a_bar_stays_within_its_track(share):
    for _, attributes in Outline(bar(share, "x", tick=share)).tags[1:]:
        assert 0 <= float(attributes["x"]) <= float(attributes["x"]) + float(
            attributes["width"]
        ) <= 120  # fmt: skip


def test_a_loss_is_drawn_to_the_left_of_the_middle():
    _, _, (_, fill), _ = Outline(diverging_bar(-0.5, "x")).tags
    assert (float(fill["x"]), float(fill["width"])) == (30, 30)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("ink", "grounds"),
    [
        ("ink", ("ground", "raised", "k0", "k1", "k2", "k3", "k4", "k5")),
        ("soft", ("ground", "raised")),
        ("accent", ("ground", "raised")),
        ("yes", ("ground", "raised")),
        ("no", ("ground", "raised")),
    ],
)
def test_every_ink_can_be_read_on_its_ground(scheme, ink, grounds):
    colors = schemes()[scheme]
    assert min(contrast(colors[ink], colors[ground]) for ground in grounds) >= 4.5
