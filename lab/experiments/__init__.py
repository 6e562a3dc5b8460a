"""The paper's experiments and three more. Each is a module with

TITLE              what it is, in one line
run(lab)           measures; returns what can be written as JSON: raw figures of every split and seed, and the settings
text(result)       the marked part of docs/experiments/NAME.md, as Markdown, from that alone: the same result gives the same text
pictures(result)   by file name, the gnuplot script of each picture; names begin with experiments-NAME
"""

ENTRIES = ["tables", "figure", "increments", "sensitivity", "theorem", "tests"]
