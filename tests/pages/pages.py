#!/usr/bin/env python3
"""What the pages say holds: pages.py links | words | length | samples | script PAGE. Needs IFM_SOURCE; words needs
INFEROMETER too.

links        each link between pages leads to a file, and to a heading of it
words        each command and option of `inferometer` in a page is one that its help knows
length       pages for users have at most MOST_WORDS: who adds some removes as many
samples      a block below `<!-- printed by tests/golden/CASE -->` is what that golden test prints
script PAGE  the page's blocks as one shell script, in their order. A block ```sh is run, all others are shown. Left out
             are lines that LEFT_OUT matches: what installs packages, and `make`, whose targets `make check` and the
             stage `newcomer` are tests of their own.
"""
import glob
import os
import re
import subprocess
import sys

LEFT_OUT = re.compile(r"(sudo|make)\b")
SHOWN = {"console", "yaml", "c", "python", ""}
SOURCE = os.environ["IFM_SOURCE"]
MOST_WORDS = 28500
MOST_LINES = 61  # of README, the last one empty
NOT_COUNTED = {"glossary.md", "definitions.md", "configuration.md", "specification.md"}
# Commands of a folder that somebody else has, or of a branch of a reader's own.
EXAMPLES = re.compile(r"inferometer (my|help my)\b")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def pages(pattern):
    return sorted(os.path.relpath(name, SOURCE) for name in glob.glob(os.path.join(SOURCE, pattern), recursive=True))


def blocks(page):
    """(line of its fence, language, lines) of each fenced block."""
    found, fence = [], None
    for number, line in enumerate(read(page).split("\n"), 1):
        if line.startswith("```"):
            if fence is None:
                fence = (number, line[3:].strip(), [])
            else:
                found.append(fence)
                fence = None
        elif fence is not None:
            fence[2].append(line)
    if fence is not None:
        sys.exit(f"{page}:{fence[0]}: the block has no end")
    return found


def anchor(heading):
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def check_links():
    wrong, n = [], 0
    for page in ["README.md", "HACKING.md"] + pages("docs/**/*.md") + pages("examples/**/*.md"):
        text = re.sub(r"^```.*?^```", "", read(page), flags=re.S | re.M)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if link.startswith("http"):
                continue
            n += 1
            name, _, place = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), name)) if name else page
            if not os.path.exists(os.path.join(SOURCE, target)):
                wrong.append(f"{page}: {link}: no such file")
            elif place and place not in map(anchor, re.findall(r"^#+ (.*)$", read(target), flags=re.M)):
                wrong.append(f"{page}: {link}: {target} has no such heading")
    if wrong or n < 100:
        sys.exit("\n".join(wrong) or f"only {n} links were found")
    print(f"{n} links lead somewhere")


def help_of(command, known={}):
    if command not in known:
        run = subprocess.run([os.environ["INFEROMETER"], "help"] + command.split(), capture_output=True, text=True)
        known[command] = run.stdout if run.returncode == 0 else None
    return known[command]


def uses(page):
    """Calls of the command in a page: in blocks, and between backquotes."""
    text = read(page)
    for _, _, lines in blocks(page):
        for line in re.sub(r"\\\n", " ", "\n".join(lines)).split("\n"):
            yield from re.findall(r"(?:^|[\s/])inferometer ([a-z][^#|]*)", line)
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", text, flags=re.S | re.M)
    for code in re.findall(r"`([^`\n]+)`", text):
        if re.match(r"(\S*/)?inferometer [a-z]", code):
            yield code.split("inferometer ", 1)[1]


