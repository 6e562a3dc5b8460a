#!/usr/bin/env python3
"""A model remembers its photos: what is new, gone, changed or labelled otherwise is named and taken account of; corrections in a file
are learned.

Usage: cli_recall.py PATH_OF_BROAD.
"""
import csv
import io
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs, run  # noqa: E402


class Pictures(Case):
    """Forty photos to train on, twenty more, and a model of the first with some held out."""

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.mkdtemp(prefix="broad-recall-")
        cls.addClassCleanup(shutil.rmtree, cls.made, True)
        os.environ["XDG_CACHE_HOME"] = os.path.join(cls.made, "cache")
        for name, count, seed in (("panels", 40, "5"), ("field", 20, "6")):
            run("render", os.path.join(cls.made, name), "--count", str(count), "--size", "40", "--seed", seed, "-q")
            os.remove(os.path.join(cls.made, name, "truth.csv"))
        os.chdir(cls.made)
        assert run("fit", "panels", "--holdout", "0.3", "-o", "m.broad", "-q").code == 0
        cls.folder = os.path.join(cls.made, "work")

    def setUp(self):
        os.chdir(self.made)
        shutil.rmtree(self.folder, True)
        os.mkdir(self.folder)
        os.chdir(self.folder)
        for name in ("panels", "field"):
            shutil.copytree(os.path.join("..", name), name)
        shutil.copy("../m.broad", "m.broad")

    def put(self, folder, *photos):
        for photo, label in photos:
            os.makedirs(os.path.join(folder, label), exist_ok=True)
            shutil.copy(photo, os.path.join(folder, label, os.path.basename(photo)))
        return folder

    def photos(self, folder, label):
        return [os.path.join(folder, label, name) for name in sorted(os.listdir(os.path.join(folder, label)))]

    def trained(self, model="m.broad"):
        """Files trained on, and held out, of all sources."""
        items = [photo for source in self.ok("info", model, "--json").json["sources"] for photo in source["photos"]]
        return ([p["file"] for p in items if not p["held_out"]], [p["file"] for p in items if p["held_out"]])

    def learn(self, *words):
        done = self.ok("learn", "m.broad", *words, "--json")
        self.assertTrue(self.ok("verify", "m.broad", "--json").json["holds"])
        return done.json, done.err


