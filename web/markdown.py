"""Markdown as the documents of this project use it, to HTML.

Headings, paragraphs, lists, tables, fenced blocks, images, links, code, strong and emphasised text, and anchors on a line of
their own. Anything else that looks like mark-up is an error that names the line: a page is right or is not made.
"""
import html
import re

from web import formula, highlight

FENCE = re.compile(r"( *)```(\w*)\s*$")
HEADING = re.compile(r"(#{1,4}) (.*)$")
ITEM = re.compile(r"(?:[-*]|(\d+)\.) +")
RULE = re.compile(r"\|?[ :|-]*-[ :|-]*$")
ANCHORS = re.compile(r'(?:<a id="[\w-]+"></a>)+$')
COMMENT = re.compile(r"<!--.*-->$")
SHORT = 36  # characters of code in the first column that stay on one line
TERM = re.compile(r"<strong>([^<]+)</strong>: ")
OPTION = re.compile(r"`(?:-\w, )?(--[a-z][a-z-]*)")
INLINE = re.compile(r"""
    (?P<escaped>\\[!-/:-@\[-`{-~])
  | (?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)
  | (?P<image>!)?\[(?P<text>(?:[^\]\[`]|`[^`]*`|!?\[[^\]]*\](?:\([^)]*\))?)*)\]\((?P<target>[^)\s]+)\)
  | <(?P<address>https?://[^>\s]+)>
  | \*\*(?P<strong>(?=\S).+?(?<=\S))\*\*
  | \*(?P<emphasis>(?=[^\s*])[^*]*?(?<=[^\s*]))\*
  | (?P<tag></?[a-zA-Z][^>]*>)
""", re.VERBOSE | re.DOTALL)


class Problem(Exception):
    """What a page says cannot be shown."""


def slug(heading):
    """The anchor that GitHub gives a heading."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def plain(markup):
    """The words of a piece of HTML."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", markup)).split())


class Section:
    """A heading and what stands below it; or, with level 0, a term or an option and what is said of it, for the search alone."""

    def __init__(self, level, anchor, title, shown="", words=()):
        self.level, self.anchor, self.title, self.shown = level, anchor, title, shown
        self.words = list(words)


