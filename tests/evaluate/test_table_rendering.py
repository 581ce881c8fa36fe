"""Tables of text and HTML, and numbers with intervals."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from kernelwood.evaluate import Estimate, Spread
from kernelwood.evaluate.table_rendering import html_table, label_text, text_table


def test_columns_keep_their_places():
    lines = text_table(["x", "value"], [["long name", "1"], ["y", "1,000"]]).splitlines()
    assert lines == ["x          value", "long name      1", "y          1,000"]


def test_wide_and_combining_characters_are_counted_as_they_are_shown():
    lines = text_table(["x", "v"], [["日本", "1"], ["e\u0301", "2"], ["abcd", "3"]]).splitlines()
    assert lines[1:] == ["日本  1", "e\u0301     2", "abcd  3"]


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("a\tb\nc", "a b c"),
        ("\x1b[0m", "\ufffd[0m"),
        ("\u202eabc", "\ufffdabc"),
        (("a", 1), "('a', 1)"),
    ],
)
def test_labels_stay_on_their_line(label, text):
    assert label_text(label) == text


def test_long_labels_are_cut():
    assert label_text("x" * 100) == "x" * 23 + "…"


def test_html_has_a_cell_for_each_value_and_escapes_it():
    html = html_table(["<h>"], [["<c>"]], "<n>")
    assert html.count("<td") == html.count("<th") == 1
    assert not any(f"<{x}>" in html for x in "hcn")


def test_an_estimate_is_a_number():
    assert Estimate(0.5, 0.4, 0.6) + 1 == 1.5 and np.mean([Estimate(1), Estimate(2)]) == 1.5


@pytest.mark.parametrize("estimate", [Estimate(0.5), Estimate(0.5, 0.25, 0.75)])
def test_an_estimate_keeps_its_interval_when_pickled(estimate):
    again = pickle.loads(pickle.dumps(estimate))
    assert again.to_dict() == estimate.to_dict()


def test_an_estimate_shows_its_interval_if_it_has_one():
    assert [str(Estimate(0.5)), f"{Estimate(0.5, 0.25, 1)}"] == ["0.500", "0.500 [0.250, 1.000]"]


def test_a_spread_is_that_of_a_sample():
    spread = Spread.of([1.0, 2.0, 4.0])
    assert (spread.mean, spread.deviation) == pytest.approx((7 / 3, np.std([1, 2, 4], ddof=1)))


def test_a_single_run_has_no_deviation():
    assert (Spread.of([3.0]).deviation, str(Spread.of([3.0]))) == (0.0, "3.000")
