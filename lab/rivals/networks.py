"""The eleven rivals, by name: each learns from rows of inputs and their classes, and gives a network."""
import torch
import torchvision
from torch import nn

from lab.rivals.boltzmann import DBM, RBM, FuzzyRBM, draw
from lab.rivals.train import fine_tune, minimise

HIDDEN = (500, 500, 200)
DBM_HIDDEN = (500, 500)
FUZZY_HIDDEN = 500
NOISE = 0.25  # share of the inputs that SDA sets to 0
# Of learning layer by layer, which the paper says nothing about: where pixels are the inputs, above them, and for both layers
# of the DBM at once. Tenfold ones drive most units over the pixels to 0 or 1 within a few epochs.
PIXEL_RATE, UPPER_RATE, JOINT_RATE = 0.001, 0.01, 0.001


class Network(nn.Module):
    """`prepare` is done once for all rows, `forward` on a batch of what it gave."""

    def prepare(self, inputs):
        return inputs


class Layers(Network):
    """Fully connected, with one activation after all but the last."""

    def __init__(self, sizes, activation):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))
        self.activation = activation

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


class Scaled(Layers):
    """Inputs by the mean of each and one deviation for all, those of the training images."""

    def fit_scale(self, inputs):
        mean = inputs.mean(0)
        self.scale = mean, ((inputs - mean) ** 2).mean().sqrt().clamp(min=1e-6)

    def prepare(self, inputs):
        return (inputs - self.scale[0]) / self.scale[1]


class Refined(Network):
    """The network that a DBM becomes: q, the mean field of its upper layer, is a second input to the lower one."""

    def __init__(self, machine, classes):
        super().__init__()
        self.machine = machine
        device = machine.a.device
        self.v1, self.q1 = nn.Parameter(machine.w1.clone()), nn.Parameter(machine.w2.t().contiguous().clone())
        self.w2 = nn.Parameter(machine.w2.clone())
        self.b1, self.b2 = nn.Parameter(machine.b1.clone()), nn.Parameter(machine.b2.clone())
        self.output = nn.Linear(len(machine.b2), classes, device=device)

    def prepare(self, inputs):
        with torch.no_grad():
            return torch.cat([inputs, self.machine.mean_field(inputs)[1]], 1)

    def forward(self, x):
        v, q = x[:, :len(self.v1)], x[:, len(self.v1):]
        h1 = torch.sigmoid(v @ self.v1 + q @ self.q1 + self.b1)
        return self.output(torch.sigmoid(h1 @ self.w2 + self.b2))


class Fuzzy(Network):
    """Both bounds stay: the mean of the two probabilities is what the classes are told from."""

    def __init__(self, machine, classes):
        super().__init__()
        sides = (machine.left, machine.right)
        self.weights = nn.ParameterList(nn.Parameter(side.weight.clone()) for side in sides)
        self.biases = nn.ParameterList(nn.Parameter(side.b.clone()) for side in sides)
        self.output = nn.Linear(len(machine.left.b), classes, device=machine.left.b.device)

    def forward(self, x):
        h = [torch.sigmoid(x @ weight + bias) for weight, bias in zip(self.weights, self.biases)]
        return self.output((h[0] + h[1]) / 2)


class Images(Network):
    """torchvision's network on rows of height x width x colours, each colour by the mean and deviation of the training images.
    Memory stays colours last, which tensor cores like, but for `separate` convolutions, one a colour, which do not."""

    def __init__(self, network, separate):
        super().__init__()
        self.network = network if separate else network.to(memory_format=torch.channels_last)
        self.separate = separate

    def fit_scale(self, inputs):
        self.scale = inputs.mean((0, 1, 2)), inputs.std((0, 1, 2)).clamp(min=1e-6)

    def prepare(self, inputs):
        rows = (inputs - self.scale[0]) / self.scale[1]
        return rows.permute(0, 3, 1, 2).contiguous() if self.separate else rows

    def forward(self, x):
        return self.network(x if self.separate else x.permute(0, 3, 1, 2))


def finish(trainer, network, inputs, labels, rate, optimiser):
    return network, fine_tune(trainer, network, network.prepare(inputs), labels, rate, optimiser)


def mlp(trainer, inputs, labels, classes, rate, optimiser):
    network = Layers((inputs.shape[1], *HIDDEN, classes), torch.relu).to(inputs.device)
    return finish(trainer, network, inputs, labels, rate, optimiser)


