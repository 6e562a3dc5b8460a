"""What is wrong with the links of a made site: addresses that lead nowhere, anchors that are not there, things from elsewhere."""
import html.parser
import posixpath
import urllib.parse

EXTERNAL = ("http:", "https:", "mailto:")


class Reader(html.parser.HTMLParser):
    """Names and addresses of one page."""

    def __init__(self):
        super().__init__()
        self.ids, self.twice, self.links, self.parts, self.policy = set(), set(), [], [], False

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                (self.twice if value in self.ids else self.ids).add(value)
            elif name in ("href", "src", "srcset", "data", "poster", "action"):
                (self.links if tag == "a" else self.parts).append(value or "")
            elif name == "http-equiv" and value == "Content-Security-Policy":
                self.policy = True


def read(folder):
    pages = {}
    for path in sorted(folder.rglob("*.html")):
        reader = Reader()
        reader.feed(path.read_text(encoding="utf-8"))
        pages[path.relative_to(folder).as_posix()] = reader
    return pages


def wrong(address, name, pages, folder):
    """Why an address of the page `name` is wrong, or None."""
    path, _, anchor = urllib.parse.unquote(address).partition("#")
    goal = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    if goal.startswith(("..", "/")):
        return "leads out of the site"
    if not (folder / goal).is_file():
        return "is not there"
    if anchor and goal in pages and anchor not in pages[goal].ids:
        return "has no such anchor"
    return None


def problems(folder):
    found, pages = [], read(folder)
    for name, page in pages.items():
        found += [f"{name}: the anchor '{anchor}' is there twice" for anchor in sorted(page.twice)]
        if not page.policy:
            found.append(f"{name}: no Content-Security-Policy")
        for address in page.links:
            why = None if address.startswith(EXTERNAL) else wrong(address, name, pages, folder)
            if why:
                found.append(f"{name}: the link {address} {why}")
        for address in page.parts:
            why = None if address.startswith("data:") else "comes from elsewhere" if address.startswith((*EXTERNAL, "//")) \
                else wrong(address, name, pages, folder)
            if why:
                found.append(f"{name}: the part {address} {why}")
    return found
