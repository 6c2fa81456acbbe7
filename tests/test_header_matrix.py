"""Who may request what: all combinations of five headers and two methods, as the manual says."""

import itertools
import json
import re
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from app_parts import KEY, ORIGIN, PORT, Stub, blobs, page

from linkwise.app import security

MANUAL = Path(__file__).parents[1] / "docs" / "reliability.md"
HOSTS = {"ours": f"127.0.0.1:{PORT}", "foreign": f"evil.example:{PORT}"}
ORIGINS = {
    "none": None, "ours": ORIGIN, "foreign": "http://evil.example", "null": "null",
    "another port": f"http://127.0.0.1:{PORT + 1}",
}  # fmt: skip
SITES = ("absent", "same-origin", "none", "same-site", "cross-site")
COOKIES = {"right": f"linkwise_{PORT}={KEY}", "wrong": f"linkwise_{PORT}={'x' * 64}"}
BODY = json.dumps({"mode": "live"}).encode()


def stated():
    """Return {(method, origin, site): accepted} from the table of the manual."""
    text = MANUAL.read_text(encoding="utf-8").split("<!-- matrix -->")[1]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|") and not re.match(r"\|[-: |]+\|$", line)
    ]
    _, *sites = rows[0]
    found = {}
    for name, *cells in rows[1:]:
        method, origin = name.split(", Origin ")
        for site, cell in zip(sites, cells, strict=True):
            found[method, origin, site] = {"accepted": True, "refused": False}[cell]
    return found


def actual(served):
    """Return {(host, cookie, method, origin, site): status} of all 200 requests."""
    found = {}
    for case in itertools.product(HOSTS, COOKIES, ("GET", "POST"), ORIGINS, SITES):
        host, cookie, method, origin, site = case
        headers = [("Host", HOSTS[host]), ("Cookie", COOKIES[cookie])]
        headers += [("Origin", ORIGINS[origin])] if ORIGINS[origin] else []
        headers += [("Sec-Fetch-Site", site)] if site != "absent" else []
        if method == "POST":
            headers.append(("Content-Type", "application/json"))
        path = "/api/state" if method == "GET" else "/api/mode"
        body = BODY if method == "POST" else b""
        found[case] = served.client.request(method, path, headers, body).status
    return found


@pytest.fixture
def served(tmp_path):
    blobs(tmp_path / "data.csv")
    with page(tmp_path / "data.csv", worker=Stub) as found:
        yield found


def wrong_cells(served):
    """Return the requests that were not treated as the manual says."""
    table = stated()
    assert len(table) == 50
    return [
        case
        for case, status in actual(served).items()
        if (status == 200) != (case[:2] == ("ours", "right") and table[case[2:]])
        or (status != 200 and status not in (401, 403, 421))
    ]


def test_all_200_cells_are_as_stated(served):
    assert wrong_cells(served) == []


@pytest.mark.parametrize("fault", ["any cookie", "any site"])
def test_a_check_left_out_is_found(served, fault, monkeypatch):
    if fault == "any cookie":
        monkeypatch.setattr(security.Access, "admits", lambda self, cookies: True)
    else:
        refusal = security.Access.refusal
        monkeypatch.setattr(
            security.Access,
            "refusal",
            lambda self, scope, headers: refusal(
                self, scope, [h for h in headers if h[0] != "sec-fetch-site"]
            ),
        )
    assert wrong_cells(served)
