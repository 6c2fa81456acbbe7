"""The requests of the label page.

    GET   /api/state                 all the page shows besides points, as JSON
    GET   /api/events                the same as server-sent events, whenever something changes
    GET   /api/map, labels, links    float32 (n, 2), int32 (n,), int32 (m, 3): little-endian bytes
    GET   /api/rows?q=&cluster=&mark=&from=&count=    rows by a text in them, or ?rows=1,2,3
    GET   /api/clusters              what each cluster is about: keywords, columns, examples
    GET   /api/found?q=&cluster=&mark=    the numbers of all of these rows
    GET   /api/image/ROW             the image of a row
    GET   /api/export/WHAT.SUFFIX    links, labels or log
    POST  /api/answer, mark, label, set, undo, redo, correct, count, outliers, mode
                                     commands, JSON; answered with the state
    POST  /api/preview               what a correction would change, JSON; nothing is written
    POST  /api/import?name=          a table

Rows are whole numbers. A correction carries the fingerprint of the clusters that the person saw
(`seen` in the state). A command carries an id from its sender; sent again, it counts once.

    POST /api/mark {"rows": [7], "mark": "unclear" or "stray", "client": ID}

marks rows: they are not asked about any more, and a stray belongs to no cluster (label -1). The
state has "marks", how many rows have each mark. A row of /api/rows has its "mark" or null, and
/api/rows?mark=stray lists the rows that have one. Undo removes a mark; so does an event that says
where the row belongs. A question is about its row "a"; "b" is a typical member of a cluster.

The state has "wider", null or a question that tells more than the pair for the time it takes:
{"kind": "label", "row", "anchors", "why"}, which cluster a row belongs to, with a typical row of
each; or {"kind": "set", "rows", "why"}, which of these rows do not belong to the others.

    POST /api/label {"row": 7, "anchors": [1, 2], "chosen": 2 or null, "client": ID}
    POST /api/set   {"rows": [1, 2, 3], "out": [3], "client": ID}

/api/clusters has the version of the "labels" that it is about, and for each of the "clusters"
{"label", "size", "name", "keywords": [words], "columns": [[name, shift in standard deviations]],
"typical": [rows], "borderline": [rows]}; rows are as in /api/rows. An event of "history",
"conflict" or "suspects" has "rows", [{"row", "called"}], the first rows that it names; "text" calls
rows by their contents.

The commands answer, mark, label, set, undo, redo and correct may say "who" gives them, a name of 1
to 80 characters; without it, it is the person whom `linkwise label --as` names. The state has
"who", that person, and "people", everybody who answered: {"who", "answers", "shared" (pairs that
others answered too), "right_same", "right_different" (estimated shares of right answers)}.
"""

import asyncio
from pathlib import Path

import numpy as np
from starlette.responses import JSONResponse, Response

from linkwise._wording import MARKS
from linkwise.app.label_view import FIELDS, Wanted, about, find, lines, listed, view
from linkwise.app.requests import array_response, command, file_response, number, step_route
from linkwise.app.server import api_routes
from linkwise.app.static_files import static_routes
from linkwise.app.updates import event_route
from linkwise.labelling.images import image_file, kind_of

FILES = ("/api/import",)  # paths whose bodies are files and not JSON
ROWS = 200  # of a list at most; the page requests the next ones
MAY = {"seen": "", "teach": False}  # what a correction may say besides action and options


def correction(body):
    """Return the body of a correction, checked."""
    if not isinstance(body["options"], dict) or not isinstance(body["action"], str):
        raise ValueError("action must be a text, options an object")
    if not isinstance(body["seen"], str):
        raise ValueError("seen must be the fingerprint of the clusters shown")
    if not isinstance(body["teach"], bool):
        raise ValueError("teach must be true or false")
    return body


