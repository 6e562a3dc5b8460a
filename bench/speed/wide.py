"""brls and bscrls on few rows with many columns, the size of the paper's photos, against the same in numpy."""
from bench.speed.measure import rival
from bench.speed.train import Chains

TITLE = "training on few rows with many columns"


def run(bench):
    chains = Chains(bench, bench.pick(1793, 600, 600), bench.pick(12288, 3072, 100), 2, bench.pick(50, 20, 2))
    bench.say(chains.size())
    sides = {"brls": chains.ours("brls"), "bscrls": chains.ours("bscrls"), "numpy": chains.theirs("numpy"),
             "numpy, supervised": chains.theirs("numpy, supervised", supervised=True)}
    found = bench.in_turns(sides, bench.runs(15))
    chains.check(0.2)
    limit, facts = chains.limits()
    for kind, theirs, more in ("brls", "numpy", ""), ("bscrls", "numpy, supervised", ", bounds=bounds"):
        yield {"what": f"{kind}, {chains.size()}", "unit": "s", "command": chains.command(kind), "ours": found[kind],
               "rivals": {"numpy": rival(found[theirs], f"numpy_chain.fit(x, y{more})", least=2.5)},
               **limit, "facts": facts}
