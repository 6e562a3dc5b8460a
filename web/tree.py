"""What belongs to the site: README.md and everything that can be reached from it by links, and where each of these is put."""
import pathlib
import posixpath
import re

from web.markdown import Page, Problem

SOURCES = {".c": "c", ".h": "c", ".py": "python", ".js": "js", ".mjs": "js", "": ""}
FORMULAS = {"docs/mathematics.md", "docs/growing.md", "docs/photos-report.md", "docs/experiments/theorem.md"}

NAMED = re.compile(r"\[`?([\w./-]+\.md)`?\]\(([^)#\s]+\.md)(#[^)\s]*)?\)")


def place(path):
    """Of a document or another file of the repository in the site: docs/x.md is x.html, a README is the index of its folder."""
    folder, name = posixpath.split(path)
    folder = re.sub(r"^docs(/|$)", "", folder)
    stem, end = posixpath.splitext(name)
    if end == ".md":
        name = "index.html" if stem == "README" else f"{stem.lower() if not folder else stem}.html"
    elif end in SOURCES:
        name = f"{stem}-{end[1:]}.html" if end else f"{stem.lower()}.html"
    return posixpath.join(folder, name)


def title_of(text):
    """The first sentence of the head of a program."""
    head = re.match(r'(?:#!.*\n)?\s*(?:/\*|""")(.*?)(?:\*/|""")', text, flags=re.DOTALL)
    words = " ".join(re.sub(r"(?m)^ *\* ?", "", head[1]).split()) if head else ""
    return re.match(r".*?[.:;](?=\s|$)|.*", words)[0]


class Document:
    """A page of the site: what it is made of, and from where it was reached first."""

    def __init__(self, path, parent):
        self.path, self.parent, self.place = path, parent, place(path)
        self.children = []
        self.page = None

    @property
    def title(self):
        return self.page.title


class Tree:
    """Of the repository at `root`: `documents` in the order in which they are reached, `files` that are taken as they are."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.documents, self.files = {}, set()
        waiting = ["README.md"]
        self.add("README.md", None)
        while waiting:
            document = self.documents[waiting.pop(0)]
            before = set(self.documents)
            document.page = self.read(document)
            new = [path for path in self.documents if path not in before]
            document.children = new
            waiting += new
        self.whole()

    def add(self, path, parent):
        if path not in self.documents:
            self.documents[path] = Document(path, parent)

    def take(self, path):
        """A file as it is; with a report of the tool, the pictures that lie beside it."""
        self.files.add(path)
        if path.endswith(".html"):
            beside = (self.root / path).parent / ".pictures"
            self.files |= {item.relative_to(self.root).as_posix() for item in sorted(beside.glob("*"))}

    def whole(self):
        """Every document of docs/ can be reached, and no two things are put at the same place."""
        lost = [path.relative_to(self.root).as_posix() for path in sorted((self.root / "docs").rglob("*.md"))]
        lost = [path for path in lost if path not in self.documents]
        if lost:
            raise Problem(f"{lost[0]}: no page links to it; name it in the table of documents of README.md")
        places = [document.place for document in self.documents.values()] + [place(path) for path in self.files]
        twice = sorted(name for name in set(places) if places.count(name) > 1)
        if twice:
            raise Problem(f"two files would become {twice[0]}")

    def read(self, document):
        try:
            text = NAMED.sub(lambda found: self.named(document, found), self.text(document.path))
            return Page(text, lambda target, image: self.link(document, target, image), document.path in FORMULAS)
        except Problem as problem:
            raise Problem(f"{document.path}: {problem}") from None

    def named(self, document, found):
        """A link whose text is the name of a document has its title instead."""
        file = self.root / posixpath.dirname(document.path) / found[2]
        if not file.is_file():
            return found[0]
        title = file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        return f"[{title}]({found[2]}{found[3] or ''})"

    def text(self, path):
        """As Markdown; that of a program or of a folder of programs is made here."""
        file = self.root / path
        if file.is_dir():
            programs = sorted(item for item in file.iterdir() if item.suffix in SOURCES and item.is_file())
            rows = [f"| [{item.name}]({item.name}) | {title_of(item.read_text(encoding='utf-8'))} |" for item in programs]
            return f"# {path}\n\n| file | what |\n|---|---|\n" + "\n".join(rows) + "\n"
        text = file.read_text(encoding="utf-8")
        if file.suffix == ".md":
            return text
        shown = file.parent / "output" / f"{file.stem}.txt"
        output = f"\n## Output\n\n```\n{shown.read_text(encoding='utf-8')}```\n" if shown.is_file() else ""
        return f"# {file.name}\n\n{title_of(text)}\n\n```{SOURCES[file.suffix]}\n{text.rstrip()}\n```\n{output}"

    def link(self, document, target, image):
        """What a link of a document becomes in the site."""
        if re.match(r"https?:|mailto:", target):
            if image:
                raise Problem(f"the image {target} is not in the repository")
            return target
        name, mark, anchor = target.partition("#")
        if not name:
            return target
        base = document.path if (self.root / document.path).is_dir() else posixpath.dirname(document.path)
        path = posixpath.normpath(posixpath.join(base, name))
        file = self.root / path
        if path.startswith("..") or not file.exists():
            raise Problem(f"{target} is not there")
        if file.is_dir() and (file / "README.md").is_file():
            path += "/README.md"
        if not image and (file.is_dir() or posixpath.splitext(path)[1] in {".md", *SOURCES}):
            self.add(path, document.path)
            goal = self.documents[path].place if not file.is_dir() or path.endswith(".md") else None
            if goal is None:
                goal = self.documents[path].place = f"{path}/index.html"
        else:
            self.take(path)
            goal = place(path)
        return posixpath.relpath(goal, posixpath.dirname(document.place) or ".") + mark + anchor
