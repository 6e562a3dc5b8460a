"""The guards guard: each check passes on a small sound project and fails, for the right reason, on a planted fault."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("BROAD_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
CC = os.environ.get("CC", "cc")

PUBLIC = """\
#ifndef BROAD_BROAD_H
#define BROAD_BROAD_H

#define BROAD_API __attribute__((visibility("default")))
#ifdef __cplusplus
extern "C" {
#endif
BROAD_API int broad_answer(void);
#ifdef __cplusplus
}
#endif
#endif
"""
STATUS_H = """\
#ifndef BROAD_BASE_STATUS_H
#define BROAD_BASE_STATUS_H

#include <stddef.h>

size_t broad__status(void);

#endif
"""
STATUS_C = """\
#include "base/status.h"

size_t broad__status(void) { return 42; }
"""
ANSWER_C = """\
#include "base/status.h"
#include "broad/broad.h"

int broad_answer(void) { return (int)broad__status(); }
"""


class Guard(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.write("include/broad/broad.h", PUBLIC)
        self.write("src/base/status.h", STATUS_H)
        self.write("src/base/status.c", STATUS_C)
        self.write("src/api/answer.c", ANSWER_C)
        self.write("src/data/table.h", "#ifndef BROAD_DATA_TABLE_H\n#define BROAD_DATA_TABLE_H\n#endif\n")
        self.write("src/model/model.h", '#ifndef M_H\n#define M_H\n#include "data/table.h"\n#endif\n')
        self.write("cli/main.c", '#include "broad/broad.h"\n\nint main(void) { return broad_answer(); }\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, name, *arguments):
        done = subprocess.run([ROOT / "scripts" / name, *map(str, arguments)], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def assert_sound(self, name, *arguments):
        code, output = self.check(name, *arguments)
        if code == 77:
            self.skipTest(output)
        self.assertEqual(code, 0, output)

    def assert_fault(self, fragment, name, *arguments):
        code, output = self.check(name, *arguments)
        self.assertEqual(code, 1, output)
        self.assertIn(fragment, output)


class Layers(Guard):
    def test_sound(self):
        self.assert_sound("check_layers", self.root)

    def test_faults(self):
        faults = [
            ("src/data/bad.c", '#include "model/model.h"\n', "data may not know model"),
            ("src/base/bad.c", '#include "data/table.h"\n', "base may not know data"),
            ("src/metric/bad.c", '#include "model/model.h"\n', "metric may not know model"),
            ("src/base/bad.c", '# include "data/table.h"\n', "base may not know data"),
            ("src/model/bad.c", '#include "model.h"\n', "write the path from src/"),
            ("cli/bad.c", '#include "model/model.h"\n', "the library's inside"),
            ("cli/bad.c", '#include "compute/device.h"\n', "the library's inside"),
            ("src/model/bad.c", "#include <cblas.h>\n", "has no home"),
            ("src/extra/bad.c", '#include "base/status.h"\n', "has no place in the order"),
            ("include/broad/bad.h", '#include "base/status.h"\n', "system headers only"),
        ]
        for name, text, fragment in faults:
            with self.subTest(name=name, text=text):
                self.write(name, text)
                self.assert_fault(fragment, "check_layers", self.root)
                (self.root / name).unlink()

    def test_an_arrow_that_nothing_uses(self):
        """Only where the script lies in the tree: here, in a copy that allows three arrows, of which two are used."""
        text = (ROOT / "scripts/check_layers").read_text(encoding="utf-8")
        table = 'MAY_USE = {"base": "", "data": "base", "model": "data", "api": "base"}\n'
        text = re.sub(r"(?ms)^MAY_USE = \{.*?^\}\n", lambda match: table, text)
        text = re.sub(r"(?m)^((?:CLI|SERVE)_MAY_(?:USE|INCLUDE)) = .*$", r"\1 = set()", text)
        self.write("scripts/check_layers", text)
        (self.root / "scripts/check_layers").chmod(0o755)
        done = subprocess.run([self.root / "scripts/check_layers"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], "scripts/check_layers: data may use base, but does not")
        self.assertIn("0 against the order, 1 allowed for nothing", done.stdout)
        self.write("src/data/used.c", '#include "base/status.h"\n')
        done = subprocess.run([self.root / "scripts/check_layers"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_nothing_to_read(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assert_fault("no sources", "check_layers", empty)


class Homes(Guard):
    def test_sound(self):
        self.write("src/base/kinds.h", "typedef struct broad__a {\n    int (*call)(int);\n} broad__a;\n"
                   "typedef int (*broad__b)(broad__a *a);\nextern int (*broad__hook)(void);\n"
                   "static inline int broad__c(void) { return 1; }\n/* int broad__d(void); */\n#define E() \\\n    broad__e();\n")
        self.write("src/base/table.c", "static const int rows[] = {1, 2};\nstatic int twice(int x) { return rows[x]; }\n")
        self.assert_sound("check_homes", self.root)
        self.assertIn("1 prototypes, 2 type names, 0 faults", self.check("check_homes", self.root)[1])

    def test_faults(self):
        other = "\n\nint broad__bad(void) { return 1; }\n"
        faults = [
            ("src/base/bad.h", "int broad__none(void);\n", "src/base/bad.h:1: broad__none is defined nowhere"),
            ("src/base/status.h", STATUS_H + "\nint broad__bad(void);\n", "status.h:10: broad__bad belongs in src/base/status.c"),
            ("src/api/status.h", "int broad__bad(\n    void);\n", "broad__bad belongs in src/api/status.c; it is defined in src/base/x.c"),
            ("src/base/bad.h", "typedef struct broad__x {\n    int x;\n} broad__x;\n", "bad.h:1: broad__x is already the name of a type"),
            ("src/base/bad.h", "enum broad__x { BROAD__Y };\n", "broad__x is already the name of a type in src/api/x.h:1"),
            ("src/base/bad.h", "typedef int (*broad__x)(void);\n", "broad__x is already the name of a type"),
            ("src/base/bad.h", "struct broad__bad {\n    int x;\n};\n", "broad__bad is also the name of a function"),
            ("src/compute/device.h", "int broad__status(void);\n", "broad__status belongs in src/compute/device.c"),
            ("src/compute/device.h", "typedef int broad__device;\n", "excuses it for nothing"),
        ]
        self.write("src/base/x.c", other)
        self.write("src/api/x.h", "typedef struct broad__x {\n    int y;\n} broad__x;\n")
        for name, text, fragment in faults:
            with self.subTest(name=name, text=text):
                self.write(name, text)
                self.assert_fault(fragment, "check_homes", self.root)
                (self.root / name).unlink()
        self.assert_sound("check_homes", self.root)

    def test_an_excuse(self):
        self.write("src/compute/device.h", "int broad__device_cpu(void);\n")
        self.write("src/compute/cpu/cpu.c", "int broad__device_cpu(void) { return 1; }\n")
        self.assert_sound("check_homes", self.root)

    def test_nothing_to_read(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assert_fault("no sources", "check_homes", empty)


class Headers(Guard):
    def test_sound(self):
        self.assert_sound("check_headers", self.root)

    def test_inside_header_needs_another(self):
        self.write("src/base/bad.h", "size_t broad__bad(void);\n")
        self.assert_fault("base/bad.h does not compile alone", "check_headers", self.root)

    def test_no_guard(self):
        self.write("src/base/bad.h", "struct bad { int x; };\n")
        self.assert_fault("base/bad.h does not compile alone", "check_headers", self.root)

    @unittest.skipUnless(shutil.which(os.environ.get("CXX", "c++")), "no C++ compiler")
    def test_public_header_not_cplusplus(self):
        self.write("include/broad/broad.h", PUBLIC.replace("broad_answer(void)", "broad_answer(int *restrict new)"))
        self.assert_fault("as c++", "check_headers", self.root)

    def test_public_header_needs_gnu_source(self):
        text = "#include <string.h>\nstatic inline char *f(const char *a) { return strdup(a); }\n" + PUBLIC
        self.write("include/broad/broad.h", text)
        self.assert_fault("broad/broad.h does not compile alone as c", "check_headers", self.root)


class Symbols(Guard):
    def build(self):
        objects = []
        for source in sorted((self.root / "src").rglob("*.c")):
            # Named as CMake names them.
            object_file = self.root / (source.name + ".o")
            subprocess.run(
                [CC, "-std=c11", "-O1", "-fPIC", "-fvisibility=hidden", f"-I{self.root}/include", f"-I{self.root}/src", "-c",
                 "-D_GNU_SOURCE", str(source), "-o", str(object_file)], check=True)
            objects.append(str(object_file))
        subprocess.run(["ar", "rcs", str(self.root / "libbroad.a"), *objects], check=True)
        subprocess.run([CC, "-shared", "-o", str(self.root / "libbroad.so"), *objects], check=True)
        for object_file in objects:
            os.unlink(object_file)
        return self.root / "libbroad.a", self.root / "libbroad.so", self.root / "include/broad/broad.h"

    def test_sound(self):
        self.assert_sound("check_symbols", *self.build())

    def test_references(self):
        faults = [
            ("stdio.h", 'printf("%d", 1)', "prints"),
            ("stdio.h", 'puts("x")', "prints"),
            ("stdio.h", 'fprintf(stderr, "%d", 1)', "prints"),
            ("stdlib.h", "exit(1)", "ends the process"),
            ("stdlib.h", "abort()", "ends the process"),
            ("unistd.h", "_exit(1)", "ends the process"),
            ("assert.h", "assert(broad__bad == 0)", "ends the process"),
            ("signal.h", "signal(SIGINT, SIG_IGN)", "touches signals"),
            ("signal.h", "sigaction(SIGINT, 0, 0)", "touches signals"),
            ("stdlib.h", 'setenv("A", "B", 1)', "changes process-wide state"),
            ("locale.h", 'setlocale(LC_ALL, "")', "changes process-wide state"),
            ("string.h", 'strdup("x")', "goes around the allocator"),
        ]
        for header, call, fragment in faults:
            with self.subTest(call=call):
                self.write("src/base/bad.c", f"#include <{header}>\nvoid broad__bad(void);\nvoid broad__bad(void) {{ {call}; }}\n")
                self.assert_fault(f": {fragment}", "check_symbols", *self.build())
                self.assertIn("bad.c.o refers to", self.check("check_symbols", *self.build())[1])

    def test_snprintf_is_fine(self):
        self.write("src/base/good.c", "#include <stdio.h>\nint broad__good(char *o, int x);\n"
                   'int broad__good(char *o, int x) { return snprintf(o, 8, "%d", x); }\n')
        self.assert_sound("check_symbols", *self.build())

    def test_shows_too_much(self):
        self.write("src/base/bad.c", '__attribute__((visibility("default"))) int broad__shown;\n')
        self.assert_fault("shows broad__shown", "check_symbols", *self.build())

    def test_declared_but_missing(self):
        self.write("include/broad/broad.h", PUBLIC.replace("BROAD_API int", "BROAD_API int broad_gone(void);\nBROAD_API int"))
        self.assert_fault("declares broad_gone", "check_symbols", *self.build())

    def test_name_without_prefix(self):
        self.write("src/base/bad.c", "int helper_without_prefix(void);\nint helper_without_prefix(void) { return 1; }\n")
        self.assert_fault("defines helper_without_prefix", "check_symbols", *self.build())


class Format(Guard):
    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / ".clang-format", self.root)
        self.write("src/model/model.h", "#ifndef M_H\n#define M_H\n#endif\n")

    def test_sound(self):
        self.assert_sound("check_format", self.root)

    @unittest.skipUnless(shutil.which("clang-format"), "no clang-format")
    def test_fault_and_fix(self):
        self.write("src/base/bad.c", "int  broad__bad( void ){\n  return 1 ;}\n")
        self.assert_fault("src/base/bad.c as it should be", "check_format", self.root)
        self.assert_sound("check_format", "--fix", self.root)
        self.assert_sound("check_format", self.root)


@unittest.skipUnless(all(map(shutil.which, ("clang-tidy", "cppcheck", "shellcheck"))), "lint tools are not installed")
class Lint(Guard):
    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / ".clang-tidy", self.root)
        self.write("scripts/good", '#!/bin/sh\necho "$1"\n')
        shutil.copy(ROOT / "scripts/check_lint", self.root / "scripts")

    def lint(self):
        entries = [{"directory": str(self.root), "file": str(source),
                    "command": f"{CC} -std=c11 -Iinclude -Isrc -c {source}"} for source in self.root.rglob("*.c")]
        self.write("build/compile_commands.json", json.dumps(entries))
        done = subprocess.run([self.root / "scripts/check_lint", "build"], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_sound(self):
        code, output = self.lint()
        self.assertEqual(code, 0, output)

    def test_faults(self):
        faults = [
            ("src/base/bad.c", "double broad__bad(int x);\ndouble broad__bad(int x) { return 1.0 * (x / 2); }\n",
             "bugprone-integer-division"),
            ("src/base/bad.c", "int broad__bad(void);\nint broad__bad(void)\n{\n    int a[2] = {1, 2};\n    return a[2];\n}\n",
             "arrayIndexOutOfBounds"),
            ("scripts/bad", "#!/bin/sh\nrm -rf $1/*\n", "SC2086"),
        ]
        for name, text, fragment in faults:
            with self.subTest(name=name, fragment=fragment):
                self.write(name, text)
                code, output = self.lint()
                self.assertEqual(code, 1, output)
                self.assertIn(fragment, output)
                (self.root / name).unlink()


class Words(Guard):
    def test_sound(self):
        self.write("data/mnist/fetched", "anything \n")
        self.assert_sound("check_words", self.root)

    def test_faults(self):
        faults = [
            ("docs/bad.md", "see /" + "home/somebody/x\n", "a path of one machine"),
            ("src/base/bad.c", "/* TO" + "DO later */\n", "a note to self"),
            ("src/base/bad.c", "int x; \n", "white space at the end"),
            ("src/base/bad.c", "\tint x;\n", "a tab"),
            ("docs/bad.md", "no end", "no newline"),
            ("src/data/bad.c", "int x; \n", "white space at the end"),
            ("docs/bad.md", "It was judged wrongly.\n", "'wrongly': correctly, incorrectly"),
            ("src/base/bad.c", "/* Rows kept apart. */\n", "'kept apart': held out"),
            ("cli/bad.c", 'const char *help = "threads, one a processor";\n', "'one a processor': per"),
        ]
        for name, text, fragment in faults:
            with self.subTest(text=text):
                self.write(name, text)
                self.assert_fault(fragment, "check_words", self.root)
                (self.root / name).unlink()


class Figures(Guard):
    """The check of the real project's stored results is run on copies of its pages."""

    def setUp(self):
        super().setUp()
        shutil.copytree(ROOT / "docs", self.root / "docs")
        self.write("lab/tests/test_experiments.py", "")
        shutil.copy(ROOT / "README.md", self.root)

    def change(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new, 1))
        return text

    def test_sound(self):
        self.assert_sound("check_figures", self.root)

    def test_a_changed_figure(self):
        """One digit in every marked part."""
        changed = []
        for page in [self.root / "README.md", *sorted((self.root / "docs").rglob("*.md"))]:
            text = page.read_text(encoding="utf-8")
            for part in re.finditer(r"(?ms)^<!-- (docs/.+?): begin -->\n(.*?)^<!-- \1: end -->", text):
                place = part.start(2) + re.search(r"\d(?=\D*\Z)", part[2]).start()
                text = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1:]
                changed.append(f"{page.relative_to(self.root)}: the part '{part[1]}' is not what is stored")
            page.write_text(text, encoding="utf-8")
        self.assertGreater(len(changed), 12)
        code, output = self.check("check_figures", self.root)
        self.assertEqual(code, 1)
        self.assertEqual([fault for fault in changed if fault not in output], [])

    def test_a_changed_result(self):
        self.change("docs/mnist.json", '"accuracy": 0.9869', '"accuracy": 0.8969')
        self.assert_fault("README.md: the part 'docs/*.json in short' is not", "check_figures", self.root)
        self.assert_sound("check_figures", "--fix", self.root)
        self.assertIn("0.8969", (self.root / "README.md").read_text(encoding="utf-8"))

    def test_marks(self):
        mark = "<!-- docs/*.json in short: begin -->\n"
        faults = [(mark, "", "do not come in pairs"), (mark, mark + mark, "two parts called"),
                  ("## Install", "<!-- docs/nothing.json figures: begin -->\n<!-- docs/nothing.json figures: end -->\n",
                   "nothing makes the part 'docs/nothing.json figures'"),
                  ("## Install", "| method | accuracy |\n|---|--:|\n| ours | **0.912** |\n", "a table with figures")]
        for old, new, fragment in faults:
            with self.subTest(fragment=fragment):
                text = self.change("README.md", old, new)
                self.assert_fault(fragment, "check_figures", self.root)
                self.write("README.md", text)
        text = (self.root / "README.md").read_text(encoding="utf-8")
        begin, end = text.index(mark), text.index(mark.replace("begin", "end")) + len(mark) - 2
        self.write("README.md", text[:begin] + text[end:])
        self.assert_fault("README.md: there are no two marks", "check_figures", self.root)

    def test_a_table_that_a_test_compares(self):
        above = "<!-- compared by lab/tests/test_experiments.py -->\n"
        text = "| method | accuracy |\n|---|--:|\n| ours | 0.912 |\n"
        self.change("README.md", "## Install", above + text)
        self.assert_sound("check_figures", self.root)
        self.change("README.md", above, above.replace("experiments", "nothing"))
        self.assert_fault("README.md: line ", "check_figures", self.root)

    def test_part_of_a_run_is_not_taken(self):
        for name, old, new in (("mnist", '"full"', '"quick"'), ("tables", '"svm": [', '"other": ['),
                               ("photos-benchmarks", '"correction"', '"other"'), ("benchmarks", '"full"', '"quick"')):
            with self.subTest(name=name):
                self.change(f"docs/{name}.json", old, new)
                stored = self.root / "docs" / f"{name}.json"
                self.assert_fault("no whole run", "check_figures", "--take", name, stored, self.root)
        self.assert_fault("no results called 'mnists'", "check_figures", "--take", "mnists", stored, self.root)


