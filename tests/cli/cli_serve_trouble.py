#!/usr/bin/env python3
"""The server when the machine is against it: decoders that crash or hang, a system without seccomp, a full disk.

Usage: cli_serve_trouble.py PATH_OF_BROAD.
"""
import ctypes
import errno
import json
import os
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cli_serve as base  # noqa: E402
from cli_serve import Server, command_of, wait_for  # noqa: E402


def setUpModule():
    base.setUpModule()


def tearDownModule():
    base.tearDownModule()


def some_photo(number=0):
    with open(base.photos()[number], "rb") as photo:
        return photo.read()


def status_of(process):
    with open("/proc/%d/status" % process, encoding="ascii") as file:
        return {name: value.strip() for name, value in (line.split(":", 1) for line in file if ":" in line)}


class Decoders(unittest.TestCase):
    """Photos are decoded by others, who are shut in; what becomes of them is one photo's trouble."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("decoders", "--threads", "1")
        cls.server.post("judge", some_photo())

    @classmethod
    def tearDownClass(cls):
        cls.server.end()

    def test_shut_in(self):
        (decoder,) = self.server.decoders()
        status = status_of(decoder)
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        with open("/proc/%d/limits" % decoder, encoding="ascii") as file:
            limits = {line[:25].strip(): line[26:].split()[0] for line in file}
        self.assertEqual((limits["Max file size"], limits["Max core file size"], limits["Max open files"]), ("0", "0", "16"))
        if base.SLOW == 1:  # sanitizers need addresses without end
            self.assertNotEqual(limits["Max address space"], "unlimited")
        self.assertEqual(len(os.listdir("/proc/%d/fd" % decoder)), 3)  # its socket, and what the server prints to
        self.assertEqual(self.server.notes(), "")

    def test_crash_is_one_photo(self):
        s = self.server
        (decoder,) = s.decoders()
        os.kill(decoder, signal.SIGSTOP)
        number = s.add(some_photo(1), "unlucky.jpg")["id"]
        time.sleep(0.2)
        os.kill(decoder, signal.SIGSEGV)
        os.kill(decoder, signal.SIGCONT)
        s.settle()
        listed = [photo for photo in s.get("unreadable")["photos"] if photo["id"] == number]
        self.assertIn("the decoder crashed on it (Segmentation fault)", listed[0]["reason"])
        self.assertIn("label", s.post("judge", some_photo(1)))
        self.assertNotEqual(s.decoders(), [decoder])

    def test_ended_between_photos(self):
        s = self.server
        (decoder,) = s.decoders()
        os.kill(decoder, signal.SIGKILL)
        wait_for(lambda: status_of(decoder)["State"][0] == "Z")
        number = s.add(some_photo(2), "lucky.jpg")["id"]
        s.settle()
        self.assertIsNone(s.get("photos/%d" % number)["reason"])

    def test_tool_is_held(self):
        """The tool, which draws and learns for the server, obeys rules too."""
        if base.SLOW > 1:
            self.skipTest("sanitizers look for leaks in ways that are forbidden then")
        s = Server("drawn", model=False)
        self.addCleanup(s.end)
        s.post("demo")
        obeys = wait_for(lambda: [status_of(child)["Seccomp"] for child in s.decoders() if b"render" in command_of(child)])
        self.assertEqual(obeys[0], "2")


# fork() and socketpair() fail for want of memory and of descriptors while the file that BROAD_TEST_SHORT names says so.
SHORT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
static int is_short_of(char what)
{
    char said = 0;
    int file = open(getenv("BROAD_TEST_SHORT"), O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    int got = read(file, &said, 1) == 1;
    close(file);
    return got && said == what;
}
pid_t fork(void)
{
    errno = EAGAIN;
    return is_short_of('p') ? -1 : ((pid_t (*)(void))dlsym(RTLD_NEXT, "fork"))();
}
int socketpair(int domain, int type, int protocol, int pair[2])
{
    errno = EMFILE;
    return is_short_of('d') ? -1 : ((int (*)(int, int, int, int *))dlsym(RTLD_NEXT, "socketpair"))(domain, type, protocol, pair);
}
"""


@unittest.skipIf(base.SLOW > 1, "sanitizers must be loaded before anything else")
@unittest.skipUnless(shutil.which("cc"), "there is no compiler")
class NoDecoders(unittest.TestCase):
    """No process or no socket for a decoder: that is no fault of the photo, which waits until there is one."""

    def wait_again(self, short, reason):
        folder = os.path.join(base.WORK, "without_" + short)
        os.makedirs(folder)
        with open(folder + "/short.c", "w", encoding="ascii") as file:
            file.write(SHORT)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", folder + "/short.so", folder + "/short.c", "-ldl"], check=True)
        says = folder + "/says"
        s = Server("short_of_" + short, "--threads", "2", before=("env", "LD_PRELOAD=" + folder + "/short.so", "BROAD_TEST_SHORT=" + says))
        self.addCleanup(s.end)
        with open(says, "w", encoding="ascii") as file:
            file.write(short)
        ids = [s.add(some_photo(number), "%d.jpg" % number)["id"] for number in range(3)]
        refused = s.post("judge", some_photo(), 503)["error"]
        self.assertEqual(refused["message"], "a process that decodes photos cannot be started: " + reason)
        time.sleep(3)  # longer than the pause before they are tried again
        counts = s.get("status")["counts"]
        self.assertEqual((counts["waiting"], counts["judged"], counts["unreadable"]), (3, 0, 0))
        self.assertEqual((s.get("unreadable")["photos"], s.decoders()), ([], []))
        os.unlink(says)
        s.settle()
        self.assertEqual([(photo["reason"], bool(photo["label"])) for photo in (s.get("photos/%d" % number) for number in ids)], [(None, True)] * 3)
        self.assertIn("label", s.post("judge", some_photo()))

    def test_no_process(self):
        self.wait_again("p", os.strerror(errno.EAGAIN))

    def test_no_descriptor(self):
        self.wait_again("d", os.strerror(errno.EMFILE))


