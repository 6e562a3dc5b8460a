"""Methods measured on tables, split by split; each result is a line of a file and is not measured twice."""
import dataclasses
import hashlib
import itertools
import json
import pathlib
import sys
import tempfile

from bench.tables.splits import find_tables
from bench.tool import Failure

MEASURE = {"classify": "accuracy", "regress": "rmse"}
# What is kept of the measures of 'broad eval' besides, where a model has them; report.py has their titles.
QUALITIES = ["coverage", "brier", "calibration_error", "log_likelihood"]
# Of each result, what the JSON keeps.
KEPT = ["value", "seconds", "cpu_seconds", "nodes", "layers", "estimate", *QUALITIES]


@dataclasses.dataclass
class Plan:
    """What is measured, and how."""
    script: str  # that messages name
    networks: dict  # for each its options of 'broad fit'
    methods: list  # networks and rivals
    threads: int
    splits_of: object  # how many splits of a table
    rows_of: object  # at most how many training rows of a table, 0 for all
    again: list = dataclasses.field(default_factory=list)  # methods to measure even if results are there
    limits: dict = dataclasses.field(default_factory=dict)  # for each rival that has some, those of rivals.Limits
    whole: bool = False  # rivals also give likelihood, coverage and calibration
    measures: bool = True  # False: only what the file of results has
    leading: bool = False  # of a method that lacks a split, those before it count; otherwise none
    tools: dict = dataclasses.field(default_factory=dict)  # for networks that another tool fits
    stored: object = None  # stored.Stored: an earlier run whose results count where this one would find the same


def measure_network(tool, words, table, files, seed, threads):
    """Time is that of the whole command: reading, training, testing and saving."""
    train, test, model = files
    words = [*(["--missing", "mean"] if table.missing else []), *words, "--seed", seed, "--threads", threads]
    fit = tool.run("fit", train, "--task", table.task, "--header", "yes", *words, "--test", test, "-o", model)
    measure = MEASURE[table.task]
    result = {"value": fit["test"][measure], "seconds": tool.seconds, "cpu_seconds": tool.cpu_seconds,
              "nodes": fit["nodes"], "layers": len(fit["layers"])}
    if fit.get("loo"):
        result["estimate"] = fit["loo"][measure]
    measured = tool.run("eval", model, test)["test"]
    if measured.get("log_loss") is not None:
        measured["log_likelihood"] = -measured["log_loss"]
    result.update((name, measured[name]) for name in QUALITIES if measured.get(name) is not None)
    return result


def import_rivals():
    try:
        from bench.tables import rivals
    except ImportError as error:
        raise Failure(f"{error.name} is not installed (Debian: python3-sklearn)") from error
    return rivals


def version_of_tool(tool):
    """The version and, since two builds may share it, a hash of the program, which contains the library."""
    content = pathlib.Path(tool.path).read_bytes()
    return f"{tool.machine['version']}-{hashlib.sha256(content).hexdigest()[:12]}"


class Results:
    """Lines of a file, one for each result, that are added to and never changed: the newest of equal keys counts."""
    KEY = ("table", "fingerprint", "split", "rows", "threads", "method", "version")

    def __init__(self, path, script):
        self.path, self.known = path, {}
        lines = path.read_text(encoding="utf-8").splitlines() if path and path.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                self.keep(json.loads(line))
            except (ValueError, KeyError):
                print(f"{script}: {path}:{number}: no result, passed over", file=sys.stderr)

    def keep(self, result):
        self.known[tuple(result[name] for name in self.KEY)] = result

    def add(self, result):
        self.keep(result)
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as f:
                f.write(json.dumps(result) + "\n")


