#!/usr/bin/env python3
"""tidy: the include law and the style, as a test.

tidy.py [ROOT] prints "path:line: rule: what" for each offence and exits 1 when there is one, 0 when there is none.
The include law is tools/include_law.txt, exemptions (with reasons) are tools/tidy_exempt.txt, both below ROOT. Only the
standard library of Debian's python3 is used.
"""
import fnmatch
import os
import re
import subprocess
import sys

MAX_LINE, MAX_FILE, MAX_FUNCTION, MAX_BLOB = 120, 600, 60, 256 * 1024
CODE = (".c", ".h", ".cu")
LINED = CODE + (".py", ".sh", ".cmake")
# Their bytes are data: white space is not checked.
DATA = ("tests/fuzz/corpus/*", "tests/fake/*", "tests/golden/*/std*", "tests/golden/*/in/*", "*.png", "*.ico", "*.bin")

# name of the rule -> (pattern of the call, folders where it is allowed, what to do instead)
BANNED = {
    "unbounded-copy": (r"(?:strcpy|strcat|sprintf|vsprintf|gets|stpcpy)", (), "use base/text.h or snprintf"),
    "silent-parse": (r"(?:atoi|atol|atoll|atof)", (), "use ifm_parse_*"),
    "exit": (r"(?:exit|abort|_exit|_Exit|quick_exit)", ("cli",), "return an ifm_status; only the command exits"),
    "assert": (r"assert", (), "return an error, or _Static_assert"),
    "random": (r"(?:rand|srand|random|srandom|drand48)", (), "use base/random.h"),
    "shell": (r"(?:system|popen)", (), "no shell"),
    "stack": (r"alloca", (), "use an arena"),
    "stdout": (r"(?:printf|vprintf|puts|putchar)", ("cli", "publish"), "results leave through publish and cli"),
}
# One file calls the functions that change settings of the machine, and one declares them.
SETTERS = re.compile(r"\bnvmlDevice(?:Set|Reset)\w*")
SETTER_FILES = ("src/lock/nvml.c", "src/dyn/nvml.h")
MARKERS = re.compile(r"\b(?:" + "|".join(["TO" "DO", "FIX" "ME", "X" "XX"]) + r")\b")
# What other files can see of one: functions, objects, inline functions of headers, and tags of structs.
FUNCTION = re.compile(
    r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][^\n;{}=]*?\b((?:ifm|inferometer)_\w+)\s*\([^;{}]*\)\s*\n\{", re.M)
OBJECT = re.compile(r"^(?!static\b|typedef\b|extern\b|return\b)[A-Za-z_][\w\s*]*?[\s*](ifm_\w+)(?:\[[^\]]*\])*\s*[=;]",
                    re.M)
INLINE = re.compile(r"^static inline [^\n;{}=]*?\b(ifm_\w+)\s*\([^;{}]*\)\s*\n\{.*?^\}", re.M | re.S)
TAG = re.compile(r"^[ \t]*(?:(?:static|const|typedef)\s+)*struct (\w+) \{", re.M)
OPAQUE = re.compile(r"^struct (\w+);", re.M)
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|work|Users|root)/\w")


def strip_c(text):
    """C text with comments and literals blanked out; lines and columns stay."""
    pattern = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def find_circles(graph):
    """The strongly connected parts of more than one node, each sorted (Tarjan, without recursion)."""
    index, low, stack, on_stack, circles = {}, {}, [], set(), []
    for root in sorted(graph):
        work = [] if root in index else [(root, iter(sorted(graph[root])))]
        if work:
            index[root] = low[root] = len(index)
            stack.append(root)
            on_stack.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = stack[stack.index(node):]
                    del stack[len(stack) - len(part):]
                    on_stack -= set(part)
                    if len(part) > 1:
                        circles.append(sorted(part))
    return circles