def check_words():
    wrong, n = [], 0
    for page in ["README.md"] + pages("docs/*.md"):
        for call in uses(page):
            # What stands in quotes, or behind --, is another program's.
            own = re.sub(r"'[^']*'|\"[^\"]*\"", "", call).split(" -- ")[0]
            if EXAMPLES.match("inferometer " + own):
                continue
            command = own.split()[0].rstrip(".,:;")
            n += 1
            text = help_of(command)
            if text is None:
                wrong.append(f"{page}: inferometer {command}: no such command")
                continue
            if command == "cachegrind" and len(own.split()) > 1:  # it takes the flags of the workload behind it
                text += help_of(own.split()[1]) or ""
            for option in re.findall(r"(?<=\s)--([a-z_]+(?:-[a-z]+)*)", own):
                if f"--{option} " not in text + " " and f"--{option}\n" not in text and f"]{option}" not in text:
                    if f"--[no-]{option.removeprefix('no-')}" not in text:
                        wrong.append(f"{page}: inferometer {command} has no option --{option}")
    if wrong or n < 60:
        sys.exit("\n".join(wrong) or f"only {n} calls were found")
    print(f"{n} calls use commands and options that there are")


def check_screen():
    """README convinces in one screen: the answer to a question stands before anything is installed."""
    text = read("README.md")
    lines = [line for line in text.split("\n") if not line.startswith("![")]
    if len(lines) > MOST_LINES:
        sys.exit(f"README.md has {len(lines)} lines, at most {MOST_LINES}")
    order = [text.find(part) for part in ("\n```console\n$ build/inferometer", "\n![", "\n```sh\n", "\nmake check")]
    if min(order) < 0 or order != sorted(order):
        sys.exit("README.md: an answer, its picture, then what to type")


def check_length():
    """README, and what docs/README.md lists for users, but for what is generated and the rows of the specification."""
    check_screen()
    listed = read("docs", "README.md").split("## To change it")[0]
    users = set(re.findall(r"\]\(([\w-]+\.md)\)", listed)) - NOT_COUNTED
    lengths = {name: len(read("docs", name).split()) for name in users | {"README.md"}}
    total = sum(lengths.values()) + len(read("README.md").split())
    if total > MOST_WORDS or len(users) < 25:
        longest = ", ".join(f"{name} {n}" for name, n in sorted(lengths.items(), key=lambda item: -item[1])[:5])
        sys.exit(f"pages for users have {total} words, at most {MOST_WORDS}: the longest are {longest}")
    print(f"{len(users)} pages for users have {total} words")


def check_samples():
    n = 0
    for page in pages("docs/*.md"):
        for case, body in re.findall(r"<!-- printed by (tests/golden/[\w-]+) -->\n```\w*\n(.*?)```", read(page), re.S):
            name = "stdout.exact" if os.path.exists(os.path.join(SOURCE, case, "stdout.exact")) else "stdout.glob"
            printed = read(case, name).split("\n")
            for line in body.rstrip("\n").split("\n"):
                n += 1
                if not line.startswith("$ ") and not any(matches(line, one) for one in printed):
                    sys.exit(f"{page}: {case} does not print: {line}")
    if n < 3:
        sys.exit("no sample was found")
    print(f"{n} lines of samples are what golden tests print")


def matches(line, pattern):
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), line) is not None


def script(page):
    print("set -eo pipefail")
    n = 0
    for number, language, lines in blocks(page):
        if language != "sh":
            if language not in SHOWN or (language == "" and page in ("README.md", "docs/tutorial.md")):
                sys.exit(f"{page}:{number}: a block of '{language}': write sh (run) or console (shown)")
            continue
        print(f"echo '# {page}:{number}'")
        for line in lines:
            if not LEFT_OUT.match(line):
                print(line)
                n += line.strip() != "" and not line.startswith("#")
    if n == 0:
        sys.exit(f"{page}: no line is run")


if __name__ == "__main__":
    if sys.argv[1] == "links":
        check_links()
    elif sys.argv[1] == "words":
        check_words()
    elif sys.argv[1] == "length":
        check_length()
    elif sys.argv[1] == "samples":
        check_samples()
    else:
        script(sys.argv[2])