def label_routes(page):
    """Return the routes of a LabelPage."""

    def shown():
        return view(page)

    async def state(request):
        return JSONResponse(shown())

    async def xy(request):
        found = np.zeros((0, 2)) if page.xy is None else page.xy
        return array_response(found, np.float32, page.map_version)

    async def labels(request):
        found = np.zeros(0) if page.labels is None else page.labels
        return array_response(found, np.int32, page.labels_version)

    async def links(request):
        return array_response(lines(page), np.int32, page.current.state.n_events)

    async def rows(request):
        query = request.query_params
        start, count = number(request, "from", 0, page.n), number(request, "count", 50, ROWS)
        if "rows" in query:
            wanted = query["rows"].split(",")[:ROWS] if query["rows"] else []
            bad = [w for w in wanted if not (w.isascii() and w.isdecimal() and len(w) < 12)]
            if bad or any(int(w) >= page.n for w in wanted):
                raise ValueError(f"rows must be row numbers in 0..{page.n - 1}, with commas")
            found, total = [int(w) for w in wanted], len(wanted)
        else:
            what = wanted_rows(request)
            found, total = await asyncio.to_thread(find, page, what, start, count)
        names = page.items.names[:FIELDS]
        return JSONResponse({"rows": listed(page, found), "total": total, "names": names})

    async def clusters(request):
        labels, version = page.labels, page.labels_version
        found = [] if labels is None else await asyncio.to_thread(about, page, labels)
        return JSONResponse({"labels": version, "clusters": found})

    def wanted_rows(request):
        query, cluster = request.query_params, number(request, "cluster", None, page.n)
        mark = query.get("mark") or None
        if mark not in (None, *MARKS):
            raise ValueError(f"mark must be one of {', '.join(MARKS)}; got {mark[:80]!r}")
        return Wanted(query.get("q", "")[:500], cluster, mark)

    async def every(request):
        found, _ = await asyncio.to_thread(find, page, wanted_rows(request), 0, page.n)
        return JSONResponse({"rows": found})

    async def image(request):
        row = request.path_params["row"]
        if page.items.image is None or row >= page.n:
            return JSONResponse({"error": "there is no such image"}, status_code=404)
        path = image_file(page.items.cells[row][page.items.image], page.data)
        raw = await asyncio.to_thread(Path(path).read_bytes)
        kind = kind_of(raw)
        if kind is None:
            raise ValueError("the file is no image")
        return Response(raw, media_type=kind)

    async def export(request):
        what, suffix = request.path_params["what"], f".{request.path_params['suffix']}"
        if what not in ("links", "labels", "log"):
            return JSONResponse({"error": "links, labels or log"}, status_code=404)
        exact = await page.exact_labels() if what == "labels" else None
        raw = await asyncio.to_thread(page.exported, what, suffix, exact)
        return file_response(raw, f"{what}{suffix}")

    async def imported(request):
        name = request.query_params.get("name", "")
        text = await page.imported(name, await request.body())
        return JSONResponse(shown() | {"said": text})

    async def answer(request):
        body = await command(request, "a", "b", "same", "client", who=None)
        event = await page.answer(**body)
        return JSONResponse(shown() | {"event": event.seq})

    async def mark(request):
        event = await page.mark(**await command(request, "rows", "mark", "client", who=None))
        return JSONResponse(shown() | {"event": event.seq})

    async def label(request):
        names = "row", "anchors", "chosen", "client"
        event = await page.label(**await command(request, *names, who=None))
        return JSONResponse(shown() | {"event": event.seq})

    async def judge_set(request):
        event = await page.judge_set(**await command(request, "rows", "out", "client", who=None))
        return JSONResponse(shown() | {"event": event.seq})

    async def correct(request):
        body = correction(await command(request, "action", "options", "client", who=None, **MAY))
        what = body["action"], body["options"], body["seen"]
        event = await page.correct(*what, body["client"], teach=body["teach"], who=body["who"])
        return JSONResponse(shown() | {"event": event.seq})

    async def previewed(request):
        body = correction(await command(request, "action", "options", **MAY))
        found = await page.preview(body["action"], body["options"], body["seen"])
        return JSONResponse(found._asdict())

    async def count(request):
        await page.set_count((await command(request, "k"))["k"])
        return JSONResponse(shown())

    async def outliers(request):
        await page.set_outliers((await command(request, "outliers"))["outliers"])
        return JSONResponse(shown())

    async def mode(request):
        await page.set_mode((await command(request, "mode"))["mode"])
        return JSONResponse(shown())

    gets = {
        "state": state, "events": event_route(page, shown), "map": xy, "labels": labels,
        "links": links, "clusters": clusters, "rows": rows, "found": every,
        "image/{row:int}": image, "export/{what}.{suffix}": export,
    }  # fmt: skip
    posts = {
        "answer": answer, "mark": mark, "label": label, "set": judge_set,
        "undo": step_route(page.undo, shown, who=None),
        "redo": step_route(page.redo, shown, who=None), "correct": correct,
        "preview": previewed, "count": count, "outliers": outliers, "mode": mode,
        "import": imported,
    }  # fmt: skip
    return [*static_routes("label"), *api_routes(gets, posts)]
