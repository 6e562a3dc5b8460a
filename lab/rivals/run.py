#!/usr/bin/env python3
"""Trains the eleven deep rivals of the paper's table 2 on the photos and splits of a folder.

usage: run.py FOLDER --results FILE [--only NAMES] [--splits LIST] [--rate paper|fair|both] [--epochs COUNT] [--jobs COUNT]
              [--device auto|cpu|cuda] [--minutes COUNT] [--timing] [--steps-only COUNT] [--no-graphs] [--quick]

FOLDER is what 'lab/run_experiments tables --export FOLDER' writes. Every rival on every split is a line of JSON in FILE,
added when it is done; what is there already is not done again. README.md beside this file says what is trained and how.
"""
import argparse
import concurrent.futures
import json
import math
import multiprocessing
import os
import pathlib
import sys
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from bench.tool import Failure  # noqa: E402

try:
    import numpy  # noqa: F401
    import torch
    import torchvision  # noqa: F401
except ImportError as missing:
    print(f"rivals: {missing.name} is not installed (Debian: python3-torch, python3-torchvision, python3-numpy; "
          "'scripts/setup --rivals' installs them)", file=sys.stderr)
    sys.exit(77)

from bench.measures import verdict_measures  # noqa: E402
from lab.rivals.data import Folder  # noqa: E402
from lab.rivals.networks import FLAT, RIVALS  # noqa: E402
from lab.rivals.train import Diverged, Trainer  # noqa: E402

PAPER = ("SGD", 0.01)
CHOICE = [("SGD", 0.1), PAPER, ("SGD", 0.001), ("Adam", 0.001), ("Adam", 0.0001)]
CHOICE_PART = 0.3  # of the epochs, for each of these
MARGIN = 0.25
RULES = {"paper": "the paper's: SGD, 0.01",
         "fair": f"the best of {', '.join(f'{name} {rate:g}' for name, rate in CHOICE)} on a quarter of the training photos"}
MEASURES = ("accuracy", "precision", "recall", "f1", "false_positive", "false_negative")
SLOWEST = ["VGG", "EfficientNet", "MobileNet", "DBM", "ResNet", "AlexNet"]  # started first, so that no long one is left alone


def scores_of(network, inputs, rows=64):
    network.eval()
    with torch.no_grad():
        return torch.cat([network(part) for part in network.prepare(inputs).split(rows)])


class Task:
    """One rival on one split with one rule for the rate."""

    def __init__(self, folder, options, rival, split, rule):
        self.folder, self.options, self.rival, self.split, self.rule = folder, options, rival, split, rule
        self.device, (self.side, self.learn) = torch.device(options.device), RIVALS[rival]
        self.seed = zlib.crc32(f"{rival} {split}".encode())

    def rows(self, numbers, copies):
        return self.folder.rows(numbers, self.side, self.side == FLAT, copies, self.device)

    def train(self, numbers, optimiser, rate, epochs):
        """The network (None where it diverged), its last loss, and the trainer."""
        options = self.options
        inputs, labels = self.rows(numbers, True)
        trainer = Trainer(self.device, epochs, graphs=options.graphs, sample=options.steps_only)
        torch.manual_seed(self.seed)
        trainer.clock.start()
        try:
            network, loss = self.learn(trainer, inputs, labels, len(self.folder.classes), rate, optimiser)
            trainer.diverged = None
        except Diverged as error:
            network, loss, trainer.diverged = None, None, str(error)
        if trainer.clock.began is not None:
            trainer.clock.stop()
        return network, loss, trainer

    def verdicts(self, network, numbers, copies):
        """Predicted and true classes as numbers, and the mean loss; None for a network whose scores are not finite."""
        inputs, labels = self.rows(numbers, copies)
        scores = scores_of(network, inputs)
        if not bool(torch.isfinite(scores).all()):
            return None
        return scores.argmax(1).tolist(), labels.tolist(), float(torch.nn.functional.cross_entropy(scores, labels))

    def choose(self):
        """Optimiser and rate by photos held out from the training ones: accuracy, then loss. Test photos are not touched."""
        kept, apart = self.folder.apart(self.split)
        epochs, tried = max(1, math.ceil(CHOICE_PART * self.options.epochs)), []
        for optimiser, rate in CHOICE:
            network, _, _ = self.train(kept, optimiser, rate, epochs)
            found = self.verdicts(network, apart, False) if network else None
            one = {"optimiser": optimiser, "rate": rate, "accuracy": None, "loss": None}
            if found:
                right = sum(p == t for p, t in zip(*found[:2]))
                one.update(accuracy=right / len(apart), loss=found[2])
            tried.append(one)
        best = max(tried, key=lambda one: (one["accuracy"] or 0, -(one["loss"] if one["loss"] is not None else math.inf)))
        return best["optimiser"], best["rate"], tried

    def run(self):
        options, result = self.options, self.about()
        train, test = self.folder.splits[self.split]
        optimiser, rate = PAPER
        if self.rule == "fair" and not options.steps_only:
            optimiser, rate, result["tried"] = self.choose()
        network, loss, trainer = self.train(train, optimiser, rate, options.epochs)
        result.update(optimiser=optimiser, rate=rate, final_loss=loss, diverged=trainer.diverged, seconds=trainer.clock.spent,
                      graphs=trainer.graphs, parameters=network and sum(p.numel() for p in network.parameters()))
        if options.steps_only:
            result.update(extrapolated=True, steps=options.steps_only, final_loss=None)
            return result
        if network:
            self.measure(result, network, train, test)
        result["trained"] = result["train_accuracy"] is not None and result["train_accuracy"] >= result["needed"]
        return result

    def about(self):
        labels = [self.folder.labels[i] for i in self.folder.splits[self.split][0]]
        majority = max(map(labels.count, labels)) / len(labels)
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "CPU"
        return {"rival": self.rival, "split": self.split, "rate_rule": self.rule, "rule": RULES[self.rule],
                "epochs": self.options.epochs, "fingerprint": self.folder.fingerprint, "seed": self.seed, "device": name,
                "threads": torch.get_num_threads(), "jobs": self.options.jobs, "torch": torch.__version__,
                "majority": majority, "needed": majority + MARGIN * (1 - majority), "train_accuracy": None,
                "trained": None, "extrapolated": False, **dict.fromkeys(MEASURES)}

    def measure(self, result, network, train, test):
        classes, found = self.folder.classes, [self.verdicts(network, part, part is train) for part in (train, test)]
        if None in found:
            result["diverged"] = "scores that are not finite"
            return
        predicted, truth, _ = found[0]
        result["train_accuracy"] = sum(p == t for p, t in zip(predicted, truth)) / len(truth)
        predicted, truth = ([classes[number] for number in part] for part in found[1][:2])
        result.update(verdict_measures(predicted, truth, self.folder.positive))


