"""Code with comments, texts and words of the language marked; nothing more, so that it stays quiet."""
import html
import re

WORDS = {
    "c": "break case char const continue default do double else enum extern float for goto if inline int long return short "
         "signed sizeof static struct switch typedef union unsigned void volatile while size_t NULL int32_t int64_t uint8_t uint32_t "
         "uint64_t",
    "python": "and as assert break class continue def del elif else except False finally for from global if import in is lambda None "
              "not or pass raise return True try while with yield",
    "js": "async await break class const continue default else export false for from function if import let new null of return "
          "this throw true try catch typeof undefined var while",
    "sh": "case do done elif else esac fi for if in then while",
    "json": "true false null",
}
TEXTS = r'"(?:\\.|[^"\\\n])*"' + r"|'(?:\\.|[^'\\\n])*'"
FORMS = {
    "c": (r"/\*.*?\*/|//[^\n]*", TEXTS + r"|(?<=#include )<[^>\n]*>"),
    "python": (r"#[^\n]*", r'"""(?:.|\n)*?"""|' + TEXTS),
    "js": (r"/\*.*?\*/|(?<![:\w])//[^\n]*", TEXTS + r"|`[^`]*`"),
    "sh": (r"(?<!\S)#[^\n]*", r'"(?:\\.|[^"\\])*"' + r"|'[^']*'"),
    "json": (r"(?!)", TEXTS),
}


def pattern(language):
    comment, text = FORMS[language]
    words = "|".join(WORDS[language].split())
    return re.compile(rf"(?P<c>{comment})|(?P<s>{text})|(?P<w>(?<![\w.$-])(?:{words})(?![\w-]))", re.DOTALL)


PATTERNS = {language: pattern(language) for language in FORMS}


def code(text, language):
    """HTML; a language that is not known stays as it is."""
    if language not in PATTERNS:
        return html.escape(text, quote=False)
    out, at = [], 0
    for found in PATTERNS[language].finditer(text):
        out.append(html.escape(text[at:found.start()], quote=False))
        out.append(f'<span class="{found.lastgroup}">{html.escape(found[0], quote=False)}</span>')
        at = found.end()
    return "".join(out) + html.escape(text[at:], quote=False)