class Reference(Guard):
    HEADER = PUBLIC.replace("BROAD_API int broad_answer(void);\n", """
/* ---- answers ---- */

typedef struct broad_question {
    int depth; /* of the thought */
} broad_question;

/* What it all comes to. */
BROAD_API int broad_answer(const broad_question *question);
""")

    def setUp(self):
        super().setUp()
        self.write("include/broad/broad.h", self.HEADER)
        self.write("VERSION", "1.2.3\n")
        self.write("docs/api.md", "")
        self.assertEqual(self.check("make_api_reference", self.root), (0, ""))

    def test_sound(self):
        self.assert_sound("make_api_reference", "--check", self.root)
        page = (self.root / "docs/api.md").read_text(encoding="utf-8")
        for part in ("## answers", "| `int depth` | of the thought |", "int broad_answer(const broad_question *question);",
                     "What it all comes to."):
            self.assertIn(part, page)

    def test_faults(self):
        for old, new in (("What it all", "What this all"), ("of the thought", "of the water"), ("int depth", "long depth"),
                         ("answers", "replies"), ("int broad_answer", "long broad_answer")):
            with self.subTest(old=old):
                self.write("include/broad/broad.h", self.HEADER.replace(old, new))
                self.assert_fault("docs/api.md is not what include/broad/broad.h gives", "make_api_reference", "--check",
                                  self.root)

    def test_manual_pages(self):
        """Each function and struct leads to the page of its section, and man has nothing to complain of."""
        self.assertEqual(self.check("make_api_reference", "--man", self.root / "man3", self.root), (0, ""))
        pages = {path.stem: path.read_text(encoding="utf-8") for path in (self.root / "man3").iterdir()}
        self.assertEqual(set(pages), {"libbroad", "libbroad_answers", "broad_answer", "broad_question"})
        self.assertEqual(pages["broad_answer"], ".so man3/libbroad_answers.3\n")
        self.assertIn("What it all comes to.", pages["libbroad_answers"])
        if shutil.which("man"):
            for name in ("libbroad", "libbroad_answers"):
                words = ["man", "--warnings", "-l", str(self.root / "man3" / f"{name}.3")]
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


