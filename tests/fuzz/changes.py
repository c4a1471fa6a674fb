"""changes: structural mutations of a run folder, and the hashes that a careful forger makes fit again.

A folder is a dict from names to bytes; None is a folder in place of a file. A mutation draws from the `random.Random`
that it is given alone, so that a seed gives the same folder again; it returns words that say what it did.
"""
import hashlib
import json
import re

RAW = ("config.lock.json", "plan.json", "run.log", "samples/")
HOSTILE = ["\x1b]0;owned\x07", "\u009b31m", "\u202e", "\x00", "", "a" * 70000, "../../etc/passwd", "%s%n", "\ud800",
           "\U000e0041", "-0", "nan", "0x10", " 1", "1e5", "=1+1", "|`*_<script>"]
NUMBERS = ["0", "-1", "1", "2", "4294967295", "4294967296", "9007199254740993", "9223372036854775807",
           "9223372036854775808", "18446744073709551615", "18446744073709551616", "-9223372036854775808", "1e308",
           "-1e308", "1e-308", "1e999", "0.5", "-0.0", "NaN", "Infinity", "1000000", "99999999999999999999999999"]
OTHERS = ["null", "true", "[]", "{}", '""', "[[]]", "[" * 3000 + "]" * 3000, '{"a":' * 3000 + "1" + "}" * 3000,
          "[" + "0," * 20000 + "0]"]


