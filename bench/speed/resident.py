"""Runs a command and writes to a file what it took: peak resident size in bytes, seconds, page faults without reading.

usage: resident.py FILE COMMAND...

A process of its own: what a child counts begins with the size of its parent, and a parent that has numpy and rows in
memory would be all there is to see.
"""
import os
import sys
import time


def main():
    began = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            os.execv(sys.argv[2], sys.argv[2:])
        except OSError as error:
            print(f"{sys.argv[2]}: {error.strerror}", file=sys.stderr)
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - began
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write(f"{1024 * usage.ru_maxrss} {seconds:.6f} {usage.ru_minflt}\n")
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