class Debian(Guard):
    CONTROL = "Source: broad\n\nPackage: libbroad1.2\n\nPackage: libbroad-dev\nDepends: libbroad1.2 (= 1)\n"

    def setUp(self):
        super().setUp()
        self.write("VERSION", "1.2.3\n")
        self.write("debian/control", self.CONTROL)
        self.write("debian/changelog", "broad (1.2.3-1) unstable; urgency=medium\n\n  * x\n\n -- A B <a@b.c>  Mon, 16 Nov 2026 12:00:00 +0000\n")
        self.assertEqual(self.check("make_debian", self.root), (0, ""))

    def test_sound(self):
        self.assert_sound("make_debian", "--check", self.root)
        listed = (self.root / "debian/libbroad1.2.symbols").read_text(encoding="utf-8")
        self.assertEqual(listed, "libbroad.so.1.2 libbroad1.2 #MINVER#\n* Build-Depends-Package: libbroad-dev\n broad_answer@Base 1.2.3\n")

    def test_a_new_function(self):
        self.write("include/broad/broad.h", PUBLIC.replace("(void);", "(void);\nBROAD_API int broad_other(void);"))
        self.assert_fault("debian/libbroad1.2.symbols is not what", "make_debian", "--check", self.root)
        self.write("VERSION", "1.2.4\n")
        self.assertEqual(self.check("make_debian", self.root), (0, ""))
        self.assertIn(" broad_answer@Base 1.2.3\n broad_other@Base 1.2.4\n",
                      (self.root / "debian/libbroad1.2.symbols").read_text(encoding="utf-8"))

    def test_a_new_version(self):
        self.write("VERSION", "1.3.0\n")
        for name in ("control", "changelog", "libbroad1.2.install", "libbroad1.3.symbols"):
            self.assert_fault(f"debian/{name} is not what", "make_debian", "--check", self.root)
        self.assertEqual(self.check("make_debian", self.root), (0, ""))
        self.assert_sound("make_debian", "--check", self.root)
        self.assertEqual(sorted(path.name for path in (self.root / "debian").iterdir()),
                         ["changelog", "control", "libbroad1.3.install", "libbroad1.3.symbols"])
        self.assertEqual((self.root / "debian/control").read_text(encoding="utf-8"), self.CONTROL.replace("1.2", "1.3"))