class Raw(str):
    """A text that stands in a file as it is, where its JSON has a placeholder."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def is_raw(name):
    return name.startswith(RAW)


def draw_file(draw, folder, end=""):
    """A file that has content; three of four times one of the raw record."""
    names = sorted(name for name, data in folder.items() if data and name.endswith(end))
    raw = [name for name in names if is_raw(name)]
    return draw.choice(raw if raw and draw.random() < 0.75 else names) if names else None


# ---- files ----

def change_file(draw, folder, others):
    name = draw_file(draw, folder)
    other, theirs = draw_file(draw, folder), others.get(name)
    how = draw.choice(["remove", "empty", "directory", "truncate", "exchange", "copy", "theirs", "append", "twice"])
    if how == "remove":
        del folder[name]
    elif how == "empty":
        folder[name] = b""
    elif how == "directory":
        folder[name] = None
    elif how == "truncate":
        folder[name] = folder[name][:draw.randrange(len(folder[name]))]
    elif how == "exchange":
        folder[name], folder[other] = folder[other], folder[name]
    elif how == "copy":
        folder[other] = folder[name]
    elif how == "theirs":
        folder[name] = theirs if theirs else folder[name]
    elif how == "append":
        folder[name] += draw.choice([b"\n", b"\0", b"{", b"x" * 100, folder[other][:1000]])
    else:
        folder[name] += folder[name]
    return f"{name}: {how} {other if how in ('exchange', 'copy') else ''}"


def change_bytes(draw, folder, others):
    name = draw_file(draw, folder)
    data = bytearray(folder[name])
    at, n = draw.randrange(len(data)), draw.choice([1, 1, 2, 8, 100])
    how = draw.choice(["flip", "set", "delete", "insert", "repeat"])
    if how == "flip":
        data[at] ^= 1 << draw.randrange(8)
    elif how == "set":
        data[at] = draw.choice(b"\x00\x1b\xff\x80\"\\,\n{}[]0-9e")
    elif how == "delete":
        del data[at:at + n]
    elif how == "insert":
        data[at:at] = bytes(draw.randrange(256) for _ in range(n))
    else:
        data[at:at] = data[at:at + n] * draw.choice([1, 10, 300])
    folder[name] = bytes(data)
    return f"{name}: {how} at {at}"


def change_lines(draw, folder, others):
    name = draw_file(draw, folder)
    lines = folder[name].split(b"\n")
    i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
    how = draw.choice(["drop", "double", "exchange", "move", "many", "cut", "join", "range"])
    if how == "drop":
        del lines[i]
    elif how == "double":
        lines.insert(i, lines[i])
    elif how == "exchange":
        lines[i], lines[j] = lines[j], lines[i]
    elif how == "move":
        lines.insert(j, lines.pop(i))
    elif how == "many":
        lines[i:i] = [lines[i]] * min(20000, 1 + 2000000 // (1 + len(lines[i])))
    elif how == "cut":
        lines[i] = lines[i][:draw.randrange(len(lines[i]) + 1)]
    elif how == "join":
        lines[i:i + 2] = [b"".join(lines[i:i + 2])]
    else:
        del lines[min(i, j):max(i, j)]
    folder[name] = b"\n".join(lines)
    return f"{name}:{i + 1}: {how} {j + 1}"


# ---- fields ----

def places(tree, at=()):
    """Every (path) of a JSON tree, the inner ones too."""
    if at:
        yield at
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield from places(value, at + (key,))


def owner_of(tree, path):
    for key in path[:-1]:
        tree = tree[key]
    return tree, path[-1]


def near(draw, value):
    return repr(draw.choice([value + 1, value - 1, value * 2, value * 1000, -value, value // 2, 0 * value]))


def another(draw, value):
    """A Raw of the same type mostly, or of another."""
    if isinstance(value, bool):
        return Raw(draw.choice(["true", "false", "null", "1"]))
    if value is None or draw.random() < 0.1:
        return Raw(draw.choice(OTHERS))
    if isinstance(value, (int, float)):
        return Raw(draw.choice(NUMBERS) if draw.random() < 0.5 else near(draw, value))
    if isinstance(value, str) and value.isdigit() and draw.random() < 0.7:
        return Raw(f'"{draw.choice([draw.choice(NUMBERS), near(draw, int(value))])}"')
    if isinstance(value, str):
        text = draw.choice([value + draw.choice(HOSTILE), draw.choice(HOSTILE), value[:-1], value * 2])
        return Raw(json.dumps(text) if draw.random() < 0.8 else draw.choice(NUMBERS))
    return Raw(draw.choice(OTHERS + NUMBERS))


def change_tree(draw, tree):
    every = list(places(tree))
    if not every:
        return None
    path = draw.choice(every)
    owner, key = owner_of(tree, path)
    how = draw.choice(["set", "set", "set", "set", "drop", "double", "exchange", "rename", "graft"])
    if how == "set":
        owner[key] = another(draw, owner[key])
    elif how == "drop":
        del owner[key]
    elif how == "double" and isinstance(owner, list):
        owner[key:key] = [owner[key]] * draw.choice([1, 1, 70, 5000])
    elif how == "exchange":
        brother = draw.choice(list(owner) if isinstance(owner, dict) else range(len(owner)))
        owner[key], owner[brother] = owner[brother], owner[key]
    elif how == "rename" and isinstance(owner, dict):
        owner[draw.choice(list(owner) + HOSTILE[:6])] = owner.pop(key)
    else: # a copy, so that no tree holds itself
        other, its = owner_of(tree, draw.choice(every))
        owner[key] = json.loads(json.dumps(other[its]))
    return f"{'.'.join(map(str, path))} {how} {str(owner)[:60] if how == 'set' else ''}"


def print_tree(tree, indent=None):
    """JSON with the Raw texts in it as they are."""
    raw = []

    def hide(value):
        if isinstance(value, Raw):
            raw.append(str(value))
            return f"@raw{len(raw) - 1}@"
        if isinstance(value, dict):
            return {key: hide(item) for key, item in value.items()}
        return [hide(item) for item in value] if isinstance(value, list) else value

    text = json.dumps(hide(tree), indent=indent, separators=None if indent else (",", ":"))
    return re.sub('"@raw([0-9]+)@"', lambda found: raw[int(found[1])], text).encode("utf-8", "surrogatepass")


def change_json(draw, folder, others):
    name = draw_file(draw, folder, draw.choice([".json", "run.log"]))
    if name is None:
        return None
    lines = folder[name].split(b"\n") if name == "run.log" else [folder[name]]
    i = draw.randrange(len(lines))
    try:
        tree = json.loads(lines[i])
        what = change_tree(draw, tree) if isinstance(tree, (dict, list)) else None
    except (ValueError, RecursionError):
        return None
    if what is None:
        return None
    lines[i] = print_tree(tree, None if name == "run.log" else 2)
    folder[name] = b"\n".join(lines)
    return f"{name}:{i + 1}: {what}"


def change_table(draw, folder, others):
    name = draw_file(draw, folder, ".csv")
    if name is None:
        return None
    rows = [line.split(b",") for line in folder[name].split(b"\n")]
    i = draw.randrange(len(rows))
    column, other = draw.randrange(len(rows[0])), draw.randrange(len(rows[0]))
    mild = draw.random() < 0.6
    how = draw.choice(["cell"] * 4 + ["fill"] * 2 + ["drop", "double", "exchange", "name", "short", "long"])
    value = draw.choice(NUMBERS + HOSTILE).encode("utf-8", "surrogatepass")
    for k, row in enumerate(rows):
        if column >= len(row) or other >= len(row):
            continue
        if how == "cell" and k == i or how == "fill" and k > 0:
            row[column] = near(draw, int(row[column])).encode() if mild and row[column].isdigit() else value
        elif how == "drop":
            del row[column]
        elif how == "double":
            row.insert(column, row[column])
        elif how == "exchange":
            row[column], row[other] = row[other], row[column]
        elif how == "name" and k == 0:
            row[column] = draw.choice([value, rows[0][other], row[column][:-1]])
        elif how == "short" and k == i:
            del row[column:]
        elif how == "long" and k == i:
            row += row
    folder[name] = b"\n".join(b",".join(row) for row in rows)
    return f"{name}:{i + 1}: {how} of column {column} {value[:20]!r}"


CHANGES = [change_file, change_bytes, change_lines, change_json, change_json, change_json, change_table, change_table]


# ---- hashes ----

def chain_of(folder, cell, kind):
    """The values of a record's chain and the samples of each block, as far as the files have them."""
    samples, slots = ((folder.get(f"samples/{cell}-{kind}{end}.csv") or b"").split(b"\n") for end in ("", "-slots"))
    value, values, blocks, of_slot = sha256(samples[0] + b"\n" + slots[0] + b"\n"), [], {}, {}
    for row in samples[1:-1]:
        of_slot.setdefault(row.split(b",")[0], []).append(row + b"\n")
    for k, row in enumerate(slots[1:-1]):
        blocks.setdefault(row.split(b",")[0], []).append((b"%d" % k, row + b"\n"))
    for rows in blocks.values():
        mine = [sample for k, _ in rows for sample in of_slot.get(k, [])]
        value = sha256((value + sha256(b"".join(mine)) + sha256(b"".join(row for _, row in rows))).encode())
        values.append((value, len(mine)))
    return values