def learn_coder(trainer, phase, layer, inputs, noise, rate):
    """An auto-encoder of one layer whose way back has the same weights, by the cross entropy of its reconstruction (Vincent
    et al., 2010); `noise` is the share of inputs that it does not get to see."""
    back = nn.Parameter(torch.zeros(inputs.shape[1], device=inputs.device))
    with torch.no_grad():
        back.copy_(torch.logit(inputs.mean(0), 0.01))

    def loss_of(numbers):
        x = inputs.index_select(0, numbers)
        seen = x * draw(torch.full_like(x, 1 - noise)) if noise else x
        again = torch.sigmoid(layer(seen)) @ layer.weight + back
        return nn.functional.binary_cross_entropy_with_logits(again, x, reduction="sum") / len(x)

    minimise(trainer, phase, loss_of, [*layer.parameters(), back], len(inputs), rate)
    with torch.no_grad():
        return torch.sigmoid(layer(inputs))


def coders(noise):
    def learn(trainer, inputs, labels, classes, rate, optimiser):
        network, below = Layers((inputs.shape[1], *HIDDEN, classes), torch.sigmoid).to(inputs.device), inputs
        for number, layer in enumerate(network.layers[:-1], 1):
            speed = PIXEL_RATE if number == 1 else UPPER_RATE
            below = learn_coder(trainer, f"auto-encoder {number}", layer, below, noise, speed)
        return finish(trainer, network, inputs, labels, rate, optimiser)
    return learn


def take(layer, machine):
    """A layer of a network that starts as an RBM has learned it."""
    with torch.no_grad():
        layer.weight.copy_(machine.weight.t())
        layer.bias.copy_(machine.b)


def dbn(trainer, inputs, labels, classes, rate, optimiser):
    network = Scaled((inputs.shape[1], *HIDDEN, classes), torch.sigmoid).to(inputs.device)
    network.fit_scale(inputs)
    below = network.prepare(inputs)
    for number, layer in enumerate(network.layers[:-1], 1):
        machine = RBM(layer.in_features, layer.out_features, inputs.device, gaussian=number == 1).start_at(below)
        machine.learn(trainer, f"RBM {number}", below, PIXEL_RATE if number == 1 else UPPER_RATE)
        take(layer, machine)
        below = machine.hidden_mean(below)
    return finish(trainer, network, inputs, labels, rate, optimiser)


def dbm(trainer, inputs, labels, classes, rate, optimiser):
    lower = RBM(inputs.shape[1], DBM_HIDDEN[0], inputs.device, up=2).start_at(inputs)
    lower.learn(trainer, "RBM 1", inputs, PIXEL_RATE)
    features = lower.hidden_mean(inputs)
    upper = RBM(*DBM_HIDDEN, inputs.device, down=2).start_at(features)
    upper.learn(trainer, "RBM 2", features, UPPER_RATE)
    machine = DBM(lower, upper, inputs[torch.randperm(len(inputs), device=inputs.device)[:DBM.CHAINS]])
    machine.learn(trainer, "both layers", inputs, JOINT_RATE)
    return finish(trainer, Refined(machine, classes), inputs, labels, rate, optimiser)


def frbm(trainer, inputs, labels, classes, rate, optimiser):
    machine = FuzzyRBM(inputs.shape[1], FUZZY_HIDDEN, inputs.device).start_at(inputs)
    machine.learn(trainer, "fuzzy RBM", inputs, PIXEL_RATE)
    return finish(trainer, Fuzzy(machine, classes), inputs, labels, rate, optimiser)


def convolutions(name, separate=False):
    def learn(trainer, inputs, labels, classes, rate, optimiser):
        network = Images(getattr(torchvision.models, name)(weights=None, num_classes=classes), separate).to(inputs.device)
        network.fit_scale(inputs)
        return finish(trainer, network, inputs, labels, rate, optimiser)
    return learn


FLAT, DEEP = 64, 128  # sides in pixels
# name: side, and the function that learns. In the order of the paper's table.
RIVALS = {
    "SAE": (FLAT, coders(0)),
    "SDA": (FLAT, coders(NOISE)),
    "DBN": (FLAT, dbn),
    "DBM": (FLAT, dbm),
    "MLP": (FLAT, mlp),
    "FRBM": (FLAT, frbm),
    "AlexNet": (DEEP, convolutions("alexnet")),
    "ResNet": (DEEP, convolutions("resnet18")),
    "VGG": (DEEP, convolutions("vgg16")),
    "MobileNet": (DEEP, convolutions("mobilenet_v2", separate=True)),
    "EfficientNet": (DEEP, convolutions("efficientnet_b0", separate=True)),
}
