"""The index of the search: a script, since a page that was opened from a folder may not read any other file."""
import json


def index(documents):
    """What site.js searches: pages by address and title; sections by page, anchor, title and text."""
    pages, sections = [], []
    for number, document in enumerate(documents):
        pages.append([document.place, document.page.title])
        for section in document.page.sections + document.page.entries:
            sections.append([number, section.anchor, section.title, " ".join(section.words)])
    text = json.dumps({"pages": pages, "sections": sections}, ensure_ascii=False, separators=(",", ":"))
    return "window.broadIndex = " + text.replace("</", "<\\/").replace("\u2028", " ").replace("\u2029", " ") + ";\n"