def refit_block(folder, event, names, chains):
    meta = event["meta"]
    at = (names.index(meta["cell"]), meta["pass"])
    if at not in chains:
        chains[at] = chain_of(folder, *at)
    meta["chain"], meta["samples"] = chains[at][meta["block"]]


def refit_log(folder):
    """plan_sha256, the chain of each record and of the lines."""
    try:
        names = [cell["name"] for cell in json.loads(folder["plan.json"])["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        names = []
    plan, chains, before, out = sha256(folder.get("plan.json") or b""), {}, b"", []
    lines = (folder.get("run.log") or b"").split(b"\n")
    for line in lines[:-1]:
        line = re.sub(rb'"plan_sha256": ?"[0-9a-f]*"', b'"plan_sha256":"%s"' % plan.encode(), line)
        try:
            event = json.loads(line)
            if event["stage"] == "block":
                refit_block(folder, event, names, chains)
                line = json.dumps(event, separators=(",", ":")).encode()
        except (ValueError, KeyError, TypeError, IndexError, RecursionError):
            pass
        line = re.sub(rb'"prev": ?"[0-9a-f]*"', b'"prev":"%s"' % sha256(before).encode(), line)
        out.append(line)
        before = line
    folder["run.log"] = b"\n".join(out + lines[-1:])


def refit_lock(folder):
    try:
        lock = json.loads(folder["config.lock.json"])
        content = {key: lock[key] for key in ("parameters", "arms", "gates")}
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
        was, now = lock["hash"].encode(), sha256(text).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    for name in filter(folder.get, ("config.lock.json", "plan.json", "run.log")):
        folder[name] = folder[name].replace(was, now) if was else folder[name]


def refit_manifest(folder):
    listed = sorted(name.encode() for name, data in folder.items()
                    if data is not None and name not in ("manifest.sha256", "private.json"))
    folder["manifest.sha256"] = b"".join(b"%s  %s\n" % (sha256(folder[name.decode()]).encode(), name)
                                         for name in listed)


def refit(folder, how):
    """`how`: "none", "removed", "manifest" (made to fit), "all" (every hash made to fit)."""
    if how == "all":
        if folder.get("config.lock.json"):
            refit_lock(folder)
        if folder.get("run.log"):
            refit_log(folder)
    if how == "removed":
        folder.pop("manifest.sha256", None)
    elif how != "none":
        refit_manifest(folder)
