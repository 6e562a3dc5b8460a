"""Mean ranks as a diagram of critical differences (Demsar, JMLR 7, 2006): an SVG for light and for dark pages."""
import html

from bench.tables.ranks import groups

WIDTH, SIDE, TOP, LINE, STEP = 980, 240, 96, 22, 12
STYLE = """<style>
.p { fill: #ffffff } .t { font: 13px sans-serif; fill: #1d2733 } .q { fill: #5b6673 } .f { font-weight: bold; fill: #2b7d86 }
.a { stroke: #5b6673; fill: none } .m { stroke: #9aa5b1; fill: none }
.g { stroke: #b33421; stroke-width: 4; stroke-linecap: round }
@media (prefers-color-scheme: dark) {
.p { fill: #14191f } .t { fill: #e4e9ee } .q { fill: #9aa5b1 } .f { fill: #5cc0c9 }
.a { stroke: #9aa5b1 } .m { stroke: #5b6673 } .g { stroke: #ef7a66 }
}
</style>"""


def make(methods, means, difference, caption):
    """Better methods to the left, their names on both sides; a bar joins those that the critical difference does not tell
    apart. The first method is the one that stands out."""
    order = sorted(range(len(methods)), key=lambda i: means[i])
    joined = [group for group in groups(means, difference) if group[1] > group[0]]
    axis = TOP
    below = axis + 18 + STEP * len(joined)
    height = int(below + LINE * ((len(order) + 1) // 2) + 24)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
             f'role="img" aria-label="{html.escape(caption)}">', f"<title>{html.escape(caption)}</title>", STYLE,
             f'<rect class="p" width="{WIDTH}" height="{height}"/>',
             f'<text class="t" x="{SIDE}" y="30">{html.escape(caption)}</text>']
    parts += axis_parts(len(methods), axis)
    parts += difference_parts(len(methods), difference)
    for number, (first, last) in enumerate(joined):
        y = axis + 14 + STEP * number
        low, high = (place(means[order[i]], len(methods)) for i in (first, last))
        parts.append(f'<path class="g" d="M{low - 3:.1f} {y:.1f} H{high + 3:.1f}"/>')
    parts += name_parts(methods, means, order, axis, below)
    return "\n".join([*parts, "</svg>", ""])


def place(rank, count):
    return SIDE + (rank - 1) / max(1, count - 1) * (WIDTH - 2 * SIDE)


def axis_parts(count, y):
    yield f'<path class="a" d="M{SIDE} {y:.1f} H{WIDTH - SIDE}"/>'
    for rank in range(1, count + 1):
        x = place(rank, count)
        yield f'<path class="a" d="M{x:.1f} {y - 5:.1f} V{y:.1f}"/>'
        yield f'<text class="t q" x="{x:.1f}" y="{y - 10:.1f}" text-anchor="middle">{rank}</text>'


def difference_parts(count, difference):
    end = place(1 + difference, count)
    yield f'<path class="a" d="M{SIDE} 52 H{end:.1f} M{SIDE} 47 V57 M{end:.1f} 47 V57"/>'
    yield f'<text class="t q" x="{end + 8:.1f}" y="56">critical difference {difference:.2f}</text>'


def name_parts(methods, means, order, axis, below):
    """The better half on the left, the best at the top; the others on the right, the worst at the top."""
    half = (len(order) + 1) // 2
    for number, i in enumerate(order):
        left = number < half
        y = below + LINE * (number if left else len(order) - 1 - number) + 12
        x, end, anchor = place(means[i], len(methods)), *((SIDE - 12, "end") if left else (WIDTH - SIDE + 12, "start"))
        text = f"{html.escape(methods[i])} {means[i]:.2f}"
        yield f'<path class="m" d="M{x:.1f} {axis:.1f} V{y:.1f} H{end + (4 if left else -4)}"/>'
        yield f'<text class="t{" f" if i == 0 else ""}" x="{end}" y="{y + 4:.1f}" text-anchor="{anchor}">{text}</text>'
