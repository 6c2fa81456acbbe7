"""A process that records answers is killed again and again: nothing acknowledged is lost."""

import json
import subprocess
import sys
import textwrap

import pytest

# A process of its own, since it forks: it imports the journal and nothing heavy. A child opens the
# project, sends the answers whose acknowledgement never came again, then new ones, and
# tells each on a pipe once the journal has returned. It is killed at a random moment, also while
# it opens the file.
DRIVER = textwrap.dedent(
    """
    import json, os, random, select, signal, sys, time
    from linkwise.journal import Data, Journal, read_project, replay

    path, kills, seed, planted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    data = Data("points.csv", "0" * 64, 1000, "row")
    rng = random.Random(seed)

    class Late(Journal):
        "A fault: what an answer wrote is committed when the next one begins."

        def _begin(self):
            if self._db.in_transaction:
                self._db.execute("COMMIT")
            super()._begin()

        def _commit(self):
            pass

    def body(i):
        return {"a": i % 999, "b": 999, "same": (True, False, None)[i % 3]}

    def writer(first, pipe):
        with (Late if planted == "late" else Journal)(path, data=data, who="w") as journal:
            i = first
            while True:
                journal.append("answer", body(i), client=f"c{i}")
                os.write(pipe, b"%d\\n" % i)
                i += 1

    acknowledged = 0
    lost = doubled = 0
    for kill in range(kills):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            try:
                writer(acknowledged, writing)
            except BaseException as error:
                os.write(2, repr(error).encode())
            os._exit(1)
        os.close(writing)
        wanted, told = rng.randint(0, 22), b""
        if wanted == 0:
            time.sleep(rng.uniform(0, 0.02))  # while it opens the file
        while told.count(b"\\n") < wanted:
            part = os.read(reading, 4096)
            if not part:
                sys.exit("the writer failed")
            told += part
        time.sleep(rng.uniform(0, 0.001))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while part := os.read(reading, 4096):
            told += part
        os.close(reading)
        for i in map(int, told.split()):
            assert i == acknowledged, (i, acknowledged)
            acknowledged += 1
        if kill % 50 == 0 or kill == kills - 1 or planted:
            project = read_project(path) if acknowledged else None
            events = project.events if project else []
            clients = [event.client for event in events]
            lost += len({f"c{i}" for i in range(acknowledged)} - set(clients))
            doubled += len(clients) - len(set(clients))
            if planted and lost:
                break
            assert len(clients) <= acknowledged + 1  # one may be saved and not acknowledged
            assert [event.body for event in events] == [body(i) for i in range(len(events))]
            again = replay(read_project(path).events) if events else None
            assert not events or project.state == replay(events) == again
    print(json.dumps({"kills": kill + 1, "acknowledged": acknowledged, "lost": lost,
                      "doubled": doubled}))
    """
)


def killed(path, kills, *, seed=0, planted=""):
    line = [sys.executable, "-c", DRIVER, path, kills, seed, planted]
    done = subprocess.run(list(map(str, line)), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.slow
def test_no_acknowledged_answer_is_lost_or_doubled_by_500_kills(tmp_path):
    found, err = killed(tmp_path / "p.linkwise", 500)
    assert err == ""
    assert found["kills"] == 500
    assert found["acknowledged"] >= 5000
    assert (found["lost"], found["doubled"]) == (0, 0)


@pytest.mark.parametrize("seed", range(3))
def test_a_commit_after_the_acknowledgement_is_found_out(tmp_path, seed):
    found, _ = killed(tmp_path / "p.linkwise", 300, seed=seed, planted="late")
    assert found["lost"] > 0
