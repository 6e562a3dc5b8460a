"""Boltzmann machines: restricted (RBM), deep (DBM) and fuzzy (FRBM).

Units are v (visible) and h (hidden). An RBM has the energy E(v, h) = -v'Wh - a'v - b'h, and its free energy is
F(v) = -a'v - sum_j log(1 + exp(b_j + v'W_j)). All go down the gradient of the mean of F over the data less its mean over the
model, the second by Gibbs sampling. Gradients are of what gets smaller, as those of back propagation are. Numbers in [0, 1]
stand for probabilities of units that are 0 or 1.
"""
import torch

from lab.rivals.train import Descent


def draw(probability):
    """Not torch.bernoulli, which ends a process on a GPU when a machine has diverged and a probability is not finite."""
    return (torch.rand_like(probability) < probability).to(probability.dtype)


class Machine:
    """`parameters` are changed in place by learning. A subclass has means both ways and `moments(v)`, the gradient of -F."""

    def hidden_mean(self, v):
        raise NotImplementedError

    def visible_mean(self, h):
        raise NotImplementedError

    def moments(self, v):
        raise NotImplementedError

    def after_step(self):
        """What has to hold for the parameters."""

    def gradient(self, v, steps=1, sampled=False):
        """Contrastive divergence with so many steps, CD-1 unless said. Reconstructions that are not sampled are probabilities,
        which is usual for brightness: less noise, and no chain is kept that would need samples."""
        data, h = self.moments(v), draw(self.hidden_mean(v))
        for step in range(steps):
            again = self.visible_mean(h)
            if sampled and not self.gaussian:
                again = draw(again)
            if step + 1 < steps:
                h = draw(self.hidden_mean(again))
        model = self.moments(again)
        error = ((v - again) ** 2).mean()
        return [(m - d) / len(v) for d, m in zip(data, model)], error

    def learn(self, trainer, phase, inputs, rate):
        """Mean squared error of the reconstructions in the last epoch."""
        method = Descent(self.parameters)

        def step(numbers, speed):
            gradients, error = self.gradient(inputs.index_select(0, numbers))
            method.step(gradients, speed)
            self.after_step()
            return error

        with torch.no_grad():
            return trainer.fit(phase, step, len(inputs), rate, [*self.parameters, *method.state])


class RBM(Machine):
    """`up` and `down` are 2 where a layer of a deep machine learns alone and its input from the other side is still missing.
    `gaussian`: visible units are real, of unit variance."""

    def __init__(self, visible, hidden, device, gaussian=False, up=1, down=1):
        self.gaussian, self.up, self.down = gaussian, up, down
        self.weight = 0.01 * torch.randn(visible, hidden, device=device)
        self.a, self.b = torch.zeros(visible, device=device), torch.zeros(hidden, device=device)
        self.parameters = [self.weight, self.a, self.b]

    def start_at(self, inputs):
        """The bias of a visible unit gives its mean when all others are silent (Hinton, 2010)."""
        mean = inputs.mean(0)
        self.a.copy_(mean if self.gaussian else torch.logit(mean, 0.01))
        return self

    def hidden_mean(self, v):
        return torch.sigmoid(self.up * (v @ self.weight) + self.b)

    def visible_mean(self, h):
        field = self.down * (h @ self.weight.t()) + self.a
        return field if self.gaussian else torch.sigmoid(field)

    def moments(self, v):
        h = self.hidden_mean(v)
        return v.t() @ h, v.sum(0), h.sum(0)