class Photos(Pictures):
    def test_what_it_remembers(self):
        train, held = self.trained()
        self.assertEqual((len(train), len(held), len(set(train + held))), (28, 12, 40))
        text = self.ok("info", "m.broad").out
        self.assertIn("from     28 rows of panels (40 photos, 12 of them held out)\n", text)
        self.ok("fit", "panels", "-o", "n.broad", "--no-names", "-q")
        self.assertEqual(self.trained("n.broad"), ([], []))
        self.assertNotIn(b"panels", self.read("n.broad"))
        self.fails(2, "does not remember", "verify", "n.broad")
        self.ok("verify", "n.broad", "panels")

    def test_second_round_of_corrections(self):
        first = self.put("c1", *[(p, "Dusty") for p in self.photos("field", "Dusty")[:2]])
        second = self.put("c2", *[(p, "Clean") for p in self.photos("field", "Clean")[:2]])
        self.learn(first, "--with", "panels")
        told, err = self.learn(second, "--with", "panels")
        self.assertIn("also reading 2 photos of c1, which the model was trained on", err)
        self.assertEqual((told["rows"], told["new"]["rows"], told["photos"]["remembered"]["found"]), (32, 2, 30))
        self.fails(65, "there is nothing to learn", "learn", "m.broad", second)
        self.put("c2", (self.photos("field", "Clean")[4], "Clean"))
        told, _ = self.learn("c2")
        self.assertEqual((told["rows"], told["new"]["rows"]), (33, 1))

    def test_a_photo_added_and_a_folder_given_twice(self):
        shutil.copy(self.photos("field", "Dusty")[3], "panels/Dusty/added.jpg")
        new = self.put("c1", (self.photos("field", "Clean")[0], "Clean"))
        told, err = self.learn(new, "--with", "panels", "--with", "panels/", "--with", "./panels")
        self.assertIn("1 photo is new since the model was trained and will be learned too: panels/Dusty/added.jpg", err)
        self.assertEqual((told["rows"], told["new"]["rows"]), (30, 2))
        self.assertEqual(told["photos"]["remembered"]["new"], ["panels/Dusty/added.jpg"])
        self.assertEqual(len(self.trained()[1]), 12)
        self.fails(65, "nothing to learn", "learn", "m.broad", "panels")

    def test_gone_changed_and_relabelled(self):
        train, _ = self.trained()
        clean = [p for p in train if "/Clean/" in p]
        os.remove(clean[0])
        shutil.copy(self.photos("field", "Clean")[5], clean[1])
        shutil.move(clean[2], "panels/Dusty/was_clean.jpg")
        err = self.fails(65, "1 photo that the model was trained on is gone: " + clean[0], "verify", "m.broad").err
        self.assertIn("1 photo has changed since the model was trained: " + clean[1], err)
        self.assertIn("1 photo has another label now: panels/Dusty/was_clean.jpg (Clean, now Dusty)", err)
        new = self.put("c1", (self.photos("field", "Clean")[0], "Clean"))
        told, err = self.learn(new)
        self.assertIn("fitted again, with the settings of the model, on the 27 old rows that are there", err)
        self.assertEqual(told["rows"], 28)
        remembered = told["photos"]["remembered"]
        self.assertEqual((remembered["gone"], remembered["changed"], remembered["relabelled"]),
                         ([clean[0]], [clean[1]], ["panels/Dusty/was_clean.jpg"]))
        self.assertEqual(self.ok("undo", "m.broad", "--json").json["restored"]["rows"], 28)

    def test_held_out_photos_are_named(self):
        """They are not learned, but the test on them is another one."""
        held = self.trained()[1]
        clean, dusty = [p for p in held if "/Clean/" in p], [p for p in held if "/Dusty/" in p]
        self.write("c.csv", "%s,Dusty\n" % clean[0])
        err = self.fails(65, "or they are held out and stay so", "learn", "m.broad", "--corrections", "c.csv").err
        self.assertIn("1 has another label now, which counts in the test: %s (Clean, now Dusty)" % clean[0], err)
        shutil.move(clean[0], "panels/Dusty/was_clean.jpg")
        os.remove(dusty[0])
        shutil.copy(self.photos("field", "Dusty")[3], dusty[1])
        said = ("of the held-out photos, 1 has another label now, which counts in the test: panels/Dusty/was_clean.jpg (Clean, now Dusty)",
                "of the held-out photos, 1 is gone and no longer tested on: " + dusty[0],
                "of the held-out photos, 1 has changed since the model was trained: " + dusty[1])
        shown = self.ok("eval", "m.broad", "panels", "--part", "test").err
        told, err = self.learn(self.put("c1", (self.photos("field", "Clean")[0], "Clean")))
        for text in said:
            self.assertIn(text, err)
            self.assertIn(text, shown)
        self.assertEqual(told["photos"]["remembered"]["held_out"],
                         {"gone": [dusty[0]], "changed": [dusty[1]], "relabelled": ["panels/Dusty/was_clean.jpg"]})
        self.assertEqual((told["test"]["rows"], told["rows"], told["photos"]["remembered"]["gone"]), (11, 29, []))
        self.ok("undo", "m.broad")
        os.remove(dusty[2])
        self.assertIn("of the held-out photos, 2 are gone", self.ok("eval", "m.broad", "panels", "--part", "test").err)

    def test_only_a_label_has_changed(self):
        train, _ = self.trained()
        photo = [p for p in train if "/Clean/" in p][0]
        shutil.move(photo, "panels/Dusty/was_clean.jpg")
        told, _ = self.learn("panels")
        self.assertEqual((told["rows"], told["photos"]["remembered"]["relabelled"]),
                         (28, ["panels/Dusty/was_clean.jpg"]))

    def test_a_copy_with_another_label_is_learned(self):
        """Whether the folder of the old photos is given or not."""
        photo = [p for p in self.trained()[0] if "/Clean/" in p][0]
        self.put("c1", (photo, "Dusty"))
        results = []
        for words in ([], ["--with", "panels"]):
            shutil.copy("../m.broad", "m.broad")
            told, err = self.learn("c1", *words)
            self.assertIn("is a copy of %s with another label (Clean)" % photo, err)
            results.append((told["rows"], told["new"]["rows"], told["weight"], told["wrong"]))
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0][:2], (29, 1))

    def test_measures_stand_below_what_was_tested(self):
        lines = self.ok("learn", "m.broad", self.put("c1", (self.photos("field", "Clean")[0], "Clean"))).out.split("\n")
        self.assertEqual([line.split()[0] for line in lines[:4]], ["test", "balanced", "new", "old"])

    def test_moved_folders(self):
        os.rename("panels", "elsewhere")
        self.fails(65, "28 photos that the model was trained on are gone", "verify", "m.broad")
        self.assertIn("holds", self.ok("verify", "m.broad", "elsewhere").out)
        told, err = self.learn(self.put("c1", (self.photos("field", "Clean")[0], "Clean")), "--with", "elsewhere")
        self.assertEqual((told["rows"], told["test"]["rows"]), (29, 12))
        self.assertNotIn("fitted again", err)

    def test_earlier_corrections_keep_their_weight(self):
        wrong = self.put("c1", *[(p, "Clean") for p in self.photos("field", "Dusty")[:2]])
        weight = self.learn(wrong, "--weight", "5")[0]["weight"]
        self.assertEqual(weight, 5)
        os.remove([p for p in self.trained()[0] if "/Clean/" in p][0])
        told, _ = self.learn(self.put("c2", (self.photos("field", "Clean")[0], "Clean")))
        weights = [s["weight"] for s in self.ok("info", "m.broad", "--json").json["stored"]["segments"]]
        self.assertIn(weight, weights)
        self.assertEqual(told["rows"], 30)

    def test_grow_eval_and_report_know_the_photos(self):
        self.learn(self.put("c1", (self.photos("field", "Clean")[0], "Clean")))
        shutil.copy(self.photos("field", "Dusty")[3], "panels/Dusty/added.jpg")
        self.assertEqual(self.ok("eval", "m.broad", "panels", "--part", "test", "--json").json["rows"], 12)
        err = self.ok("grow", "m.broad", "panels", "c1", "--enhance", "10x1", "-q").err
        self.assertEqual(err, "")
        self.assertIn("left out: panels/Dusty/added.jpg", self.ok("verify", "m.broad", "panels").err)


