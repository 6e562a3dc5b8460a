#!/usr/bin/env python3
"""Tables as people have them: each is fitted at the first try, by one plain command, then predicted and verified.

Usage: cli_messy.py PATH_OF_BROAD. The tables are made here, with a rule in them that a sensible model finds.
"""
import csv
import datetime
import io
import os
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case  # noqa: E402

SMALL = ["--features", "4x6", "--enhance", "30x1"]  # the rest is as in the plain command


def german(number, digits=2):
    return ("{:,.%df}" % digits).format(number).translate(str.maketrans(",.", ".,"))


def excel(rng):
    lines = ["Gr\u00f6\u00dfe;Umsatz;Farbe;Raucher;Klasse"]
    for _ in range(120):
        size, sales, colour = rng.uniform(0, 2), rng.uniform(0, 9e6), rng.choice(["rot", "gr\u00fcn"])
        good = size + (colour == "rot") > 1.3
        lines.append("%s;%s;%s;%s;%s" % (german(size, 3), german(sales), colour, rng.choice(["ja", "Nein"]),
                                         "gut" if good else "schlecht"))
    return "\r\n".join(lines) + "\r\n", "cp1252", [], 4, [
        "read as Windows-1252", "decimal comma: columns 'Gr\u00f6\u00dfe', 'Umsatz'", "categories: column 'Farbe' (2)",
        "yes and no became 1 and 0: column 'Raucher'"]


def bank(rng):
    lines = ["# Export of 2024-05-01, 10:00", "# account 12,34", "Date,Text,Amount,Balance,Kind,"]
    for i in range(100):
        amount = rng.uniform(-5000, 5000)
        lines.append('%d/%d/2024,payment %d,"%s$%s","%s",%s,' % (
            rng.randint(1, 12), rng.randint(1, 28), i, "-" if amount < 0 else "", "{:,.2f}".format(abs(amount)),
            "{:,.2f}".format(rng.uniform(0, 1e6)), "out" if amount < 0 else "in"))
        if i == 50:
            lines.append("# page 2")
    return "\n".join(lines), "utf-8", ["--target", "Kind"], 2, [
        "lines that begin with # are comments", "end with 1 separator", "'Date' (month before day)",
        "marks (thousands, percent or currency) were read without them: columns 'Amount', 'Balance'",
        "left out, as it differs in every row: column 'Text'"]


def sensor(rng):
    lines, now = ["time;temp;humidity;state;power"], datetime.datetime(2024, 1, 1)
    for i in range(200):
        now += datetime.timedelta(minutes=30)
        temp = rng.gauss(20, 3)
        power = 2 * temp + rng.random() + (now.hour >= 12)
        lines.append(";".join([now.isoformat(), "%.2f" % temp if rng.random() > 0.05 else "NA",
                               "%.2f" % rng.uniform(20, 60) if rng.random() > 0.1 else rng.choice(["", "-", "ERROR"]),
                               rng.choice(["run", "idle", "?"]), "%.2f" % power if i % 17 else ""]))
    return "\n".join(lines) + "\n\n\n", "utf-8", [], None, [
        "dates became days since 1970-01-01: column 'time'", "12 rows without a target were left out",
        "missing values in columns 'temp' (", "categories: column 'state' (2)"]


def survey(rng):
    lines = ["Survey 2024;;;;;", "id;age;smoker;comment;share;buys"]
    for i in range(150):
        age = rng.randint(18, 80)
        lines.append('%d;%d;%s;"said ""%d""\nand more";%d %%;%d' % (
            1000 + i, age, rng.choice(["yes", "NO", " yes", "no", "Yes"]), i, rng.randint(0, 100), age > 45))
    return "\n".join(lines) + "\n", "utf-16", [], 2, [
        "the file is UTF-16 text", "1 line before the header was skipped", "became 1 and 0: column 'smoker'",
        "differs in every row: columns 'id', 'comment'", "two whole values, which are taken as classes"]


def shop(rng):
    lines = ["Order;Customer;Price;Pieces;Total"]
    for i in range(90):
        price, pieces = rng.uniform(1, 400), rng.randint(1, 9)
        lines.append("A-%05d;%s;%s \u20ac;%d;%s \u20ac" % (i, rng.choice(["Ann", "Bob", "Cem"]), german(price), pieces,
                                                          german(price * pieces)))
    return "\ufeff" + "\r\n".join(lines), "utf-8", [], None, [
        "decimal comma: columns 'Price', 'Total'", "differs in every row: column 'Order'"]