class FuzzyRBM(Machine):
    """Chen, Zhang, Chen and Gan, 2015: every weight and bias is a symmetric triangular fuzzy number, given by its left and
    right bound. The fuzzy free energy is made a number by its centre, (F(v, left) + F(v, right)) / 2, so each bound goes down
    its own part of the gradient, and units are drawn with the mean of the two probabilities. The factor 1/2 is left to the
    rate: where both bounds are the same, this is the RBM step by step."""
    gaussian = False

    def __init__(self, visible, hidden, device, width=None):
        self.left = RBM(visible, hidden, device)
        self.right = RBM(visible, hidden, device)
        # Inputs are not negative, so the widths of a unit's weights add up: over inputs of mid grey, to about 1/2.
        width = 2 / visible if width is None else width
        for left, right in zip(self.left.parameters, self.right.parameters):
            right.copy_(left)
            half = 0.5 * width * torch.rand_like(left)
            left.sub_(half)
            right.add_(half)
        self.parameters = [*self.left.parameters, *self.right.parameters]

    def start_at(self, inputs):
        for side in (self.left, self.right):
            side.start_at(inputs)
        return self

    def hidden_mean(self, v):
        return (self.left.hidden_mean(v) + self.right.hidden_mean(v)) / 2

    def visible_mean(self, h):
        return (self.left.visible_mean(h) + self.right.visible_mean(h)) / 2

    def moments(self, v):
        return [*self.left.moments(v), *self.right.moments(v)]

    def after_step(self):
        """A left bound is never right of its right one."""
        for left, right in zip(self.left.parameters, self.right.parameters):
            low = torch.minimum(left, right)
            right.copy_(torch.maximum(left, right))
            left.copy_(low)


class DBM:
    """Two hidden layers, E = -v'W1 h1 - h1'W2 h2 - a'v - b1'h1 - b2'h2 (Salakhutdinov and Hinton, 2009)."""
    FIELD_STEPS, CHAINS = 10, 64

    def __init__(self, below, above, start):
        """From the RBMs that the layers were learned with, one by one. Chains begin at rows of `start`, over and over: from
        pure noise they would first teach the machine what noise looks like."""
        self.w1, self.a, self.b1 = (p.clone() for p in below.parameters)
        self.w2, self.b2 = above.weight.clone(), above.b.clone()
        self.parameters = [self.w1, self.w2, self.a, self.b1, self.b2]
        self.v = draw(start[torch.arange(self.CHAINS, device=start.device) % len(start)])
        self.h2 = draw(self.mean_field(self.v)[1])

    def h1_mean(self, v, h2):
        return torch.sigmoid(v @ self.w1 + h2 @ self.w2.t() + self.b1)

    def h2_mean(self, h1):
        return torch.sigmoid(h1 @ self.w2 + self.b2)

    def mean_field(self, v, steps=FIELD_STEPS):
        """Means of h1 and h2 given v where they are taken to be independent: the fixed point of the two equations."""
        m1 = torch.sigmoid(2 * (v @ self.w1) + self.b1)
        m2 = self.h2_mean(m1)
        for _ in range(steps):
            m1 = self.h1_mean(v, m2)
            m2 = self.h2_mean(m1)
        return m1, m2

    def gibbs(self, v, h2):
        h1 = draw(self.h1_mean(v, h2))
        return draw(torch.sigmoid(h1 @ self.w1.t() + self.a)), h1, draw(self.h2_mean(h1))

    @staticmethod
    def moments(v, h1, h2):
        return v.t() @ h1 / len(v), h1.t() @ h2 / len(v), v.mean(0), h1.mean(0), h2.mean(0)

    def gradient(self, v):
        """Data by mean field, the model by chains that go on from step to step."""
        data = self.moments(v, *self.mean_field(v))
        new, _, h2 = self.gibbs(self.v, self.h2)
        self.v.copy_(new)
        self.h2.copy_(h2)
        # h1 given the new v and h2, as a mean: the same expectation with less noise.
        model = self.moments(self.v, self.h1_mean(self.v, self.h2), self.h2)
        return [m - d for d, m in zip(data, model)]

    def learn(self, trainer, phase, inputs, rate):
        method = Descent(self.parameters)

        def step(numbers, speed):
            v = inputs.index_select(0, numbers)
            method.step(self.gradient(v), speed)
            m1, _ = self.mean_field(v, 1)
            return ((v - torch.sigmoid(m1 @ self.w1.t() + self.a)) ** 2).mean()

        with torch.no_grad():
            return trainer.fit(phase, step, len(inputs), rate, [*self.parameters, self.v, self.h2, *method.state])
