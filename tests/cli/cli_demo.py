#!/usr/bin/env python3
"""broad demo on photos: its files and its JSON, held against what the commands themselves say of them.

Usage: cli_demo.py PATH_OF_BROAD.
"""
import csv
import filecmp
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
COUNT, NEW = 60, 20
SMALL = ["--count", str(COUNT)]
OURS = ["photos", "photos-truth.csv", "new", "new-truth.csv", "panels.broad", "corrected", "corrected.broad", "heatmaps",
        "report"]


def run(*words, code=0, cwd=None):
    done = subprocess.run([BROAD, *words], capture_output=True, text=True, cwd=cwd)
    if done.returncode != code:
        raise AssertionError("%s: exit code %d, not %d\n%s%s" % (" ".join(words), done.returncode, code, done.stdout,
                                                                 done.stderr))
    return done


def result(*words, cwd=None):
    return json.loads(run(*words, "--json", cwd=cwd).stdout)


def rows(path):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))


def files(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names)


def without_seconds(found):
    return {name: value for name, value in found.items() if name != "seconds"}


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp(prefix="broad-demo-")
        cls.folder = os.path.join(cls.work, "broad-demo")
        done = run("demo", "--json", *SMALL, cwd=cls.work)
        cls.found = json.loads(done.stdout)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.work, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def test_files(self):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(OURS + [".broad-demo", ".cache"]))
        for label in ("Clean", "Dusty"):
            self.assertEqual(len(os.listdir(self.path("photos", label))), COUNT // 2)
        self.assertEqual(sorted(os.listdir(self.path("photos"))), ["Clean", "Dusty"])
        names = ["panel-%04d.jpg" % (i + 1) for i in range(NEW)]
        self.assertEqual(sorted(os.listdir(self.path("new"))), names)
        self.assertEqual([row["file"] for row in rows(self.path("new-truth.csv"))], names)
        self.assertEqual(sorted(row["file"] for row in rows(self.path("photos-truth.csv"))), files(self.path("photos")))
        self.assertEqual(len([name for name in os.listdir(self.path("heatmaps")) if name.endswith(".jpg")]), NEW)
        self.assertEqual(sorted(os.listdir(self.path("report"))),
                         [".pictures", "findings.csv", "findings.geojson", "report.html", "skipped.csv"])

    def test_photos_are_those_that_render_makes(self):
        """A new photo is one with a number beyond those to learn from, and its truth went with it."""
        again = os.path.join(self.work, "again")
        run("render", again, "--count", str(COUNT + NEW))
        labelled = {row["file"]: row for row in rows(os.path.join(again, "truth.csv"))}
        for name in files(self.path("photos")):
            self.assertTrue(filecmp.cmp(self.path("photos", name), os.path.join(again, name), shallow=False), name)
            del labelled[name]
        self.assertEqual(len(labelled), NEW)
        for row in rows(self.path("new-truth.csv")):
            same = [name for name in labelled
                    if filecmp.cmp(self.path("new", row["file"]), os.path.join(again, name), shallow=False)]
            self.assertEqual(len(same), 1, row)
            expected = labelled.pop(same[0])
            self.assertEqual({**expected, "file": row["file"]}, row)
        truths = [row["label"] for row in rows(self.path("new-truth.csv"))]
        self.assertNotEqual(truths, ["Clean", "Dusty"] * (NEW // 2), "the names give the labels away")

    def check_verdicts(self, model, which):
        said = {os.path.basename(p["file"]): p for p in result("predict", model, self.path("new"), "--proba", "--cache",
                                                               self.path(".cache"))["predictions"]}
        self.assertEqual(len(said), NEW)
        for photo in self.found["new"]:
            self.assertEqual(photo[which]["label"], said[photo["file"]]["label"])
            self.assertEqual(photo[which]["probability"], said[photo["file"]]["probabilities"]["Dusty"])

    def test_verdicts(self):
        self.check_verdicts(self.path("panels.broad"), "before")
        self.check_verdicts(self.path("corrected.broad"), "after")
        truth = {row["file"]: row["label"] for row in rows(self.path("new-truth.csv"))}
        self.assertEqual({photo["file"]: photo["truth"] for photo in self.found["new"]}, truth)

    def test_counts(self):
        for name, corrected in (("corrected", True), ("others", False)):
            part = [photo for photo in self.found["new"] if photo["corrected"] == corrected]
            self.assertEqual(self.found[name]["photos"], len(part))
            for which in ("before", "after"):
                right = sum(photo[which]["label"] == photo["truth"] for photo in part)
                self.assertEqual(self.found[name]["right_" + which], right)

    def test_correction(self):
        wrong = [photo for photo in self.found["new"] if photo["before"]["label"] != photo["truth"]]
        corrected = [photo for photo in self.found["new"] if photo["corrected"]]
        self.assertTrue(wrong, "take another number of photos, or seed: nothing was to be corrected")
        self.assertEqual(len(corrected), min(len(wrong), 10))
        for photo in corrected:
            self.assertIn(photo, wrong)
            self.assertEqual(photo["after"]["label"], photo["truth"], photo)
            self.assertTrue(filecmp.cmp(self.path("corrected", photo["truth"], photo["file"]),
                                        self.path("new", photo["file"]), shallow=False))
        self.assertEqual(len(files(self.path("corrected"))), len(corrected))

    def test_models(self):
        self.assertTrue(self.found["holds"])
        self.assertEqual(self.found["trained_on"], 42)
        check = result("verify", self.path("corrected.broad"), self.path("photos"), self.path("corrected"))
        self.assertTrue(check["holds"])
        self.assertEqual(check["rows"], 42 + self.found["corrected"]["photos"])
        info = result("info", self.path("panels.broad"))
        self.assertEqual(info["rows"], 42)
        for when in ("accuracy_before", "accuracy_after"):
            for part in ("loo", "kept_apart"):
                self.assertGreater(self.found[when][part], 0.5)
                self.assertLessEqual(self.found[when][part], 1)

    def test_report(self):
        self.assertEqual(os.path.normpath(os.path.join(self.work, self.found["report"])),
                         self.path("report", "report.html"))
        findings = {os.path.basename(row["file"]): row for row in rows(self.path("report", "findings.csv"))}
        for photo in self.found["new"]:
            self.assertEqual(findings[photo["file"]]["label"], photo["after"]["label"])

    def test_seeds(self):
        """The same seed says the same on the same place; it replaces what was there and leaves what is not its own."""
        with open(self.path("mine.txt"), "w") as file:
            file.write("kept")
        before = files(self.folder)
        again = json.loads(run("demo", "--json", *SMALL, "--threads", "1", cwd=self.work).stdout)
        self.assertEqual(without_seconds(again), without_seconds(self.found))
        self.assertEqual(files(self.folder), before)
        os.remove(self.path("mine.txt"))
        other = result("demo", os.path.join(self.work, "other/"), *SMALL, "--seed", "5")
        self.assertEqual(other["seed"], 5)
        self.assertNotEqual(other["new"], self.found["new"])
        self.assertEqual(other["model"], os.path.join(self.work, "other", "panels.broad"))


class Words(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp(prefix="broad-demo-")
        self.addCleanup(shutil.rmtree, self.work, ignore_errors=True)

    def test_text(self):
        done = run("demo", "d", "--count", "40", "-q", cwd=self.work)
        self.assertEqual(done.stderr, "")
        for needle in ("13 new ones without labels in d/new", "accuracy", "13 new photos", "correct verdicts on",
                       "certificate  holds", "d/report/report.html", "broad fit PHOTOS/"):
            self.assertIn(needle, done.stdout)
        self.assertNotRegex(done.stdout, r"\bnan\b|\(null\)|[^\n]{121}")
        # What is to be typed works: on the demonstration's own folders.
        places = {"PHOTOS/": "d/photos", "NEW/": "d/new", "CORRECTED/": "d/corrected", "heatmaps": "maps",
                  "-o report": "-o out", "model.broad": "m.broad"}
        lines = re.findall(r"^  broad (.*)$", done.stdout, re.M)
        self.assertEqual([line.split()[0] for line in lines], ["fit", "predict", "learn", "verify", "report"])
        for line in lines:
            for word, place in places.items():
                line = line.replace(word, place)
            words = line.split() + (["-o", "m.broad"] if line.startswith("fit") else [])
            run(*words, "--cache", "d/.cache", cwd=self.work)
        self.assertTrue(os.path.exists(os.path.join(self.work, "out", "report.html")))

    def test_bad_words(self):
        for words, part in ((["--count", "39"], "40 to 10000"), (["--count", "10001"], "40 to 10000"),
                            (["--what", "cats"], "photos"), (["--what", "spirals", "--count", "50"], "applies to photos")):
            self.assertIn(part, run("demo", "d", *words, code=2, cwd=self.work).stderr)
        self.assertEqual(os.listdir(self.work), [])
        self.assertIn("no/such", run("demo", "no/such/place", code=73, cwd=self.work).stderr)

    def test_photos_of_others_stay(self):
        mine = os.path.join(self.work, "photos")
        os.mkdir(mine)
        with open(os.path.join(mine, "a.jpg"), "w") as file:
            file.write("mine")
        self.assertIn("give the name of another folder", run("demo", ".", *SMALL, code=73, cwd=self.work).stderr)
        self.assertEqual(files(self.work), ["photos/a.jpg"])

    def test_interrupt(self):
        process = subprocess.Popen([BROAD, "demo", "d", "--count", "600", "--json"], cwd=self.work,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        mark = os.path.join(self.work, "d", ".broad-demo")
        ends = time.time() + 60
        while time.time() < ends and not (os.path.exists(mark) and len(os.listdir(os.path.dirname(mark))) > 1):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(json.loads(out)["error"]["status"], "interrupted")
        self.assertIn("run the demonstration again", err)
        self.assertEqual(os.listdir(os.path.join(self.work, "d")), [".broad-demo"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