class Results:
    """Lines of a file; the newest of a key counts."""

    def __init__(self, path):
        self.path, self.known = path, {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            try:
                self.keep(json.loads(line))
            except (ValueError, KeyError, TypeError):
                print(f"rivals: {path}: a line that is no result is passed over", file=sys.stderr)

    @staticmethod
    def key(result):
        """Times of several processes at once are no clean times, so a clean one is another result."""
        return (result["fingerprint"], result["rival"], result["split"], result["rate_rule"], result["epochs"],
                result.get("timing", False), result.get("extrapolated", False))

    def keep(self, result):
        self.known[self.key(result)] = result

    def add(self, result):
        self.keep(result)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(json.dumps(result) + "\n")


def set_up(options):
    torch.set_num_threads(1 if options.device == "cuda" else max(1, len(os.sched_getaffinity(0)) // options.jobs))
    if options.device == "cuda":
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        torch.backends.cudnn.benchmark = True


def work(words):
    """In a process of its own, or in this one. A failure is a result as well, but is not kept."""
    options, rival, split, rule, deadline = words
    if deadline and time.time() > deadline:
        return {"rival": rival, "split": split, "rate_rule": rule, "late": True}
    try:
        return {**Task(Folder(options.folder), options, rival, split, rule).run(), "timing": options.timing}
    except (RuntimeError, Failure) as error:
        lines = str(error).strip().splitlines() or [repr(error)]
        return {"rival": rival, "split": split, "rate_rule": rule, "error": lines[0]}
    finally:
        if options.device == "cuda":
            torch.cuda.empty_cache()


class Runner:
    def __init__(self, options):
        self.options, self.folder, self.results = options, Folder(options.folder), Results(options.results)
        self.failed, self.late = [], 0
        self.deadline = time.time() + 60 * options.minutes if options.minutes else None
        self.splits = sorted(self.folder.splits) if options.splits is None else options.splits
        for split in self.splits:
            if split not in self.folder.splits:
                raise Failure(f"no split {split} in {options.folder / 'photos.json'}; there are "
                              f"{', '.join(map(str, sorted(self.folder.splits)))}")
        if options.timing or options.steps_only:
            self.splits = self.splits[:1]

    def key(self, rival, split, rule):
        options = self.options
        return self.results.key({"fingerprint": self.folder.fingerprint, "rival": rival, "split": split, "rate_rule": rule,
                                 "epochs": options.epochs, "timing": options.timing,
                                 "extrapolated": bool(options.steps_only)})

    def found(self, rival, split, rule):
        return self.results.known.get(self.key(rival, split, rule))

    def tasks(self, rivals, rule):
        slowest = sorted(rivals, key=lambda name: SLOWEST.index(name) if name in SLOWEST else len(SLOWEST))
        return [(self.options, rival, split, rule, self.deadline) for rival in slowest for split in self.splits
                if not self.found(rival, split, rule)]

    def done(self, words, executor):
        if executor is None:
            yield from map(work, words)
        else:
            futures = [executor.submit(work, one) for one in words]
            for future in concurrent.futures.as_completed(futures):
                yield future.result()

    def run_all(self, rivals, rule, executor):
        words = self.tasks(rivals, rule)
        for number, result in enumerate(self.done(words, executor), 1):
            name = f"{result['rival']}, split {result['split']}, {result['rate_rule']}"
            if result.get("late"):
                self.late += 1
                continue
            if "error" in result:
                self.failed.append(f"{name}: {result['error']}")
                text = f"failed: {result['error']}"
            else:
                self.results.add(result)
                text = self.describe(result)
            print(f"{time.strftime('%H:%M:%S')} {number}/{len(words)} {name}: {text}", flush=True)

    @staticmethod
    def describe(result):
        text = f"{result['optimiser']} {result['rate']:g}, {result['seconds']:.1f} s"
        if result.get("extrapolated"):
            return text + f", extrapolated from {result['steps']} steps"
        if result["diverged"]:
            return text + f", diverged: {result['diverged']}"
        return text + f", accuracy {result['accuracy']:.3f}, in training {result['train_accuracy']:.3f}" + \
            ("" if result["trained"] else ", did not train")

    def untrained(self, rivals):
        """Those that did not train on some split at the paper's rate, by what they do with the training photos alone."""
        return [rival for rival in rivals if any((self.found(rival, split, "paper") or {}).get("trained") is False
                                                 for split in self.splits)]

    def run(self, executor):
        options = self.options
        if options.rate in ("paper", "both"):
            self.run_all(options.only, "paper", executor)
        if options.rate in ("fair", "both"):
            self.run_all(options.only, "fair", executor)
        elif not options.steps_only:
            rescued = self.untrained(options.only)
            if rescued:
                print(f"also with a chosen rate, as they did not train at the paper's: {', '.join(rescued)}", flush=True)
                self.run_all(rescued, "fair", executor)
        if self.late:
            print(f"rivals: the time is over and {self.late} trainings were not begun; the same command goes on",
                  file=sys.stderr)
        for text in self.failed:
            print(f"rivals: {text}", file=sys.stderr)
        return 1 if self.failed else 0


def several(text):
    """0-4,7 as numbers."""
    numbers = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdigit() or (last or "0").isdigit() is False:
            raise argparse.ArgumentTypeError(f"'{part}' is neither a number nor a range such as 0-9")
        numbers.extend(range(int(first), int(last or first) + 1))
    return numbers


def names(text):
    for name in text.split(","):
        if name not in RIVALS:
            raise argparse.ArgumentTypeError(f"no '{name}'; there are {','.join(RIVALS)}")
    return text.split(",")


def positive(text):
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number of at least 1")
    return int(text)


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    add = parser.add_argument
    add("folder", type=pathlib.Path, help="photos.json, pixels-64.npy and pixels-128.npy")
    add("--results", type=pathlib.Path, required=True, help="file of lines of JSON, reused and added to")
    add("--only", type=names, default=list(RIVALS), help=f"with commas between [{','.join(RIVALS)}]")
    add("--splits", type=several, help="such as 0-4,7 [all]")
    add("--rate", choices=["paper", "fair", "both"], default="paper",
        help="paper: SGD 0.01, and for rivals that do not train with it a chosen rate as well; fair: a chosen one for all")
    add("--epochs", type=positive, help="[50, quick: 2]")
    add("--jobs", type=positive, default=1, help="processes at once, on one device [1]")
    add("--device", choices=["auto", "cpu", "cuda"], default="auto")
    add("--minutes", type=float, help="no training is begun after so many")
    add("--timing", action="store_true", help="the first split alone, one training at a time: for clean seconds")
    add("--steps-only", type=positive, metavar="COUNT", help="so many steps, and the seconds of all extrapolated from them")
    add("--no-graphs", dest="graphs", action="store_false", help="no CUDA graphs")
    add("--quick", action="store_true", help="2 epochs and the first split, to see that all of it runs")
    options = parser.parse_args(words)
    options.epochs = options.epochs or (2 if options.quick else 50)
    options.splits = [0] if options.quick and options.splits is None else options.splits
    if options.device == "auto":
        options.device = "cuda" if torch.cuda.is_available() else "cpu"
    options.jobs = 1 if options.timing else options.jobs
    return options


def main():
    options = parse()
    set_up(options)
    try:
        runner = Runner(options)
        if options.jobs == 1:
            return runner.run(None)
        with concurrent.futures.ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn"), set_up,
                                                    (options,)) as executor:
            return runner.run(executor)
    except (Failure, OSError) as error:
        print(f"rivals: {error}", file=sys.stderr)
        return 1
    except concurrent.futures.process.BrokenProcessPool:
        print("rivals: a process was killed, perhaps for want of memory; what is done is kept, use fewer --jobs",
              file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
