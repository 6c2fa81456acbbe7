"""What a cluster did: tasks, tasks done again, bytes moved between workers, seconds by stage.

The scheduler counts them for all clients. A `Usage` is the difference of two counts.
"""

from typing import Any, NamedTuple

from linkwise.blocks.cluster import SUBMITTED
from linkwise.blocks.cost import in_words

PREFIX = "linkwise "  # of the names of tasks; the stage follows


class Usage(NamedTuple):
    """Work of a cluster."""

    tasks: int  # that ended, each time that they did
    again: int  # of these, those that had ended before: their worker was lost
    moved: int  # bytes between workers, and from workers to the client
    seconds: dict[str, float]  # CPU seconds of the workers, by stage

    def in_words(self) -> str:
        """Return the work in words."""
        stages = ", ".join(f"{name} {spent:.1f}" for name, spent in self.seconds.items())
        return (
            f"cluster: {self.tasks:,} tasks, {self.again:,} of them done again, "
            f"{in_words(max(self.moved, 1024))} moved; CPU seconds of the workers: "
            f"{stages or 'none'}"
        )


def ended_tasks(dask_scheduler: Any = None) -> int:
    """Return how often a task of linkwise has ended; runs on the scheduler."""
    prefixes = dask_scheduler.task_prefixes.items()
    return sum(one.state_counts["memory"] for name, one in prefixes if name.startswith(PREFIX))


def past_work(dask_scheduler: Any = None) -> dict[Any, float]:
    """Return what workers have reported of their work; runs on the scheduler."""
    return dict(dask_scheduler.cumulative_worker_metrics)


def recent_work(dask_worker: Any = None) -> tuple[int, dict[Any, float]]:
    """Return the bytes sent by a worker, and its work since it last reported; runs there."""
    recent = dict(dask_worker.digests_total_since_heartbeat)
    return dask_worker.transfer_outgoing_bytes_total, recent


def seconds_by_stage(metrics: dict[Any, float]) -> dict[str, float]:
    """Return the CPU seconds of every stage of linkwise.

    >>> seconds_by_stage({("execute", "linkwise gram added", "thread-cpu", "seconds"): 2.0})
    {'gram': 2.0}
    """
    found: dict[str, float] = {}
    for key, value in metrics.items():
        task = key[1] if isinstance(key, tuple) and key[0] == "execute" else None
        if isinstance(task, str) and task.startswith(PREFIX) and "thread-cpu" in key:
            stage = task.removeprefix(PREFIX).removesuffix(" added")
            found[stage] = found.get(stage, 0.0) + value
    return found


class Counts(NamedTuple):
    """What the cluster of a client has done so far."""

    submitted: int
    ended: int
    moved: int
    seconds: dict[str, float]


def counts(client: Any) -> Counts:
    """Return the Counts of a client; the bytes are those of workers that still run.

    A worker that is lost while it is asked is left out.
    """
    seconds = seconds_by_stage(client.run_on_scheduler(past_work))
    moved = 0
    for sent, recent in client.run(recent_work, on_error="ignore").values():
        moved += sent
        for stage, more in seconds_by_stage(recent).items():
            seconds[stage] = seconds.get(stage, 0.0) + more
    return Counts(SUBMITTED.tasks, client.run_on_scheduler(ended_tasks), moved, seconds)


def usage_since(before: Counts, client: Any) -> Usage:
    """Return the Usage since earlier Counts."""
    after = counts(client)
    tasks = after.ended - before.ended
    seconds = {stage: s - before.seconds.get(stage, 0.0) for stage, s in after.seconds.items()}
    return Usage(
        tasks,
        max(0, tasks - (after.submitted - before.submitted)),
        max(0, after.moved - before.moved),
        {stage: s for stage, s in seconds.items() if s > 0},
    )
