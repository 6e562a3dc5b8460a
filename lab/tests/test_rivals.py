#!/usr/bin/env python3
"""lab/rivals: learning rules against enumeration of small machines, every rival on a problem it can learn, and the program:
what it writes, that it goes on where it was stopped, and what it says about bad input.

Needs PyTorch; without it the exit status is 77.
"""
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
PROGRAM = ROOT / "lab" / "rivals" / "run.py"
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True

try:
    import numpy as np
    import torch
    import torchvision  # noqa: F401
except ImportError as missing:
    print(f"{missing.name} is not installed (Debian: python3-torch, python3-torchvision): the rivals are not tested")
    sys.exit(77)

from bench.measures import verdict_measures  # noqa: E402
from lab.rivals import boltzmann, networks  # noqa: E402
from lab.rivals.data import Folder  # noqa: E402
from lab.rivals.train import DECAY, Adam, Descent, Diverged, Trainer, fine_tune, minimise  # noqa: E402

CPU = torch.device("cpu")
torch.set_num_threads(1)


def states(count):
    return torch.tensor(list(itertools.product([0.0, 1.0], repeat=count)))


def randomise(machine, scale=1.0):
    for parameter in machine.parameters:
        parameter.copy_(scale * torch.randn_like(parameter))


def make_folder(path, side=64, photos=24, copies=1, splits=2, gap=0.35):
    """Stripes of noise, red ones and blue ones; photos come in groups of two."""
    rng = np.random.default_rng(1)
    labels = ["Blue" if i // 2 % 2 else "Red" for i in range(photos)]
    pixels = rng.uniform(0, 1 - gap, (photos, 1 + copies, 128, 128, 3))
    for i, label in enumerate(labels):
        pixels[i, ..., 0 if label == "Red" else 2] += gap
    path.mkdir(parents=True, exist_ok=True)
    for size in (64, 128):
        np.save(path / f"pixels-{size}.npy", (255 * pixels[:, :, :size, :size]).astype(np.uint8))
    test = [list(range(0, photos // 3)), list(range(photos - photos // 3, photos))]
    about = {"classes": ["Blue", "Red"], "positive": "Red", "copies": copies, "fingerprint": "noise",
             "photos": [{"file": f"{i}.png", "label": label, "group": str(i // 2)} for i, label in enumerate(labels)],
             "splits": [{"seed": s, "train": [i for i in range(photos) if i not in test[s]], "test": test[s]}
                        for s in range(splits)]}
    (path / "photos.json").write_text(json.dumps(about), encoding="utf-8")
    return path


class Boltzmann(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        self.machine = boltzmann.RBM(4, 3, CPU)
        randomise(self.machine, 1.5)
        self.data = states(4)[[1, 3, 7, 7, 12]]

    def energy_gradient(self, v, h):
        """Of -E, summed over nothing: one of each pair."""
        return [v[:, :, None] * h[:, None, :], v, h]

    def joint(self):
        """All pairs of states and their probabilities."""
        v, h = states(4).repeat_interleave(8, 0), states(3).repeat(16, 1)
        weight, a, b = self.machine.parameters
        minus = (v @ weight * h).sum(1) + v @ a + h @ b
        return v, h, torch.softmax(minus, 0)

    def mean(self, v, h, probability):
        return [(probability.reshape(-1, *[1] * (g.dim() - 1)) * g).sum(0) for g in self.energy_gradient(v, h)]

    def posterior(self, v):
        """Mean of the gradient over h given each row of v, then over the rows; by the joint table alone."""
        total = None
        all_v, all_h, probability = self.joint()
        for row in v:
            given = torch.where((all_v == row).all(1), probability, torch.zeros(()))
            found = self.mean(all_v, all_h, given / given.sum())
            total = found if total is None else [t + f for t, f in zip(total, found)]
        return [t / len(v) for t in total]

    def close(self, found, wanted, tolerance):
        for f, w in zip(found, wanted):
            self.assertLess(float((f - w).abs().max()), tolerance)

    def test_many_steps_of_contrastive_divergence_are_the_gradient_of_the_likelihood(self):
        wanted = [m - d for d, m in zip(self.posterior(self.data), self.mean(*self.joint()))]
        found, _ = self.machine.gradient(self.data.repeat(6000, 1), steps=60, sampled=True)
        self.close(found, wanted, 0.015)
        self.assertGreater(max(float(w.abs().max()) for w in wanted), 0.1)

    def test_one_step_against_all_paths(self):
        """Data to h to v to the mean of h: every h and v there is, with its probability."""
        v, h, _ = self.joint()
        weight, a, b = self.machine.parameters
        model = None
        for row in self.data:
            up = torch.sigmoid(row @ weight + b)
            hidden = torch.prod(torch.where(h == 1, up, 1 - up), 1)
            down = torch.sigmoid(h @ weight.t() + a)
            path = hidden * torch.prod(torch.where(v == 1, down, 1 - down), 1)
            found = self.mean(v, torch.sigmoid(v @ weight + b), path)
            model = found if model is None else [m + f for m, f in zip(model, found)]
        wanted = [m / len(self.data) - d for d, m in zip(self.posterior(self.data), model)]
        found, _ = self.machine.gradient(self.data.repeat(8000, 1), sampled=True)
        self.close(found, wanted, 0.015)

    def test_gaussian_units_learn_their_mean(self):
        data = torch.randn(400, 6) + torch.arange(6.0)
        machine = boltzmann.RBM(6, 3, CPU, gaussian=True)
        machine.learn(Trainer(CPU, 20), "RBM", data, 0.01)
        again = machine.visible_mean(machine.hidden_mean(data)).mean(0)
        self.assertLess(float((again - data.mean(0)).abs().max()), 0.2)

    def test_a_fuzzy_machine_whose_bounds_are_the_same_is_the_plain_one(self):
        data = torch.rand(64, 10)
        torch.manual_seed(3)
        plain = boltzmann.RBM(10, 5, CPU)
        torch.manual_seed(3)
        fuzzy = boltzmann.FuzzyRBM(10, 5, CPU, width=0)
        for left, right, parameter in zip(fuzzy.left.parameters, fuzzy.right.parameters, plain.parameters):
            left.copy_(parameter)
            right.copy_(parameter)
        for machine in (plain, fuzzy):
            torch.manual_seed(4)
            machine.learn(Trainer(CPU, 3), "RBM", data, 0.05)
        for left, right, parameter in zip(fuzzy.left.parameters, fuzzy.right.parameters, plain.parameters):
            self.assertTrue(torch.equal(left, right))
            self.assertLess(float((left - parameter).abs().max()), 1e-5)
        self.assertGreater(float(plain.weight.abs().max()), 0.05)

    def test_bounds_of_a_fuzzy_machine_part_and_never_cross(self):
        machine = boltzmann.FuzzyRBM(10, 5, CPU, width=0.5)
        before = machine.right.weight - machine.left.weight
        machine.learn(Trainer(CPU, 5), "RBM", torch.rand(64, 10), 0.05)
        after = machine.right.weight - machine.left.weight
        self.assertGreaterEqual(float(after.min()), 0)
        self.assertGreater(float((after - before).abs().max()), 1e-3)

    def deep(self, scale):
        machine = boltzmann.DBM(boltzmann.RBM(4, 3, CPU), boltzmann.RBM(3, 2, CPU), states(4))
        randomise(machine, scale)
        return machine

    def deep_minus_energy(self, machine, v, h1, h2):
        return ((v @ machine.w1) * h1).sum(-1) + ((h1 @ machine.w2) * h2).sum(-1) + v @ machine.a + h1 @ machine.b1 + \
            h2 @ machine.b2

    def test_mean_field_of_a_deep_machine(self):
        """Where the layers hardly pull at each other it is the exact posterior; anywhere it is a top of the bound."""
        h1, h2 = states(3).repeat_interleave(4, 0), states(2).repeat(8, 1)
        for scale, near in ((0.3, 0.01), (1.5, None)):
            machine = self.deep(scale)
            for v in states(4):
                minus = self.deep_minus_energy(machine, v.expand(32, 4), h1, h2)
                exact, evidence = torch.softmax(minus, 0), torch.logsumexp(minus, 0)
                m1, m2 = machine.mean_field(v[None], 200)
                if near:
                    self.assertLess(float((m1[0] - exact @ h1).abs().max()), near)
                    self.assertLess(float((m2[0] - exact @ h2).abs().max()), near)
                logits = [torch.logit(m[0]).requires_grad_() for m in (m1, m2)]
                q1, q2 = map(torch.sigmoid, logits)
                chance = torch.prod(torch.where(h1 == 1, q1, 1 - q1), 1) * torch.prod(torch.where(h2 == 1, q2, 1 - q2), 1)
                bound = (chance * (minus - chance.log())).sum()
                self.assertLessEqual(float(bound.detach()), float(evidence) + 1e-5)
                for slope in torch.autograd.grad(bound, logits):
                    self.assertLess(float(slope.abs().max()), 1e-4)

    def test_chains_of_a_deep_machine_have_its_moments(self):
        machine = self.deep(0.8)
        v, h1, h2 = (torch.tensor(part) for part in zip(*[(a, b, c) for a in states(4).tolist() for b in states(3).tolist()
                                                          for c in states(2).tolist()]))
        chance = torch.softmax(self.deep_minus_energy(machine, v, h1, h2), 0)
        at_v, at_h2 = torch.zeros(40000, 4), torch.zeros(40000, 2)
        for _ in range(60):
            at_v, at_h1, at_h2 = machine.gibbs(at_v, at_h2)
        found = machine.moments(at_v, machine.h1_mean(at_v, at_h2), at_h2)
        wanted = (v.t() @ (chance[:, None] * h1), h1.t() @ (chance[:, None] * h2), chance @ v, chance @ h1, chance @ h2)
        self.close(found, wanted, 0.015)


    def test_draws_from_what_is_not_finite(self):
        """Have to be possible: the loss says that it diverged, at the end of the epoch."""
        self.assertEqual(boltzmann.draw(torch.tensor([0.0, 1.0, math.nan])).tolist(), [0, 1, 0])


class Training(unittest.TestCase):
    def test_optimisers_are_those_of_torch(self):
        for name, ours, theirs in (("SGD", Descent, lambda p: torch.optim.SGD(p, 0.05, momentum=0.9)),
                                   ("Adam", Adam, lambda p: torch.optim.Adam(p, 0.05))):
            start = [torch.randn(3, 4), torch.randn(4)]
            sides = [[p.clone().requires_grad_() for p in start] for _ in range(2)]
            own, other = ours(sides[0]), theirs(sides[1])
            for step in range(5):
                for parameters in sides:
                    loss = ((parameters[0] @ parameters[1]) ** 2).sum() * (step + 1)
                    gradients = torch.autograd.grad(loss, parameters)
                    if parameters is sides[0]:
                        own.step(list(gradients), torch.tensor(0.05))
                    else:
                        for p, g in zip(parameters, gradients):
                            p.grad = g
                        other.step()
            for a, b in zip(*sides):
                self.assertLess(float((a - b).detach().abs().max()), 1e-4, name)

    def test_rates_batches_and_epochs(self):
        seen, rates = [], []

        def step(numbers, speed):
            seen.append(numbers.tolist())
            rates.append(float(speed))
            return torch.ones(())

        loss = Trainer(CPU, 3).fit("p", step, 37, 0.01, [])
        self.assertEqual((loss, len(seen)), (1.0, 6))
        self.assertTrue(all(len(set(seen[i] + seen[i + 1])) == 32 for i in (0, 2, 4)))
        self.assertNotEqual(seen[:2], seen[2:4])
        for epoch in range(3):
            self.assertAlmostEqual(rates[2 * epoch], 0.01 * DECAY ** epoch, places=8)

    def test_what_is_not_finite_ends_the_training(self):
        parameter = torch.ones(1, requires_grad=True)
        with self.assertRaisesRegex(Diverged, "p, epoch [1-9]"):
            minimise(Trainer(CPU, 50), "p", lambda numbers: (parameter ** 4).sum() * len(numbers), [parameter], 64, 10.0)

    def test_steps_alone_stand_for_all(self):
        count = []
        trainer = Trainer(CPU, 50, sample=2)
        trainer.clock.start()
        trainer.fit("p", lambda numbers, speed: count.append(1) or torch.ones(()), 160, 0.01, [])
        trainer.clock.stop()
        self.assertEqual(len(count), 3)

    @unittest.skipUnless(torch.cuda.is_available(), "no GPU")
    def test_graphs_do_the_same(self):
        results = []
        for graphs in (False, True):
            torch.manual_seed(1)
            network = networks.Layers((20, 30, 2), torch.relu).cuda()
            x, y = torch.rand(64, 20, device="cuda"), torch.arange(64, device="cuda") % 2
            trainer = Trainer(torch.device("cuda"), 5, graphs=graphs)
            results.append(fine_tune(trainer, network, x, y, 0.1))
            self.assertEqual(trainer.graphs, graphs)
        self.assertAlmostEqual(*results, places=4)


class Rivals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="broad-rivals-test-")
        cls.folder = Folder(make_folder(pathlib.Path(cls.scratch.name) / "data"))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def accuracy(self, name, epochs, side, rate):
        torch.manual_seed(2)
        flat = networks.RIVALS[name][0] == networks.FLAT
        train, test = self.folder.splits[0]
        x, y = self.folder.rows(train, side, flat, True, CPU)
        network, loss = networks.RIVALS[name][1](Trainer(CPU, epochs, batch=8), x, y, 2, *reversed(rate))
        self.assertTrue(math.isfinite(loss), name)
        network.eval()
        x, y = self.folder.rows(test, side, flat, False, CPU)
        with torch.no_grad():
            return float((network(network.prepare(x)).argmax(1) == y).float().mean())

    def test_older_ones_learn(self):
        """Small ones, for time's sake."""
        sizes = {"HIDDEN": (60, 40, 30), "DBM_HIDDEN": (60, 40), "FUZZY_HIDDEN": 60}
        with unittest.mock.patch.multiple(networks, **sizes):
            for name in ("SAE", "SDA", "DBN", "DBM", "MLP", "FRBM"):
                with self.subTest(name):
                    self.assertGreaterEqual(self.accuracy(name, 10, 64, ("SGD", 0.05)), 0.8)

    def test_convolutional_ones_learn(self):
        for name, epochs, rate in (("ResNet", 6, ("SGD", 0.01)), ("MobileNet", 6, ("SGD", 0.05))):
            with self.subTest(name):
                self.assertGreaterEqual(self.accuracy(name, epochs, 64, rate), 0.8)

    def test_others_take_a_step(self):
        """VGG is left out: drawing its 134 million weights takes longer than all of these tests."""
        x, y = self.folder.rows(self.folder.splits[0][0][:4], 64, False, False, CPU)
        for name in ("AlexNet", "EfficientNet"):
            network, loss = networks.RIVALS[name][1](Trainer(CPU, 1, batch=4), x, y, 2, 0.01, "SGD")
            self.assertTrue(math.isfinite(loss), name)
            self.assertEqual(network.eval()(network.prepare(x)).shape, (4, 2))

    @unittest.skipUnless(torch.cuda.is_available(), "no GPU")
    def test_every_rival_is_recorded_as_a_graph(self):
        for name, (side, learn) in networks.RIVALS.items():
            with self.subTest(name):
                torch.manual_seed(1)
                x, y = self.folder.rows(self.folder.splits[0][0], side, side == networks.FLAT, True, torch.device("cuda"))
                losses = []
                for graphs in (False, True):
                    torch.manual_seed(1)
                    trainer = Trainer(torch.device("cuda"), 2, graphs=graphs)
                    losses.append(learn(trainer, x, y, 2, 0.001, "SGD")[1])
                    self.assertEqual(trainer.graphs, graphs)
                self.assertLess(abs(losses[0] - losses[1]), 0.1 * losses[0], losses)

    def test_photos_kept_apart_are_whole_groups_of_the_training_part(self):
        for split, (train, _) in self.folder.splits.items():
            kept, apart = self.folder.apart(split)
            self.assertEqual(sorted(kept + apart), sorted(train))
            self.assertTrue(apart)
            self.assertFalse({self.folder.groups[i] for i in kept} & {self.folder.groups[i] for i in apart})

    def test_rows(self):
        x, y = self.folder.rows([3, 4], 64, True, True, CPU)
        self.assertEqual((tuple(x.shape), y.tolist()), ((4, 12288), [0, 0, 1, 1]))
        pixels = np.load(self.folder.path / "pixels-64.npy")[[3, 4]].reshape(4, -1) / 255
        self.assertLess(float(np.abs(pixels - x.numpy()).max()), 1e-6)


class Program(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="broad-rivals-test-")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.results = self.root / "out" / "lines"

    def run_it(self, *words, folder=None, code=0):
        words = [folder or self.root / "data", "--results", self.results, "--device", "cpu", *words]
        done = subprocess.run([sys.executable, PROGRAM, *map(str, words)], capture_output=True, text=True, check=False,
                              env={**os.environ, "OMP_NUM_THREADS": "1"})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def lines(self):
        return [json.loads(line) for line in self.results.read_text(encoding="utf-8").splitlines()]

    def test_lines_and_going_on(self):
        make_folder(self.root / "data", gap=0.6)
        self.run_it("--only", "MLP", "--epochs", 3, "--splits", "0")
        first = self.results.read_text(encoding="utf-8")
        self.assertEqual(len(self.lines()), 1)
        self.run_it("--only", "MLP", "--epochs", 3)
        self.assertTrue(self.results.read_text(encoding="utf-8").startswith(first))
        found = self.lines()
        self.assertEqual([(r["rival"], r["split"], r["rate_rule"], r["rate"]) for r in found],
                         [("MLP", s, "paper", 0.01) for s in (0, 1)])
        for result in found:
            self.assertEqual(result["accuracy"], 1.0)
            self.assertEqual((result["recall"], result["false_positive"], result["trained"]), (1.0, 0.0, True))
            self.assertEqual(result["parameters"], 12288 * 500 + 500 + 500 * 500 + 500 + 500 * 200 + 200 + 402)
            self.assertGreater(result["seconds"], 0)
        self.results.unlink()
        self.run_it("--only", "MLP", "--epochs", 3, "--splits", "0")
        again = self.lines()[0]
        self.assertEqual({**again, "seconds": 0}, {**found[0], "seconds": 0})

    def test_a_rival_that_does_not_train_gets_a_chosen_rate(self):
        """Nothing can be learned from noise whose labels are drawn, within two epochs."""
        make_folder(self.root / "data", gap=0.0)
        done = self.run_it("--only", "MLP", "--epochs", 1, "--splits", "0")
        self.assertIn("also with a chosen rate, as they did not train at the paper's: MLP", done.stdout)
        paper, fair = self.lines()
        self.assertEqual((paper["trained"], paper["rate_rule"], fair["rate_rule"]), (False, "paper", "fair"))
        best = max(fair["tried"], key=lambda one: (one["accuracy"], -one["loss"]))
        self.assertEqual((fair["optimiser"], fair["rate"]), (best["optimiser"], best["rate"]))
        self.assertEqual(len(fair["tried"]), 5)

    def test_steps_only(self):
        make_folder(self.root / "data")
        self.run_it("--only", "MLP", "--steps-only", 1, "--jobs", 2)
        result, = self.lines()
        self.assertTrue(result["extrapolated"])
        self.assertIsNone(result["accuracy"])

    def test_messages(self):
        self.assertIn("photos.json is not there; make the folder with", self.run_it(code=1).stderr)
        folder = make_folder(self.root / "data", photos=12)
        self.assertIn("no 'Net'; there are SAE,", self.run_it("--only", "Net", code=2).stderr)
        self.assertIn("no split 7 in", self.run_it("--splits", "7", code=1).stderr)
        np.save(folder / "pixels-64.npy", np.zeros((2, 2), np.uint8))
        done = self.run_it("--only", "MLP", "--quick", code=1)
        self.assertIn("not uint8 (12, 2, 64, 64, 3) as photos.json says", done.stderr)
        (folder / "photos.json").write_text("{}", encoding="utf-8")
        self.assertIn("not as 'lab/run_experiments tables --export' writes it", self.run_it(code=1).stderr)


class Measures(unittest.TestCase):
    def test_verdicts_against_plain_formulas(self):
        truth, predicted = [1] * 7 + [0] * 5, [1] * 5 + [0] * 2 + [1] * 2 + [0] * 3
        found = verdict_measures(predicted, truth, 1)
        precision, recall = 5 / 7, 5 / 7
        wanted = {"accuracy": 8 / 12, "precision": precision, "recall": recall, "false_positive": 2 / 5, "false_negative": 2 / 7,
                  "f1": 2 * precision * recall / (precision + recall)}
        self.assertEqual(set(found), set(wanted))
        for name, value in wanted.items():
            self.assertAlmostEqual(found[name], value, places=12)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