class Tidy:
    def __init__(self, root):
        self.root = root
        self.offences = []
        self.sources = {}  # path below src/ -> C text without comments and literals
        self.exempt = self.read_exempt()
        self.law = self.read_law()

    def lines_of(self, name):
        try:
            with open(os.path.join(self.root, name), encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    line = line.split("#", 1)[0].strip()
                    if line:
                        yield number, line
        except FileNotFoundError:
            self.offences.append((name, 0, "missing", "tidy needs this file"))

    def read_exempt(self):
        rows = []
        for number, line in self.lines_of("tools/tidy_exempt.txt"):
            words = line.split(None, 2)
            if len(words) < 3:
                self.offences.append(("tools/tidy_exempt.txt", number, "exempt", "needs rule, path and reason"))
            else:
                rows.append({"rule": words[0], "path": words[1], "line": number, "used": False})
        return rows

    def read_law(self):
        law = {}
        for number, line in self.lines_of("tools/include_law.txt"):
            folder, colon, rest = line.partition(":")
            if not colon:
                self.offences.append(("tools/include_law.txt", number, "include-law", "needs 'folder: ...'"))
                continue
            words = rest.split()
            denied = {word[1:] for word in words if word.startswith("!")}
            allowed = {word for word in words if not word.startswith("!")} | {folder, "base", "model"}
            law[folder] = (allowed - denied, denied)
        if "model" in law:
            law["model"] = ({"model", "base"}, law["model"][1])
        return law

    def say(self, path, line, rule, what):
        for row in self.exempt:
            if row["rule"] == rule and fnmatch.fnmatch(path, row["path"]):
                row["used"] = True
                return
        self.offences.append((path, line, rule, what))

    def files(self):
        """(path, mode or None) of everything that is or could be committed."""
        listing = ["git", "-C", self.root, "ls-files", "-z", "-c", "-o", "--exclude-standard"]
        done = subprocess.run(listing, capture_output=True, check=False)
        if done.returncode == 0:
            paths = [os.fsdecode(path) for path in done.stdout.split(b"\0") if path]
        else:
            paths = []
            for base, folders, names in os.walk(self.root):
                folders[:] = [f for f in folders if f not in (".git", "build", "runs") and not f.startswith("build-")]
                paths += [os.path.relpath(os.path.join(base, name), self.root) for name in names]
        return sorted(path for path in set(paths) if os.path.isfile(os.path.join(self.root, path)))

    def check(self):
        count = 0
        for path in self.files():
            count += 1
            self.check_file(path)
        self.check_circles()
        self.check_tags()
        for row in self.exempt:
            if not row["used"]:
                self.offences.append(("tools/tidy_exempt.txt", row["line"], "exempt",
                                      f"nothing needs '{row['rule']} {row['path']}' any more"))
        if count == 0:
            self.offences.append((self.root, 0, "missing", "no file to look at"))
        return count

    def check_file(self, path):
        full = os.path.join(self.root, path)
        with open(full, "rb") as file:
            data = file.read()
        if len(data) > MAX_BLOB:
            self.say(path, 1, "blob", f"{len(data)} bytes, at most {MAX_BLOB}")
        script = data.startswith(b"#!")
        if os.access(full, os.X_OK) != script:
            self.say(path, 1, "executable", "has no #! line" if not script else "is a script without the bit")
        if any(fnmatch.fnmatch(path, pattern) for pattern in DATA):
            return
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.say(path, 1, "utf-8", str(error))
            return
        self.check_text(path, text)
        if path.endswith(CODE):
            self.check_c(path, text)

    def check_text(self, path, text):
        if text and not text.endswith("\n"):
            self.say(path, text.count("\n") + 1, "final-newline", "the last line has no newline")
        if text.endswith("\n\n"):
            self.say(path, text.count("\n"), "final-newline", "an empty line at the end")
        lines = text.split("\n")
        tabs_allowed = os.path.basename(path) == "Makefile"
        lined = path.endswith(LINED) or os.path.basename(path) == "CMakeLists.txt"
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                self.say(path, number, "trailing-space", "white space at the end of the line")
            if "\t" in line and not tabs_allowed:
                self.say(path, number, "tab", "a tab")
            if lined and len(line) > MAX_LINE:
                self.say(path, number, "line-length", f"{len(line)} columns, at most {MAX_LINE}")
            if MARKERS.search(line):
                self.say(path, number, "marker", "finish it, or write an issue")
            if MACHINE_PATH.search(line):
                self.say(path, number, "machine-path", "a path of one machine")
        if lined and len(lines) - 1 > MAX_FILE:
            self.say(path, MAX_FILE, "file-length", f"{len(lines) - 1} lines, at most {MAX_FILE}")

    def check_c(self, path, text):
        bare = strip_c(text)
        if not text.startswith("/*"):
            self.say(path, 1, "opening-comment", "a file opens with a comment: what it owns")
        self.check_functions(path, bare)
        parts = path.split("/")
        if parts[0] != "src" or len(parts) < 3:
            return
        folder = parts[1]
        self.sources[path] = bare
        self.check_includes(path, folder, text, bare)
        for rule, (names, allowed, instead) in BANNED.items():
            if folder in allowed:
                continue
            for match in re.finditer(r"(?<![\w.>])" + names + r"\s*\(", bare):
                self.say(path, bare.count("\n", 0, match.start()) + 1, rule,
                         f"{match.group().rstrip('( ')}: {instead}")
        for match in re.finditer(SETTERS, bare):
            if path not in SETTER_FILES:
                self.say(path, bare.count("\n", 0, match.start()) + 1, "setter",
                         f"{match.group()}: only src/lock/nvml.c changes a GPU's settings")
        if folder not in BANNED["stdout"][1]:
            for match in re.finditer(r"\bstdout\b", bare):
                self.say(path, bare.count("\n", 0, match.start()) + 1, "stdout",
                         "results leave through publish and cli")
        if path.endswith(".h"):
            self.check_guard(path, parts, bare)

    def check_guard(self, path, parts, bare):
        words = [re.sub(r"\W", "_", part).upper() for part in parts[1:]]
        guard = "IFM_" + "_".join(words)
        if not re.match(r"\s*#ifndef " + guard + r"\n#define " + guard + r"\n", bare):
            self.say(path, 1, "header-guard", f"must be {guard}")

    def check_includes(self, path, folder, text, bare):
        if folder not in self.law:
            self.say(path, 1, "include-law", f"tools/include_law.txt has no row for {folder}")
            return
        allowed, denied = self.law[folder]
        for number, (line, bare_line) in enumerate(zip(text.split("\n"), bare.split("\n")), 1):
            match = re.match(r"\s*#\s*include\s*(\"([^\"]+)\"|<([^>]+)>)", line)
            if not match or not bare_line.strip():
                continue
            ours, system = match.group(2), match.group(3)
            if (ours or system) in denied:
                self.say(path, number, "include-law", f"{folder} must not include {ours or system}")
            if ours is None:
                continue
            target = ours.split("/")[0]
            if "/" not in ours:
                # A header beside the file, or one that the build makes.
                beside = os.path.join(self.root, os.path.dirname(path), ours)
                if os.path.exists(beside):
                    self.say(path, number, "include-law", f"write it from src/: \"{os.path.dirname(path)[4:]}/{ours}\"")
            elif target not in allowed and "*" not in allowed and target != "inferometer":
                self.say(path, number, "include-law", f"{folder} must not see {target} ({ours})")

    def check_circles(self):
        """A file and its header are one unit. No unit of a folder uses itself through others of the folder: a unit uses
        another one when it names a function or an object that the other defines."""
        owners, words = {}, {}
        for path, bare in self.sources.items():
            if path.endswith(".cu"):
                continue
            unit = path[4:].rsplit(".", 1)[0]
            if path.endswith(".h"):  # what it declares is defined elsewhere; only its bodies use anything
                names = INLINE.findall(bare)
                bare = "\n".join(match.group() for match in INLINE.finditer(bare))
            else:
                names = FUNCTION.findall(bare) + OBJECT.findall(bare)
            for name in names:
                owners.setdefault(name, set()).add(unit)
            words.setdefault(unit, set()).update(re.findall(r"\b[A-Za-z_]\w*\b", bare))
        graph = {unit: set() for unit in words}
        for unit, used in words.items():
            for name in used & owners.keys():
                if unit not in owners[name]:
                    graph[unit] |= {other for other in owners[name] if other.split("/")[0] == unit.split("/")[0]}
        for circle in find_circles(graph):
            self.say(f"src/{circle[0]}.c", 1, "circle", "these use each other: " + ", ".join(circle))

    def check_tags(self):
        """No two structs share a tag. A tag that a header only announces may have one meaning in each file that
        implements it, such as the state behind a table of functions."""
        opaque = {tag for path, bare in self.sources.items() if path.endswith(".h") for tag in OPAQUE.findall(bare)}
        first = {}
        for path, bare in sorted(self.sources.items()):
            for match in TAG.finditer(bare):
                tag, line = match.group(1), bare.count("\n", 0, match.start()) + 1
                other = first.setdefault(tag, path)
                if other != path and not (tag in opaque and path.endswith(".c") and other.endswith(".c")):
                    self.say(path, line, "struct-tag", f"struct {tag} stands in {other} too")

    def check_functions(self, path, bare):
        """A body opens with a brace in the first column (.clang-format says so) and ends with one."""
        start = None
        for number, line in enumerate(bare.split("\n"), 1):
            if line.rstrip() == "{":
                start = number
            elif line.startswith("}") and start is not None:
                if number - start + 1 > MAX_FUNCTION:
                    self.say(path, start, "function-length", f"{number - start + 1} lines, at most {MAX_FUNCTION}")
                start = None


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "."
    tidy = Tidy(root)
    count = tidy.check()
    for path, line, rule, what in sorted(tidy.offences):
        print(f"{path}:{line}: {rule}: {what}")
    print(f"tidy: {count} files, {len(tidy.offences)} offences")
    return 1 if tidy.offences else 0


if __name__ == "__main__":
    sys.exit(main())
