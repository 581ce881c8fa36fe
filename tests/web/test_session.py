"""Sessions: decisions, the model that follows them, the queue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from web.projects import session_of, small_project, teach, true_label

from kernelwood.errors import KernelInputError
from kernelwood.relations import NONE, type_of
from kernelwood.web import ConflictError, Project
from kernelwood.web.quality import CurvePoint
from kernelwood.web.session import NotFoundError, Session


@pytest.fixture
def path(tmp_path):
    return small_project(tmp_path)


@pytest.fixture
def session(path):
    with session_of(path) as made:
        yield made


def test_a_decision_is_in_the_file_when_it_is_returned(session, path):
    [made] = session.decide([3], NONE)
    with Project.open(path, read_only=True) as other:
        assert other.current()[3] == made


def test_there_is_no_model_until_there_are_two_classes(session):
    rows = [row for row in range(200) if true_label(session.project, row) == NONE][:3]
    for row in rows:
        session.decide([row], NONE)
    assert session.wait(60)
    assert session.snapshot.model is None and session.status()["model"] is None
    related = next(row for row in range(500) if true_label(session.project, row) != NONE)
    session.decide([related], true_label(session.project, related))
    assert session.wait(60)
    assert session.status()["model"]["labels"] == 4


def test_the_same_decisions_give_the_same_queue(tmp_path):
    asked = []
    for name in ("one.kwp", "two.kwp"):
        with session_of(small_project(tmp_path, name=name)) as session:
            asked.append(teach(session, 25))
            asked[-1].append(session.snapshot.model.probabilities.tobytes())
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == 26  # no candidate twice


def test_predictions_are_stored_as_they_were_before_the_decision(session):
    teach(session, 12)
    before = session.snapshot.model
    row = session.next().candidate
    name, probability = before.best(row)
    [made] = session.decide([row], true_label(session.project, row))
    predicted = name if probability >= session.threshold else NONE
    assert made.predicted == predicted and made.model == before.number
    assert made.probability == pytest.approx(probability)
    assert session.wait(60) and session.snapshot.model is not before


def test_only_candidates_drawn_at_random_count_as_checks(session):
    rows = teach(session, 30)
    log = list(session.project.log())
    checks = [one.candidate for one in log if one.weight is not None]
    assert 0 < len(checks) < len(rows)
    assert session.status()["quality"]["n_checks"] == len(checks)


def test_a_check_that_is_decided_elsewhere_does_not_count(session):
    teach(session, 12)
    drawn = {pick.candidate: pick for pick in session._make_queue("random", 5)}
    row = next(iter(drawn))  # seen by nobody: chosen in the list of documents, say
    [made] = session.decide([row], NONE)
    assert made.weight is None
    shown = session.next("random")
    [made] = session.decide([shown.candidate], NONE)
    assert made.weight == shown.weight is not None
    [again] = session.decide([shown.candidate], NONE)
    assert again.weight is None


def test_undo_of_any_depth_restores_labels_and_queue(session):
    rows = teach(session, 8, wait=False)
    labels = [session.training_labels()]
    for row in reversed(rows):
        [undone] = session.undo()
        assert undone.candidate == row and session.decision(row) is None
        labels.append(session.training_labels())
    assert session.undo() == [] and labels[-1] == {}
    assert session.wait(60) and session.snapshot.model is None
    assert session.left() == len(session.project.candidates)


def test_a_group_is_decided_and_undone_at_once(session):
    made = session.decide([1, 2, 5], NONE, token="group")
    assert len({one.batch for one in made}) == 1
    assert [one.candidate for one in session.undo()] == [1, 2, 5]
    assert session.decided == {}


def test_a_repeated_request_is_stored_once(session):
    first = session.decide([4], NONE, token="a")
    assert session.decide([4], NONE, token="a") == first
    assert len(list(session.project.log())) == 1 and session.status()["counts"]["decided"] == 1


def test_a_repeated_request_does_not_bring_back_what_was_undone(session):
    session.decide([4], NONE, token="a")
    session.undo(token="b")
    session.decide([4], NONE, token="a")
    assert session.decided == {} == session.project.current()
    assert session.status()["counts"]["decided"] == 0


def test_a_decision_that_was_made_elsewhere_is_a_conflict(session):
    [made] = session.decide([4], NONE, expected=[None])
    with pytest.raises(ConflictError, match="decided elsewhere"):
        session.decide([4], NONE, expected=[None])
    session.decide([4], None, expected=[made.id])


def test_skipped_candidates_are_not_asked_again_and_not_learned_from(session):
    pick = session.next()
    session.decide([pick.candidate], None)
    assert session.next().candidate != pick.candidate
    assert session.training_labels() == {}
    counts = session.status()["counts"]
    assert counts["skipped"] == 1 and counts["decided"] == 0


def test_the_outlook_is_that_of_the_labels_that_are_left(session, monkeypatch):
    teach(session, 4)
    points = [CurvePoint(n, 1 - n**-0.15, 0.1, 0.9) for n in (50, 100, 150)]
    session.snapshot = replace(session.snapshot, curve=points)
    for left, words in ((1000, "The next 200 labels"), (18, "The next 18 labels")):
        monkeypatch.setattr(session, "left", lambda n=left: n)
        assert session.status()["outlook"].startswith(words)
    monkeypatch.setattr(session, "left", lambda: 0)
    assert session.status()["outlook"] == ""


def test_candidates_that_the_page_has_are_not_sent_again(session):
    first = session.next()
    second = session.next(skip=[first.candidate])
    assert second.candidate != first.candidate
    assert session.next().candidate == first.candidate


def test_all_candidates_are_asked_once_in_the_order_of_the_text(tmp_path):
    with session_of(small_project(tmp_path), retrain_after=10**6) as session:
        session.set_order("document")
        asked = []
        while (pick := session.next()) is not None:
            asked.append(pick.candidate)
            session.decide([pick.candidate], NONE)
        assert asked == list(range(len(session.project.candidates)))
        assert session.left() == 0


def test_a_new_session_has_the_model_of_the_last_one(path):
    with session_of(path) as session:
        teach(session, 15)
        model = session.snapshot.model
    with Project.open(path) as project:
        restored = Session(project)  # not started
        assert restored.snapshot.model.classes == model.classes
        assert np.array_equal(restored.snapshot.model.probabilities, model.probabilities)
        assert restored.threshold == model.threshold
    with session_of(path) as session:
        assert session.wait(60)
        assert np.allclose(session.snapshot.model.probabilities, model.probabilities, atol=1e-4)
        assert session.snapshot.model.number > model.number


def test_failed_training_is_reported_and_tried_again(session, monkeypatch):
    teach(session, 8)
    teacher = session.teacher()

    def fail(labels):
        raise KernelInputError("no memory for this")

    monkeypatch.setattr(teacher, "learn", fail)
    session.decide([session.next().candidate], NONE)
    assert session.wait(60)
    assert session.status()["error"] == "no memory for this"
    assert session.snapshot.model is not None  # the last good one
    monkeypatch.undo()
    session.decide([session.next().candidate], NONE)
    assert session.wait(60) and session.status()["error"] is None


def test_held_out_documents_are_never_asked_and_are_scored(tmp_path):
    with session_of(small_project(tmp_path, held_out=0.4)) as session:
        columns = session.project.candidates
        assert columns.held_out.any() and not columns.held_out.all()
        rows = teach(session, 40)
        assert not columns.held_out[rows].any()
        model, shown = session.snapshot.model, session.status()["held_out"]
        predicted = [model.classes[column] for column in model.predicted()]
        right = found = true = 0
        for row in np.flatnonzero(columns.held_out).tolist():
            label = columns.annotation[row]
            undirected = type_of(label) in model.classes
            label = type_of(label) if undirected else label
            right += label == predicted[row] != NONE
            found += predicted[row] != NONE
            true += label != NONE
        assert shown["f1"][0] == pytest.approx(2 * right / (found + true))
        assert shown["f1"][1] <= shown["f1"][0] <= shown["f1"][2]


def test_annotation_is_learned_from_if_wanted(tmp_path):
    with session_of(small_project(tmp_path, learn_annotation=True)) as session:
        assert session.wait(60)
        assert session.order == "disagreement"
        n = sum(label is not None for label in session.project.candidates.annotation)
        assert session.status()["model"]["labels"] == n
        pick = session.next()
        model = session.snapshot.model
        predicted = model.classes[model.predicted()[pick.candidate]]
        assert predicted != true_label(session.project, pick.candidate)
        session.decide([pick.candidate], NONE)
        assert session.next().candidate != pick.candidate


def test_the_given_threshold_replaces_that_of_the_model(session):
    teach(session, 10)
    session.set_threshold(0.9)
    assert session.threshold == 0.9 == session.status()["model"]["threshold"]
    session.set_threshold(None)
    assert session.threshold == session.snapshot.model.threshold
    for wrong in (0.0, 1.0, -1):
        with pytest.raises(KernelInputError, match="between 0 and 1"):
            session.set_threshold(wrong)


@pytest.mark.parametrize("row", [-1, 10**6, True, "1", 1.0, None])
def test_unknown_candidates_are_refused(session, row):
    with pytest.raises(NotFoundError, match="no candidate"):
        session.decide([row], NONE)


def test_unknown_orders_and_authors_are_refused(session):
    with pytest.raises(KernelInputError, match="unknown order 'best'"):
        session.set_order("best")
    with pytest.raises(KernelInputError, match="unknown order"):
        session.next("best")
    with pytest.raises(KernelInputError, match="empty"):
        session.set_author(" ")


def test_listeners_hear_of_decisions_and_models(session):
    heard = []
    end = session.listen(lambda: heard.append(session.status()["counts"]["decided"]))
    session.decide([0], NONE)
    assert heard[-1] == 1
    end()
    session.decide([1], NONE)
    assert heard[-1] == 1


def test_a_session_closes_at_the_end_of_with(path):
    with Project.open(path) as project, Session(project).start() as session:
        assert not session.closed
    assert session.closed and not session._thread.is_alive()


def test_a_project_that_is_open_for_reading_shows_its_model(path):
    with session_of(path) as session:
        teach(session, 15)
    with Project.open(path, read_only=True) as project:
        session = Session(project).start()
        try:
            assert session.wait(60)
            assert session.status()["read_only"] and session.status()["model"] is not None
            with pytest.raises(ValueError, match="reading only"):
                session.decide([0], NONE)
        finally:
            session.close()
