#!/usr/bin/env python3
"""Ranks of MPI at length: every kind with 1, 2, 3, 4 and 8 ranks and 1 or 2 threads each (other commands: test_rank_table.py), kills at random moments and the restart after each,
three hosts in network namespaces.

Usage: test_ranks.py PATH_OF_BROAD [--kills N]. The short form is tests/cli/cli_ranks.py.
"""
import array
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "cli"))
import cli_ranks  # noqa: E402

ROWS = 100_000
# Rows from which on joint weights and wide layers are shared out: src/layer/wide_sums.c.
MANY = 263_000
WIDE = {
    "bls": ["--kind", "bls", "--preset", "paper", "--features", "4x10", "--enhance", "300x1"],
    "joint": ["--preset", "paper", "--weights", "joint", "--lambda", "auto", "--features", "3x8", "--enhance", "80x4"],
    "rvfl": ["--kind", "rvfl", "--preset", "paper", "--enhance", "280x1", "--lambda", "auto"],
    "brls": ["--kind", "brls", "--preset", "paper", "--features", "3x8", "--enhance", "520x1"],
}
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 5


class LongRanks(cli_ranks.Ranks):
    def many(self):
        path = self.path("many.csv")
        if not os.path.exists(path):
            cli_ranks.table(path, MANY)
        return path

    def test_networks_have_the_bytes_of_one_process(self):
        self.try_kinds(list(cli_ranks.KINDS), [1, 2, 3, 4, 8], [1, 2])

    def formats(self):
        """The same kind of table as NPY, IDX and CSV with text and gaps; each with its options."""
        rows, inputs, draw = 20_000, 12, random.Random(4)
        numbers = draw.randbytes(rows * inputs)
        classes = bytes((numbers[i * inputs] + numbers[i * inputs + 1] // 2) // 100 for i in range(rows))
        labels, paths = self.path("labels.idx"), [self.path(name) for name in ("data.idx", "data.npy", "data-text.csv")]
        with open(labels, "wb") as out:
            out.write(struct.pack(">BBBBI", 0, 0, 8, 1, rows) + classes)
        with open(paths[0], "wb") as out:
            out.write(struct.pack(">BBBBII", 0, 0, 8, 2, rows, inputs) + numbers)
        with open(paths[1], "wb") as out:
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {inputs}), }}".ljust(117) + "\n"
            out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
            array.array("d", (number / 255 for number in numbers)).tofile(out)
        with open(paths[2], "w") as out:
            out.write(",".join(f"x{j}" for j in range(inputs)) + ",colour,kind\n")
            for i in range(rows):
                cells = ["" if (i + j) % 53 == 0 else str(b) for j, b in enumerate(numbers[i * inputs:(i + 1) * inputs])]
                out.write(",".join(cells) + f",{('red', 'blue', 'green')[(i + i // 7000) % 3]},c{classes[i]}\n")
        return [(paths[0], ["--labels", labels]), (paths[1], ["--labels", labels]), (paths[2], [])]

    def test_formats_have_the_bytes_of_one_process(self):
        for path, options in self.formats():
            for kind in ("brls", "gcv", "auto"):
                for number in (0, 1, 2, 3, 4, 8):
                    words = [*options, *cli_ranks.KINDS[kind], "--holdout", 0.2, "--seed", 3, "--threads", 1 + number % 2, "-q"]
                    self.ok(number, "fit", path, *words, "-o", self.path(f"format-{number}"))
                    self.same("format-0", f"format-{number}")
                    self.ok(number, "predict", self.path("format-0"), path, "-q", "-o", self.path(f"predicted-{number}"))
                    self.same("predicted-0", f"predicted-{number}")
                    self.ok(number, "eval", self.path("format-0"), path, *options)
                    self.ok(number, "verify", self.path("format-0"), path, *options)

    def try_wide(self, kinds, ranks):
        """Joint weights and wide layers on many rows: the bytes, and that they are verified by ranks."""
        for kind in kinds:
            for number in (0, *ranks):
                self.ok(number, "fit", self.many(), *WIDE[kind], "--seed", 3, "-q", "-o", self.path(f"wide-{number}"))
                self.same("wide-0", f"wide-{number}")
            said = [json.loads(self.ok(number, "verify", self.path("wide-0"), self.many(), "--json")) for number in (0, ranks[-1])]
            self.assertEqual([(v["holds"], v["layers"]) for v in said], [(True, said[0]["layers"])] * 2)

    def test_joint_weights_have_the_bytes_of_one_process(self):
        """The other numbers of ranks: tests/comm/test_comm.c."""
        self.try_wide(["bls"], [2, 3])
        self.try_wide(["joint", "rvfl", "brls"], [2])

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("ip") and shutil.which("unshare"), "namespaces take root and iproute2")
    def test_hosts(self):
        """Three hosts with names, addresses and a network of their own, over TCP; nothing but files is shared."""
        agent, start = self.path("agent"), self.path("start")
        names = [f"bh{os.getpid()}n{i}" for i in (1, 2, 3)]
        bridge = f"br{os.getpid()}"
        with open(agent, "w", encoding="ascii") as out:  # in place of ssh
            out.write(f'#!/bin/sh\nhost=$1; shift\nexec ip netns exec bh{os.getpid()}n${{host##*.}} unshare -u sh -c "hostname host${{host##*.}}; $*"\n')
        os.chmod(agent, 0o755)
        with open(start, "w", encoding="ascii") as out:
            out.write(f"hostname host1\nexec mpirun --mca plm_rsh_agent {agent} --mca routed direct --mca btl tcp,self --mca btl_tcp_if_include eth0 "
                      '--mca oob_tcp_if_include eth0 --host 10.77.0.1:1,10.77.0.2:1,10.77.0.3:1 -n 3 "$@"\n')
        call = lambda *words: subprocess.run(words, check=True, capture_output=True)
        try:
            call("ip", "link", "add", bridge, "type", "bridge")
            call("ip", "link", "set", bridge, "up")
            for i, name in enumerate(names, 1):
                call("ip", "netns", "add", name)
                call("ip", "link", "add", f"v{os.getpid()}n{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
                call("ip", "link", "set", f"v{os.getpid()}n{i}", "master", bridge, "up")
                call("ip", "-n", name, "addr", "add", f"10.77.0.{i}/24", "dev", "eth0")
                call("ip", "-n", name, "link", "set", "eth0", "up")
                call("ip", "-n", name, "link", "set", "lo", "up")
            self.fit(0, "bscrls", "one-host")
            done = subprocess.run(["ip", "netns", "exec", names[0], "unshare", "-u", "sh", start, cli_ranks.BROAD, "fit", self.data,
                                   *cli_ranks.KINDS["bscrls"], "--seed", "3", "-q", "-o", self.path("hosts")],
                                  env=cli_ranks.ENVIRONMENT, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.same("one-host", "hosts")
        finally:
            for name in names:
                subprocess.run(["ip", "netns", "del", name], capture_output=True)
            subprocess.run(["ip", "link", "del", bridge], capture_output=True)

    def test_two_restarts(self):
        """Each with another number of ranks."""
        words = [*cli_ranks.KINDS["brls"][:-1]]
        self.ok(0, "fit", self.data, *words, "40x60", "--seed", 3, "--no-names", "-q", "-o", self.path("at-once"))
        self.ok(3, "fit", self.data, *words, "40x20", "--seed", 3, "--checkpoint", 7, "--no-names", "-q", "-o", self.path("twice"))
        for ranks in (2, 5):
            self.ok(ranks, "grow", self.path("twice"), self.data, "--enhance", "40x20", "--checkpoint", 3, "--no-names", "-q")
        self.same("twice", "at-once")

    @unittest.skipUnless(os.geteuid() == 0, "mounting takes root")
    def test_full_and_read_only_places(self):
        """One message, the code of one process, nothing half written, no rank left."""
        for name, how, code in (("full", "size=16k", 74), ("read-only", "size=1m", 73)):
            place = self.path(name)
            os.mkdir(place)
            subprocess.run(["mount", "-t", "tmpfs", "-o", how, "tmpfs", place], check=True)
            try:
                if name == "full":
                    with open(os.path.join(place, "filling"), "wb") as file:
                        file.write(bytes(16 * 1024))
                else:
                    subprocess.run(["mount", "-o", "remount,ro", place], check=True)
                for more in ([], ["--checkpoint", 1]):
                    words = ["fit", self.data, *cli_ranks.KINDS["brls"], "-q", *more, "-o", os.path.join(place, "m")]
                    (alone, _, said), (found, _, err) = cli_ranks.run(0, *words), cli_ranks.run(3, *words)
                    self.assertEqual((alone, found), (code, code), err)
                    self.assertEqual(err.count(said.strip()), 1, err)
                    self.assertNotIn("m", os.listdir(place))
                    self.none_is_left()
            finally:
                subprocess.run(["umount", place], check=False)

    def try_joint_traffic(self, ranks):
        """What further columns of joint weights take is what the plan says, to the byte. With this lambda nothing is refined."""
        found = []
        for nodes in (60, 300):
            words = ["--kind", "bls", "--preset", "paper", "--features", "4x10", "--enhance", f"{nodes}x1", "--lambda", 10]
            out = self.ok(ranks, "fit", self.many(), *words, "--profile", "--json", "-o", self.path("e"))
            stage = next(s for s in json.loads(out)["profile"]["stages"] if s["name"] == "exchange")
            plan = json.loads(self.ok(0, "plan", "--rows", MANY, "--inputs", 5, "--outputs", 3, *words, "--ranks", ranks, "--peak", 50,
                                      "--json"))["rank"]
            self.assertTrue(plan["divided"])
            self.assertEqual(plan["bytes_total"], plan["bytes_joint"])
            found.append((stage["bytes"] - plan["bytes_joint"], stage["calls"] - plan["messages_joint"]))
        self.assertEqual(*found)
        # What is left are the targets, which each rank reads of its own rows, predictions of the training rows, and numbers that do not
        # depend on sizes.
        self.assertLess(found[0][0] - 8 * (1 + 3) * MANY, 200)

    def test_traffic_is_as_planned(self):
        for ranks in (2, 3, 4, 5, 8):
            self.try_traffic(ranks)
        self.try_joint_traffic(3)

    def test_time_is_about_as_planned(self):
        """On one thread, in seconds of the processor, which do not count what else the machine does."""
        for enhance in ("50x20", "100x10"):
            words = ["--preset", "paper", "--kind", "brls", "--enhance", enhance, "--threads", "1"]
            plan = json.loads(self.ok(0, "plan", "--rows", ROWS, "--inputs", 5, "--outputs", 3, *words, "--json"))
            before = os.times().children_user
            self.ok(0, "fit", self.large(), *words, "-q", "-o", self.path("timed"))
            spent = os.times().children_user - before
            self.assertTrue(0.4 < spent / plan["seconds"]["total"] < 2.5, (enhance, spent, plan["seconds"]))

    def numbers(self, rows, inputs, name="numbers"):
        """A table of random numbers and its targets as NPY."""
        paths = self.path(f"{name}.npy"), self.path(f"{name}-y.npy")
        words = array.array("Q", os.urandom(8 * rows * inputs))
        values = array.array("d", (word * 2.0 ** -64 for word in words))
        for path, part, shape in zip(paths, (values, values[::inputs]), (f"({rows}, {inputs})", f"({rows},)")):
            header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
            with open(path, "wb") as out:
                out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
                part.tofile(out)
        return paths

    def test_what_comes_before_is_about_as_planned(self):
        """Copies, fingerprint and sums of columns, in seconds of the processor; on a file that is in memory, so that no disk counts."""
        rows, inputs = 1_000_000, 9
        data, labels = self.numbers(rows, inputs)
        words = ["--preset", "paper", "--features", "1x2", "--enhance", "2x1", "--scale", "standard", "--threads", "1"]
        plan = json.loads(self.ok(0, "plan", "--rows", rows, "--inputs", inputs, *words, "--json"))
        rank, machine = plan["rank"], plan["machine"]
        few, times = self.numbers(1000, inputs, "few"), [os.times().children_user]
        for table in ((data, labels), few):  # what the tool does besides is that of a small table
            self.ok(0, "fit", table[0], "--labels", table[1], *words, "--plan")
            times.append(os.times().children_user)
        spent, planned = 2 * times[1] - times[0] - times[2], rank["rows_searched"] / machine["search"]
        self.assertTrue(0.4 < spent / planned < 2.5, ("copies", spent, planned))
        found = json.loads(self.ok(0, "fit", data, "--labels", labels, *words, "--profile", "--json", "-o", self.path("timed")))
        stages = {stage["name"]: stage for stage in found["profile"]["stages"]}
        for name, amount, speed in (("hash", "bytes_hashed", "hash"), ("statistics", "bytes_summed", "sums")):
            spent, planned = stages[name]["seconds"], rank[amount] / machine[speed]
            self.assertTrue(0.4 < spent / planned < 2.5, (name, spent, planned))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("ip") and shutil.which("unshare"), "namespaces take root and iproute2")
    def test_what_all_are_told_is_as_planned(self):
        """Two ranks alone on a network: what crosses it grows with the rows by what the plan says, 8 bytes more where labels are text, and by
        the headers of TCP."""
        sent, told = [], []
        for rows in (50_000, 150_000):
            data = self.path(f"told-{rows}.csv")
            cli_ranks.table(data, rows)
            words = ["--kind", "brls", "--preset", "paper", "--features", "1x4", "--enhance", "5x2"]
            start = "ip link set lo up; \"$@\" || exit; grep lo: /proc/net/dev"
            done = subprocess.run(["unshare", "-n", "sh", "-c", start, "sh", "mpirun", "-n", "2", "--mca", "btl", "tcp,self", "--mca",
                                   "btl_tcp_if_include", "lo", cli_ranks.BROAD, "fit", data, *words, "-q", "-o", self.path("told")],
                                  env=cli_ranks.ENVIRONMENT, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            sent.append(int(done.stdout.split()[1]))
            plan = self.ok(0, "plan", "--rows", rows, "--inputs", 5, "--outputs", 3, *words, "--ranks", 2, "--peak", 50, "--json")
            told.append(json.loads(plan)["rank"]["bytes_told"] + 8 * rows)
        self.assertAlmostEqual((sent[1] - sent[0]) / (told[1] - told[0]), 1, delta=0.03)

    def large(self):
        path = self.path("large.csv")
        if not os.path.exists(path):
            cli_ranks.table(path, ROWS)
        return path

    def test_a_killed_rank_ends_the_others(self):
        """What is left of a killed run is a complete model or none; going on from it with another number of ranks gives the bytes of a run
        that was never stopped."""
        draw, hit, length = random.Random(7), 0, self.length()
        words = [*cli_ranks.KINDS["brls"][:-1], "40x400", "--seed", "3", "--checkpoint", "20", "--no-names", "-q"]
        self.ok(0, "fit", self.data, *words, "-o", self.path("whole"))
        for i in range(KILLS):
            path = self.path("killed")
            for left in (path, path + "~"):
                if os.path.exists(left):
                    os.remove(left)
            hit += self.kill_one(draw.uniform(0.1, 1) * length, draw.randrange(3), "killed")
            if not os.path.exists(path):
                continue
            layers = 400 - self.layers(path)
            if layers:
                self.ok(draw.choice([0, 2, 3]), "grow", path, self.data, "--enhance", f"40x{layers}", "--no-names", "-q")
            self.same("killed", "whole")
        self.assertGreater(hit, KILLS // 3, "too few of the runs were still under way")

    def layers(self, path):
        return len(json.loads(self.ok(0, "info", path, "--json"))["layers"])


if __name__ == "__main__":
    reason = cli_ranks.missing()
    if reason:
        print(reason)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + [word for word in sys.argv[2:] if word.startswith("LongRanks.")], defaultTest="LongRanks")