class Setup(Guard):
    """scripts/setup with stand-ins for the package tools: it must neither need nor touch the real ones."""

    def setUp(self):
        super().setUp()
        self.tools = self.root / "tools"
        self.tools.mkdir()
        self.log = self.root / "log"
        for tool in ("bash", "sed", "env", "printf"):
            (self.tools / tool).symlink_to(shutil.which(tool))
        self.tool("id", "echo 0")

    def tool(self, name, body):
        path = self.tools / name
        path.write_text(f'#!{shutil.which("bash")}\n{body}\n', encoding="utf-8")
        path.chmod(0o755)

    def setup_script(self, *arguments):
        done = subprocess.run([shutil.which("bash"), ROOT / "scripts/setup", *arguments], capture_output=True, text=True,
                              env={"PATH": str(self.tools)})
        return done.returncode, done.stdout + done.stderr, self.log.read_text() if self.log.exists() else ""

    def debian(self, missing, known="true"):
        names = "|".join(missing) or "no-such-package"
        self.tool("dpkg-query", f'case ${{@: -1}} in {names}) exit 1;; *) printf "installed ";; esac')
        self.tool("apt-get", f'echo "apt-get $*" >>{self.log}')
        self.tool("apt-cache", known)

    def test_nothing_to_do(self):
        self.debian([])
        code, output, log = self.setup_script()
        self.assertEqual((code, log), (0, ""), output)
        self.assertEqual(len(output.splitlines()), 1)
        self.assertIn("nothing to do", output)

    def test_installs_only_what_is_missing(self):
        self.debian(["libjansson-dev", "cmake"])
        code, output, log = self.setup_script()
        self.assertEqual(code, 0, output)
        self.assertEqual(log, "apt-get install -y -qq --no-install-recommends cmake libjansson-dev\n")
        self.assertIn("scripts/setup: " + log.strip(), output)

    def test_updates_empty_lists_first(self):
        self.debian(["cmake"], known="false")
        log = self.setup_script()[2]
        self.assertEqual(log.splitlines()[0], "apt-get update -qq")
        self.assertIn("install", log.splitlines()[1])

    def test_check_installs_nothing(self):
        self.debian(["cmake"])
        code, output, log = self.setup_script("--check")
        self.assertEqual((code, log), (1, ""), output)

    def test_runtime_leaves_out_test_tools(self):
        self.debian(["libcmocka-dev", "shellcheck"])
        self.assertEqual(self.setup_script("--runtime")[0::2], (0, ""))

    def test_neither_root_nor_sudo(self):
        self.debian(["cmake"])
        self.tool("id", "echo 1000")
        code, output, log = self.setup_script()
        self.assertEqual((code, log), (1, ""))
        self.assertIn("needs root", output)

    def test_other_systems_get_the_list(self):
        code, output, _ = self.setup_script()
        self.assertEqual(code, 1)
        self.assertIn("libjansson-dev", output)


if __name__ == "__main__":
    if os.environ.get("BROAD_INSTRUMENTS"):
        print("nothing here depends on how the library was built: left to the plain build")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=1)
