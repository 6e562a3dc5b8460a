"""An earlier run of a benchmark of tables, whose results need not be measured again."""
import json
import re

from bench.tool import Failure


def processor(machine):
    """Of what a run says of its machine, the processor by its plain name."""
    return re.sub(r"\(R\)|\(TM\)| (CPU|Processor)\b", "", machine.split(",")[0])


def elsewhere(found):
    """{method: processor} of the methods that an earlier run had on another machine: their times say nothing beside the others."""
    def hardware(machine):
        return machine.split(", broad ")[0]

    return {method: processor(run["machine"]) for run in found.get("stored", []) for method in run["methods"]
            if hardware(run["machine"]) != hardware(found["machine"])}


class Stored:
    """The JSON of that run."""

    def __init__(self, path, threads, rows):
        self.path = path
        try:
            self.found = json.loads(path.read_text(encoding="utf-8"))
            had = {"threads": self.found["threads"], "rows": self.found["rows"]}
            self.parts = [self.found["tables"], self.found["alone"]]
        except (ValueError, KeyError, TypeError) as error:
            raise Failure(f"{path} is no JSON of bench_uci: {error}") from error
        for name, value in {"threads": threads, "rows": rows}.items():
            if had[name] != value:
                raise Failure(f"{path} was measured with --{name} {had[name]}, not {value}")

    def results(self, method, table, machine):
        """Of the first splits of a table, as many as there are. Times are those of one machine: none of another."""
        if machine != self.found["machine"] or method in self.methods_from_elsewhere():
            return []
        same = [one for part in self.parts for one in part if self.is_of(one, table)]
        return max((one["results"].get(method, []) for one in same), key=len, default=[])

    @staticmethod
    def is_of(one, table):
        return (one["name"], one["task"], one["inputs"], one["classes"]) == (table.name, table.task, table.inputs, table.classes)

    def methods_from_elsewhere(self):
        return [method for run in self.runs() if "tables" not in run for method in run["methods"]]

    def runs(self):
        return self.found.get("stored", [])

    def add_others(self, found):
        """Methods that this run has not measured at all, as that one had them on the same tables; they are named."""
        others = [method for method in self.found["methods"] if method not in found["methods"]]
        tables = {one["name"]: one for one in self.found["tables"]}
        for one in found["tables"]:
            there = tables.get(one["name"], {"results": {}})
            one["results"].update((method, there["results"][method]) for method in others if method in there["results"])
        found["methods"] += others
        found["networks"].update((name, words) for name, words in self.found["networks"].items() if name in others)
        found["failed"] += [failure for failure in self.found["failed"] if failure["method"] in others]
        found["rivals"] = " and ".join(sorted({*filter(None, [*found["rivals"].split(" and "), *self.found["rivals"].split(" and ")])}))
        found["stored"] = self.runs_of(others) + [{"machine": self.found["machine"], "methods": [method], "tables": tables}
                                                  for method, tables in found.pop("unconfirmed").items()]

    def runs_of(self, others):
        """Which of the methods were measured on which machine: by that run, or by one before it."""
        runs = [{"machine": run["machine"], "methods": [name for name in run["methods"] if name in others]}
                for run in self.runs() if "tables" not in run]
        own = [name for name in others if name not in self.methods_from_elsewhere()]
        return [run for run in [{"machine": self.found["machine"], "methods": own}, *runs] if run["methods"]]
