"""The random problems of the gates, and planted faults that they must find."""

from datetime import datetime

import numpy as np
import pytest

import linkwise.journal.journal as journal_module
from benchmarks.__main__ import main
from benchmarks.reliability.fuzz import judge, names
from linkwise.estimators.base import ConstrainedClusterer
from linkwise.journal import Data, InUse, Journal, read_project

FEW = range(3)  # one of each third: ordinary, ordinary, extreme


@pytest.mark.parametrize("name", names())
def test_all_laws_hold_on_random_problems(name):
    verdict = judge(name, FEW)
    assert verdict.broken == []
    assert verdict.fitted + verdict.refused == len(FEW)
    assert verdict.fitted


def violations_cut(self, checked, out, fit_links=ConstrainedClusterer._fit_links):
    fit_links(self, checked, out)
    self.violations_ = self.violations_[:-1]
    return self


def labels_from_one(self, checked, out, fit_links=ConstrainedClusterer._fit_links):
    fit_links(self, checked, out)
    self.labels_ = self.labels_ + 1
    return self


def overflowing(self, checked, out, fit_links=ConstrainedClusterer._fit_links):
    np.float32(1e30) * np.float32(1e30)
    return fit_links(self, checked, out)


def bare_error(self, checked, out, fit_links=ConstrainedClusterer._fit_links):
    np.zeros(2)[int(self.n_clusters) + 5]
    return fit_links(self, checked, out)


@pytest.mark.parametrize("fault", [violations_cut, labels_from_one, overflowing, bare_error])
def test_a_planted_fault_turns_the_gate_red(fault, monkeypatch, capsys):
    monkeypatch.setattr(ConstrainedClusterer, "_fit_links", fault)
    assert main(["fuzz", "--problems", "9", "--methods", "PCKMeans"]) == 1
    assert "again: python -m benchmarks fuzz --methods PCKMeans --first" in capsys.readouterr().out


def test_the_gate_is_green_without_a_fault(capsys):
    assert main(["fuzz", "--problems", "3", "--methods", "PCKMeans"]) == 0
    assert "| PCKMeans | 3 | 0 | 0 |" in capsys.readouterr().out


def journal(path):
    return Journal(path, data=Data("points.csv", "0" * 64, 10, "row"), who="w")


def written_under_a_clock_set_back(path, monkeypatch):
    """Write two answers and an undo, each dated before the last; return the events as read."""

    class Clock(datetime):
        years = iter([2030, 1999, 1998])

        @classmethod
        def now(cls, zone):
            return datetime(next(cls.years), 1, 1, tzinfo=zone)

    with journal(path) as log:
        monkeypatch.setattr(journal_module, "datetime", Clock)
        log.append("answer", {"a": 0, "b": 1, "same": True}, client="first")
        log.append("answer", {"a": 0, "b": 2, "same": True}, client="second")
        assert log.undo().body["event"] == 2  # the one written last, not the one dated last
    return read_project(path).events


def test_a_clock_set_back_changes_no_order(tmp_path, monkeypatch):
    events = written_under_a_clock_set_back(tmp_path / "p.linkwise", monkeypatch)
    assert [event.when[:4] for event in events] == ["2030", "1999", "1998"]
    assert [event.client for event in events][:2] == ["first", "second"]


def test_an_order_by_the_clock_is_found_out(tmp_path, monkeypatch):
    rows = journal_module.event_rows

    def by_time(db, where="ORDER BY at", *values):
        return rows(db, where, *values)

    monkeypatch.setattr(journal_module, "event_rows", by_time)
    with pytest.raises(ValueError, match="event 1 is missing"):
        written_under_a_clock_set_back(tmp_path / "p.linkwise", monkeypatch)


def test_of_two_writers_one_is_refused_and_nothing_is_lost(tmp_path):
    path = tmp_path / "p.linkwise"
    with journal(path) as log:
        for number in range(20):
            log.append("answer", {"a": 0, "b": 1 + number % 9, "same": True}, client=f"c{number}")
            with pytest.raises(InUse):
                journal(path)
    assert len(read_project(path).events) == 20
