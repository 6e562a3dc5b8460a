"""What the scripts that measure tables understand on their command lines, each in one line for argparse."""
import argparse


def methods_among(names):
    def some_methods(text):
        chosen = [name for name in text.split(",") if name]
        for name in chosen:
            if name not in names:
                raise argparse.ArgumentTypeError(f"no method '{name}'; there are {', '.join(names)}")
        return chosen
    return some_methods


def count(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is no whole number")
    return int(text)


def positive(text):
    if count(text) == 0:
        raise argparse.ArgumentTypeError("must be at least 1")
    return int(text)
