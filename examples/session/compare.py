#!/usr/bin/env python3
"""Compare Python callables under the lab's blocks, through ctypes; the standard library is all it needs.

    python3 compare.py [--library libinferometer.so] [--out RUN_FOLDER] [--option measure.mde=0.02] [--same]

The library is found by --library, by the variable INFEROMETER_LIBRARY, or by the system's own search. What a window
contains beside the callable is one return from C and one call into it, about a microsecond, in every arm alike: let a
window last a hundred times as long.
"""
import argparse
import ctypes
import ctypes.util
import os
import sys


class Result(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("outcome", ctypes.c_int), ("exit_code", ctypes.c_int), ("word", ctypes.c_char_p),
        ("has_change", ctypes.c_int), ("change_percent", ctypes.c_double), ("change_low", ctypes.c_double),
        ("change_high", ctypes.c_double), ("has_mde", ctypes.c_int), ("mde_percent", ctypes.c_double),
        ("blocks", ctypes.c_int64), ("reason", ctypes.c_char_p), ("dir", ctypes.c_char_p), ("report", ctypes.c_char_p)]


class Value(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("state", ctypes.c_int), ("number", ctypes.c_double),
        ("has_interval", ctypes.c_int), ("low", ctypes.c_double), ("high", ctypes.c_double),
        ("level", ctypes.c_double), ("n", ctypes.c_int64), ("n_of", ctypes.c_char_p), ("unit", ctypes.c_char_p),
        ("reason", ctypes.c_char_p), ("remedy", ctypes.c_char_p), ("text", ctypes.c_char_p)]


class SessionError(Exception):
    """What the library says: what is wrong, and what to do instead."""


def load(path=None):
    path = path or os.environ.get("INFEROMETER_LIBRARY") or ctypes.util.find_library("inferometer")
    if not path:
        raise SessionError("libinferometer was not found\nhint: name it with --library or INFEROMETER_LIBRARY")
    # PyDLL keeps the interpreter's lock: begin and end would otherwise wait for it inside the window.
    library = ctypes.PyDLL(path)
    session, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    for name, result, arguments in (
            ("open", session, (text, text)), ("arm", number, (session, text)), ("next", number, (session,)),
            ("begin", number, (session,)), ("end", number, (session, ctypes.c_uint64)),
            ("judge", number, (session, ctypes.POINTER(Result))),
            ("metric", number, (session, number, text, ctypes.POINTER(Value))),
            ("message", text, (session,)), ("close", number, (session,)), ("version", text, ())):
        function = getattr(library, "inferometer_" + name)
        function.restype, function.argtypes = result, arguments
    return library


class Session:
    """One run. Use it in a `with` block: leaving it closes the session, also after an error."""

    def __init__(self, library, out=None, options=""):
        self.library = library
        self.handle = library.inferometer_open(out.encode() if out else None, options.encode())
        if not self.handle:
            raise SessionError(library.inferometer_message(None).decode())

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.library.inferometer_close(self.handle)
        self.handle = None

    def check(self, code):
        if code < 0:
            raise SessionError(self.library.inferometer_message(self.handle).decode())
        return code

    def measure(self, arms):
        """`arms`: {name: callable}, the first is the baseline. A callable's result is not used."""
        library, handle, calls = self.library, self.handle, []
        for name, call in arms.items():
            self.check(library.inferometer_arm(handle, name.encode()))
            calls.append(call)
        following, begin, end = library.inferometer_next, library.inferometer_begin, library.inferometer_end
        while (arm := following(handle)) >= 0:
            call = calls[arm]
            begin(handle)
            call()
            if end(handle, 0) < 0:
                break
        if arm != -1:
            self.check(-2)
        result = Result(size=ctypes.sizeof(Result))
        self.check(library.inferometer_judge(handle, ctypes.byref(result)))
        return result

    def metric(self, arm, name):
        value = Value(size=ctypes.sizeof(Value))
        self.check(self.library.inferometer_metric(self.handle, arm, name.encode(), ctypes.byref(value)))
        return value


def main():
    parser = argparse.ArgumentParser(description="compare a loop with the built-in sum")
    parser.add_argument("--library", help="path of libinferometer.so")
    parser.add_argument("--out", help="run folder, new or empty (default: below runs/)")
    parser.add_argument("--option", action="append", default=[], metavar="PATH=VALUE", help="a setting of the run")
    parser.add_argument("--same", action="store_true", help="compare the loop with itself")
    options = parser.parse_args()
    numbers = list(range(5000))

    def loop():
        total = 0
        for number in numbers:
            total += number
        return total

    def builtin():
        return sum(numbers)

    try:
        library = load(options.library)
        with Session(library, options.out, "\n".join(options.option)) as session:
            result = session.measure({"loop": loop, "again" if options.same else "builtin":
                                      loop if options.same else builtin})
            if result.has_change:
                print(f"{result.word.decode()}: {result.change_percent:+.2f} % of time, 95 % interval "
                      f"{result.change_low:+.2f} to {result.change_high:+.2f} %")
            else:
                print(f"not compared: {result.reason.decode()}")
            for arm, name in enumerate(("baseline", "variant")):
                step = session.metric(arm, "step_ns")
                print(f"{name}: " + (f"{step.number / 1000:.1f} us" if step.state == 0 else step.reason.decode()))
            print(f"{result.blocks} blocks, report: {result.report.decode()}")
            return result.exit_code
    except (SessionError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
