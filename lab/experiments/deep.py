"""Results of lab/rivals: from files that were made earlier or elsewhere, or made here where that is feasible."""
import json
import pathlib
import subprocess
import sys

from lab.experiments import prepared
from lab.experiments.paper import DEEP, MEASURES
from bench.tool import Failure

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "rivals" / "run.py"
KEPT = ["split", "rate_rule", *MEASURES, "train_accuracy", "trained", "diverged", "optimiser", "rate", "epochs",
        "seconds", "device", "threads", "jobs", "torch", "timing", "extrapolated", "steps"]
QUICK = "MLP"
ELSEWHERE = ("'lab/run_experiments tables --data FOLDER --export DIR' writes what 'python3 lab/rivals/run.py DIR "
             "--results FILE' learns from, here or on a machine with a GPU; '--rivals FILE' then takes its results in")


def device():
    """What PyTorch would run on here: cuda, cpu, or None without PyTorch."""
    done = subprocess.run([sys.executable, "-c", "import torch, torchvision; print(torch.cuda.is_available())"],
                          capture_output=True, text=True, check=False)
    return None if done.returncode else "cuda" if done.stdout.strip() == "True" else "cpu"


def read(path, fingerprint):
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            one = json.loads(line)
            name, about = one["rival"], one["fingerprint"]
        except (ValueError, KeyError, TypeError) as error:
            raise Failure(f"{path}:{number}: not a result of lab/rivals/run.py") from error
        if about != fingerprint:
            raise Failure(f"{path}:{number}: a result of other photos ({about}; these are {fingerprint}); export these "
                          "and train the rivals on them")
        if name in DEEP:
            found.append({"rival": name, **{key: one.get(key) for key in KEPT}})
    return found


def latest(found):
    """The last of each kind, in the order of the paper and of the splits."""
    kinds = {(one["rival"], one["rate_rule"], bool(one["timing"]), bool(one["extrapolated"]), one["split"]): one
             for one in found}
    return [kinds[key] for key in sorted(kinds, key=lambda key: (DEEP.index(key[0]), *key[1:]))]


def train(lab, *words):
    """Runs the script here, on arrays of this lab."""
    folder = lab.new_folder()
    prepared.export(lab, folder, thin=lab.several(1, 8))
    results = folder / "rivals.jsonl"
    lab.say(f"tables: lab/rivals/run.py {' '.join(words)}")
    done = subprocess.run([sys.executable, str(SCRIPT), str(folder), "--results", str(results), *words], check=False,
                          stdout=sys.stderr)
    if not results.is_file():
        raise Failure(f"lab/rivals/run.py ended with exit code {done.returncode} and no results")
    return read(results, prepared.fingerprint(lab))


def find(lab):
    """Lines of results, the names of those rivals of whose accuracy nothing is known, and why."""
    found, why = [], ""
    for path in lab.rivals:
        found += read(path, prepared.fingerprint(lab))
    if not lab.rivals:
        here = device()
        if here is None:
            why = "PyTorch is not installed here ('scripts/setup --rivals' installs it); " + ELSEWHERE
        elif lab.quick:
            found = train(lab, "--epochs", "1", "--splits", "0", "--only", QUICK)
            why = f"the short form trains {QUICK} alone"
        elif here == "cuda":
            found = train(lab)
        else:
            found = train(lab, "--steps-only", "3")
            why = ("there is no GPU here, where training takes days; seconds are extrapolated from three steps. " +
                   ELSEWHERE)
    found = latest(found)
    there = {one["rival"] for one in found if not one["extrapolated"]}
    missing = [name for name in DEEP if name not in there]
    return found, missing, (why or "the results that were given do not have them; " + ELSEWHERE) if missing else ""
