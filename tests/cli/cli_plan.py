#!/usr/bin/env python3
"""broad plan: what comes before training, and a run on a GPU against what was measured on one.

Usage: cli_plan.py PATH_OF_BROAD. Traffic of ranks, and the plan beside measured runs: cli_ranks.py, lab/tests/test_ranks.py.
"""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli_test import Case  # noqa: E402

MEASURED = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs" / "gpu.json").read_text(encoding="utf-8"))
SIZES = ["--rows", "1e6", "--inputs", "40", "--preset", "paper", "--threads", "1"]
GIVEN = ["--peak", "50", "--disk", "2", "--scan", "4", "--search", "8"]


class Plan(Case):
    def plan(self, *words, **more):
        return self.ok("plan", *words, "--json", **more).json

    def card_of(self, case):
        """The plan of a run that was measured."""
        device, joint = MEASURED["device"], "layers" not in case
        words = ["--kind", "bls" if joint else "brls", "--enhance", f"{case['nodes']}x{case.get('layers', 1)}", "--features",
                 f"1x{case['features']}", "--lambda", "1e-8"]
        return self.plan("--rows", str(case["rows"]), "--inputs", str(case["inputs"]), "--outputs", str(case["outputs"]), "--preset", "paper",
                         *words, *GIVEN, "--device", "cuda", "--gpu-peak", str(device["dgemm_gflops"]), "--gpu-bandwidth",
                         str(device["copy_gigabytes"]), "--gpu-memory", str(device["memory"] / 1e9))

    def test_a_gpu_takes_about_what_was_measured(self):
        """docs/gpu.json. On few rows the card waits for the processor, which the plan does not count."""
        for name, most in (("tall", 1.5), ("wide1000", 1.5), ("wide5000", 1.5), ("billion", 1.5), ("joint", 1.5), ("ten-thousand", 1.5),
                           ("billion-joint", 1.5), ("small", 2.5)):
            case = MEASURED["cases"][name]
            found = self.card_of(case)
            self.assertTrue(1 / most < found["seconds"]["rows"] / case["seconds"] < most, (name, case["seconds"], found["seconds"]))
            self.assertLessEqual(found["card"]["bytes"], MEASURED["device"]["memory"])
            again = "all recomputed" if case["rows"] == 10**9 else "kept"
            self.assertEqual(found["card"]["nodes"], again, name)
            # E twice, and besides it the inputs, or feature nodes and the widest layer.
            kept = case["features"] + (0 if "layers" not in case else case["features"] + case["nodes"])
            columns = case["inputs"] if again != "kept" else kept
            self.assertEqual(found["card"]["bytes"], 8 * case["rows"] * (columns + 2 * case["outputs"]))

    def test_what_does_not_fit_on_the_card_stays(self):
        card = ["--device", "cuda", "--gpu-peak", "6e4", "--gpu-bandwidth", "4000"]
        ways = [self.plan(*SIZES, *GIVEN, *card, "--gpu-memory", memory)["card"]["nodes"] for memory in ("10", "1", "0.5", "0.1")]
        self.assertEqual(ways, ["kept", "layers recomputed", "all recomputed", "not used"])
        words = [*SIZES, *GIVEN]
        self.assertEqual(self.plan(*words, *card, "--gpu-memory", "0.1")["seconds"], self.plan(*words)["seconds"])
        self.assertIn("not used: the rows need at least 336.0 MB", self.ok("plan", *words, *card, "--gpu-memory", "0.1").out)
        self.assertIn("not used: this stays", self.ok("plan", *words, *card, "--gpu-memory", "9", "--kind", "scn").out)

    def test_a_gpu_that_is_not_here_is_described(self):
        if self.ok("doctor", "--quick", "--json").json["cuda"] is None:
            self.fails(1, "--gpu-peak, --gpu-bandwidth and --gpu-memory", "plan", *SIZES, "--device", "cuda")
        self.fails(2, "--gpu-peak: 'fast' is not a number", "plan", *SIZES, "--gpu-peak", "fast")

    def test_what_comes_before(self):
        """Plain sums: a row has 40 inputs and a target of 8 bytes each; --scale minmax needs one pass over the columns, standard two."""
        for scale, passes in (("minmax", 1), ("standard", 2)):
            seconds = self.plan(*SIZES, *GIVEN, "--scale", scale)["seconds"]
            self.assertAlmostEqual(seconds["read"], 1e6 * 41 * 8 / 2e9, 9)
            self.assertAlmostEqual(seconds["look"], 1e6 / 8e6 + 1e6 * (41 + 40 * passes) * 8 / 4e9, 9)
            self.assertEqual(seconds["told"], 0)
            self.assertAlmostEqual(seconds["total"], sum(value for name, value in seconds.items() if name != "total"), 9)

    def test_ranks_before(self):
        """Four ranks: each reads its rows, all are told of all, one after the other adds to the fingerprint; of 40 columns one thread takes 8 at a
        time, so that the ranks are busy with different ones after the first."""
        seconds = self.plan(*SIZES, *GIVEN, "--ranks", "4", "--bandwidth", "1", "--scale", "minmax")["seconds"]
        self.assertAlmostEqual(seconds["read"], (40 / 4 + 1) * 8e6 / 2e9, 9)
        self.assertAlmostEqual(seconds["told"], 1e6 * 8 * (3 + 1) * (1 / 1e9 + 1 / 4e9), 9)
        self.assertAlmostEqual(seconds["look"], 1e6 / 4 / 8e6 + 1e6 * 41 * 8 / 4e9 + (4 + 5 - 1) * 1e6 / 4 * 8 * 8 / 4e9, 9)

    def test_what_is_not_given_is_measured(self):
        machine = self.plan(*SIZES)["machine"]
        for name in ("peak", "disk", "hash", "sums", "search"):
            self.assertGreater(machine[name], 0, name)

    def test_a_disk_that_cannot_be_measured_is_told(self):
        nowhere = {"TMPDIR": self.path("nowhere")}
        self.assertRegex(self.ok("plan", *SIZES, env=nowhere).out, r"(?m)^before .*reading is not counted.*give --disk$")
        found = self.plan(*SIZES, env=nowhere)
        self.assertEqual((found["seconds"]["read"], found["machine"]["disk"]), (None, None))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
