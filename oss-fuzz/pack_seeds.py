#!/usr/bin/env python3
"""Writes OUT/TARGET_seed_corpus.zip for every fuzz target in OUT: the seeds of fuzz/seeds.py and what is stored in fuzz/corpus/.

usage: pack_seeds.py PATH_OF_BROAD OUT
"""
import pathlib
import sys
import tempfile
import zipfile

FUZZ = pathlib.Path(__file__).resolve().parent.parent / "fuzz"
sys.path.insert(0, str(FUZZ))
import seeds  # noqa: E402


def main():
    broad, out = map(pathlib.Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as room:
        made = seeds.all_seeds(broad, room)
    for program in sorted(out.glob("fuzz_*")):
        if program.suffix:
            continue
        with zipfile.ZipFile(out / f"{program.name}_seed_corpus.zip", "w") as packed:
            for number, seed in enumerate(made[program.name]):
                packed.writestr(f"seed{number}", seed)
            stored = FUZZ / "corpus" / f"{program.name}.zip"
            if stored.exists():
                with zipfile.ZipFile(stored) as found:
                    for name in found.namelist():
                        packed.writestr(name, found.read(name))


if __name__ == "__main__":
    main()
