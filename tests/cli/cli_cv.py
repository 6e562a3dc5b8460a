#!/usr/bin/env python3
"""broad cv and broad tune, on data made here.

Usage: cli_cv.py PATH_OF_BROAD. The folds are dealt again by a generator of this file's own, and their figures come from
'broad fit' on files of the same rows.
"""
import json
import math
import os
import pty
import random
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
SMALL = ["--features", "2x5", "--enhance", "10x4", "--preset", "paper"]


# ---- the deal, from its description ----

def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def random_at(seed, element, purpose=3):
    words = philox([element // 2, 0, 0, purpose << 24], [seed & 0xFFFFFFFF, seed >> 32])
    low, high = words[2 * (element % 2)], words[2 * (element % 2) + 1]
    return ((high << 32 | low) >> 11) * 2.0 ** -53


def shuffled(count, seed):
    return sorted(range(count), key=lambda i: random_at(seed, i))


def deal_rows(classes, folds, seed):
    """Class after class, each in random order, to the folds in turn."""
    order = shuffled(len(classes), seed)
    cards = [i for c in sorted(set(classes)) for i in order if classes[i] == c]
    return {row: place % folds for place, row in enumerate(cards)}


def deal_groups(groups, folds, seed):
    """Large groups first, each to the fold with the fewest rows. Groups are numbered as they appear."""
    names = list(dict.fromkeys(groups))
    order = [names[i] for i in shuffled(len(names), seed)]
    order.sort(key=lambda name: -groups.count(name))
    rows, fold_of = [0] * folds, {}
    for name in order:
        fold_of[name] = rows.index(min(rows))
        rows[fold_of[name]] += groups.count(name)
    return {i: fold_of[name] for i, name in enumerate(groups)}


# ---- data ----

def blobs(rows, seed=1, noise=0.5):
    rng = random.Random(seed)
    lines = []
    for _ in range(rows):
        c = rng.randrange(3)
        a, b = math.cos(2 * c) + rng.gauss(0, noise), math.sin(2 * c) + rng.gauss(0, noise)
        lines.append(["%.5f" % a, "%.5f" % b, "abc"[c]])
    return ["a", "b", "kind"], lines


def curve(rows, seed=2):
    rng = random.Random(seed)
    lines = []
    for _ in range(rows):
        u, v = rng.uniform(-2, 2), rng.uniform(-2, 2)
        lines.append(["%.6f" % u, "g%d" % rng.choice([0, 1, 1, 2, 2, 2, 3, 4, 5, 6]), "%.6f" % v,
                      "%.6f" % (math.sin(3 * u) + 0.5 * v * v + rng.gauss(0, 0.05))])
    return ["u", "who", "v", "y"], lines


class Case(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="broad-cv-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, table, rows=None):
        names, lines = table
        with open(self.path(name), "w") as f:
            for line in [names] + [lines[i] for i in (range(len(lines)) if rows is None else rows)]:
                f.write(",".join(line) + "\n")
        return self.path(name)

    @staticmethod
    def text(path):
        with open(path) as f:
            return f.read()

    def run_tool(self, *words):
        return subprocess.run([BROAD, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=240)

    def ok(self, *words):
        done = self.run_tool(*words)
        self.assertEqual(done.returncode, 0, (words, done.stderr))
        return done.stdout

    def json(self, *words):
        return json.loads(self.ok(*words, "--json"))

    def fails(self, code, needle, *words):
        done = self.run_tool(*words)
        self.assertEqual(done.returncode, code, (words, done.stdout, done.stderr))
        self.assertIn(needle, done.stderr)
        self.assertTrue(done.stderr.startswith("broad: "), done.stderr)

    def refit(self, table, fold_of, fold, *words):
        """The measures of one fold, by fit on files of its rows."""
        rows = range(len(table[1]))
        train = self.write("train.csv", table, [i for i in rows if fold_of[i] != fold])
        test = self.write("test.csv", table, [i for i in rows if fold_of[i] == fold])
        return self.json("fit", train, "--test", test, "-o", self.path("fold.broad"), *words)["test"]

    @staticmethod
    def listens(pid):
        with open("/proc/%d/status" % pid) as f:
            caught = [int(line.split()[1], 16) for line in f if line.startswith("SigCgt")]
        return bool(caught and caught[0] >> (signal.SIGINT - 1) & 1)

    def interrupted(self, words, ready):
        """Output and exit code of a run that gets SIGINT once it listens to it and ready() is true."""
        process = subprocess.Popen([BROAD, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        limit = time.time() + 60
        while not (self.listens(process.pid) and ready()) and time.time() < limit and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err


MEASURES = """accuracy baseline balanced_accuracy precision recall f1 false_positive false_negative mcc roc_auc pr_auc
              brier log_loss calibration_error""".split()


class CrossValidation(Case):
    def check_folds(self, result, table, deal, words, measures):
        folds, repeats = result["folds"], result["repeats"]
        self.assertTrue(result["complete"])
        self.assertEqual(len(result["results"]), folds * repeats)
        for number, got in enumerate(result["results"]):
            repeat, fold = divmod(number, folds)
            seed = result["seed"] + repeat
            self.assertEqual((got["repeat"], got["fold"], got["seed"]), (repeat + 1, fold + 1, seed))
            expected = self.refit(table, deal(folds, seed), fold, "--seed", str(seed), *words)
            self.assertEqual(got["test"], expected)
        self.assertEqual(set(result["test"]), set(measures))
        for name in measures:
            values = [got["test"][name] for got in result["results"]]
            if None in values:  # a network without an estimate has neither probabilities nor intervals
                self.assertEqual(result["test"][name], {"mean": None, "sd": None, "repeat_sd": None})
                continue
            means = [statistics.mean(values[r * folds:(r + 1) * folds]) for r in range(repeats)]
            self.assertAlmostEqual(result["test"][name]["mean"], statistics.mean(values), places=12)
            self.assertAlmostEqual(result["test"][name]["sd"], statistics.stdev(values), places=12)
            self.assertAlmostEqual(result["test"][name]["repeat_sd"], statistics.stdev(means), places=12)

    def test_classes_against_fit(self):
        table = blobs(62)
        data = self.write("blobs.csv", table)
        classes = [line[-1] for line in table[1]]
        result = self.json("cv", data, "--folds", "4", "--repeat", "2", "--seed", "5", *SMALL)
        self.assertEqual((result["rows"], result["dealt_by"], result["kind"]), (62, "class", "bscrls"))
        measures = MEASURES
        self.check_folds(result, table, lambda f, s: deal_rows(classes, f, s), SMALL, measures)
        self.assertIsNone(result["test"]["brier"]["mean"])
        pooled = [[sum(got["test"]["confusion"][i][j] for got in result["results"]) for j in range(3)] for i in range(3)]
        self.assertEqual(result["confusion"], pooled)
        self.assertEqual(sum(map(sum, pooled)), 2 * 62)
        self.assertEqual(result["classes"], ["a", "b", "c"])

    def test_groups_against_fit(self):
        table = curve(60)
        data = self.write("curve.csv", table)
        groups = [line[1] for line in table[1]]
        words = ["--group", "who", "--kind", "brls", *SMALL]
        result = self.json("cv", data, "--folds", "3", "--repeat", "2", *words)
        self.assertEqual((result["dealt_by"], result["kind"], result["inputs"]), ("group", "brls", 2))
        self.check_folds(result, table, lambda f, s: deal_groups(groups, f, s), words, ["rmse", "baseline", "mae", "r2", "coverage"])
        self.assertNotIn("confusion", result)

    def test_probabilities_and_intervals(self):
        """Where the networks have an estimate, so have the folds."""
        words = ["--preset", "paper", "--kind", "bls", "--features", "2x4", "--enhance", "8x1", "--lambda", "0.1"]
        table, numbers = blobs(62), curve(60)
        classes, groups = [line[-1] for line in table[1]], [line[1] for line in numbers[1]]
        data, curves = self.write("blobs.csv", table), self.write("curve.csv", numbers)
        result = self.json("cv", data, "--folds", "3", "--repeat", "2", *words)
        measures = MEASURES
        self.check_folds(result, table, lambda f, s: deal_rows(classes, f, s), words, measures)
        self.assertGreater(result["test"]["brier"]["mean"], 0)
        self.assertIn("Brier score", self.ok("cv", data, "--folds", "3", *words))
        words += ["--group", "who"]
        result = self.json("cv", curves, "--folds", "3", "--repeat", "2", *words)
        self.check_folds(result, numbers, lambda f, s: deal_groups(groups, f, s), words, ["rmse", "baseline", "mae", "r2", "coverage"])
        self.assertGreater(result["test"]["coverage"]["mean"], 0.5)
        self.assertIn("coverage", self.ok("cv", curves, "--folds", "3", *words))

    def test_text_says_the_same(self):
        data = self.write("blobs.csv", blobs(62))
        words = ["cv", data, "--folds", "3", *SMALL]
        result, text = self.json(*words), self.ok(*words, "--verbose")
        f1 = result["test"]["f1"]
        self.assertRegex(text, r"(?m)^  F1 +%.4f ± %.4f$" % (f1["mean"], f1["sd"]))
        self.assertEqual(text.count("  repeat 1, fold "), 3)
        self.assertNotIn("fold 2", self.ok(*words))
        for row in result["confusion"]:
            self.assertRegex(text, r"(?m)^ +[abc]" + "".join(" +%d" % n for n in row) + "$")

    def test_bad_uses(self):
        data = self.write("blobs.csv", blobs(62))
        names, lines = blobs(30)
        lonely = self.write("lonely.csv", (names, lines + [["0", "0", "hermit"]]))
        grouped = self.write("curve.csv", curve(60))
        self.fails(2, "at least 2 folds", "cv", data, "--folds", "1")
        self.fails(2, "--folds: '0' is not a whole number", "cv", data, "--folds", "0")
        self.fails(2, "--repeat: 'x' is not a whole number", "cv", data, "--repeat", "x")
        self.fails(2, "--patience needs held-out rows", "cv", data, "--patience", "3")
        self.fails(2, "'cv' has no option '--holdout'", "cv", data, "--holdout", "0.3")
        self.fails(65, "63 folds need as many rows, but there are 62", "cv", data, "--folds", "63")
        self.fails(65, "class 'hermit' has only one row", "cv", lonely)
        self.fails(65, "8 folds need as many groups, but column 'who' has 7", "cv", grouped, "--group", "who", "--folds",
                   "8")
        self.fails(66, "No such file", "cv", self.path("none.csv"))

    def test_interrupt_prints_what_is_done(self):
        data = self.write("blobs.csv", blobs(62))
        pauses = iter(range(100))
        code, out, err = self.interrupted(["cv", data, "--repeat", "20000", "--json", *SMALL],
                                          lambda: next(pauses) > 90)
        result = json.loads(out)
        self.assertEqual(code, 130, err)
        self.assertIn("of 100000 folds", err)
        self.assertFalse(result["complete"])
        self.assertGreater(len(result["results"]), 0)
        values = [got["test"]["accuracy"] for got in result["results"]]
        self.assertAlmostEqual(result["test"]["accuracy"]["mean"], statistics.mean(values), places=10)

    def test_bar_on_a_terminal(self):
        data = self.write("blobs.csv", blobs(62))
        leader, follower = pty.openpty()
        process = subprocess.Popen([BROAD, "cv", data, "--repeat", "500", *SMALL], stdout=subprocess.DEVNULL,
                                   stderr=follower)
        os.close(follower)
        seen = b""
        while True:
            try:
                piece = os.read(leader, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(leader)
        self.assertEqual(process.wait(), 0)
        self.assertRegex(seen.decode(), r"cv \[.*\] fold (?:[2-9]|\d\d+)/2500, left ")
        self.assertTrue(seen.endswith(b"\r\x1b[K"))


class Tuning(Case):
    # A coarse start that tuning can improve on, small enough for a test.
    BAD = ["--kinds", "brls", "--preset", "paper", "--features", "3x5", "--enhance", "20x3", "--folds", "3"]

    def setUp(self):
        self.curve = self.write("curve.csv", curve(150))
        self.reading = ["--group", "who"]

    @staticmethod
    def made(trials):
        """What of the trials does not depend on the clock."""
        return [{name: value for name, value in trial.items() if name != "seconds"} for trial in trials]

    def test_better_than_a_bad_start(self):
        model = self.path("best.broad")
        words = [self.curve, *self.reading, *self.BAD]
        result = self.json("tune", *words, "--trials", "25", "--budget", "60", "-o", model)
        best, first = result["best"], result["trials"][0]
        self.assertEqual((result["metric"], result["by"], len(result["trials"])), ("rmse", "cv", 25))
        self.assertEqual(first["settings"], {"kind": "brls", "preset": "paper"})
        self.assertLess(best["score"], 0.8 * first["score"])
        done = sorted((t["score"], t["number"]) for t in result["trials"] if t["status"] == "done")
        self.assertEqual(result["top"], [number for _, number in done[:5]])
        self.assertEqual(best["number"], result["top"][0])
        # cv, given the arguments found, comes to the same score.
        again = self.json("cv", self.curve, *self.reading, "--folds", "3", *best["arguments"])
        self.assertEqual([got["test"]["rmse"] for got in again["results"]], best["scores"])
        self.assertAlmostEqual(best["score"], statistics.mean(best["scores"]), places=12)
        self.assertAlmostEqual(best["sd"], statistics.stdev(best["scores"]), places=12)
        # The command line that is printed makes the model that was saved.
        with open(model, "rb") as f:
            saved = f.read()
        os.remove(model)
        command = shlex.split(best["fit"])
        self.assertEqual(command[:3], ["broad", "fit", self.curve])
        self.ok(*command[1:])
        with open(model, "rb") as f:
            self.assertEqual(f.read(), saved)

    def test_no_dropped_trial_was_good(self):
        result = self.json("tune", self.curve, *self.reading, *self.BAD, "--trials", "20")
        dropped = [t for t in result["trials"] if t["status"] == "dropped"]
        self.assertEqual(result["dropped"], len(dropped))
        self.assertTrue(dropped)
        for trial in dropped:
            leaders = [t for t in result["trials"] if t["number"] < trial["number"] and t["status"] == "done"]
            leader = min(leaders, key=lambda t: t["score"])
            pairs = list(zip(trial["scores"], leader["scores"]))
            self.assertEqual(len(pairs), 2)
            self.assertTrue(all(mine > best for mine, best in pairs))
            self.assertGreater(statistics.mean(mine - best for mine, best in pairs), leader["sd"])

    def test_resumed_equals_never_stopped(self):
        table = self.write("longer.csv", curve(1500))
        words = ["tune", table, *self.reading, *self.BAD, "--trials", "30", "--budget", "100", "--seed", "3"]
        whole = self.json(*words)
        state = self.path("tune.json")
        lines = lambda: self.text(state).count("\n") if os.path.exists(state) else 0
        code, _, err = self.interrupted([*words, "--state", state], lambda: lines() > 3)
        self.assertEqual(code, 130, err)
        self.assertIn("the same command continues from", err)
        kept = lines() - 1
        self.assertTrue(3 <= kept < 30, kept)
        # A kill leaves whole trials too.
        process = subprocess.Popen([BROAD, *words, "--state", state], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        limit = time.time() + 60
        while lines() - 1 <= kept and process.poll() is None and time.time() < limit:
            time.sleep(0.01)
        process.kill()
        process.wait()
        killed = lines() - 1
        self.assertTrue(kept < killed <= 30, killed)
        resumed = self.json(*words, "--state", state)
        self.assertEqual(resumed["resumed"], killed)
        self.assertEqual(self.made(resumed["trials"]), self.made(whole["trials"]))
        with open(state) as f:
            stored = [json.loads(line) for line in f]
        self.assertEqual(len(stored), 31)
        self.assertEqual([trial["settings"] for trial in stored[1:]], [t["settings"] for t in whole["trials"]])
        # Nothing is left to do: the same result again.
        self.assertEqual(self.json(*words, "--state", state)["best"]["score"], whole["best"]["score"])
        other = self.json(*words, "--seed", "4")
        self.assertNotEqual(self.made(other["trials"]), self.made(whole["trials"]))

    def test_another_state_is_refused(self):
        state = self.path("other.json")
        words = ["tune", self.curve, *self.reading, "--state", state, "--trials", "2"]
        self.ok(*words, *self.BAD)
        before = self.text(state)
        self.fails(2, "'seed' is 0 there and 1 here", *words, *self.BAD, "--seed", "1")
        self.fails(2, "'fixed' is", *words, *self.BAD, "--lambda", "1")
        self.fails(2, "'metric' is \"rmse\"", *words, *self.BAD, "--metric", "mae")
        self.fails(2, "'folds' is 3", *words, *self.BAD, "--folds", "4")
        self.fails(2, "'reading' is", "tune", self.curve, "--target", "u", "--group", "who", "--state", state, *self.BAD)
        more = self.write("more.csv", curve(151))
        self.fails(2, "'data' is", "tune", more, *self.reading, "--state", state, *self.BAD)
        self.assertEqual(self.text(state), before)
        with open(state, "a") as f:
            f.write('{"settings":{}}\n')
        self.fails(65, "other.json:4: this is not a state file of 'broad tune'", *words, *self.BAD)
        self.ok(*words[:-1], "2", *self.BAD, "--threads", "1", "--state", self.path("fresh.json"))

    def test_failures_are_results(self):
        words = ["tune", self.curve, *self.reading, "--supervise", "none", *SMALL, "--trials", "6"]
        result = self.json(*words, "--kinds", "scn,brls")
        failed = [t for t in result["trials"] if t["status"] == "failed"]
        self.assertEqual({t["settings"]["kind"] for t in failed}, {"scn"})
        self.assertEqual(len(failed), 1)  # its only preset failed, so it is not drawn again
        self.assertIn("--kind scn does not go with --supervise none", failed[0]["reason"])
        self.assertEqual(result["failed"], 1)
        self.assertEqual(result["best"]["settings"]["kind"], "brls")
        self.fails(1, "--kind scn does not go with", *words, "--kinds", "scn")

    def test_budget_ends_a_long_trial(self):
        data = self.write("large.csv", blobs(4000))
        began = time.time()
        self.fails(1, "no trial finished within 0.5 seconds", "tune", data, "--budget", "0.5", "--kinds", "brls",
                   "--preset", "paper", "--enhance", "200x100000", "--max-nodes", "50000")
        self.assertLess(time.time() - began, 20)

    def test_by_leave_one_out(self):
        """The score is the estimate that fit reports for the same settings; a chain has none."""
        self.fails(1, "leave-one-out has no closed form", "tune", self.curve, *self.reading, *self.BAD, "--by", "loo",
                   "--trials", "1", "--weights", "chain")
        for data, reading, metric in ((self.curve, self.reading, "rmse"), (self.curve, self.reading, "r2"),
                                      (self.write("b.csv", blobs(90)), [], "accuracy"), (self.path("b.csv"), [], "brier")):
            result = self.json("tune", data, *reading, "--kinds", "bls,rvfl", "--preset", "paper", "--features", "2x4",
                               "--enhance", "9x1", "--lambda", "0.1", "--by", "loo", "--trials", "4", "--metric", metric)
            best, done = result["best"], [t for t in result["trials"] if t["status"] == "done"]
            self.assertEqual((result["by"], len(done), result["failed"]), ("loo", 4, 0))
            self.assertEqual((best["scores"], best["sd"]), ([best["score"]], None))
            better = min if metric in ("rmse", "brier") else max
            self.assertEqual(best["score"], better(t["score"] for t in done))
            fit = shlex.split(best["fit"])[1:]
            report = self.json(*fit, "-o", self.path("again.broad"))
            self.assertEqual(report["loo"][metric], best["score"], best["fit"])

    def test_no_copies_and_reasons(self):
        """Leave-one-out without being asked, no network twice, plain fit among the trials, every failure with its reason."""
        data = self.write("b.csv", blobs(60))
        result = self.json("tune", data, "--trials", "12", "--features", "2x4", "--enhance", "9x1", "--metric", "brier")
        self.assertEqual((result["by"], len(result["trials"])), ("loo", 12))
        self.assertEqual(result["trials"][0]["settings"], {"kind": "bscrls", "preset": "auto"})
        self.assertLessEqual(result["best"]["score"], result["trials"][0]["score"])
        scores = [t["score"] for t in result["trials"] if t["status"] == "done"]
        self.assertEqual(len(set(scores)), len(scores), scores)
        self.assertTrue(all(t["reason"] for t in result["trials"] if t["status"] == "failed"))
        text = self.ok("tune", data, "--trials", "3", "--kinds", "bls,scn", "--features", "2x4", "--feature-weights", "sampled",
                       "--enhance", "9x1", "--preset", "auto")
        self.assertRegex(text, r"(?m)^failed   1 trial: .*this kind has no feature nodes")

    def test_rows_and_quoting(self):
        data = self.write("it's a table.csv", blobs(300))
        result = self.json("tune", data, "--rows", "90", "--trials", "3", "--kinds", "brls", "--by", "cv", *SMALL)
        self.assertEqual((result["rows"], result["searched_rows"]), (300, 90))
        self.assertEqual(shlex.split(result["best"]["fit"])[2], data)
        text = self.ok("tune", data, "--rows", "90", "--trials", "3", "--kinds", "brls", "--by", "cv", *SMALL)
        self.assertRegex(text, r"(?m)^best     trial \d: accuracy 0\.\d{4} ± 0\.\d{4}$")
        self.assertEqual(shlex.split(text.splitlines()[-1])[1:4], ["broad", "fit", data])

    def test_bad_uses(self):
        data = self.write("blobs.csv", blobs(62))
        self.fails(2, "unknown kind 'blx'; give a list of bscrls, ", "tune", data, "--kinds", "bls,blx")
        self.fails(2, "--kinds and --kind", "tune", data, "--kinds", "bls", "--kind", "bls")
        self.fails(2, "--budget: '0' is not a number of seconds", "tune", data, "--budget", "0")
        self.fails(2, "--metric rmse does not apply to classification", "tune", data, "--metric", "rmse")
        self.fails(2, "at least 2 folds", "tune", data, "--folds", "1")
        self.fails(65, "63 folds need as many rows", "tune", data, "--folds", "63")
        self.fails(2, "would overwrite the input", "tune", data, "-o", data)
        self.fails(2, "is an input", "tune", data, "--state", data)
        self.fails(2, "the same file", "tune", data, "--state", self.path("x"), "-o", self.path("x"))
        self.fails(73, "no-such-folder", "tune", data, "-o", self.path("no-such-folder/x"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