def lab(rng):
    lines = ["#sample\tmass\tph\tdone\tpure"]
    for i in range(80):
        ph = rng.uniform(2, 12)
        lines.append("S%d\t%.3e\t%.2f\t%s\t%s" % (i, rng.uniform(1e-6, 1e-3), ph, rng.choice("tf"),
                                                  "TRUE" if 5 < ph < 9 else "FALSE"))
    return "\n".join(lines) + "\n", "utf-8", [], 2, [
        "differs in every row: column 'sample'", "became 1 and 0: column 'done'"]


def people(rng):
    lines = ['"","Name","Born","Height","City","Income"']
    for i in range(100):
        height = rng.uniform(1.5, 2)
        lines.append('"%d","Person, %d","%02d.%02d.%d","%.2f","%s","%s"' % (
            i + 1, i, rng.randint(1, 28), rng.randint(1, 12), rng.randint(1950, 2000), height,
            rng.choice(["Rome", "Oslo", "Bonn", "N/A"]), "{:,.0f}".format(1e5 * height)))
    return "\n".join(lines) + "\n", "utf-8", [], None, [
        "differs in every row: columns 'x1', 'Name'", "dates became days since 1970-01-01: column 'Born'",
        "a level of their own", "marks (thousands"]


def meter(rng):
    lines = ["Station: 17;;", "Unit: kWh;;", "", "hour;load;grid"]
    for _ in range(60):
        load = rng.uniform(0, 30)
        lines.append("%02d:%02d;%s;%s" % (rng.randint(0, 23), rng.choice([0, 30]), german(load, 1), german(3 * load + 1, 1)))
    return "\n".join(lines) + "\n", "latin-1", [], None, [
        "3 lines before the header were skipped", "decimal comma: columns 'load', 'grid'", "days since 1970-01-01: column 'hour'"]


def club(rng):
    lines = ["member_id|plan|visits|weight|note|stays"]
    for i in range(140):
        visits = rng.randint(0, 40)
        lines.append("%d|%s|%s|%d|%s|%s" % (
            98765432109876543210 + i, rng.choice(["gold", "basic", "null"]), visits if i % 9 else "", i % 3,
            "free text %d" % rng.randint(0, 9999), rng.choice(["yes"] * 15 + ["Yes"]) if visits > 15 else "no"))
    return "\n".join(lines), "utf-8", ["--weight", "weight"], 3, [
        "column 'member_id'", "47 rows of weight 0 were left out", "may be the same, written differently: 'Yes', 'yes'"]