class Page:
    """One document. `link` says what a target becomes; `formulas` whether code that is mathematics is set as such."""

    def __init__(self, text, link, formulas=False):
        self.link, self.formulas = link, formulas
        self.ids, self.sections, self.entries, self.waiting = set(), [], [], []
        self.html = self.blocks(text.split("\n"), True)
        if self.waiting:
            raise Problem("anchors without anything below them")

    @property
    def title(self):
        return self.sections[0].title if self.sections else ""

    # Blocks: each takes the lines from `at` on and returns where it ends.

    def blocks(self, lines, whole=False):
        """A problem is told with its line where the lines are those of the whole page."""
        parts, at = [], 0
        while at < len(lines):
            start = at
            try:
                at = self.block(parts, lines, at)
            except Problem as problem:
                raise Problem(f"line {start + 1}: {problem}" if whole else str(problem)) from None
        return "\n".join(parts)

    def block(self, parts, lines, at):
        line = lines[at]
        if not line.strip() or COMMENT.match(line.strip()):
            return at + 1
        if ANCHORS.match(line):
            self.waiting += re.findall(r'"([\w-]+)"', line)
            return at + 1
        if FENCE.match(line):
            return self.fence(parts, lines, at)
        if HEADING.match(line):
            parts.append(self.heading(*HEADING.match(line).groups()))
            return at + 1
        if self.is_table(lines, at):
            return self.table(parts, lines, at)
        if ITEM.match(line):
            return self.items(parts, lines, at)
        if line.startswith("    "):
            raise Problem("an indented block; put it between fences")
        return self.paragraph(parts, lines, at)

    def begins(self, lines, at):
        """Whether something else than more of a paragraph begins here."""
        line = lines[at]
        item = ITEM.match(line)
        return (not line.strip() or FENCE.match(line) or HEADING.match(line) or COMMENT.match(line.strip()) or ANCHORS.match(line)
                or self.is_table(lines, at) or (item and item[1] in (None, "1")))

    def paragraph(self, parts, lines, at):
        end = at + 1
        while end < len(lines) and not self.begins(lines, end):
            end += 1
        markup = self.inline("\n".join(line.strip() for line in lines[at:end]))
        self.note(markup)
        alone = re.fullmatch(r'<img src="([^"]*)" [^>]*>|<a [^>]*><img [^>]*></a>', markup)
        if alone and alone[1]:  # on a phone a picture is small: it opens by itself
            markup = f'<a href="{alone[1]}">{markup}</a>'
        term = TERM.match(markup)
        own = self.enter("term-" + slug(term[1]), plain(term[1]), markup) if term else ""
        parts.append(f"<figure>{markup}</figure>" if alone else f"<p{own}>{markup}</p>")
        return end

    def heading(self, marks, words):
        markup, anchor = self.inline(words), slug(words)
        own, count = anchor, 0
        while own in self.ids:
            count += 1
            own = f"{anchor}-{count}"
        others = "".join(f'<span id="{name}"></span>' for name in self.waiting if name != own)
        self.claim(own, *(name for name in self.waiting if name != own))
        self.waiting = []
        self.sections.append(Section(len(marks), own, plain(markup), markup))
        level = len(marks)
        if level == 1:
            return f'{others}<h1 id="{own}">{markup}</h1>'
        return f'{others}<h{level} id="{own}">{markup}<a class="self" href="#{own}" aria-label="link to this section">#</a></h{level}>'

    def enter(self, anchor, title, markup):
        """A place that can be found by itself; the attribute that marks it."""
        if anchor in self.ids:
            return ""
        self.claim(anchor)
        self.entries.append(Section(0, anchor, title, words=[plain(markup)]))
        return f' id="{anchor}"'

    def claim(self, *names):
        for name in names:
            if name in self.ids:
                raise Problem(f"the anchor '{name}' is there twice")
            self.ids.add(name)

    def fence(self, parts, lines, at):
        indent, language = FENCE.match(lines[at]).groups()
        end = at + 1
        while end < len(lines) and lines[end].strip() != "```":
            end += 1
        if end == len(lines):
            raise Problem("a fenced block without an end")
        text = "\n".join(line.removeprefix(indent) for line in lines[at + 1:end])
        if not language:  # an output that is shown in part needs no dots around it
            text = re.sub(r"\A\.\.\.\n|\n\.\.\.\Z", "", text)
        self.note(html.escape(text, quote=False))
        follows = bool(parts) and parts[-1].startswith('<pre class="sh"') and not language
        if self.formulas and not language and not follows and formula.is_formula(text):
            parts.append(f'<div class="formula">{formula.display(text)}</div>')
        else:
            name = language or ("output" if follows else "text")
            parts.append(f'<pre class="{name}" tabindex="0"><code>{highlight.code(text, language)}</code></pre>')
        return end + 1

    def is_table(self, lines, at):
        return lines[at].startswith("|") and at + 1 < len(lines) and lines[at + 1].startswith("|") and RULE.match(lines[at + 1])

    def table(self, parts, lines, at):
        sides = ["n" if cell.endswith(":") else "" for cell in cells(lines[at + 1])]
        end = at + 2
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        head = cells(lines[at])
        rows = "".join(self.whole_row(cells(line), sides) for line in lines[at + 2:end])
        top = f"<thead><tr>{self.row(head, sides, 'th')}</tr></thead>\n" if any(head) else ""
        parts.append(f'<div class="scroll" tabindex="0"><table>\n{top}<tbody>\n{rows}</tbody></table></div>')
        return end

    def whole_row(self, texts, sides):
        """One of an option of a command can be found by its name."""
        markup, own = self.row(texts, sides, "td"), ""
        option = OPTION.match(texts[0]) if self.sections and self.sections[-1].title.startswith("broad ") else None
        if option:
            title = f"{self.sections[-1].title} {option[1]}"
            own = self.enter(slug(title), title, re.sub(r"</td><td[^>]*>", ": ", markup))
        return f"<tr{own}>{markup}</tr>\n"

    def row(self, texts, sides, name):
        if len(texts) > len(sides):
            raise Problem(f"a row of {len(texts)} cells in a table of {len(sides)} columns")
        out = []
        for text, side in zip(texts + [""] * (len(sides) - len(texts)), sides):
            markup = self.inline(text)
            if not re.fullmatch(r"[\W\d]*", plain(markup)):
                self.note(markup)
            kind = side or ("k" if not out and len(text) < SHORT and re.fullmatch(r"<code>[^<]*</code>", markup) else "")
            out.append(f'<{name} class="{kind}">{markup}</{name}>' if kind else f"<{name}>{markup}</{name}>")
        return "".join(out)

    def items(self, parts, lines, at):
        number = ITEM.match(lines[at])[1]
        out = []
        while at < len(lines):
            item = ITEM.match(lines[at])
            if not item or bool(item[1]) != bool(number):
                break
            at, text = take_item(lines, at, item.end())
            out.append(f"<li>{self.item(text)}</li>")
        name = "ol" if number else "ul"
        start = f' start="{number}"' if number and number != "1" else ""
        parts.append(f"<{name}{start}>\n" + "\n".join(out) + f"\n</{name}>")
        return at

    def item(self, text):
        """Without <p> around what is a single paragraph."""
        markup = self.blocks(text)
        inner = re.fullmatch(r"<p>((?:(?!<p>).)*)</p>(.*)", markup, flags=re.DOTALL)
        return inner[1] + inner[2] if inner and "<p>" not in inner[2] else markup

    # Inside of a line.

    def inline(self, text):
        out, at = [], 0
        for found in INLINE.finditer(text):
            out.append(self.words(text[at:found.start()]))
            out.append(self.span(found))
            at = found.end()
        out.append(self.words(text[at:]))
        return "".join(out)

    def words(self, text):
        markup = html.escape(text, quote=False)
        return formula.in_words(markup) if self.formulas else markup

    def span(self, found):
        kind = found.lastgroup
        if found["escaped"]:
            return html.escape(found["escaped"][1:], quote=False)
        if found["code"]:
            return self.code(found["code"].replace("\n", " ").strip())
        if found["image"]:
            return f'<img src="{html.escape(self.link(found["target"], True))}" alt="{html.escape(" ".join(found["text"].split()))}">'
        if found["target"]:
            return f'<a href="{html.escape(self.link(found["target"], False))}">{self.inline(found["text"])}</a>'
        if found["address"]:
            return f'<a href="{html.escape(found["address"])}">{html.escape(found["address"])}</a>'
        if found["strong"]:
            return f"<strong>{self.inline(found['strong'])}</strong>"
        if found["emphasis"]:
            return f"<em>{self.inline(found['emphasis'])}</em>"
        raise Problem(f"the {kind} {found[0]} is not known; code belongs between backticks")

    def code(self, text):
        if self.formulas and formula.is_formula(text):
            return f'<span class="formula">{formula.inline(text)}</span>'
        return f"<code>{html.escape(text, quote=False)}</code>"

    def note(self, markup):
        if self.sections:
            self.sections[-1].words.append(plain(markup.replace("<sub>", "_").replace("<sup>", "^")))


def cells(line):
    """Of a row of a table; a bar with a backslash before it is a bar."""
    parts = re.split(r"(?<!\\)\|", line.strip().removeprefix("|"))
    if parts and not parts[-1].strip():
        parts.pop()
    return [part.strip().replace("\\|", "|") for part in parts]


def take_item(lines, at, width):
    """The lines of one item of a list without their indent, and where the next thing begins."""
    text, end = [lines[at][width:]], at + 1
    while end < len(lines):
        line = lines[end]
        indented = line.startswith(" " * min(width, 2)) and line.strip()
        if not line.strip():
            ahead = end + 1
            while ahead < len(lines) and not lines[ahead].strip():
                ahead += 1
            if ahead < len(lines) and lines[ahead].startswith("  "):
                text.append("")
                end = ahead
                continue
            return (ahead if ahead < len(lines) and ITEM.match(lines[ahead]) else end), text
        if not indented and (ITEM.match(line) or FENCE.match(line) or HEADING.match(line) or line.startswith("|") or COMMENT.match(line)):
            break
        text.append(line[min(width, len(line) - len(line.lstrip())):])
        end += 1
    return end, text