def without_seccomp():
    """Rules under which no further rules are known: what a system without them answers."""
    def rule(code, k, jt=0, jf=0):
        return struct.pack("HBBI", code, jt, jf, k)
    # prctl (157 on x86-64, 167 on arm64) with PR_SET_SECCOMP (22) fails with EINVAL (22)
    number = {"x86_64": 157, "aarch64": 167}[os.uname().machine]
    rules = (rule(0x20, 0) + rule(0x15, number, 0, 3) + rule(0x20, 16) + rule(0x15, 22, 0, 1) + rule(0x06, 0x00050000 | 22) +
             rule(0x06, 0x7fff0000))
    code = ctypes.create_string_buffer(rules, len(rules))
    program = struct.pack("HxxxxxxQ", len(rules) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


class WithoutSeccomp(unittest.TestCase):
    def test_says_so_and_works(self):
        if os.uname().machine not in ("x86_64", "aarch64"):
            self.skipTest("numbers of system calls are not known here")
        s = Server("unlimited", "--threads", "1", prepare=without_seccomp)
        self.addCleanup(s.end)
        self.assertIn("this system cannot limit system calls (seccomp)", s.notes())
        self.assertIn("label", s.post("judge", some_photo()))
        self.assertEqual(s.post("judge", b"no photo", 422)["error"]["status"], "bad_data")


class Full(unittest.TestCase):
    """A disk without room: what was confirmed stays, what was not is refused with the reason."""

    def confirm(self, s, ids, confirmed, want):
        """Reviews until one is refused (or, with want 200, one is accepted)."""
        for turn in range(400):
            number, label = ids[turn % len(ids)], ("Clean", "Dusty")[turn // len(ids) % 2]
            code, _, body = s.ask("POST", "/api/v1/review", {"photos": [number], "label": label})
            if code == 200:
                confirmed[number] = label
            else:
                self.assertEqual((code, json.loads(body)["error"]["status"]), (507, "cannot_write"), body)
                self.assertIn("the disk is full: nothing was changed", json.loads(body)["error"]["message"])
            if code == want:
                return
        self.fail("it did not come to %d" % want)

    def check(self, s, confirmed):
        for number, label in confirmed.items():
            self.assertEqual(s.get("photos/%d" % number)["human"], label)

    def refused_everything(self, s, model):
        self.assertEqual(s.post("photos?name=one.jpg", some_photo(3) + b"one more", 507)["error"]["status"], "cannot_write")
        self.assertEqual(s.ask("GET", "/api/v1/export/report")[0], 507)
        s.post("learn", {}, 202)
        last = wait_for(lambda: (lambda w: w["task"] is None and w["last"])(s.get("status")["work"]))
        self.assertEqual(last["state"], "failed", last)
        self.assertIn("writing failed", last["message"])
        self.assertEqual(s.get("status")["model"], model)
        self.assertIn("label", s.post("judge", some_photo()))  # nothing is written for it

    def run_through(self, s, fill, free):
        self.addCleanup(lambda: s.process.poll() is None and s.end(signal.SIGKILL))
        ids = list(s.add_all(base.photos()[:12]).values())
        confirmed, model = {}, s.get("status")["model"]
        for number in ids[:4]:
            confirmed[number] = {"Clean": "Dusty", "Dusty": "Clean"}[s.get("photos/%d" % number)["label"]]
            s.post("review", {"photos": [number], "label": confirmed[number]})
        fill()
        self.confirm(s, ids, confirmed, 507)
        self.refused_everything(s, model)
        self.check(s, confirmed)
        free()
        self.confirm(s, ids, confirmed, 200)
        fill()
        self.confirm(s, ids, confirmed, 507)
        s.end(signal.SIGKILL)
        free()
        s.start()
        self.check(s, confirmed)
        self.assertEqual(s.work("learn")["version"], 2)
        self.assertEqual(s.end()[0], 0)

    def test_files_that_may_not_grow(self):
        s = Server("short")
        hard = resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE)[1]

        def fill():
            resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, (1, hard))

        def free():
            if s.process.poll() is None:
                resource.prlimit(s.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        self.run_through(s, fill, free)
        with sqlite3.connect(s.folder + "/project.db") as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        database.close()

    def test_full_disk(self):
        folder = os.path.join(base.WORK, "disk")
        os.makedirs(folder)
        holder = subprocess.Popen(["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=16m none '%s' && cp '%s' '%s/model.broad' && echo ready"
                                   " && exec sleep 600" % (folder, base.MODEL, folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            if holder.stdout.readline() != "ready\n":
                self.skipTest("no disk of its own can be made here")
            inside = "/proc/%d/root%s" % (holder.pid, folder)
            s = Server("disk", model=False, before=("nsenter", "-t", str(holder.pid), "-U", "-m", "--preserve-credentials"))

            def fill():
                with open(inside + "/filler", "wb", buffering=0) as file:
                    try:
                        while True:
                            file.write(b"x" * 4096)
                    except OSError:
                        pass

            self.run_through(s, fill, lambda: os.unlink(inside + "/filler"))
            shutil.copy(inside + "/project.db", base.WORK + "/disk.db")
            with sqlite3.connect(base.WORK + "/disk.db") as database:
                self.assertEqual(database.execute("PRAGMA integrity_check").fetchone(), ("ok",))
            database.close()
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()


if __name__ == "__main__":
    base.main(unittest)