class Bench:
    def __init__(self, tool, plan, results):
        self.tool, self.plan, self.results = tool, plan, results
        self.tools = {name: plan.tools.get(name, tool) for name in plan.networks}
        self.tool_versions = {name: version_of_tool(tool) for name, tool in self.tools.items()}
        self.failures, self.unconfirmed = {}, {}

    def version(self, method):
        """What a result depends on besides its rows: it is not used for another version."""
        if method in self.plan.networks:
            return self.tool_versions[method]
        try:
            version = import_rivals().version(method)
        except Failure:
            return "none"
        return version + "".join(f", {name} {value}" for name, value in self.plan.limits.get(method, {}).items())

    def measure(self, method, table, files, split):
        if method in self.plan.networks:
            return measure_network(self.tools[method], self.plan.networks[method], table, files, split, self.plan.threads)
        rivals = import_rivals()
        try:
            return rivals.measure(method, table.task, files[0], files[1], split, self.plan.threads,
                                  rivals.Limits(**self.plan.limits.get(method, {})), self.plan.whole)
        except (ValueError, MemoryError, ImportError) as error:
            raise Failure(" ".join(str(error).split())) from error

    def key_of(self, method, table, split):
        return {"table": table.name, "fingerprint": table.fingerprint, "split": split, "rows": self.plan.rows_of(table),
                "threads": self.plan.threads, "method": method, "version": self.version(method)}

    def known(self, method, table, split):
        """What the file of results has, or None."""
        return self.results.known.get(tuple(self.key_of(method, table, split)[name] for name in Results.KEY))

    def kept(self, method, table, split):
        """The result of the earlier run; None unless this tool was seen to find the same on this table, or nothing is measured."""
        if self.plan.stored is None or method not in self.plan.networks or method in self.plan.again:
            return None
        earlier = self.plan.stored.results(method, table, self.tool.describe())
        found = [self.known(method, table, number) for number in range(len(earlier))]
        same = [one["value"] == other["value"] for one, other in zip(found, earlier) if one]
        if split >= len(earlier) or not (all(same) if same else not self.plan.measures):
            return None
        if not same and table.name not in self.unconfirmed.setdefault(method, []):
            self.unconfirmed[method].append(table.name)
        return earlier[split]

    def result(self, method, table, split, files):
        """From the file of results, of the earlier run, or measured now; None where the method fails."""
        key = self.key_of(method, table, split)
        known = self.known(method, table, split)
        if known and method not in self.plan.again:
            return known
        kept = self.kept(method, table, split)
        if kept or not self.plan.measures:
            return kept or known
        try:
            result = {**key, **self.measure(method, table, files(), split)}
        except Failure as error:
            self.fail(method, table, str(error).replace(f"{files()[0].parent}/", ""))
            return None
        print(f"{table.name:24} {split:2} {method:14} {MEASURE[table.task]} {result['value']:.4f} "
              f"{result['seconds']:8.2f} s", file=sys.stderr, flush=True)
        self.results.add(result)
        return result

    def fail(self, method, table, reason):
        if (method, reason) not in self.failures:
            print(f"{self.plan.script}: {table.name}: {method} failed: {reason}", file=sys.stderr)
        self.failures.setdefault((method, reason), []).append(table.name)

    def run(self, table, folder):
        """Results of each method over the splits, and how many rows were trained on and tested with."""
        found = {method: [] for method in self.plan.methods}
        for split in range(self.plan.splits_of(table)):
            train, test = table.split(split, self.plan.rows_of(table))
            files = Files(pathlib.Path(folder), table, train, test)
            for method in self.plan.methods:
                found[method].append(self.result(method, table, split, files))
        if self.plan.leading:
            found = {method: list(itertools.takewhile(bool, results)) for method, results in found.items()}
        kept = {method: [{name: result[name] for name in KEPT if name in result} for result in results]
                for method, results in found.items() if results and all(results)}
        return {"name": table.name, "task": table.task, "inputs": table.inputs, "classes": table.classes,
                "missing": table.missing, "train_rows": len(train), "test_rows": len(test), "results": kept}

    def found(self, measured):
        failed = [{"method": method, "reason": reason, "tables": tables}
                  for (method, reason), tables in self.failures.items()]
        networks = {name: words for name, words in self.plan.networks.items() if name in self.plan.methods}
        rivals = sorted({self.version(method).split(",")[0] for method in self.plan.methods if method not in networks})
        return {"machine": self.tool.describe(), "rivals": " and ".join(rivals), "threads": self.plan.threads,
                "methods": self.plan.methods, "networks": networks, "failed": failed, "tables": measured,
                **({"unconfirmed": self.unconfirmed} if self.plan.stored else {})}


class Files:
    """Training and test rows as files, written when the first method asks for them; and a place for the model."""

    def __init__(self, folder, table, train, test):
        self.paths = [folder / name for name in ("train.csv", "test.csv", "model.broad")]
        self.table, self.parts = table, (train, test)

    def __call__(self):
        for path, numbers in zip(self.paths, self.parts):
            self.table.write(path, numbers)
        self.parts = ()
        return self.paths


def tables_of(folders, script):
    """Those of all folders; what cannot be used is named."""
    found = []
    for folder in folders:
        if not folder.is_dir():
            raise Failure(f"{folder} is no folder")
        tables, left_out = find_tables(folder)
        for path, reason in left_out:
            print(f"{script}: {path} is left out: {reason}", file=sys.stderr)
        if not tables:
            raise Failure(f"no table under {folder}")
        found += tables
    return found


def measure_all(tool, plan, results, tables):
    """Everything that was measured, as it is stored. results: the path of the file of results, or None."""
    bench = Bench(tool, plan, Results(results, plan.script))
    with tempfile.TemporaryDirectory(prefix="broad-tables-") as folder:
        return bench.found([bench.run(table, folder) for table in tables])
