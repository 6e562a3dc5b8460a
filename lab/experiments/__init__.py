"""The paper's experiments and four more. Each is a module with

TITLE              what it is, in one line
run(lab, earlier)  measures; returns what can be written as JSON: raw figures of every split and seed, and the settings. With
                   an earlier result of the same experiment only what that does not have is measured, and added to it
text(result)       the marked part of docs/experiments/NAME.md, as Markdown, from that alone: the same result gives the same text
pictures(result)   by file name, the gnuplot script of each picture; names begin with experiments-NAME
"""

ENTRIES = ["tables", "figure", "increments", "sensitivity", "theorem", "tests", "paired"]
