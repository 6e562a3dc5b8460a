#!/usr/bin/env python3
"""Photos on the command line: folders and files for every command, on photos that 'broad render' makes.

Usage: cli_photos.py PATH_OF_BROAD.
"""
import csv
import io
import json
import math
import os
import pty
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

BROAD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.environ.get("BROAD_TOOL", "broad")
NETWORK = ["--preset", "paper", "--features", "2x5", "--enhance", "10x3"]
SMALL = ["--map", "pixels", "--side", "8"] + NETWORK


def run(*words, code=0, stdin=None, **more):
    done = subprocess.run([BROAD, *words], capture_output=True, text=True, input=stdin, **more)
    assert done.returncode == code, "%s: exit code %d, not %d\n%s%s" % (" ".join(words), done.returncode, code,
                                                                        done.stdout, done.stderr)
    return done


def result(*words, **more):
    return json.loads(run(*words, "--json", **more).stdout)


def rows_of(done):
    return list(csv.DictReader(io.StringIO(done.stdout)))


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def lines_of(path):
    """Of a CSV file, as dictionaries."""
    return list(csv.DictReader(io.StringIO(bytes_of(path).decode())))


def png(width, height, shade, at=None):
    """A grey picture with a gradient of its own, or of what `at` says of each pixel."""
    at = at or (lambda x, y: shade * y + 3 * x)
    lines = b"".join(b"\0" + bytes(at(x, y) % 256 for x in range(width)) for y in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b""))


def tiff(order, width, height, shade):
    """The same kind of picture without compression, in one strip, with numbers in this order of bytes."""
    pixels = bytes((shade * y + 3 * x) % 256 for y in range(height) for x in range(width))
    entries = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, height), (279, len(pixels))]
    fields = b"".join(struct.pack(order + "HHIHH", tag, 3, 1, value, 0) for tag, value in entries)
    start = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(order + "I", 8 + len(pixels))
    return start + pixels + struct.pack(order + "H", len(entries)) + fields + bytes(4)


