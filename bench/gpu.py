"""Results of scripts/bench_gpu as Markdown, for docs/gpu.md."""
from bench.images.report import table
from bench.marks import wrapped
from bench.tool import Failure

PAGE = "docs/gpu.md"
CHAINS = ["small", "tall", "wide1000", "wide5000"]
JOINT = ["joint", "ten-thousand", "billion-joint"]
NEEDED = [*CHAINS, *JOINT, "gcv-small", "gcv-tall", "billion", "fits"]


def whole(found):
    missing = [name for name in NEEDED if name not in found["cases"]]
    if missing:
        raise Failure(f"not measured: {', '.join(missing)}")


def count(value):
    return f"{value:,}"


def size(one):
    return f"{count(one['rows'])} × {count(one['inputs'])}"


def seconds(one):
    if one is None or one["seconds"] is None:
        return (one or {}).get("failed") or "not run"
    return f"{one['seconds']:.3g} s" + (f" ({one['failed']})" if one.get("failed") else "")


def peak(one):
    return f"{100 * one['of_peak']:.0f} %"


def chains(found):
    cases = found["cases"]
    rows = []
    for name in [*CHAINS, "billion"]:
        one, rival = cases[name], cases.get("torch-" + name)
        ratio = rival["seconds"] / one["seconds"] if rival and rival["seconds"] else None
        rows.append([size(one), f"{one['layers']} × {count(one['nodes'])}", seconds(one), peak(one),
                     seconds(rival) if rival else "not run", f"{ratio:.2f}" if ratio else ""])
    return "\n".join(table(["rows × inputs", "layers × nodes", "broad", "of the peak", "PyTorch", "PyTorch / broad"], rows)) + "\n"


def joint(found):
    rows = [[size(one), count(one["features"] + one["nodes"]), seconds(one), peak(one), f"{100 * one['fresh']:.2g} %"]
            for one in (found["cases"][name] for name in JOINT)]
    return "\n".join(table(["rows × inputs", "nodes", "seconds", "of the peak", "error on fresh rows"], rows)) + "\n"


def supervised(found):
    rows = []
    for name in ("small", "tall"):
        plain, judged = found["cases"][name], found["cases"]["gcv-" + name]
        per = [one["seconds"] / one["draws"] for one in (plain, judged)]
        rows.append([size(plain), f"{1e3 * per[0]:.3g} ms", f"{1e3 * per[1]:.3g} ms", f"{per[1] / per[0]:.2f}",
                     f"{judged['draws']} for {judged['layers']} layers"])
    return "\n".join(table(["rows × inputs", "a draw, no test", "a draw, `gcv`", "ratio", "draws with `gcv`"], rows)) + "\n"


def machine(found):
    device, fits = found["device"], found["cases"]["fits"]
    left = "the same number of bytes was" if fits["room_first"] == fits["room_last"] else "another number of bytes was"
    peaks = [one["gflops"] / one["of_peak"] / 1e3 for one in found["cases"].values() if "of_peak" in one]
    text = (f"Measured on cards of the kind {device['device']} ({device['memory'] / 1e9:.0f} GB), broad and PyTorch of a line on the same "
            f"one. A large product in double precision runs there at {min(peaks):.1f} to {max(peaks):.1f} TFLOP/s; the peak below is that "
            f"of the line's own card. After {count(fits['fits'])} fits in one process {left} free on the card as after the first.")
    return "\n".join(wrapped(text)) + "\n"


def parts(found):
    return {PAGE: {"machine": machine(found), "chains": chains(found), "joint": joint(found), "supervised": supervised(found)}}
