"""A loss of power, simulated from a log of changes (faults.c, FAULTS=log): every state of the disk that may be left.

What was written and not synced may be missing, torn or complete; what happened to names in a folder that was not synced afterwards may
have happened or not, each by itself. A sync of a file makes its bytes last but not its name; a sync of the folder its names.
"""
import itertools
import os
import random

MOST = 400  # states that are looked at for one moment; more are sampled


class Disk:
    def __init__(self, folder):
        self.folder = folder
        self.names, self.content, self.durable = {}, {}, {}  # name -> file; file -> bytes now; file -> bytes that last
        self.lasting, self.pending, self.next = {}, [], 0  # names that last; changes of names since the last sync
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                with open(path, "rb") as data:
                    self.add(name, data.read())
        self.lasting, self.pending = dict(self.names), []

    def add(self, name, content=b""):
        self.next += 1
        self.names[name] = self.next
        self.content[self.next], self.durable[self.next] = content, content
        return self.next

    def change(self, operation):
        apply(self.names, operation)
        self.pending.append(operation)

    def event(self, letter, path, other, place, data):
        """One line of the log; False where it concerns another folder."""
        folder, name = os.path.split(path)
        if letter == "S" and path.rstrip("/") in (self.folder, self.folder + "/."):
            self.lasting, self.pending = dict(self.names), []
            return True
        if folder != self.folder:
            return False
        if letter == "C" and name not in self.names:
            file = self.add(name)
            self.pending.append(("set", name, file))
        elif letter in "WT" and name in self.names:
            self.write(self.names[name], letter, place, data)
        elif letter == "S" and name in self.names:
            self.durable[self.names[name]] = self.content[self.names[name]]
        elif letter == "U":
            self.change(("drop", name, None))
        elif letter in "RXL":
            self.change(({"R": "move", "X": "swap", "L": "link"}[letter], name, os.path.basename(other)))
        return True

    def write(self, file, letter, place, data):
        now = self.content[file]
        if letter == "T":
            self.content[file] = now[:place].ljust(place, b"\0")
        else:
            self.content[file] = now[:place].ljust(place, b"\0") + data + now[place + len(data):]

    def contents(self, file):
        """What may be in a file: all that was written, what was synced, or something torn between."""
        now, before = self.content[file], self.durable[file]
        if now == before:
            return [now]
        half = len(now) // 2
        return [now, before, now[:half], now[:half] + b"\0" * (len(now) - half)]

    def states(self, draw):
        """{name: bytes} of every state that may be left now, or of a sample of them."""
        changed = sorted(file for file in self.content if self.content[file] != self.durable[file])
        choices = [(False, True)] * len(self.pending) + [range(len(self.contents(file))) for file in changed]
        count = 1
        for choice in choices:
            count *= len(choice)
        if count <= MOST:
            picked = itertools.product(*choices)
        else:
            picked = ([draw.choice(choice) for choice in choices] for _ in range(MOST))
        for pick in picked:
            names = dict(self.lasting)
            for operation, happened in zip(self.pending, pick):
                if happened:
                    apply(names, operation)
            variant = {file: self.contents(file)[one] for file, one in zip(changed, pick[len(self.pending):])}
            yield {name: variant.get(file, self.content[file]) for name, file in names.items()}


def apply(names, operation):
    what, name, other = operation
    if what == "set":
        names[name] = other
    elif what == "drop":
        names.pop(name, None)
    elif name in names and what == "link":
        names[other] = names[name]
    elif name in names and what == "move":
        names[other] = names.pop(name)
    elif name in names and other in names:
        names[name], names[other] = names[other], names[name]


def events(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            letter, name, other, place, data = line.rstrip("\n").split("\t")
            yield letter, name, other, int(place), bytes.fromhex(data)


def judge(disk, log, name, allowed, seed=1):
    """Plays the log; returns how many moments and states there were, and what was found that is not allowed."""
    draw, moments, states, lost = random.Random(seed), 0, 0, []
    for line in events(log):
        if not disk.event(*line):
            continue
        moments += 1
        for state in disk.states(draw):
            states += 1
            if state.get(name) not in allowed and len(lost) < 5:
                lost.append(f"after {line[0]} {os.path.basename(line[1])}: {name} " +
                            ("is missing" if name not in state else f"has {len(state[name])} bytes of neither"))
    last = {state.get(name) for state in disk.states(draw)}
    return moments, states, lost, last