class Photos(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp()
        os.chdir(cls.home)
        os.environ["XDG_CACHE_HOME"] = os.path.join(cls.home, "cache")
        run("render", "panels", "--count", "40", "--size", "48", "--seed", "3", "-q")
        run("render", "more", "--count", "10", "--size", "48", "--seed", "4", "-q")
        run("render", "soiled", "--count", "24", "--size", "32", "--severity", "--seed", "5", "-q")
        run("fit", "panels", *SMALL, "--holdout", "0.3", "-o", "p.broad")
        with open("table.csv", "w") as out:
            out.write("a,b,kind\n" + "".join("%d,%d,%s\n" % (i, i * i % 7, "xy"[i % 2]) for i in range(12)))
        run("fit", "table.csv", *NETWORK, "-o", "t.broad", "-q")

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        shutil.rmtree(cls.home)

    def odd_folder(self, name):
        """A copy of the photos with files that are none, exact copies and a contradiction among them."""
        shutil.copytree("panels", name)
        clean = sorted(os.listdir("panels/Clean"))
        with open(name + "/Clean/fake.jpg", "w") as out:
            out.write("no photo at all\n")
        with open(name + "/Clean/cut.jpg", "wb") as out:
            out.write(bytes_of("panels/Clean/" + clean[0])[:700])
        open(name + "/Dusty/empty.png", "w").close()
        with open(name + "/Dusty/anim.gif", "wb") as out:
            out.write(b"GIF89a" + bytes(40))
        with open(name + "/Dusty/other.jpg", "wb") as out:
            out.write(png(40, 30, 5))
        shutil.copy("panels/Clean/" + clean[1], name + "/Clean/same.jpg")
        shutil.copy("panels/Clean/" + clean[2], name + "/Dusty/contrary.jpg")
        with open(name + "/notes.txt", "w") as out:
            out.write("not meant to be a photo\n")
        return clean

    # ---- fit ----

    def test_fit_verify_learn_grow(self):
        shutil.copy("p.broad", "chain.broad")
        fitted = result("fit", "panels", *SMALL, "--holdout", "0.3", "-o", "other.broad")
        self.assertEqual(fitted["rows"] + fitted["test"]["rows"], 40)
        self.assertEqual(fitted["inputs"], 8 * 8 * 3)
        self.assertEqual(fitted["photos"]["read"], 40)
        self.assertEqual(fitted["photos"]["maps"], ["pixels"])
        self.assertIsNone(fitted["photos"]["map_errors"])
        self.assertEqual(bytes_of("other.broad"), bytes_of("p.broad"))
        self.assertTrue(result("verify", "chain.broad", "panels")["holds"])
        learned = result("learn", "chain.broad", "more", "--with", "panels")
        self.assertEqual(learned["new"]["rows"], 10)
        self.assertEqual(learned["photos"]["read"], 50)
        self.assertEqual(learned["test"]["rows"], fitted["test"]["rows"])
        self.assertTrue(result("verify", "chain.broad", "panels", "more")["holds"])
        grown = result("grow", "chain.broad", "panels", "more", "--enhance", "10x2")
        self.assertEqual(grown["layers_added"], 2)
        self.assertEqual(grown["rows"], fitted["rows"] + 10)
        self.assertTrue(result("verify", "chain.broad", "panels", "more")["holds"])
        self.assertIn(" photos of panels, which the model was trained on",
                      run("grow", "chain.broad", "more", "--enhance", "10x1").stderr)

    def test_changed_copies_are_trained_on_and_never_tested_on(self):
        fitted = result("fit", "panels", *SMALL, "--augment", "2", "--holdout", "0.3", "-o", "a.broad")
        test = fitted["test"]["rows"]
        self.assertEqual(fitted["rows"], 3 * (40 - test))
        self.assertEqual(fitted["photos"]["copies"], 80)
        self.assertTrue(result("verify", "a.broad", "panels")["holds"])
        self.assertEqual(result("eval", "a.broad", "panels")["rows"], 40)
        self.assertEqual(result("learn", "a.broad", "more", "--with", "panels")["new"]["rows"], 30)
        self.assertTrue(result("verify", "a.broad", "panels", "more")["holds"])

    def test_components_are_those_of_the_training_part(self):
        fitted = result("fit", "panels", "--map", "descriptors", "--features", "2x10", "--enhance", "10x1", "--holdout",
                        "0.3", "-o", "parts.broad")
        info = result("info", "parts.broad")
        self.assertEqual(info["photo"]["components"], fitted["inputs"])
        self.assertEqual(info["scale"], "none")
        # The part held out, read again by what the model knows, is judged as fit judged it.
        learned = result("learn", "parts.broad", "more", "--with", "panels", "-o", "learned.broad")
        before = learned["before"]["test"]
        self.assertEqual(before["rows"], fitted["test"]["rows"])
        self.assertAlmostEqual(before["brier"], fitted["test"]["brier"], 12)
        plain = result("fit", "panels", "--map", "descriptors", "--components", "none", "--features", "2x10", "--enhance",
                       "10x1", "-o", "plain.broad")
        self.assertGreater(plain["inputs"], 1000)
        self.assertEqual(result("info", "plain.broad")["scale"], "both")

    def test_pictures_of_something_else_are_unlike(self):
        os.mkdir("foreign")
        flat = {"black": 0, "white": 255}
        for name, shade in flat.items():
            with open("foreign/%s.png" % name, "wb") as out:
                out.write(png(60, 50, 0, lambda x, y: shade))
        with open("foreign/noise.png", "wb") as out:
            out.write(png(60, 50, 0, lambda x, y: (x * 7919 + y * 104729 + x * x * y * 31) * 2654435761 >> 7))
        # Both maps: descriptors alone, which preset auto may choose, do not tell the noise from photos.
        run("fit", "panels", "--map", "descriptors,windows", "--features", "2x10", "--enhance", "10x1", "-o", "like.broad", "-q")
        done = run("predict", "like.broad", "foreign")
        rows = {os.path.basename(row["file"]): row for row in rows_of(done)}
        self.assertEqual({row["verdict"] for row in rows.values()}, {"unlike"})
        self.assertEqual({row["unlike"] for row in rows.values()}, {"yes"})
        self.assertTrue(all(float(row["distance"]) > 1 and row["label"] in ("Clean", "Dusty") for row in rows.values()))
        self.assertEqual([rows[name]["faults"] for name in ("black.png", "white.png")], ["too dark", "too bright"])
        self.assertIn("3 photos are not like the training photos: do not trust their class:\n"
                      "broad:   black.png: too dark\n", done.stderr)
        told = result("predict", "like.broad", "foreign", "more")
        self.assertEqual(len(told["photos"]["unlike"]), 3 + sum(p["unlike"] for p in told["predictions"][3:]))
        self.assertLessEqual(sum(p["unlike"] for p in told["predictions"][3:]), 1)
        black = told["predictions"][0]
        self.assertEqual([black["verdict"], black["unlike"], black["faults"]], ["unlike", True, ["too dark"]])
        self.assertIn({"file": "foreign/white.png", "faults": ["too bright"]}, told["photos"]["faults"])
        text = run("data", "foreign").stdout
        self.assertIn("quality  3 photos may show too little\n  black.png: too dark\n" if "noise.png: " in text else
                      "quality  2 photos may show too little\n  black.png: too dark\n  white.png: too bright\n", text)
        # Only photos that are judged: those that the model learns from are not to be distrusted, but may be poor.
        os.mkdir("strange")
        for name in ("Clean", "Dusty"):
            os.mkdir("strange/" + name)
        shutil.copy("foreign/black.png", "strange/Dusty")
        shutil.copy("foreign/noise.png", "strange/Clean")
        for words in (["learn", "like.broad", "strange", "--with", "panels", "-o", "strange.broad"],
                      ["verify", "strange.broad", "panels", "strange"], ["verify", "like.broad", "panels"]):
            said = run(*words).stderr
            self.assertNotIn("not like the training photos", said)
            self.assertEqual("black.png: too dark" in said, "strange" in words)
        for words in (["eval", "like.broad", "strange"], ["report", "like.broad", "strange", "-o", "strange-report"]):
            self.assertIn("2 photos are not like the training photos", run(*words).stderr)
        # What has no components has no distance.
        row = rows_of(run("predict", "p.broad", "foreign/black.png"))[0]
        self.assertEqual(set(row), {"file", "label", "score_Clean", "score_Dusty"})
        only = result("predict", "p.broad", "foreign/black.png")["predictions"][0]
        self.assertEqual([only["distance"], only["unlike"], only["faults"]], [None, None, ["too dark"]])

    def test_maps_are_chosen_by_leave_one_out(self):
        fitted = result("fit", "panels", "--features", "2x10", "--enhance", "10x1", "-o", "chosen.broad")
        errors = {tuple(trial["maps"]): trial["error"] for trial in fitted["photos"]["map_errors"]}
        self.assertEqual(set(errors), {("descriptors",), ("windows",), ("descriptors", "windows")})
        best = tuple(fitted["photos"]["maps"])
        both, part = errors["descriptors", "windows"], 1 - math.sqrt(2 / fitted["rows"])
        self.assertEqual(best, min(errors, key=lambda maps: errors[maps] / (1 if len(maps) > 1 else part)))
        self.assertTrue(len(best) == 2 or errors[best] < part * both)
        info = result("info", "chosen.broad")
        self.assertEqual(tuple(info["maps"]), best)
        self.assertTrue(result("verify", "chosen.broad", "panels")["holds"])
        with_it = result("fit", "panels", "--features", "2x10", "--enhance", "10x1", "--map", ",".join(best),
                         "-o", "given.broad")
        self.assertIsNone(with_it["photos"]["map_errors"])
        self.assertEqual(with_it["joint"], fitted["joint"])
        again = result("fit", "panels", "--features", "2x10", "--enhance", "10x1", "--map", "auto", "-o", "given.broad")
        self.assertEqual(again["photos"], fitted["photos"])
        said = run("fit", "panels", "--features", "2x10", "--enhance", "10x1", "-o", "given.broad").stdout
        self.assertRegex(said, r"inputs   \d+ components of [a-z +]+ \(leave-one-out error 0\.\d+; [a-z +]+ 0\.\d+, ")
        self.assertEqual("none better by more than chance)" in said, errors[best] > min(errors.values()))

    def test_preset_paper_has_pixels(self):
        text = run("fit", "panels", *NETWORK, "-o", "paper.broad").stdout
        self.assertIn("inputs   pixels\n", text)
        self.assertEqual(result("info", "paper.broad")["photo"]["side"], 64)
        text = run("info", "paper.broad").stdout
        self.assertIn("photos   pixels, 64 x 64 pixels, whole photos", text)

    def test_numbers_from_a_list(self):
        fitted = result("fit", "soiled/photos", "--labels", "soiled/labels.csv", *SMALL, "--holdout", "0.25",
                        "-o", "severity.broad")
        self.assertEqual(fitted["task"], "regress")
        self.assertIn("rmse", fitted["test"])
        done = run("predict", "severity.broad", "soiled/photos")
        self.assertEqual(done.stdout.split("\n")[0], "file,severity")
        self.assertEqual(len(rows_of(done)), 24)
        measured = result("eval", "severity.broad", "soiled/photos", "--labels", "soiled/labels.csv")
        truth = {row["file"].split("/")[-1]: float(row["severity"]) for row in lines_of("soiled/labels.csv")}
        squares = [(float(row["severity"]) - truth[os.path.basename(row["file"])]) ** 2 for row in rows_of(done)]
        self.assertAlmostEqual(measured["test"]["rmse"], (sum(squares) / len(squares)) ** 0.5, places=9)
        self.assertIn("--labels", run("eval", "severity.broad", "soiled/photos", code=65).stderr)
        self.assertTrue(result("verify", "severity.broad", "soiled/photos", "--labels", "soiled/labels.csv")["holds"])
        with open("days.csv", "w") as out:
            out.write("file,day,severity\n")
            for i, row in enumerate(lines_of("soiled/labels.csv")):
                out.write("%s,day %d,%s\n" % (row["file"], i // 4, row["severity"]))
        words = ["soiled/photos", "--labels", "days.csv"]
        fitted = result("fit", *words, "--group", "day", *SMALL, "--holdout", "0.3", "-o", "day.broad")
        self.assertEqual(fitted["rows"] % 4, 0)
        self.assertTrue(result("verify", "day.broad", *words)["holds"])

    def test_numbers_of_a_spreadsheet(self):
        """With a mark, semicolons, a decimal comma and the line ends of Windows: as from plain numbers."""
        rows = lines_of("soiled/labels.csv")
        with open("german.csv", "w", encoding="utf-8-sig", newline="") as out:
            out.write("file;severity\r\n")
            out.writelines("%s;%s\r\n" % (row["file"], row["severity"].replace(".", ",")) for row in rows)
        with open("percent.csv", "w") as out:
            out.write("file,severity\n")
            out.writelines("%s,%s %%\n" % (row["file"], row["severity"]) for row in rows)
        run("fit", "soiled/photos", "--labels", "soiled/labels.csv", *SMALL, "-o", "plain.broad")
        for name, note in (("german", "numbers with a decimal comma: column 'severity'"),
                           ("percent", "numbers with marks (thousands, percent or currency) were read without them: column 'severity'")):
            words = ["soiled/photos", "--labels", name + ".csv"]
            self.assertIn(note, run("fit", *words, *SMALL, "-o", name + ".broad").stderr)
            self.assertEqual(run("predict", name + ".broad", "soiled/photos").stdout,
                             run("predict", "plain.broad", "soiled/photos").stdout)
            self.assertEqual(result("eval", name + ".broad", *words)["test"],
                             result("eval", "plain.broad", "soiled/photos", "--labels", "soiled/labels.csv")["test"])
            self.assertIn("notes    " + note, run("data", *words).stdout)
            self.assertEqual(result("data", *words)["notes"], [note])

    def test_empty_targets_of_a_list(self):
        rows = lines_of("soiled/labels.csv")
        with open("gaps.csv", "w") as out:
            out.write("file,severity\n")
            out.writelines("%s,%s\n" % (row["file"], "" if i in (3, 8) else row["severity"]) for i, row in enumerate(rows))
        done = run("fit", "soiled/photos", "--labels", "gaps.csv", *SMALL, "-o", "gaps.broad")
        self.assertIn("22 photos read, 2 files skipped:", done.stderr)
        self.assertIn("gaps.csv:5 has no target for it", done.stderr)
        self.assertEqual(result("eval", "gaps.broad", "soiled/photos", "--labels", "gaps.csv")["rows"], 22)
        run("fit", "soiled/photos", "--labels", "gaps.csv", *SMALL, "--strict", "-o", "gaps.broad", code=65)

    # ---- what cannot be read, and what looks wrong ----

    def test_odd_files_are_listed_and_left_out(self):
        clean = self.odd_folder("odd")
        done = run("fit", "odd", *SMALL, "-o", "odd.broad")
        for text in ("43 photos read, 4 files skipped:", "odd/Clean/cut.jpg: the JPEG ends early", "odd/Clean/fake.jpg: a text, not a picture",
                     "odd/Dusty/empty.png: the file is empty", "odd/Dusty/anim.gif: a GIF picture",
                     "4 photos are near-duplicates, in 2 groups", "1 photo has a different label from a near-duplicate",
                     "Clean/%s (Clean) and Dusty/contrary.jpg (Dusty)" % clean[2], "give both the same label"):
            self.assertIn(text, done.stderr)
        self.assertNotIn("notes.txt", done.stderr)
        self.assertEqual(run("fit", "odd", *SMALL, "-o", "odd.broad", "-q").stderr, "")
        photos = result("fit", "odd", *SMALL, "-o", "odd.broad")["photos"]
        self.assertEqual(photos["read"], 43)
        self.assertEqual([os.path.basename(item["file"]) for item in photos["skipped"]],
                         ["cut.jpg", "fake.jpg", "anim.gif", "empty.png"])
        self.assertTrue(all(item["reason"] for item in photos["skipped"]))
        self.assertEqual((photos["groups"], photos["grouped"]), (2, 4))
        self.assertEqual([[side["label"] for side in pair] for pair in photos["contradictions"]], [["Clean", "Dusty"]])
        self.assertIn("without --strict", run("fit", "odd", *SMALL, "--strict", "-o", "no.broad", code=65).stderr)
        self.assertFalse(os.path.exists("no.broad"))
        done = run("predict", "p.broad", "odd", "-o", "odd.csv")
        self.assertIn("4 files skipped", done.stderr)
        self.assertNotIn("near-duplicates", done.stderr)
        self.assertEqual(len(lines_of("odd.csv")), 43)
        run("predict", "p.broad", "odd", "--strict", "-o", "strict.csv", code=65)
        self.assertFalse(os.path.exists("strict.csv"))
        dealt = result("cv", "odd", *SMALL, "--folds", "3")
        self.assertEqual(dealt["dealt_by"], "group")
        dealt = result("cv", "odd", *SMALL, "--folds", "3", "--no-groups")
        self.assertEqual(dealt["dealt_by"], "class")
        self.assertTrue(result("verify", "odd.broad", "odd")["holds"])
        for how in ([], ["--no-groups"], ["--augment", "1"], ["--augment", "1", "--no-groups"]):
            with self.subTest(how=how):
                run("fit", "odd", *SMALL, "--holdout", "0.3", *how, "-o", "held.broad", "-q")
                self.assertTrue(result("verify", "held.broad", "odd", "-q")["holds"])
                grown = result("grow", "held.broad", "odd", "--enhance", "5x1", "-q")
                self.assertEqual(grown["layers_added"], 1)
                self.assertGreater(grown["test"]["rows"], 5)
        self.look_at_odd(clean)

    def look_at_odd(self, clean):
        text = run("data", "odd").stdout
        for line in ("photos   43: Clean 21, Dusty 22", "formats  42 JPEG, 1 PNG", "skipped  4 files", "copies   2 files",
                     "Clean/same.jpg is the same as Clean/" + clean[1], "groups   4 photos are near-duplicates, in 2 groups",
                     "labels   1 photo has", "remove exact copies",
                     "advice   odd/Clean/cut.jpg: the JPEG ends early, in row 15 of 48; copy it again\n",
                     "odd/Clean/fake.jpg, and 1 file like it: a text, not a picture; make it readable, or remove it\n",
                     "odd/Dusty/anim.gif: a GIF picture, which broad does not read; convert it to JPEG or PNG\n"):
            self.assertIn(line, text)
        found = result("data", "odd")
        self.assertEqual(found["classes"], {"Clean": 21, "Dusty": 22})
        self.assertEqual(found["photos"]["formats"], {"jpeg": 42, "png": 1, "heic": 0, "webp": 0, "tiff": 0})
        self.assertEqual(found["photos"]["sizes"]["least"], [40, 30])
        self.assertEqual(len(found["photos"]["exact_copies"]), 2)
        self.assertEqual(len(found["photos"]["near_duplicates"]), 2)
        self.assertEqual(len(found["photos"]["skipped"]), 4)
        self.assertGreaterEqual(len(found["advice"]), 3)
        run("data", "odd", "--strict", code=65)

    def test_what_to_do_about_files_that_are_left_out(self):
        """Each kind has a remedy of its own: a good photo in the wrong place needs no converting."""
        shutil.copytree("more", "kinds")
        photo = "kinds/Clean/" + sorted(os.listdir("more/Clean"))[0]
        shutil.copy(photo, "kinds/stray.jpg")
        for name in "one", "two", "three":
            open("kinds/Dusty/%s.jpg" % name, "w").close()
        with open("kinds/Clean/anim.gif", "wb") as out:
            out.write(b"GIF89a" + bytes(40))
        told = result("data", "kinds")
        for line in ("kinds/Clean/anim.gif: a GIF picture, which broad does not read; convert it to JPEG or PNG",
                     "kinds/Dusty/one.jpg, and 2 files like it: the file is empty; make it readable, or remove it",
                     "kinds/stray.jpg: lies in no folder of a class, but other photos do; move it into one"):
            self.assertIn(line, told["advice"])
        self.assertIn("skipped  5 files\n", run("data", "kinds").stdout)
        with open("kinds.csv", "w") as out:
            out.write("file,kind\nstray.jpg,a\n%s,b\ngone.jpg,a\n" % os.path.relpath(photo, "kinds"))
        advice = "\n".join(result("data", "kinds", "--labels", "kinds.csv")["advice"])
        self.assertIn("not in kinds.csv; add a line for it", advice)
        self.assertIn("gone.jpg: kinds.csv:4 names it, but there is no such photo; correct the name, or remove the line", advice)

    def test_a_class_that_cannot_be_read(self):
        """What is wrong with its files is said where it stops a command, and does not stop one that only looks."""
        shutil.copytree("more/Clean", "half/Clean")
        os.mkdir("half/Dusty")
        for i in range(5):
            with open("half/Dusty/%d.gif" % i, "wb") as out:
                out.write(b"GIF89a" + bytes(40))
        done = run("fit", "half", *SMALL, "-o", "half.broad", code=65)
        for text in ("only one class, 'Clean'", "5 files were left out: half/Dusty/0.gif: a GIF picture", "2.gif: a GIF picture, which broad does not read, and 2 more"):
            self.assertIn(text, done.stderr)
        text = run("data", "half").stdout
        for line in ("photos   5: Clean 5\n", "skipped  5 files", "there is only one class, Clean, so there is nothing to learn"):
            self.assertIn(line, text)
        self.assertEqual(result("data", "half")["classes"], {"Clean": 5})
        run("data", "half", "--export", "half_rows", code=65)
        with open("alike.csv", "w") as out:
            out.write("a,kind\n" + "".join("%d,x\n" % i for i in range(30)))
        text = run("data", "alike.csv").stdout
        self.assertIn("classes  x 30\n", text)
        self.assertIn("there is only one class, x, so there is nothing to learn", text)
        self.assertIn("only one class, 'x'", run("fit", "alike.csv", *NETWORK, "-o", "no.broad", code=65).stderr)

    def test_formats_are_counted(self):
        if "TIFF" not in result("version")["pictures"]:
            self.skipTest("this build reads no TIFF")
        shutil.copytree("more", "mixed")
        for order in "<", ">":
            with open("mixed/Clean/%s.tif" % {"<": "little", ">": "big"}[order], "wb") as out:
                out.write(tiff(order, 40, 30, 3 if order == "<" else 7))
        with open("mixed/Clean/one.png", "wb") as out:
            out.write(png(40, 30, 5))
        self.assertEqual(result("data", "mixed")["photos"]["formats"], {"jpeg": 10, "png": 1, "heic": 0, "webp": 0, "tiff": 2})
        self.assertIn("formats  10 JPEG, 1 PNG, 2 TIFF\n", run("data", "mixed").stdout)

    def test_more_than_five_are_counted(self):
        shutil.copytree("more", "many")
        for i in range(7):
            with open("many/Clean/bad%d.jpg" % i, "w") as out:
                out.write("nothing")
        done = run("eval", "p.broad", "many")
        self.assertIn("10 photos read, 7 files skipped", done.stderr)
        self.assertIn("bad4.jpg", done.stderr)
        self.assertNotIn("bad5.jpg", done.stderr)
        self.assertIn("and 2 more; --json lists all", done.stderr)
        self.assertEqual(len(result("eval", "p.broad", "many")["photos"]["skipped"]), 7)
        self.assertEqual(run("data", "many", "--all").stdout.count("\n  many/Clean/bad"), 7)
        self.assertEqual(run("data", "many").stdout.count("\n  many/Clean/bad"), 5)

    def test_a_file_without_permission(self):
        if os.geteuid() == 0:
            self.skipTest("root may read everything")
        shutil.copytree("more", "locked")
        path = "locked/Clean/" + os.listdir("locked/Clean")[0]
        os.chmod(path, 0)
        self.assertIn("ermission", run("eval", "p.broad", "locked").stderr)
        run("eval", "p.broad", "locked", "--strict", code=65)

    # ---- predict ----

    def test_predict_from_files_folders_and_names(self):
        folder = rows_of(run("predict", "p.broad", "panels"))
        files = [row["file"] for row in folder]
        self.assertEqual(len(files), 40)
        self.assertTrue(all(os.path.exists(name) for name in files))
        self.assertEqual(set(folder[0]), {"file", "label", "score_Clean", "score_Dusty"})
        self.assertEqual(rows_of(run("predict", "p.broad", *files)), folder)
        self.assertEqual(rows_of(run("predict", "p.broad", "-", stdin="\n".join(files) + "\n\n")), folder)
        self.assertEqual(rows_of(run("predict", "p.broad", "-", stdin="\r\n".join(files))), folder)
        both = rows_of(run("predict", "p.broad", "panels/Clean", files[-1], "panels/Dusty", files[-1]))
        self.assertEqual(len(both), 42)
        lines = run("predict", "p.broad", "panels", "--format", "jsonl").stdout.splitlines()
        self.assertEqual([json.loads(line)["file"] for line in lines], files)
        self.assertNotIn("row", json.loads(lines[0]))
        told = result("predict", "p.broad", "panels")
        self.assertEqual([item["label"] for item in told["predictions"]], [row["label"] for row in folder])
        measured = result("eval", "p.broad", "panels")["test"]
        right = sum(row["file"].split("/")[1] == row["label"] for row in folder)
        self.assertAlmostEqual(measured["accuracy"], right / 40)

    def test_predict_thousands_of_files(self):
        names = ["panels/Clean/" + os.listdir("panels/Clean")[0]] * 3000
        self.assertEqual(len(rows_of(run("predict", "p.broad", *names))), 3000)

    def test_predict_folders_that_are_no_classes(self):
        os.makedirs("years/2024")
        os.makedirs("years/2025")
        for year in ("2024", "2025"):
            shutil.copy("more/Clean/" + sorted(os.listdir("more/Clean"))[0], "years/" + year)
        self.assertEqual(len(rows_of(run("predict", "p.broad", "years"))), 2)
        self.assertIn("'2024'", run("eval", "p.broad", "years", code=65).stderr)

    def test_parts_of_photos(self):
        with open("boxes.csv", "w") as out:
            out.write("file,left,top,right,bottom\n")
            for row in lines_of("panels/truth.csv"):
                out.write("%s,%s,%s,%s,%s\n" % (row["file"], row["left"], row["top"], row["right"], row["bottom"]))
        done = run("fit", "panels", *SMALL, "--boxes", "boxes.csv", "-o", "b.broad")
        self.assertIn("verify b.broad --boxes boxes.csv", done.stdout)
        self.assertIn("the best box in a file", run("info", "b.broad").stdout)
        row = rows_of(run("predict", "b.broad", "panels", "--boxes", "boxes.csv"))[0]
        truth = {line["file"]: line for line in lines_of("panels/truth.csv")}
        of = truth[row["file"].split("/", 1)[1]]
        self.assertEqual([float(row[side]) for side in ("left", "top", "right", "bottom")],
                         [float(of[side]) for side in ("left", "top", "right", "bottom")])
        first = json.loads(run("predict", "b.broad", "panels", "--boxes", "boxes.csv", "--format",
                               "jsonl").stdout.splitlines()[0])
        self.assertEqual(first["box"], [float(row[side]) for side in ("left", "top", "right", "bottom")])
        self.assertIn("--boxes", run("predict", "b.broad", "panels", code=2).stderr)
        self.assertTrue(result("verify", "b.broad", "panels", "--boxes", "boxes.csv")["holds"])

    # ---- mistakes ----

    def test_photos_and_tables_are_not_mixed_up(self):
        photo = "panels/Clean/" + os.listdir("panels/Clean")[0]
        for words, code, text in (
                (["predict", "t.broad", "panels"], 65, "panels is a folder, but the model was trained on a table of 2"),
                (["predict", "t.broad", photo], 65, "is a photo, but the model was trained on a table"),
                (["eval", "t.broad", "panels"], 65, "panels is a folder, but the model"),
                (["predict", "p.broad", "table.csv"], 65, "table.csv is not a photo, and the model was trained on photos"),
                (["verify", "p.broad", "table.csv"], 65, "table.csv is not a photo"),
                (["learn", "p.broad", "table.csv", "--with", "panels"], 65, "table.csv is not a photo"),
                (["predict", "t.broad", "table.csv", "table.csv"], 2, "only photos can be given as several files"),
                (["fit", photo], 65, "is a photo; give the folder"),
                (["fit", "panels/Clean"], 65, "put the photos into one sub-folder per class"),
                (["fit", "table.csv", "--map", "pixels"], 2, "--map is for photos, and table.csv is a table"),
                (["fit", "table.csv", "--boxes", "x"], 2, "--boxes is for photos"),
                (["fit", "panels", "--categorical", "x"], 2, "--categorical is for tables"),
                (["fit", "panels", "--map", "pixel"], 2, "did you mean 'pixels'?"),
                (["fit", "panels", "--map", "pixels", "--side", "900"], 2, "1 to 512"),
                (["fit", "panels", "--augment", "2000"], 2, "the maximum is 1000"),
                (["fit", "panels", "--boxes", "x", "--detector", "y"], 2, "choose one"),
                (["fit", "panels", "--crop", "find"], 2, "(--boxes) or from a program (--detector)"),
                (["predict", "p.broad", "panels", "--detector", "cat", "--detector-seconds", "0"], 2, "above 0"),
                (["predict", "p.broad", "nothing.jpg"], 66, "nothing.jpg"),
                (["data", "nothing"], 66, "nothing")):
            with self.subTest(words=" ".join(words)):
                self.assertIn(text, run(*words, code=code).stderr)
        self.assertIn("standard input", run("predict", "p.broad", "-", code=65, stdin="\n").stderr)
        error = json.loads(run("predict", "p.broad", "table.csv", "--json", code=65).stdout)["error"]
        self.assertEqual(error["status"], "bad_data")

    # ---- the cache, the bar, interrupts ----

    def test_cache(self):
        def entries(folder):
            return sum(len(files) for _, _, files in os.walk(folder))
        first = run("predict", "p.broad", "more", "--cache", "kept").stdout
        count = entries("kept")
        self.assertGreaterEqual(count, 10)
        self.assertEqual(run("predict", "p.broad", "more", "--cache", "kept").stdout, first)
        self.assertEqual(entries("kept"), count)
        empty = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.home, "none"))
        self.assertEqual(run("predict", "p.broad", "more", "--cache", "no", env=empty).stdout, first)
        self.assertFalse(os.path.exists("none"))
        self.assertEqual(run("predict", "p.broad", "more", env=empty).stdout, first)
        self.assertGreaterEqual(entries("none/broad"), 10)
        run("predict", "p.broad", "more", "--cache", "/proc/no/such/place")

    def with_terminal(self, words, until=None, then=None):
        """Runs it with a terminal for standard error: exit code, and what was shown. `then` is called once at `until`."""
        master, slave = pty.openpty()
        child = subprocess.Popen([BROAD, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        shown = b""
        while True:
            try:
                shown += os.read(master, 4096)
            except OSError:
                break
            if then and until in shown:
                then(child)
                then = None
        os.close(master)
        return child.wait(), shown

    def test_vector_instructions_give_the_same_inputs(self):
        """Entries of the cache hold all that is computed from a photo. Odd sizes, smaller and larger than what maps look at."""
        os.makedirs("sides/Others")
        for side in (33, 97, 401, 811):
            run("render", "sides/%d" % side, "--count", "2", "--size", str(side), "--seed", str(side), "-q")
        for width, height in ((101, 3), (5, 67), (1, 1), (431, 203), (61, 907)):
            with open("sides/Others/%dx%d.png" % (width, height), "wb") as file:
                file.write(png(width, height, 7, lambda x, y: x * x // 9 + 5 * y * (x % 7)))
        entries = []
        for kernels in ("plain", "avx2", "avx512"):
            cache = "cache-" + kernels
            run("data", "sides", "--export", "rows-" + kernels, "--cache", cache, "--map", "pixels,descriptors,windows",
                env={**os.environ, "BROAD_KERNELS": kernels})
            entries.append({name: bytes_of(os.path.join(where, name))
                            for where, _, names in os.walk(cache) for name in names})
        self.assertEqual(len(entries[0]), 8 + 5)
        self.assertEqual(entries[1], entries[0])
        self.assertEqual(entries[2], entries[0])

    def test_bar(self):
        code, shown = self.with_terminal(["predict", "p.broad", "panels/Clean", "panels/Dusty", "--cache", "no"])
        self.assertEqual(code, 0)
        self.assertIn(b"photos [", shown)
        self.assertIn(b"40/40", shown)
        _, shown = self.with_terminal(["predict", "p.broad", "panels", "--cache", "no", "-q"])
        self.assertEqual(shown, b"")

    def test_interrupt(self):
        for number, expected in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            code, shown = self.with_terminal(["fit", "panels", "--map", "windows", "--augment", "200", "--cache", "no",
                                              "--threads", "1", "-o", "cut.broad"], b"photos [",
                                             lambda child, which=number: child.send_signal(which))
            self.assertEqual(code, expected, shown)
            self.assertIn(b"interrupted while reading photos; nothing was written", shown)
            self.assertFalse(os.path.exists("cut.broad"))

    # ---- the other commands ----

    def test_cv(self):
        told = result("cv", "panels", *SMALL, "--folds", "4")
        self.assertEqual(told["photos"]["read"], 40)
        self.assertEqual([fold["maps"] for fold in told["results"]], [["pixels"]] * 4)
        self.assertEqual(sum(fold["test"]["rows"] for fold in told["results"]), 40)
        self.assertIn("inputs   pixels in 4 folds", run("cv", "panels", *SMALL, "--folds", "4").stdout)

    def test_cv_chooses_in_every_fold(self):
        told = result("cv", "panels", "--folds", "2", "--features", "2x10", "--enhance", "10x1")
        self.assertTrue(all(set(fold["maps"]) <= {"descriptors", "windows"} for fold in told["results"]))
        self.assertTrue(all(fold["maps"] for fold in told["results"]))

    def test_tune_chooses_once(self):
        words = ["tune", "panels", "--kinds", "bls", "--trials", "1", "--folds", "2", "--map", "auto"]
        told = result(*words)
        line = told["best"]["fit"].split()
        self.assertEqual(line[:5], ["broad", "fit", "panels", "--map", ",".join(told["photos"]["maps"])])
        self.assertEqual(line.count("--map"), 1)
        self.assertEqual(len(told["photos"]["map_errors"]), 3)
        run(*line[1:], "-o", "line.broad")

    def test_tune(self):
        told = result("tune", "panels", "--map", "pixels", "--side", "4", "--kinds", "rvfl", "--trials", "1", "--folds",
                      "2", "--features", "2x5", "--enhance", "10x2", "-o", "tuned.broad")
        self.assertEqual(told["photos"]["maps"], ["pixels"])
        self.assertIn("broad fit panels --side 4 --map pixels", told["best"]["fit"])
        self.assertEqual(result("eval", "tuned.broad", "panels")["rows"], 40)

    def test_data_of_tables(self):
        with open("holes.csv", "w") as out:
            out.write("a,b,c,town,kind\n")
            for i in range(30):
                out.write("%d,%s,7,%s,%s\n" % (i, "" if i % 10 == 0 else i % 4, "pq"[i % 2], "x" if i else "y"))
        text = run("data", "holes.csv").stdout
        for line in ("rows     30, with", "classes  x 29, y 1", "empty    3 fields in 1 input: b 3", "constant 1 input: c",
                     "3 missing values in column 'b' (3): the column's mean is used", "class y has only 1 row;",
                     "class x is 29 times as frequent as class y"):
            self.assertIn(line, text)
        self.assertNotIn("--missing", text)  # what is done by default needs no advice
        told = result("data", "holes.csv")
        self.assertEqual((told["rows"], told["missing"], told["constant"]), (30, {"b": 3}, ["c"]))
        self.assertIsNone(told["photos"])
        told = result("data", "soiled/photos", "--labels", "soiled/labels.csv")
        self.assertEqual(told["task"], "regress")
        self.assertEqual(told["targets"][0]["name"], "severity")
        values = [float(row["severity"]) for row in lines_of("soiled/labels.csv")]
        self.assertAlmostEqual(told["targets"][0]["largest"], max(values))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
