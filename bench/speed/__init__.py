"""What `make bench` measures: one module an entry, in the order of the table. bench/README.md says what an entry is."""
import importlib

ENTRIES = ["train", "wide", "layer", "joint", "predict", "read", "growth", "memory", "stream", "enlarge", "commands"]


def entry(name):
    return importlib.import_module(f"bench.speed.{name}")