def copies(rng):
    rows = ["%.3f,%.3f,%s" % (a, b, "up" if a > b else "down")
            for a, b in ((rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(60))]
    return "a,a,trend\n" + "\n".join(rows * 4) + "\n", "utf-8", [], 2, [
        "more than one column is called 'a'", "180 rows are copies of earlier rows (60 rows come more than once)"]


TABLES = [excel, bank, sensor, survey, shop, lab, people, meter, club, copies]


class Messy(Case):
    def one(self, make):
        content, encoding, words, classes, notes = make(random.Random(make.__name__))
        data, model = self.path(make.__name__ + ".csv"), self.path(make.__name__ + ".broad")
        with open(data, "wb") as file:
            file.write(content.encode(encoding))
        fit = self.ok("fit", data, *words, *SMALL, "-o", model)
        seen = self.ok("data", data, *words)
        for note in notes:
            self.assertIn(note, fit.err)
            self.assertIn(note, seen.out)  # the same is said before training
        estimate = self.ok("info", model, "--json").json["stored"]["estimate"]
        if classes:
            self.assertGreater(estimate["accuracy"], 0.8, make.__name__)
        else:
            self.assertGreater(estimate["r2"], 0.7, make.__name__)
        rows = list(csv.DictReader(io.StringIO(self.ok("predict", model, data).out)))
        self.assertGreater(len(rows), 50)
        self.ok("verify", model, data)

    def test_all(self):
        for make in TABLES:
            with self.subTest(make.__name__):
                self.one(make)


class Notes(Case):
    def test_once(self):
        """A file that turns out not to be UTF-8 is opened again: what was found at first is not told twice."""
        name, rows = "Gr\u00f6\u00dfe", ["%d;%d;%d" % (i, i * i % 7, i % 3) for i in range(30)]
        for content, parts in (
                (["# Export", "# 2024"] + [row + ";" for row in [name + ";" + name + ";y"] + rows],
                 ["comments", "end with 1 separator", "more than one column is called '%s'" % name]),
                (["Station: 17;;", "Unit: kWh;;", "", name + ";b;load"] + rows, ["3 lines before the header"])):
            data = self.path("notes.csv")
            with open(data, "wb") as file:
                file.write("\n".join(content).encode("cp1252"))
            notes = self.ok("data", data, "--json").json["notes"]
            for part in ["Windows-1252"] + parts:
                self.assertEqual(sum(part in note for note in notes), 1, (part, notes))
            self.assertEqual(len(notes), 1 + len(parts), notes)


class Marks(Case):
    """The model remembers how numbers were written: a file from which it cannot be told is read as the training rows were."""

    def setUp(self):
        rng = random.Random(4)
        self.rows = [(rng.randrange(1000, 90000), rng.randrange(1950, 2020)) for _ in range(200)]
        lines = ["%s;%d;%s" % (german(a, 0), b, german(a / 1000 + b / 10 + rng.gauss(0, 0.1))) for a, b in self.rows]
        self.data, self.model = self.write("german.csv", "\n".join(["people;built;price"] + lines) + "\n"), self.path("g.broad")
        self.ok("fit", self.data, *SMALL, "-o", self.model, "-q")

    def predicted(self, name, lines):
        done = self.ok("predict", self.model, self.write(name, "\n".join(lines) + "\n"))
        return [float(row["price"]) for row in csv.DictReader(io.StringIO(done.out))]

    def test_as_in_training(self):
        known = [float(row["price"]) for row in csv.DictReader(io.StringIO(self.ok("predict", self.model, self.data).out))][:50]
        without = ["people;built"] + ["%s;%d" % (german(a, 0), b) for a, b in self.rows[:50]]
        self.assertEqual(self.predicted("without.csv", without), known)
        small = self.predicted("small.csv", ["people;built", "12.500;1980", "950;1980"])
        self.assertAlmostEqual(small[0] - small[1], 11.55, delta=1)
        rows = ["%s;%d;%d" % (german(a, 0), b, a // 1000 + b // 10) for a, b in self.rows[:50]]
        learned = self.ok("learn", self.model, self.write("more.csv", "\n".join(["people;built;price"] + rows) + "\n"), "--with", self.data,
                          "-o", self.path("l.broad"), "--json")
        self.assertIn("read as in training: column 'people' (a decimal comma)", learned.err)
        self.assertLess(learned.json["new"]["rmse"], 1.5)
        self.ok("verify", self.path("l.broad"), self.data, self.path("more.csv"))

    def test_otherwise(self):
        """What can only be read in another way is read so."""
        known = self.predicted("known.csv", ["people;built"] + ["%s;%d" % (german(a, 0), b) for a, b in self.rows[:50]])
        for name, header, line in (("plain.csv", "people,built", "%d,%d"), ("points.csv", "people;built", "%d.0;%d")):
            self.assertEqual(self.predicted(name, [header] + [line % row for row in self.rows[:50]]), known)
        marked = ["people;built"] + ['"{:,.2f}";{}'.format(*row) for row in self.rows[:50]]
        self.assertEqual(self.predicted("marked.csv", marked), known)

    def test_stored(self):
        forms = self.ok("info", self.model, "--json").json["stored"]["forms"]
        self.assertEqual(forms, [{"input": 0, "form": "decimal_comma"}])


class Titles(Case):
    """Names such as `y` and `no` are names, though they may be truth values."""

    def test_header(self):
        rng = random.Random(5)
        rows = ["%g,%g,%g,%g" % tuple(rng.random() for _ in range(4)) for _ in range(30)]
        for first, header in (("Report", "a,b,c,y"), ("Report", "n,t,no,y"), ("# a,b,c,y", "a,b,c,y")):
            data = self.write("titles.csv", "\n".join([first, header] + rows) + "\n")
            found = self.ok("data", data, "--json").json
            self.assertEqual((found["rows"], found["inputs"], found["targets"][0]["name"]), (30, 3, "y"), header)

    def test_classes_with_signs(self):
        for a, b, alike in (("-1", "1", False), ("2-1", "21", False), ("level 1", "Level-1", True), ("re-do", "redo", True)):
            rows = ["%g,%s" % (i % 7, (a, b)[i % 2]) for i in range(40)]
            notes = self.ok("data", self.write("signs.csv", "\n".join(["x,y"] + rows) + "\n"), "--json").json["notes"]
            self.assertEqual(any("may be the same" in note for note in notes), alike, (a, b))


class Labels(Case):
    def test_numbers_of_a_spreadsheet(self):
        """A file of targets alone is read as they would be beside the inputs, and what was done is said."""
        values = [i * i % 11 + i / 8 for i in range(60)]
        inputs = self.write("inputs.csv", "a;b\n" + "".join("%d;%d\n" % (i, i % 7) for i in range(60)))
        labels = self.path("labels.csv")
        with open(labels, "w", encoding="cp1252", newline="") as file:
            file.write("Gr\u00f6\u00dfe\r\n" + "".join("%s\r\n" % german(value, 3) for value in values))
        words = [inputs, "--labels", labels, "--separator", ";"]
        told = self.ok("data", *words, "--json").json
        self.assertEqual(told["task"], "regress")
        self.assertAlmostEqual(told["targets"][0]["mean"], sum(values) / 60)
        self.assertEqual(told["notes"], ["the file is not UTF-8 text; it was read as Windows-1252 (Latin-1)",
                                         "numbers with a decimal comma: column 'Gr\u00f6\u00dfe'"])
        self.assertEqual(self.ok("data", *words, "--categorical", "none", "--json").json["task"], "classify")
        model = self.path("labels.broad")
        self.ok("fit", *words, *SMALL, "-o", model)
        self.ok("verify", model, *words)


class Columns(Case):
    def setUp(self):
        rng = random.Random(3)
        lines = ["a,b,c,y"] + ["%.4f,%.4f,%d,%.4f" % (a, b, i % 5, a - b) for i, (a, b) in
                               enumerate((rng.random(), rng.random()) for _ in range(60))]
        self.data = self.write("columns.csv", "\n".join(lines) + "\n")

    def names(self, *words):
        self.ok("fit", self.data, *words, *SMALL, "-o", self.path("m.broad"), "-q")
        self.ok("predict", self.path("m.broad"), self.data)
        return self.ok("info", self.path("m.broad"), "--json").json["stored"]["input_names"]

    def test_inputs_and_ignore(self):
        self.assertEqual(self.names("--ignore", "c"), ["a", "b"])
        self.assertEqual(self.names("--ignore", "1,c"), ["b"])
        self.assertEqual(self.names("--inputs", "b,a"), ["a", "b"])
        self.assertEqual(self.names("--inputs", "b,y", "--target", "a"), ["b", "y"])
        self.assertEqual(self.names("--inputs", "b,y"), ["b", "y"])  # then the target is the last column that is left
        self.ok("cv", self.data, "--ignore", "c", *SMALL, "-q")
        self.assertIn("with 2 inputs", self.ok("data", self.data, "--ignore", "c").out)

    def test_mistakes(self):
        fit = ["fit", self.data, "-o", self.path("no.broad")]
        self.fails(65, "there is no column 'Y'; did you mean 'y'?", *fit, "--target", "Y")
        self.fails(65, "there is no column 'zz'; give --ignore one of the 4 columns", *fit, "--ignore", "zz")
        self.fails(65, "asked for twice, as ignored and as input", *fit, "--inputs", "a", "--ignore", "a")
        self.fails(65, "asked for twice, as target and as ignored", *fit, "--ignore", "y", "--target", "y")
        self.assertFalse(os.path.exists(self.path("no.broad")))

    def test_all_faults_at_once(self):
        lines = self.read("columns.csv").decode().splitlines()
        lines[9], lines[20], lines[30] = "0.1,0.2,3", "0.1,oops,3,0.5", "0.1,0.2,3,4,5"
        data = self.write("faults.csv", "\n".join(lines) + "\n")
        result = self.fails(65, "faults.csv:10: 3 cells, but line 1 has 4; add the cells that are missing", "fit", data)
        self.assertIn("faults.csv:21:2: 'oops' is not a number (column 'b'); also ", result.err)
        self.assertIn("faults.csv:31: 5 cells, but line 1 has 4", result.err)
        self.assertNotIn("separator", result.err.splitlines()[0])

    def test_slips_among_dates(self):
        """A day that does not exist is a mistake with a place, as a word among numbers is; in a later file, too."""
        days = ["2024-%02d-%02d" % (1 + i // 28, 1 + i % 28) for i in range(100)]
        rows = ["%s,%d" % (day, 3 * i % 17) for i, day in enumerate(days)]
        good = self.write("days.csv", "d,y\n" + "\n".join(rows) + "\n")
        rows[40] = "2024-02-30,5"
        data = self.write("slip.csv", "d,y\n" + "\n".join(rows) + "\n")
        for command in ("fit", data, "-o", self.path("no.broad")), ("data", data):
            self.fails(65, "slip.csv:42:1: '2024-02-30' is not a date (column 'd'); ", *command)
        self.assertIn("became days", self.ok("fit", good, "-o", self.path("days.broad")).err)
        self.fails(65, "slip.csv:42:1: '2024-02-30' is not a date (column 'd'), but the model was trained on dates there",
                   "predict", self.path("days.broad"), data)
        same = self.write("same.csv", "d,y\n" + "".join("2024-05-%02d,%d\n" % (1 + i % 3, i % 17) for i in range(300)) +
                          "2024-05-40,5\n")
        self.fails(65, "same.csv:302:1: '2024-05-40' is not a date", "data", same)

    def test_words_among_the_targets(self):
        """More than 1 % of words make classes of numbers; that is said, unless the numbers are few and so may be classes."""
        def table(name, value):
            cells = ["oops" if i % 40 == 20 else value(i) for i in range(205)]
            return self.write(name, "x,y\n" + "".join("%d,%s\n" % (i, cell) for i, cell in enumerate(cells)))
        data = table("words.csv", lambda i: "%.2f" % (i / 7))
        note = "words.csv:22: 'oops' in the target 'y' is not a number, so that its values became 201 classes, though 200 of 205 are " \
               "numbers; if they are meant as numbers, correct it and the others and set "
        self.assertIn(note + "--task to regress", self.ok("fit", data, "-o", self.path("w.broad"), "--features", "2x5",
                                                           "--enhance", "10x1", "--importance", "no").err)
        self.assertTrue(any(note in line for line in self.ok("data", data, "--json").json["notes"]))
        for quiet in (["data", data, "--task", "classify"], ["data", table("few.csv", lambda i: str(i % 5))]):
            self.assertNotIn("is not a number", str(self.ok(*quiet, "--json").json["notes"]))

    def test_line_ends_in_names(self):
        """A level, a class and a column with line ends stay on one line of what is printed."""
        rows = "".join('%d,"%s","%s"\n' % (7 * i % 31, ["red\nhot", "blue"][i // 2 % 2], ["so\r\nso", "good"][i % 2]) for i in range(90))
        data, model = self.write("ends.csv", '"a\nb",k,y\n' + rows), self.path("ends.broad")
        fitted = self.ok("fit", data, "-o", model, "--features", "2x5", "--enhance", "10x1").out
        info = self.ok("info", model).out
        for text in fitted, info:
            for line in text.splitlines():
                self.assertNotRegex(line, r"^(b|hot|so)\b")
        for shown in (r"red\x0ahot", r"so\x0d\x0aso", r"a\x0ab"):
            self.assertIn(shown, info)

    def test_one_is_no_plural(self):
        self.ok("fit", self.write("two.csv", "1,2\n2,4\n3,5\n4,7\n"), "-o", self.path("two.broad"), "--preset", "paper",
                "--features", "2x2", "--enhance", "2x2")
        self.fails(65, "3 columns; the model needs 1 input, or 2 columns", "predict", self.path("two.broad"),
                   self.write("three.csv", "1,2,3\n2,4,4\n"))

    def test_why_no_input_is_left(self):
        words = ["%s %d" % (word, i) for i in range(20) for word in ("red", "blue")]
        data = self.write("words.csv", "w,e,y\n" + "".join("%s,,%d\n" % (w, i % 7) for i, w in enumerate(words)))
        self.fails(65, "no input column is left: 3 columns, of which 1 target; left out, as no row has a value: column 'e'; "
                   "left out, as it differs in every row: column 'w'; --inputs takes it back", "fit", data)

    def test_two_values(self):
        rows = ["%d,%d" % (i % 7, i % 7 > 3) for i in range(40)]
        data = self.write("two.csv", "x,y\n" + "\n".join(rows) + "\n")
        self.assertEqual(self.ok("data", data, "--json").json["task"], "classify")
        self.assertEqual(self.ok("data", data, "--task", "regress", "--json").json["task"], "regress")
        mixed = self.write("mixed.csv", "x,y\n" + "\n".join(rows) + "\n9,1.0\n1,0.0\n")
        self.assertEqual(self.ok("data", mixed, "--json").json["classes"], {"0": 25, "1": 17})

    def test_few_rows(self):
        data = self.write("few.csv", "a,y\n1,2.5\n2,3\n3,4\n")
        self.assertIn("only 3 rows to learn from", self.ok("fit", data, *SMALL, "-o", self.path("f.broad")).err)


class Lists(Case):
    def test_names_with_commas(self):
        """A name with a comma of its own is told from two names."""
        rng, classes = random.Random(4), ["fair", "good, very", "bad"]
        rows = [(rng.random(), rng.random()) for _ in range(90)]
        text = '"width, cm",height,"how, then"\n' + "".join('%f,%f,"%s"\n' % (a, b, classes[int(3 * a)]) for a, b in rows)
        data = self.write("names.csv", text)
        said = self.ok("fit", data, "-o", self.path("names"), "--effort", "fast").out
        self.assertIn("classes  3: bad, fair, 'good, very'\n", said)
        self.assertRegex(said, r"(?m)^columns  'width, cm' \d")
        self.assertRegex(self.ok("data", data).out, r"(?m)^classes  bad \d+, fair \d+, 'good, very' \d+$")
        self.assertIn("inputs   2 ('width, cm', height)", self.ok("info", self.path("names")).out)

    def test_nothing_to_tell(self):
        """No column counts: so no other does. A target of one value has no classes either."""
        rng = random.Random(9)
        noise = self.write("noise.csv", "a,b,y\n" + "".join("%f,%f,%f\n" % (rng.random(), rng.random(), rng.random()) for _ in range(150)))
        said = self.ok("fit", noise, "-o", self.path("noise"), "--effort", "fast").out
        self.assertRegex(said, r"(?m)^columns  none matters clearly \(how much R2 falls when one is shuffled\)$")
        same = self.write("same.csv", "a,y\n" + "".join("%d,5\n" % i for i in range(40)))
        self.assertNotIn("classes", self.ok("fit", same, "-o", self.path("same")).err)


class Copies(Case):
    def test_leave_one_out_is_honest(self):
        """The classes are noise: copies must not make them look known, whatever the way to test."""
        rng = random.Random(8)
        rows = ["%.4f,%.4f,%s" % (rng.gauss(0, 1), rng.gauss(0, 1), rng.choice("uv")) for _ in range(60)]
        data = self.write("noise.csv", "a,b,y\n" + "\n".join(rows * 5) + "\n")
        model = self.path("noise.broad")
        fit = self.ok("fit", data, "-o", model, *SMALL, "--holdout", "0.3", "--json").json
        self.assertLess(fit["loo"]["accuracy"], 0.75)
        self.assertLess(fit["test"]["accuracy"], 0.75)
        self.assertEqual(fit["test"], self.ok("eval", model, data, "--part", "test", "--json").json["test"])
        self.ok("verify", model, data)
        alone = self.ok("fit", data, "-o", model, *SMALL, "--no-groups", "--json").json
        self.assertGreater(alone["loo"]["accuracy"], fit["loo"]["accuracy"])

    def test_splits_keep_the_classes_even(self):
        rng = random.Random(5)
        rows = ["%.4f,%.4f,%s" % (rng.gauss(0, 1), rng.gauss(0, 1), "rare" if i % 10 == 0 else "often")
                for i in range(100)]
        data = self.write("uneven.csv", "a,b,y\n" + "\n".join(rows * 2) + "\n")
        for seed in "1", "2", "3":
            test = self.ok("fit", data, "-o", self.path("uneven.broad"), *SMALL, "--holdout", "0.3", "--seed", seed,
                           "--json").json["test"]
            counts = {name: sum(row) for name, row in zip(test["classes"], test["confusion"])}
            self.assertEqual(counts, {"often": 54, "rare": 6})

    def test_chance_is_no_copy(self):
        rng = random.Random(9)
        rows = ["%d,%s,%d" % (rng.randint(0, 2), rng.choice("pq"), rng.randint(0, 1)) for _ in range(200)]
        data = self.write("coarse.csv", "a,b,y\n" + "\n".join(rows) + "\n")
        self.assertNotIn("copies", self.ok("data", data).out)

    def test_threads_and_memory(self):
        rng = random.Random(4)
        rows = ["%.5f,%.5f,%.5f" % (rng.random(), rng.random(), rng.random()) for _ in range(3000)]
        data = self.write("many.csv", "a,b,y\n" + "\n".join(rows + rows[::3]) + "\n")
        words = ["fit", data, "-q", "--preset", "paper", "--features", "2x5", "--enhance", "5x1", "--holdout", "0.3"]
        self.ok(*words, "-o", self.path("one"), "--threads", "1")
        self.ok(*words, "-o", self.path("two"), "--threads", "2")
        self.assertEqual(self.read("one"), self.read("two"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=1)
