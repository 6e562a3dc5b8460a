"""Which stored results make which parts of which pages.

docs/NAME.json holds what was measured. The module that NAME stands for makes text of it: parts(found) gives, page by page, the
text of each marked part, and whole(found) raises a Failure where something is missing that the pages tell of. It may have
PICTURES, {file: draw(found, path)}, and DEPTH, how many levels of the file are spread over lines (2).
"""
import importlib
import json

from bench import marks, readme
from lab.experiments import ENTRIES

MODULES = {
    "benchmarks": "bench.speed.report",
    "tables": "bench.tables.report",
    "uci": "bench.tables.uci",
    "photos-benchmarks": "bench.images.report",
    "mnist": "bench.mnist",
    "python-benchmarks": "bench.python.report",
    "predictions": "bench.predictions",
    "schedules": "bench.schedules",
    "serve": "bench.serve",
    "export": "bench.export_report",
    "fuzzing": "bench.fuzzing",
    "losses": "bench.losses",
    "numbers": "bench.extremes",
    "damage": "bench.damage",
    "soak": "bench.soak",
    "coverage": "bench.coverage",
    "gpu": "bench.gpu",
}


# Parts that stand on a second page as well.
SHARED = {"docs/comparison.md": [("README.md", "docs/uci.json in short"), ("docs/python.md", "docs/python-benchmarks.json tables"),
                                 ("README.md", readme.PART)]}


def of_experiments(name):
    """Parts that lab/run_experiments makes and compares: their names begin with that of an experiment."""
    return name.split()[0] in ENTRIES


def module(name):
    return importlib.import_module(MODULES[name])


def stored(root, name):
    path = root / "docs" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def store(root, name, found):
    """As docs/NAME.json, and its pictures."""
    module(name).whole(found)
    text = marks.dump(found, getattr(module(name), "DEPTH", 2))
    (root / "docs" / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    for path, draw in pictures(root, [name]):
        draw(path)


def parts(root):
    """{page: {mark: text}} of everything that is stored."""
    pages = {}
    for name in MODULES:
        found = stored(root, name)
        for page, texts in module(name).parts(found).items() if found else []:
            pages.setdefault(page, {}).update({f"docs/{name}.json {part}": text for part, text in texts.items()})
    results = {name: stored(root, name) for name in readme.SOURCES}
    if all(results.values()):
        pages.setdefault("README.md", {})[readme.PART] = readme.text(results)
    for page, shared in SHARED.items():
        if (root / page).is_file():
            pages[page] = {part: pages[first][part] for first, part in shared if part in pages.get(first, {})}
    return pages


def pages(root):
    """All that may have marked parts, as paths from the root."""
    return [path.relative_to(root).as_posix() for path in (root / "README.md", *sorted((root / "docs").rglob("*.md")))
            if path.is_file()]


def problems(root):
    """(page, what is wrong) of every part that is not what the stored results give."""
    texts = parts(root)
    for page in dict.fromkeys([*pages(root), *texts]):
        wanted = texts.get(page, {})
        try:
            content = (root / page).read_text(encoding="utf-8")
            for name in marks.names(content):
                if name not in wanted and not of_experiments(name):
                    yield page, f"nothing makes the part '{name}'"
            for name, text in wanted.items():
                if marks.cut(content, name)[1] != text:
                    yield page, f"the part '{name}' is not what is stored; run 'scripts/check_figures --fix'"
        except (OSError, ValueError) as error:
            yield page, str(error)
    for path, _ in pictures(root):
        if not path.is_file():
            yield path.relative_to(root).as_posix(), "is missing; run 'scripts/check_figures --fix'"


def fix(root):
    """Every part made anew, and the pictures that are missing."""
    for page, texts in parts(root).items():
        path = root / page
        content = path.read_text(encoding="utf-8")
        for name, text in texts.items():
            content = marks.filled(content, name, text)
        path.write_text(content, encoding="utf-8")
    for path, draw in pictures(root):
        if not path.is_file():
            draw(path)


def pictures(root, names=MODULES):
    """(path, draw) of the pictures that are made of stored results."""
    for name in names:
        found = stored(root, name)
        for file, draw in getattr(module(name), "PICTURES", {}).items() if found else []:
            yield root / "docs" / file, lambda path, found=found, draw=draw: draw(found, path)
