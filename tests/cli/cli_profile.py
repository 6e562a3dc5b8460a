#!/usr/bin/env python3
"""--profile on every command that has it: a table on standard error, `profile` in the JSON, the same results as without.

Usage: cli_profile.py PATH_OF_BROAD.
"""
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case, blobs  # noqa: E402

CHAIN = ["--preset", "paper", "--kind", "brls", "--features", "2x5", "--enhance", "10x3", "--seed", "3"]
FIELDS = {"name", "group", "calls", "seconds", "share", "flops", "bytes", "gflops", "gbytes", "of_peak"}


class Profile(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        case = cls()
        cls.data, cls.more = case.write("data.csv", blobs(600)), case.write("more.csv", blobs(90, seed=7))
        case.ok("fit", cls.data, "-o", case.path("base"), "-q", *CHAIN)

    def stages(self, result, threads=None):
        """The stages by name, after everything that must hold of any profile was checked."""
        profile = result.json["profile"]
        stages = {stage["name"]: stage for stage in profile["stages"]}
        self.assertEqual(len(stages), len(profile["stages"]))
        if threads:
            self.assertEqual(profile["threads"], threads)
        for name, stage in stages.items():
            self.assertEqual(set(stage), FIELDS)
            self.assertGreater(stage["calls"], 0, name)
            self.assertTrue(stage["seconds"] >= 0 and stage["flops"] >= 0 and stage["bytes"] >= 0, name)
        self.assertAlmostEqual(sum(s["seconds"] for s in stages.values()), profile["counted"], places=9)
        self.assertGreater(profile["seconds"], 0)
        # Threads cannot be busy for longer than there are.
        self.assertLess(profile["counted"], 1.05 * profile["threads"] * profile["seconds"] + 0.05)
        return stages

    def test_fit(self):
        found = self.ok("fit", self.data, "-o", self.path("m"), "--json", "--profile", "--threads", "2", *CHAIN)
        stages = self.stages(found, threads=2)
        self.assertEqual(stages["features"]["flops"], 2 * 600 * 2 * 10)
        self.assertGreaterEqual(stages["nodes"]["flops"], 3 * 2 * 600 * 10 * 10)
        for name in ("read", "features", "draw", "nodes", "gram", "cross", "residual", "solve", "save", "hash",
                     "statistics", "copy", "search", "measure", "waiting"):
            self.assertIn(name, stages)
        self.assertNotIn("joint_gram", stages)
        self.assertEqual(stages["read"]["bytes"], os.path.getsize(self.data))
        self.assertEqual(stages["save"]["bytes"], os.path.getsize(self.path("m")))
        with open(self.path("m"), "rb") as with_profile, open(self.path("base"), "rb") as without:
            self.assertEqual(with_profile.read(), without.read())

    def check_explained(self, found):
        """The stages explain the time of all threads."""
        profile = found.json["profile"]
        self.assertGreater(profile["counted"], 0.95 * profile["threads"] * profile["seconds"], profile)

    def test_chain(self):
        found = self.ok("fit", self.write("long.csv", blobs(8000)), "-o", self.path("c"), "--json", "--profile", "--threads",
                        "2", "--preset", "paper", "--kind", "brls", "--enhance", "100x30")
        self.stages(found)
        self.check_explained(found)

    def test_joint(self):
        found = self.ok("fit", self.data, "-o", self.path("j"), "--json", "--profile", "--enhance", "20x2")
        stages = self.stages(found)
        for name in ("joint_fill", "joint_gram", "joint_factor", "joint_refine", "joint_loo", "pilot"):
            self.assertIn(name, stages)
        self.check_explained(found)

    def test_photos(self):
        """Decoding and maps are stages of their own; with the cache they are not needed again."""
        photos, words = self.path("photos"), ["--cache", self.path("cache"), "--json", "--profile", "--threads", "2"]
        self.ok("render", photos, "--count", "40", "--size", "400", "-q")
        folders = [os.path.join(photos, name) for name in ("Clean", "Dusty")]
        sizes = [os.path.getsize(os.path.join(folder, name)) for folder in folders for name in os.listdir(folder)]
        found = self.ok("fit", photos, "-o", self.path("p"), *words)
        stages = self.stages(found, threads=2)
        self.check_explained(found)
        self.assertEqual((stages["decode"]["calls"], stages["decode"]["bytes"]), (len(sizes), sum(sizes)))
        self.assertGreaterEqual(stages["maps"]["calls"], len(sizes))
        new = self.stages(self.ok("predict", self.path("p"), photos, "--cache", "no", *words[2:]))
        self.assertEqual(new["decode"]["calls"], len(sizes))
        again = self.stages(self.ok("fit", photos, "-o", self.path("p"), *words))
        self.assertNotIn("decode", again)
        self.assertNotIn("maps", again)

    def test_grow_and_learn(self):
        grown = self.ok("grow", self.path("base"), self.data, "--enhance", "10x1", "-o", self.path("g"), "--json",
                        "--profile")
        self.assertLessEqual({"load", "read", "features", "nodes", "gram", "save"}, set(self.stages(grown)))
        learned = self.ok("learn", self.path("base"), self.more, "--with", self.data, "-o", self.path("l"), "--json",
                          "--profile")
        self.assertLessEqual({"load", "read", "nodes", "save"}, set(self.stages(learned)))

    def test_predict_and_eval(self):
        flops = 2 * 600 * (2 * 10 + 3 * 10 * 10 + (10 + 30) * 3)
        found = self.ok("eval", self.path("base"), self.data, "--json", "--profile")
        self.assertEqual(self.stages(found)["predict"]["flops"], flops)
        found = self.ok("predict", self.path("base"), self.data, "-o", self.path("p.csv"), "--json", "--profile")
        self.assertEqual(self.stages(found)["predict"]["flops"], flops)

    def test_text(self):
        plain, profiled = (self.ok("eval", self.path("base"), self.data, *words) for words in ([], ["--profile"]))
        self.assertEqual(plain.out, profiled.out)
        self.assertNotIn("profile", plain.err)
        self.assertRegex(profiled.err, r"(?m)^profile: [\d.]+ s on \d+ threads?; one core reaches ")
        self.assertRegex(profiled.err, r"(?m)^  predict +\d+ ")
        shares = [float(x) for x in re.findall(r"(?m)^  [a-z_]+ .*?(\d+\.\d) %", profiled.err)]
        self.assertLess(abs(sum(shares) - 100), 15)

    def test_failure(self):
        """A command that fails says so, and nothing about its time."""
        done = self.fails(66, "nowhere", "eval", self.path("nowhere"), self.data, "--profile")
        self.assertNotIn("profile:", done.err)
        done = self.fails(66, "nowhere", "eval", self.path("nowhere"), self.data, "--profile", "--json")
        self.assertEqual(done.json["error"]["code"], 66)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