class Corrections(Pictures):
    def judged(self):
        return {row["file"]: row for row in csv.DictReader(io.StringIO(
            self.ok("predict", "m.broad", "field", "--proba").out))}

    def findings(self, changes, separator=",", mark="", point="."):
        """A table as a report writes it: {file: (verdict or None, correction)}."""
        lines = ["file,verdict,correction,p_Clean,p_Dusty,group"]
        for file, row in self.judged().items():
            verdict, correction = changes.get(file, (None, ""))
            lines.append(",".join([file, verdict or row["label"], correction, row["proba_Clean"].replace(".", point),
                                   row["proba_Dusty"].replace(".", point), "1"]))
        text = mark + "\n".join(lines).replace(",", separator).replace("\x00", ",") + "\n"
        return self.write("findings.csv", text)

    def report(self, change=None, model="m.broad"):
        """findings.csv of a report, after `change` has edited its rows."""
        self.ok("report", model, "field", "-o", "report", "--replace", "--cards", "1", "-q")
        with open("report/findings.csv", encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        if change:
            change(rows)
            with open("report/findings.csv", "w", encoding="utf-8-sig", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
        return rows

    def other(self, label):
        return "Dusty" if label == "Clean" else "Clean"

    def test_a_round_trip(self):
        for separator, mark, point in ((",", "", "."), (";", "\ufeff", "\x00")):
            shutil.copy("../m.broad", "m.broad")
            rows = self.judged()
            files = sorted(rows)[3:6]
            wanted = {file: self.other(rows[file]["label"]) for file in files}
            changes = {files[0]: (None, wanted[files[0]]), files[1]: (wanted[files[1]], ""),
                       files[2]: ("unsure", wanted[files[2]].lower())}
            self.findings(changes, separator, mark, point)
            told, _ = self.learn("--corrections", "findings.csv")
            self.assertEqual((told["new"]["rows"], told["wrong"]), (3, 0))
            after = self.judged()
            self.assertEqual({file: after[file]["label"] for file in files}, wanted)

    def test_a_class_called_like_a_verdict(self):
        """What the report wrote teaches nothing, whatever its words mean to the model."""
        for name in ("unsure", "Unlike"):
            shutil.rmtree("panels")
            shutil.copytree("../panels", "panels")
            os.rename("panels/Dusty", "panels/" + name)
            self.ok("fit", "panels", "-o", "w.broad", "-q")
            rows = self.report(model="w.broad")
            doubtful = [row for row in rows if row["verdict"] == "unsure" and row["label"] == "Clean"]
            self.assertTrue(doubtful)
            nothing = "there is no correction in it"
            self.fails(65, nothing, "learn", "w.broad", "--corrections", "report/findings.csv")
            self.write("few.csv", "file,verdict,correction,p_Clean,p_%s\n%s,%s,,0.6,0.4\n" %
                       (name, doubtful[0]["file"], name.lower()))
            self.fails(65, nothing, "learn", "w.broad", "--corrections", "few.csv")

            def change(rows, name=name, file=doubtful[0]["file"]):
                for row in rows:
                    row["correction"] = name if row["file"] == file else ""
            self.report(change, "w.broad")
            told = self.ok("learn", "w.broad", "--corrections", "report/findings.csv", "--json").json
            self.assertEqual((told["new"]["rows"], told["wrong"]), (1, 0))

    def test_labels_that_begin_like_formulas(self):
        """They are written with an apostrophe, which is no part of them where they are read."""
        os.rename("panels/Dusty", "panels/-Schmutzig")
        self.ok("fit", "panels", "-o", "formula.broad", "-q")
        for column in ("correction", "verdict"):
            def change(rows, column=column):
                written = next(row["label"] for row in rows if row["label"] != "Clean")
                self.assertEqual(written, "'-Schmutzig")
                next(row for row in rows if row["label"] == "Clean")[column] = written
            self.report(change, "formula.broad")
            told = self.ok("learn", "formula.broad", "--corrections", "report/findings.csv", "-o", "n.broad", "--json").json
            self.assertEqual((told["new"]["rows"], told["wrong"]), (1, 0), column)
        self.write("c.csv", "file,correction\n%s,'=neu\n" % self.photos("field", "Dusty")[0])
        self.ok("learn", "formula.broad", "--corrections", "c.csv", "--new-classes", "-o", "n.broad", "-q")
        self.assertEqual(self.ok("info", "n.broad", "--json").json["outputs"], ["-Schmutzig", "Clean", "=neu"])

    def test_a_verdict_that_agrees_with_the_model(self):
        """Of a photo that it was unsure of, a verdict says as much as a correction."""
        def decide(column):
            def change(rows):
                row = next(row for row in rows if row["unsure"] == "yes")
                row[column] = row["label"]
            return change
        models = []
        for column in ("verdict", "correction"):
            shutil.copy("../m.broad", "m.broad")
            self.report(decide(column))
            told, _ = self.learn("--corrections", "report/findings.csv")
            self.assertEqual((told["new"]["rows"], told["wrong"]), (1, 0), column)
            models.append(self.read("m.broad"))
        self.assertEqual(*models)

    def test_plain_lists_and_where_photos_are(self):
        photo = self.photos("field", "Dusty")[0]
        name = os.path.basename(photo)
        os.makedirs("away/deep")
        shutil.copy(photo, "away/deep/a photo, 'odd' \"one\".jpg")
        shutil.copy(photo, "away/" + name)
        for text, words in (("file,correction\n%s,Clean\n" % photo, []), ("%s,Clean\n" % photo, []),
                            ("file;label\nreport/field/Dusty/%s;Clean\n" % name, ["field"]),
                            ("file,label\n\"deep/a photo, 'odd' \"\"one\"\".jpg\",Clean\n", ["away"]),
                            ("file,label\n%s,Clean\n%s,Clean\n" % (name, name), None)):
            shutil.copy("../m.broad", "m.broad")
            path = self.write("away/list.csv" if words is None else "list.csv", text)
            told, _ = self.learn(*(words or []), "--corrections", os.path.relpath(path))
            self.assertEqual((told["new"]["rows"], told["wrong"]), (1, 0), text)

    def test_boxes_of_one_photo(self):
        """A photo is learned with one class: boxes that are not corrected alike are refused, and the way that is told works."""
        for name in self.photos("field", "Clean") + self.photos("field", "Dusty"):
            os.rename(name, os.path.join(os.path.dirname(name), "new" + os.path.basename(name)))
        boxes = [(os.path.relpath(photo, folder), *sides) for folder in ("panels", "field") for label in ("Clean", "Dusty")
                 for photo in self.photos(folder, label) for sides in ((1, 2, 19, 38), (20, 2, 39, 38))]
        self.write("boxes.csv", "file,left,top,right,bottom\n" + "".join("%s,%d,%d,%d,%d\n" % box for box in boxes))
        self.ok("fit", "panels", "--boxes", "boxes.csv", "--each-box", "-o", "b.broad", "-q")
        self.ok("report", "b.broad", "field", "--boxes", "boxes.csv", "-o", "report", "--cards", "1", "-q")
        with open("report/findings.csv", encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        sides = ("left", "top", "right", "bottom")
        with open("report/report.html", encoding="utf-8") as file:
            self.assertIn('data-box="%s"' % ",".join(rows[0][side] for side in sides), file.read())
        pair = [row for row in rows if row["file"] == rows[0]["file"]]
        self.assertEqual(len(pair), 2)
        learn = ("learn", "b.broad", "--boxes", "boxes.csv", "-o", "n.broad", "--corrections", "c.csv")

        def correct(*labels):
            lines = ["%s,%s,%s\n" % (row["file"], label, ",".join(row[side] for side in sides))
                     for row, label in zip(pair, labels)]
            self.write("c.csv", "file,correction,left,top,right,bottom\n" + "".join(lines + lines[:1]))
        correct("Clean")
        self.fails(65, "only 1 of the 2 boxes of %s is corrected; if the others show the same, correct them too" % pair[0]["file"], *learn)
        correct("Clean", "Dusty")
        self.fails(65, "another class for another box of '%s'" % pair[0]["file"], *learn)
        correct("Dusty", "Dusty")
        self.assertEqual(self.ok(*learn, "--json").json["new"]["rows"], 2)
        self.write("c.csv", "%s,Clean\n" % pair[0]["file"])
        self.assertEqual(self.ok(*learn, "--json").json["new"]["rows"], 2)
        other = self.other(pair[0]["label"])
        os.makedirs("single/" + other)
        shutil.copy(pair[0]["file"], "single/%s/one_box.jpg" % other)
        with open("boxes.csv", "a", encoding="utf-8") as file:
            file.write("one_box.jpg,%s\n" % ",".join(pair[0][side] for side in sides))
        told = self.ok("learn", "b.broad", "single", "--boxes", "boxes.csv", "--json").json
        self.assertEqual((told["new"]["rows"], told["wrong"]), (1, 0))
        self.assertTrue(self.ok("verify", "b.broad", "--boxes", "boxes.csv", "--json").json["holds"])
        after = csv.DictReader(io.StringIO(self.ok("predict", "b.broad", "field", "--boxes", "boxes.csv").out))
        self.assertIn((pair[0]["file"], float(pair[0]["left"]), other), [(row["file"], float(row["left"]), row["label"]) for row in after])

    def test_what_spreadsheets_save(self):
        """Every encoding, separator and end of line that tables may have."""
        os.makedirs("away")
        shutil.copy(self.photos("field", "Dusty")[0], "away/Müller, #1.jpg")
        shutil.copy(self.photos("field", "Dusty")[1], "away/#2.jpg")
        for code, separator, end, head in (("cp1252", ";", "\r\n", ""), ("utf-16", "\t", "\r\n", ""),
                                           ("utf-8", ",", "\r", ""), ("utf-8-sig", ";", "\n", "sep=;\n"),
                                           ("utf-16-be", "|", "\n", "\ufeff"), ("cp1252", "\t", "\r", "SEP=\t\r")):
            shutil.copy("../m.broad", "m.broad")
            with open("c.csv", "w", encoding=code, newline="") as file:
                file.write(head + end.join(separator.join(row) for row in (
                    ("note", "file", "correction"), ("é", "#2.jpg", "Clean"), ("", "", ""), ('"a%s""b"' % end, '"Müller, #1.jpg"', "Clean"))))
            told, _ = self.learn("away", "--corrections", "c.csv")
            self.assertEqual((told["new"]["rows"], told["wrong"]), (2, 0), (code, separator))
        for text, line in ((b"sep=;\nfile;correction\n\nnone.jpg;Clean\n", 4), (b"file\tcorrection\rnone.jpg\tClean", 2)):
            self.write("c.csv", text)
            self.fails(65, "c.csv:%d: there is no photo 'none.jpg'" % line, "learn", "m.broad", "away", "--corrections", "c.csv")
        shutil.copy("../m.broad", "m.broad")
        self.write("c.csv", "#2.jpg,Clean\n")
        self.learn("away", "--corrections", "c.csv")
        for text, message in ((b"", "c.csv: the file is empty"), (b"file,correction\n\0,", "c.csv:2: a zero byte"),
                              (b'file,correction\n"a,b\n', "c.csv:2: a quote is opened here and never closed"),
                              (b"sep=;\n", "no column 'file'")):
            self.write("c.csv", text)
            self.fails(65, message, "learn", "m.broad", "--corrections", "c.csv")

    def test_photos_of_one_name(self):
        """A path that is there is that photo; without it, folders are left out only where one photo can be meant."""
        os.makedirs("fl/siteA")
        os.makedirs("fl/siteB")
        a, b = "fl/siteA/IMG_1.jpg", "fl/siteB/IMG_1.jpg"
        shutil.copy(self.photos("field", "Dusty")[0], a)
        shutil.copy(self.photos("field", "Dusty")[1], b)
        self.write("ff.csv", "file,correction\n%s,Clean\n" % b)
        _, err = self.learn("fl/siteA", "--corrections", "ff.csv")
        self.assertIn("ff.csv names photos that do not lie below fl/siteA, but are there, and are learned: " + b, err)
        self.assertIn(b, self.trained()[0])
        self.assertNotIn(a, self.trained()[0])
        shutil.copy("../m.broad", "m.broad")
        self.assertNotIn("do not lie below", self.learn("fl", "--corrections", "ff.csv")[1])
        shutil.copy("../m.broad", "m.broad")
        os.remove(b)
        self.write("ff.csv", "file,correction\n%s,Clean\n%s,Clean\n" % (b, a))
        err = self.fails(65, "1 problem", "learn", "m.broad", "fl/siteA", "--corrections", "ff.csv").err
        self.assertIn("there is no photo '%s'; %s, which has its name, is corrected by another line" % (b, a), err)
        shutil.copy(a, "fl/IMG_1.jpg")
        self.write("ff.csv", "file,correction\nsiteA/IMG_1.jpg,Clean\n")
        self.fails(65, "two photos may be 'siteA/IMG_1.jpg'", "learn", "m.broad", "fl", "--corrections", "ff.csv")

    def test_all_problems_at_once(self):
        photo = self.photos("field", "Dusty")[0]
        self.write("c.csv", "file,correction\n%s,Clen\nnone.jpg,Dusty\n%s,Dusty\n%s,Clean\n" % (photo, photo, photo))
        err = self.fails(65, "c.csv: 3 problems; nothing was learned (line 2: the model has no class 'Clen')", "learn", "m.broad", "--corrections",
                         "c.csv").err
        self.assertIn("c.csv:2: the model has no class 'Clen'; did you mean 'Clean'?", err)
        self.assertIn("c.csv:3: there is no photo 'none.jpg'; give the folder of the photos: broad learn MODEL FOLDER", err)
        self.assertIn("c.csv:5: a second label for '%s'" % photo, err)
        self.findings({})
        self.fails(65, "there is no correction in it", "learn", "m.broad", "--corrections", "findings.csv")
        self.write("c.csv", "a,b,c\n1,2,3\n")
        self.fails(65, "no column 'file'", "learn", "m.broad", "--corrections", "c.csv")
        self.fails(66, "nowhere.csv", "learn", "m.broad", "--corrections", "nowhere.csv")
        self.fails(2, "NEW is missing", "learn", "m.broad")
        table = self.write("t.csv", blobs(30))
        self.ok("fit", table, "-o", "t.broad", "-q", "--features", "2x5")
        self.fails(2, "--corrections is for models that tell photos apart", "learn", "t.broad", "--corrections", "c.csv")

    def test_a_training_photo_gets_another_label(self):
        train, _ = self.trained()
        photo = [p for p in train if "/Clean/" in p][0]
        self.write("c.csv", "%s,Dusty\n" % photo)
        told, err = self.learn("--corrections", "c.csv")
        self.assertIn("1 photo has another label now: %s (Clean, now Dusty)" % photo, err)
        self.assertEqual(told["rows"], 28)
        self.assertTrue(self.ok("verify", "m.broad", "panels", "--json").json["holds"])

    def test_corrected_photos_are_not_mistaken_later(self):
        """The folder of a corrected photo says otherwise than its correction, and other photos in it are not learned."""
        photo = self.photos("field", "Dusty")[0]
        self.write("c.csv", "%s,Clean\n" % photo)
        self.learn("--corrections", "c.csv")
        told, err = self.learn(self.put("c1", (self.photos("field", "Clean")[0], "Clean")))
        self.assertEqual((told["rows"], told["photos"]["remembered"]["new"]), (30, []))
        self.assertNotIn("another label", err)
        self.assertNotIn("skipped", err)
        self.assertIn("1 row of c.csv, labels from c.csv (1 photo)", self.ok("info", "m.broad").out)


class Tables(Case):
    SMALL = ["--features", "2x5", "--enhance", "5x1", "-q"]

    def setUp(self):
        self.april = self.write("april.csv", blobs(60))
        self.may = self.write("may.csv", blobs(30, seed=4))
        self.june = self.write("june.csv", blobs(30, seed=5))
        self.model = self.path("m.broad")
        self.ok("fit", self.april, "-o", self.model, *self.SMALL)

    def test_files_are_remembered(self):
        done = self.ok("learn", self.model, self.may, "--json")
        self.assertIn("also reading %s, which the model was trained on" % self.april, done.err)
        done = self.ok("learn", self.model, self.june, "--with", self.april, "--with", self.april, "--json")
        self.assertIn("also reading %s, which" % self.may, done.err)
        self.assertEqual(done.json["rows"], 120)
        self.assertTrue(self.ok("verify", self.model, "--json").json["holds"])
        self.assertTrue(self.ok("verify", self.model, self.april, self.may, self.june, "--json").json["holds"])
        self.assertEqual([s["rows"] for s in self.ok("info", self.model, "--json").json["sources"]], [60, 30, 30])

    def test_files_that_are_gone_or_have_changed(self):
        self.write("april.csv", blobs(61))
        self.fails(65, "trained on 60 rows", "learn", self.model, self.may)
        os.remove(self.april)
        self.fails(2, "give --with OLD", "learn", self.model, self.may)
        self.fails(2, "give DATA", "verify", self.model)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
