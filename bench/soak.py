"""docs/guarantees.md: what lab/soak/soak.py has measured."""
from bench.marks import wrapped
from bench.tool import Failure

PAGE = "docs/guarantees.md"


def whole(found):
    if found.get("wrong"):
        raise Failure(f"soak: {found['wrong'][0]}")
    if not found.get("server") or not found.get("library"):
        raise Failure("soak: half of it is missing")


def parts(found):
    server, library = found["server"], found["library"]
    text = (f"In {found['seconds'] / 60:.0f} minutes (`make soak`) one process went through {library['rounds']:,} rounds of training, learning, saving and loading, while "
            f"{library['threads']} threads predicted, the same bits each time: {library['megabytes'][0]:.0f} MB of memory and {library['files'][0]} open files after a quarter of the "
            f"time, {library['megabytes'][1]:.0f} MB and {library['files'][1]} at the end. Beside it a server answered {server['requests']:,} requests of eight clients and made "
            f"{server['versions']:,} versions of its model: {server['megabytes'][0]:.0f} MB and {server['files'][0]:.0f} open files in the second quarter, {server['megabytes'][1]:.0f} MB "
            f"and {server['files'][1]:.0f} in the last; with its decoders {server['with_decoders'][0]:.0f} and {server['with_decoders'][1]:.0f} MB. Measured on "
            f"{found['processors']} processors, with other work on them.")
    return {PAGE: {"soak": "\n".join(wrapped(text)) + "\n"}}
