"""Training that never waits for the device within an epoch.

A phase of training is a step that is done again and again. The step takes the numbers of a batch of rows and a rate, both on
the device, and changes its own tensors. On a GPU it is recorded once as a CUDA graph and then replayed, because these networks
are so small that starting their kernels one by one takes longer than the kernels do; elsewhere it is called. Every epoch takes
the rows in a new order, in whole batches: the remainder, less than one batch, sits out that epoch, on both paths alike.
"""
import contextlib
import math
import sys
import time

import torch

BATCH, DECAY, MOMENTUM = 16, 0.95, 0.9
WARM_UP = 3  # steps before a recording, in which libraries choose their kernels


class Diverged(Exception):
    """A loss that is no finite number."""


class Clock:
    """Seconds of training, on a device that has done its work; not of what has to be set up first."""

    def __init__(self, device):
        self.device, self.spent, self.began = device, 0.0, None

    def wait(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def start(self):
        self.wait()
        self.began = time.perf_counter()

    def stop(self):
        self.wait()
        self.spent += time.perf_counter() - self.began
        self.began = None

    @contextlib.contextmanager
    def stopped(self):
        """Also before the clock was ever started."""
        running = self.began is not None
        if running:
            self.stop()
        yield
        if running:
            self.start()


class Trainer:
    """`sample`: only as many steps of each phase are done, and its seconds are those of all of them, extrapolated from these."""

    def __init__(self, device, epochs, batch=BATCH, graphs=True, sample=None):
        self.device, self.epochs, self.batch, self.sample = device, epochs, batch, sample
        self.graphs = graphs and device.type == "cuda" and hasattr(torch.cuda, "CUDAGraph")
        self.clock = Clock(device)

    def fit(self, phase, step, rows, rate, state):
        """Mean loss of the last epoch. `state` names every tensor that a step changes."""
        batch, device = min(self.batch, rows), self.device
        order = torch.arange(rows, device=device)
        offsets, place = torch.arange(batch, device=device), torch.zeros((), dtype=torch.int64, device=device)
        speed, total = torch.full((), rate, device=device), torch.zeros((), device=device)

        def one():
            total.add_(step(order.index_select(0, offsets + place), speed))
            place.add_(batch)

        if self.sample:
            return self.reckon(one, rows // batch * self.epochs, place)
        with self.clock.stopped():
            go = self.record(one, [*state, place, total])
        loss = 0.0
        for epoch in range(self.epochs):
            order.copy_(torch.randperm(rows, device=device))
            place.zero_()
            total.zero_()
            speed.fill_(rate * DECAY ** epoch)
            for _ in range(rows // batch):
                go()
            loss = float(total) / (rows // batch)
            if not math.isfinite(loss):
                raise Diverged(f"{phase}, epoch {epoch + 1} of {self.epochs}")
        return loss

    def reckon(self, one, steps, place):
        with self.clock.stopped():
            for number in range(1 + self.sample):
                place.zero_()
                one()
                if number == 0:
                    self.clock.wait()
                    began = time.perf_counter()
            self.clock.wait()
            seconds = (time.perf_counter() - began) / self.sample
        self.clock.spent += seconds * steps
        return 0.0

    def record(self, one, state):
        """A function that does one step, and leaves no trace of having been made: neither in the tensors nor in the random
        numbers."""
        if not self.graphs:
            return one
        before = [tensor.detach().clone() for tensor in state]
        random = torch.cuda.get_rng_state(self.device)
        try:
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(WARM_UP):
                    state[-2].zero_()  # the place: a warm-up never runs past the last row
                    one()
            torch.cuda.current_stream().wait_stream(side)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                one()
            go = graph.replay
        except RuntimeError as error:
            print(f"rivals: no CUDA graph, so steps are done one by one: {str(error).splitlines()[0]}", file=sys.stderr)
            self.graphs, go = False, one
        torch.cuda.set_rng_state(random, self.device)
        with torch.no_grad():
            for tensor, old in zip(state, before):
                tensor.copy_(old)
        return go


def subtract(parameters, changes, rate):
    """rate is a tensor: a recorded step must not have its value built in."""
    try:
        changes = torch._foreach_mul(changes, rate)
    except (RuntimeError, TypeError):  # torch 1 takes numbers alone
        changes = [change * rate for change in changes]
    torch._foreach_sub_(parameters, changes)


class Descent:
    """Stochastic gradient descent with momentum: m <- 0.9 m + g, p <- p - rate m."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.moments = [torch.zeros_like(p, requires_grad=False) for p in self.parameters]
        self.state = self.moments

    def step(self, gradients, rate):
        with torch.no_grad():
            torch._foreach_mul_(self.moments, MOMENTUM)
            torch._foreach_add_(self.moments, gradients)
            subtract(self.parameters, self.moments, rate)


class Adam:
    """Kingma and Ba, 2015, with the usual 0.9, 0.999 and 1e-8."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.first, self.second = ([torch.zeros_like(p, requires_grad=False) for p in self.parameters] for _ in range(2))
        self.powers = [torch.ones((), device=self.parameters[0].device) for _ in range(2)]  # 0.9^t and 0.999^t
        self.state = [*self.first, *self.second, *self.powers]

    def step(self, gradients, rate):
        with torch.no_grad():
            for power, beta in zip(self.powers, (0.9, 0.999)):
                power.mul_(beta)
            torch._foreach_mul_(self.first, 0.9)
            torch._foreach_add_(self.first, gradients, alpha=0.1)
            torch._foreach_mul_(self.second, 0.999)
            torch._foreach_addcmul_(self.second, gradients, gradients, value=0.001)
            spread = torch._foreach_sqrt(self.second)
            torch._foreach_add_(spread, 1e-8)
            changes = torch._foreach_div(self.first, spread)
            subtract(self.parameters, changes, rate * torch.sqrt(1 - self.powers[1]) / (1 - self.powers[0]))


OPTIMISERS = {"SGD": Descent, "Adam": Adam}


def minimise(trainer, phase, loss_of, parameters, rows, rate, optimiser="SGD", buffers=()):
    """By back propagation; loss_of takes the numbers of the rows."""
    parameters = list(parameters)
    method = OPTIMISERS[optimiser](parameters)

    def step(numbers, speed):
        loss = loss_of(numbers)
        method.step(list(torch.autograd.grad(loss, parameters)), speed)
        return loss.detach()

    return trainer.fit(phase, step, rows, rate, [*parameters, *buffers, *method.state])


def fine_tune(trainer, network, inputs, labels, rate, optimiser="SGD"):
    """All of the network, for the classes."""
    network.train()

    def loss_of(numbers):
        scores = network(inputs.index_select(0, numbers))
        return torch.nn.functional.cross_entropy(scores, labels.index_select(0, numbers))

    return minimise(trainer, "training", loss_of, network.parameters(), len(inputs), rate, optimiser, network.buffers())
