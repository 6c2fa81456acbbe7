"""The machine and the libraries in words, without names of hosts or users."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("linkwise", "numpy", "scipy", "scikit-learn", "hnswlib", "faiss-cpu", "pynndescent")


def cores():
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory():
    """Return the bytes of memory of the machine, or None where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def processor():
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def installed():
    """Return {library: version} of what is installed."""
    found = {"Python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def describe():
    """Return the machine, its libraries, and how busy it was."""
    return {
        "system": platform.system(),
        "processor": processor(),
        "cores": cores(),
        "memory": memory(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "libraries": installed(),
    }


def in_words(machine, *more):
    """Return a description as one line; more words come after the processor."""
    parts = [f"{machine['cores']} cores of {machine['processor']}", *more]
    libraries = ", ".join(f"{name} {version}" for name, version in machine["libraries"].items())
    return f"{machine['system']}, {', '.join(parts)}. {libraries}."
