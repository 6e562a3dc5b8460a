#!/usr/bin/env python3
"""The whole table of ranks: every kind, by every command that runs on all ranks, with 1 to 8 ranks of 1 or 2 threads each, against a run
without MPI: bytes of models and predictions, every figure of eval, and the verdict of verify. What verify computes anew adds up rows in an
order of its own, which depends on threads: its figures agree to nine digits.

Usage: test_rank_table.py PATH_OF_BROAD [--whole]. Without --whole each kind and command is tried with one number of ranks and threads, another
for each, so that all numbers occur.
"""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "cli"))
import cli_ranks  # noqa: E402

WHOLE = "--whole" in sys.argv
MANNERS = [(ranks, threads) for ranks in range(1, 9) for threads in (1, 2)]
COMMANDS = ("fit", "grow", "learn", "predict", "eval", "verify")
# What differs from run to run, whatever the ranks: times, and the names of files.
PASSING = {"seconds", "rows_per_second", "profile", "output", "model", "time", "threads"}


def lasting(value):
    if isinstance(value, dict):
        return {name: lasting(part) for name, part in value.items() if name not in PASSING}
    return [lasting(part) for part in value] if isinstance(value, list) else value


def agree(one, other, digits):
    """Equal, but for numbers, which differ by rounding where digits are given."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(one[name], other[name], digits) for name in one)
    if isinstance(one, float) and isinstance(other, float) and digits:
        return abs(one - other) <= 10.0 ** -digits * max(1, abs(one))
    return one == other


class Table(cli_ranks.Ranks):
    def words(self, command, kind, out):
        """A model of this kind without MPI is there, by the name of the kind."""
        model = self.path(kind)
        return {
            "fit": ["fit", self.data, *cli_ranks.KINDS[kind], "--seed", 3, "-q", "-o", out],
            "grow": ["grow", model, self.data, "--enhance", "10x1", "-q", "-o", out],
            "learn": ["learn", model, self.more, "--with", self.data, "--enhance", "10x1", "-q", "-o", out],
            "predict": ["predict", model, self.data, "-q", "-o", out],
            "eval": ["eval", model, self.data, "--json"],
            "verify": ["verify", model, self.data, "--json"],
        }[command]

    def outcome(self, ranks, threads, command, kind):
        """Exit code, the file, and what was said."""
        out = self.path("out")
        if os.path.exists(out):
            os.remove(out)
        words = self.words(command, kind, out) + (["--threads", threads] if threads else [])
        code, said, err = cli_ranks.run(ranks, *words)
        content = pathlib.Path(out).read_bytes() if os.path.exists(out) else None
        return {"code": code, "file": content, "said": lasting(json.loads(said)) if said else err.splitlines()[:1]}

    def test_the_table(self):
        turn = 0
        for kind in cli_ranks.KINDS:
            turn += 1  # other numbers of threads for the same command
            self.fit(0, kind, kind)
            for command in COMMANDS:
                alone = self.outcome(0, None, command, kind)
                self.assertEqual(alone["code"], 0, (kind, command, alone["said"]))
                turn += 5  # no divisor of the number of manners: all of them come
                for ranks, threads in MANNERS if WHOLE else [MANNERS[turn % len(MANNERS)]]:
                    with self.subTest(kind=kind, command=command, ranks=ranks, threads=threads):
                        found = self.outcome(ranks, threads, command, kind)
                        self.assertTrue(agree(alone, found, 9 if command == "verify" else 0), (alone["said"], found["said"]))
                print(f"{kind} {command}", flush=True)


if __name__ == "__main__":
    reason = cli_ranks.missing()
    if reason:
        print(reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], defaultTest="Table.test_the_table")
