"""docs/coverage.md: lines and branches of src/ that the tests run, by folder, and what they do not run, by reason."""
import re

from bench.tool import Failure

PAGE = "docs/coverage.md"
FIELDS = ("lines", "lines_run", "branches", "branches_run")
DEPTH = 3

# What the line says that was not run, or not both ways; the first that fits. A line that fits none is an ordinary condition.
REASONS = (
    ("processor", "code for a processor or a compiler that is not this one",
     re.compile(r"cpu_supports|broad__kernels_|has_avx|_avx|madvise|MADV_|sched_getaffinity|sysconf"), None),
    ("device", "the GPU, and what its library may answer", None, re.compile(r"^src/compute/(device_choice|cuda/)")),
    ("memory", "an allocation that was not made to fail at this place",
     re.compile(r"NO_MEMORY|_alloc|broad__grow\(|broad__reserve\(|broad__copy_|fail_memory|malloc|_init\(&|strdup|ENOMEM"), None),
    ("system", "a call of the system or of a library that does not fail when asked to",
     re.compile(r"errno|pthread_|\b(m?unmap|mmap|f?stat|fstatat|lseek|ftruncate|fcntl|f?open|openat|f?close|p?read|write|readlink|realpath|mkdir|"
                r"getenv|dlopen|dlsym|dladdr)\(|BROAD_IO|CANNOT_WRITE|setjmp|inflate|deflate|png_|jpeg_|TIFF|WebP|heif|exif_|json_"), None),
    ("passed on", "the failure of another function, passed on to the caller",
     re.compile(r"status|cleanup|BROAD_OK|< 0\)|failed|BROAD_INTERRUPTED|broad__fail"), None),
)
REST = ("condition", "an ordinary condition of which only one side was met")


def reason(name, text, number):
    """In one word, why line `number` of file `name`, whose lines are `text`, may not have been run."""
    line = text[number - 1]
    return next((word for word, _, says, path in REASONS if (says and says.search(line)) or (path and path.search(name))), REST[0])


def figures(file):
    ways = [runs for _, branches in file.values() for runs in branches]
    return dict(zip(FIELDS, (len(file), sum(runs > 0 for runs, _ in file.values()), len(ways), sum(runs > 0 for runs in ways))))


def found(sources, root):
    """docs/coverage.json of {source: {line: (runs, [runs of each branch])}}."""
    files = {name: figures(file) for name, file in sources.items() if name.startswith("src/")}
    reasons = {word: {"lines": 0, "branches": 0} for word in [*(reason[0] for reason in REASONS), REST[0]]}
    for name in files:
        text = (root / name).read_text(encoding="utf-8").splitlines()
        for number, (runs, branches) in sources[name].items():
            missed = reasons[reason(name, text, number)]
            missed["lines"] += runs == 0
            missed["branches"] += sum(count == 0 for count in branches)
    never = sorted(path.relative_to(root).as_posix() for path in (root / "src").rglob("*.cu*"))
    return {"files": files, "reasons": reasons, "not_built": never}


def whole(found):
    for name, file in found["files"].items():
        if any(field not in file for field in FIELDS):
            raise Failure(f"{name} lacks one of {', '.join(FIELDS)}")


def total(files):
    return {field: sum(file[field] for file in files) for field in FIELDS}


def percent(sums, what):
    return 100 * sums[f"{what}_run"] / max(sums[what], 1)


def row(name, sums):
    return f"| {name} | " + " | ".join(f"{sums[f'{what}_run']:,} of {sums[what]:,} | {percent(sums, what):.1f}" for what in ("lines", "branches")) + " |"


def table(files):
    folders = {}
    for name, file in files.items():
        folders.setdefault("/".join(name.split("/")[:2]), []).append(file)
    lines = ["| folder | lines | % | branches | % |", "|---|---:|---:|---:|---:|"]
    lines += [row(f"`{name}/`", total(mine)) for name, mine in sorted(folders.items())]
    return "\n".join([*lines, row("**all**", total(files.values()))]) + "\n"


def reasons_table(reasons):
    texts = {word: text for word, text, _, _ in REASONS} | {REST[0]: REST[1]}
    lines = ["| why it was not run | lines | branches |", "|---|---:|---:|"]
    lines += [f"| {word}: {texts[word]} | {count['lines']:,} | {count['branches']:,} |" for word, count in reasons.items()]
    return "\n".join(lines) + "\n"


def files_table(files):
    """The files with most branches that were not run."""
    lines = ["| file | lines not run | branches not run |", "|---|---:|---:|"]
    missed = sorted(((file["branches"] - file["branches_run"], file["lines"] - file["lines_run"], name) for name, file in files.items()),
                    key=lambda entry: (-entry[0], entry[2]))
    lines += [f"| `{name}` | {lost:,} | {ways:,} |" for ways, lost, name in missed[:20]]
    return "\n".join(lines) + "\n"


def parts(found):
    sums = total(found["files"].values())
    said = f"The tests run {percent(sums, 'lines'):.1f} % of the lines and {percent(sums, 'branches'):.1f} % of the branches of `src/`.\n"
    folders = sorted({name.rsplit("/", 1)[0] for name in found["not_built"]})
    never = f"Built by another compiler, and not counted: {len(found['not_built'])} files in " + ", ".join(f"`{name}/`" for name in folders) + ".\n"
    return {PAGE: {"total": said, "folders": table(found["files"]), "reasons": reasons_table(found["reasons"]),
                   "files": files_table(found["files"]), "not built": never if found["not_built"] else "Everything is built here.\n"}}
