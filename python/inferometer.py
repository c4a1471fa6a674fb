"""Inferometer for Python: measure callables in interleaved, mirrored blocks. One file; the standard library is enough.

    import inferometer
    result = inferometer.compare({"old": old, "new": new})     # the first is the baseline
    print(result)                     # new: faster, 1.53x [1.50, 1.56] the speed of old
    result.speedup, result.interval, result.word, result.report

In Jupyter a result as the last line of a cell shows a figure. `bench` is a decorator, `timer` measures what lies in a
`with` block. libinferometer.so does the work (docs/session.md): it decides on the order of the blocks, the number of
windows and the end, so that nobody looks at a result and then goes on measuring.
"""
import collections.abc
import ctypes
import ctypes.util
import difflib
import functools
import html
import itertools
import json
import math
import numbers
import operator
import os
import re
import statistics
import sysconfig
import tempfile
import time

__all__ = ["Arm", "Error", "Result", "Session", "Timer", "UnknownArm", "bench", "compare", "load", "timer"]

AROUND_NS = 500      # what surrounds a window and is in its time, at most
WINDOW_NS = 100_000  # long beside that
NOTED = 0.02         # of a time, from which on what surrounds windows is told
CAP_BLOCKS = 12      # that the cap holds, where calls are short enough
ENOUGH = 6           # samples behind a median; fewer are only listed


class Error(Exception):
    """What is wrong, and what to do instead."""


class UnknownArm(Error, KeyError):
    """There is no arm of that name."""
    __str__ = Exception.__str__  # a KeyError would show the text in quotes


# ---- the library ----

class _Judged(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("outcome", ctypes.c_int), ("exit_code", ctypes.c_int), ("word", ctypes.c_char_p),
        ("has_change", ctypes.c_int), ("change_percent", ctypes.c_double), ("change_low", ctypes.c_double),
        ("change_high", ctypes.c_double), ("has_mde", ctypes.c_int), ("mde_percent", ctypes.c_double),
        ("blocks", ctypes.c_int64), ("reason", ctypes.c_char_p), ("dir", ctypes.c_char_p), ("report", ctypes.c_char_p),
        ("trust", ctypes.c_char_p), ("trust_cause", ctypes.c_char_p), ("trust_remedy", ctypes.c_char_p)]


class _Value(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("state", ctypes.c_int), ("number", ctypes.c_double),
        ("has_interval", ctypes.c_int), ("low", ctypes.c_double), ("high", ctypes.c_double),
        ("level", ctypes.c_double), ("n", ctypes.c_int64), ("n_of", ctypes.c_char_p), ("unit", ctypes.c_char_p),
        ("reason", ctypes.c_char_p), ("remedy", ctypes.c_char_p), ("text", ctypes.c_char_p)]


def _places():
    """Where the library may lie, beside what the system's loader knows: in the tree that `make` built, or installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, "libinferometer.so")
    if os.path.basename(here) not in ("dist-packages", "site-packages"):
        yield os.path.normpath(os.path.join(here, "..", "build", "libinferometer.so"))
        return
    lib = os.path.normpath(os.path.join(here, "..", ".."))  # of PREFIX/lib/python3/dist-packages
    for folder in dict.fromkeys((os.path.join(lib, sysconfig.get_config_var("MULTIARCH") or ""), lib)):
        yield os.path.join(folder, "libinferometer.so.0")


def _find():
    named = os.environ.get("INFEROMETER_LIBRARY")
    if named:
        return named
    looked = list(dict.fromkeys(_places()))
    for path in looked:
        if os.path.exists(path):
            return path
    known = ctypes.util.find_library("inferometer")
    if known:
        return known
    raise Error("libinferometer.so was not found\n" + "".join(f"  not at {path}\n" for path in looked) +
                "  nor where the system's loader looks\n"
                "  hint: `make` in Inferometer's folder builds build/libinferometer.so; the variable "
                "INFEROMETER_LIBRARY names it where it lies elsewhere")


def load(path=None):
    """The library, from `path`, from the variable INFEROMETER_LIBRARY, or from where `make` and the package put it."""
    path = path or _find()
    try:
        # PyDLL keeps the interpreter's lock: begin and end would otherwise wait for it inside the window.
        library = ctypes.PyDLL(path)
    except (OSError, TypeError) as reason:
        raise Error(f"{path} cannot be loaded: {reason}\n  hint: build it with `make`, or name another one in the "
                    "variable INFEROMETER_LIBRARY") from None
    session, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
    for name, result, arguments in (
            ("open", session, (text, text)), ("arm", number, (session, text)), ("next", number, (session,)),
            ("begin", number, (session,)), ("end", number, (session, ctypes.c_uint64)),
            ("equal", number, (session, number, ctypes.c_double)),
            ("error", number, (session, number, ctypes.c_double, ctypes.c_double, ctypes.c_uint64)),
            ("judge", number, (session, ctypes.POINTER(_Judged))),
            ("metric", number, (session, number, text, ctypes.POINTER(_Value))),
            ("message", text, (session,)), ("close", number, (session,)), ("version", text, ())):
        try:
            function = getattr(library, "inferometer_" + name)
        except AttributeError:
            raise Error(f"{path} has no inferometer_{name}\n  hint: it is not libinferometer.so, or another version "
                        "of it; build it with `make`") from None
        function.restype, function.argtypes = result, arguments
    return library


def _text(data):
    return data.decode("utf-8", "replace") if data else ""


def _path(out):
    try:
        path = os.fsencode(out) if out is not None else b""
    except (TypeError, ValueError):
        path = b"\0"
    if b"\0" in path:
        raise Error(f"out: {out!r} is no path\n  hint: give the run folder, such as \"runs/mine\", or leave it out")
    return path or None


def _errors(name, given):
    """What `check` gave, as the library takes it."""
    try:
        rms, largest, values = given
        rms, largest, values = float(rms), float(largest), operator.index(values)
        if 0 < values < 1 << 63:
            return rms, largest, values
    except (TypeError, ValueError, OverflowError):
        pass
    raise Error(f"check: of {name!r} it gave this {type(given).__name__}, not (rms, largest, values)\n  hint: give two "
                "errors, and how many values were compared as a whole number above 0")


class Session:
    """One run, call by call. Use it in a `with` block: leaving it closes the session, also after an error."""

    def __init__(self, library, out=None, options=""):
        self.library = library
        self.handle = library.inferometer_open(_path(out), options.encode("utf-8", "replace"))
        if not self.handle:
            raise Error(_text(library.inferometer_message(None)))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.library.inferometer_close(self.handle)
        self.handle = None

    def check(self, code):
        if code < 0:
            raise Error(_text(self.library.inferometer_message(self.handle)))
        return code

    def measure(self, arms, check=None, tolerance=0.0):
        """`arms`: {name: callable}, the first is the baseline. A callable's result is not used. `check`: of compare."""
        library, handle, calls = self.library, self.handle, []
        for name, call in arms.items():
            arm = self.check(library.inferometer_arm(handle, name.encode("utf-8", "replace")))
            if check is not None and arm > 0:
                self.check(library.inferometer_equal(handle, arm, tolerance))
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
        for arm, name in enumerate(arms if check is not None else ()):
            self.check(library.inferometer_error(handle, arm, *_errors(name, check(name))))
        judged = _Judged(size=ctypes.sizeof(_Judged))
        self.check(library.inferometer_judge(handle, ctypes.byref(judged)))
        return judged

    def metric(self, arm, name):
        value = _Value(size=ctypes.sizeof(_Value))
        self.check(self.library.inferometer_metric(self.handle, arm, name.encode(), ctypes.byref(value)))
        return value


# ---- results ----

def _digits(value):
    """Three of them: "2.00", "0.996", "125"."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:#.3g}".rstrip(".")


def _seconds(value):
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if value * factor >= 1 or unit == "ns":
            return f"{_digits(value * factor)} {unit}"
    return ""


def _interval(value, scale=1.0):
    return (value.low * scale, value.high * scale) if value.state == 0 and value.has_interval else None


def _overhead(step):
    return min(AROUND_NS / max(step.number, 1), 1.0) if step.state == 0 else None


class Arm:
    """One callable: `seconds` of one call with `seconds_interval`; of a variant `word`, `speedup`, `interval` (of the
    speed-up), `change_percent` of time with `change_interval`, and `level` of these intervals. A number that is not
    there is None; `reason` says why, or why the word is "undecided". `overhead`: the largest share of `seconds` that
    may be Inferometer's own; of short calls a larger `number` lowers it."""

    def __init__(self, session, index, name, number):
        step = session.metric(index, "step_ns")
        self.name, self.word, self.reason, self.level = name, "", _text(step.reason), None
        self.seconds = step.number * 1e-9 / number if step.state == 0 else None
        self.seconds_interval = _interval(step, 1e-9 / number)
        self.overhead = _overhead(step)
        self.speedup = self.interval = self.change_percent = self.change_interval = None
        self._of_all, self._shrunk = None, False
        if index > 0:
            self._shrunk = max(self.overhead or 0, _overhead(session.metric(0, "step_ns")) or 0) > NOTED
            self._compare(session.metric(index, "change_percent"), session.metric(index, "speedup"))
            self._see_all(session.metric(index, "change_percent_all_blocks"))

    def _compare(self, change, speedup):
        self.reason = _text(change.reason) or self.reason
        if change.state == 0 and speedup.state == 0:
            self.word, self.level = _text(change.text), change.level if change.has_interval else None
            self.speedup, self.interval = speedup.number, _interval(speedup)
            self.change_percent, self.change_interval = change.number, _interval(change)

    def _see_all(self, change):
        """The times are of all blocks: where those give another ratio than the undisturbed ones, it is told."""
        if change.state != 0 or self.speedup is None:
            return
        ratio = 1 / (1 + change.number / 100)
        apart = abs(ratio / self.speedup - 1) > 0.01
        outside = self.interval is not None and not self.interval[0] <= ratio <= self.interval[1]
        turned = self.speedup > 1 and ratio < 0.998 or self.speedup < 1 and ratio > 1.002
        self._of_all = ratio if apart or outside or turned else None

    def __repr__(self):
        return f"{self.name}: {self.time_words()}" + (f", {self.word} {self.speedup:.3g}x" if self.word else "")

    def time_words(self):
        if self.seconds is None:
            return f"no time: {self.reason}"
        ends = "" if self.seconds_interval is None else f" [{', '.join(map(_seconds, self.seconds_interval))}]"
        own = f"; up to {100 * self.overhead:.0f} % of it is Inferometer's own: a larger number= lowers that"
        return f"{_seconds(self.seconds)} a call{ends}{own if self.overhead > NOTED else ''}"

    def words(self, baseline):
        if self.speedup is None:
            return f"not compared with {baseline}: {self.reason}"
        bounds = "" if self.interval is None else f" [{_digits(self.interval[0])}, {_digits(self.interval[1])}]"
        shrunk = "; windows this short shrink the difference" if self._shrunk else ""
        return (f"{self.word}, {_digits(self.speedup)}x{bounds} the speed of {baseline}{self._beside()}{shrunk}"
                f"{self._doubt()}")

    def _beside(self):
        if self._of_all is None:
            return ""
        decimals = -math.floor(math.log10(max(abs(self._of_all - self.speedup), 1e-4)))  # 1.005 beside 0.999
        of_all = max(_digits(self._of_all), f"{self._of_all:.{max(decimals, 0)}f}", key=len)
        return f", of undisturbed blocks; of all {of_all}x"

    def _doubt(self):
        if self.word != "undecided" or not self.reason:
            return ""
        if self.interval is None:
            return f"; no interval: too few blocks ({self.reason})"
        return "; " + re.sub("^undecided:? ", "", self.reason)


class Result:
    """What `compare` found. `result["name"]` is an Arm; where there is one variant, its numbers are the result's own:
    `speedup`, `interval`, `word`, `change_percent`, `reason`. `report` is the path of the page, `dir` the run folder,
    `blocks` how many were measured, `number` the calls in a window, which is a step of the report; `exit_code` that of
    the command on the folder. `trust` is "solid", "undecided", "noisy", "biased", "weak baseline" or "do not use",
    `trust_cause` why, `remedy` what helps."""

    def __init__(self, session, judged, names, number):
        self.arms = {name: Arm(session, index, name, number) for index, name in enumerate(names)}
        self.baseline, self.number = names[0], number
        self.blocks, self.exit_code = judged.blocks, judged.exit_code
        self.dir, self.report = _text(judged.dir), _text(judged.report)
        self._whole_path = os.path.abspath(self.report)  # the working directory may change
        self.trust, self.trust_cause, self.remedy = map(_text, (judged.trust, judged.trust_cause, judged.trust_remedy))

    def __getitem__(self, name):
        if name in self.arms:
            return self.arms[name]
        near = difflib.get_close_matches(str(name), self.arms, 1)
        hint = f"\n  hint: did you mean {near[0]!r}?" if near else ""
        raise UnknownArm(f"the result has no arm {name!r}; it has {', '.join(map(repr, self.arms))}{hint}")

    @property
    def variants(self):
        return [arm for name, arm in self.arms.items() if name != self.baseline]

    def _only(self, name):
        if len(self.variants) != 1:
            raise Error(f"the result has {len(self.variants)} variants\n  hint: name one, such as "
                        f"result[{(self.variants or [self.arms[self.baseline]])[-1].name!r}].{name}")
        return getattr(self.variants[0], name)

    speedup, interval, word, change_percent, reason = (
        property(operator.methodcaller("_only", name))
        for name in ("speedup", "interval", "word", "change_percent", "reason"))

    def __str__(self):
        lines = [f"{arm.name}: {arm.words(self.baseline)}" for arm in self.variants]
        lines += [f"{arm.name}: {arm.time_words()}" for arm in self.arms.values()]
        lines += [f"{self.trust}: {self._trust_words()}", f"{self._blocks_words()}, report: {self._whole_path}"]
        return "\n".join(lines)

    def _trust_words(self):
        return self.trust_cause + (f". Remedy: {self.remedy}" if self.remedy else "")

    def _blocks_words(self):
        """The report has the times of windows."""
        calls = "one call" if self.number == 1 else f"a window of {self.number} calls"
        return f"{self.blocks} blocks, a step of the report is {calls}"

    __repr__ = __str__

    def svg(self):
        """Speed-ups with their intervals as a picture; "" where nothing was compared."""
        return _picture([arm for arm in self.variants if arm.speedup is not None], self.baseline)

    def _repr_html_(self):
        said = "".join(f"<p><b>{html.escape(arm.name)}</b>: {html.escape(arm.words(self.baseline))}</p>"
                       for arm in self.variants)
        rows = "".join(f"<tr><td>{html.escape(arm.name)}</td><td>{html.escape(arm.time_words())}</td></tr>"
                       for arm in self.arms.values())
        return (f"{said}{self.svg()}<table><tr><th>arm</th><th>time of a call</th></tr>{rows}</table>"
                f"<p><b>{html.escape(self.trust)}</b>: {html.escape(self._trust_words())}</p>"
                f"<p>{self._blocks_words()}, <a href=\"{html.escape(self.report)}\">report</a></p>")


_TONES = {"faster": "#1a7f37", "slower": "#cf222e"}


def _picture(arms, baseline):
    if not arms:
        return ""
    width, left, right, row = 720, 180, 260, 32
    ends = [1.0] + [end for arm in arms for end in arm.interval or (arm.speedup,)]
    low, high = min(ends), max(ends)
    pad = (high - low or 0.1) * 0.08

    def x(value):
        return left + (value - low + pad) / (high - low + 2 * pad) * (width - left - right)

    height = row * len(arms) + 28
    said = "; ".join(f"{arm.name}: {arm.words(baseline)}" for arm in arms)
    parts = [f"<svg viewBox=\"0 0 {width} {height}\" width=\"100%\" style=\"max-width:{width}px\" role=\"img\" "
             f"font-family=\"sans-serif\" font-size=\"14\" fill=\"currentColor\" aria-label=\"{html.escape(said)}\">",
             f"<line x1=\"{x(1):.1f}\" x2=\"{x(1):.1f}\" y1=\"0\" y2=\"{height - 22}\" stroke=\"currentColor\" "
             f"stroke-dasharray=\"3 3\"/><text x=\"{x(1):.1f}\" y=\"{height - 6}\" text-anchor=\"middle\">"
             f"{html.escape(baseline)}: 1x</text>"]
    for index, arm in enumerate(arms):
        said = arm.words(baseline).split(" the ")[0]
        y, tone = row * index + row / 2, _TONES.get(arm.word, "#6e7781")
        first, last = arm.interval or (arm.speedup, arm.speedup)
        parts.append(
            f"<text x=\"{left - 12}\" y=\"{y + 5}\" text-anchor=\"end\">{html.escape(arm.name[:22])}</text>"
            f"<line x1=\"{x(first):.1f}\" x2=\"{x(last):.1f}\" y1=\"{y}\" y2=\"{y}\" stroke=\"{tone}\" "
            f"stroke-width=\"4\"/><circle cx=\"{x(arm.speedup):.1f}\" cy=\"{y}\" r=\"5\" fill=\"{tone}\"/>"
            f"<text x=\"{width - right + 12}\" y=\"{y + 5}\">{html.escape(said)}</text>")
    return "".join(parts) + "</svg>"


# ---- compare ----

def _call_first(arms):
    """One call of each, untimed. One that gives work to be done later would do none in its windows."""
    later = (collections.abc.Awaitable, collections.abc.AsyncGenerator)
    one_by_one = (collections.abc.Generator, map, filter)
    for name, call in arms.items():
        result = call()
        if isinstance(result, later + one_by_one):
            if isinstance(result, collections.abc.Coroutine):
                result.close()  # dropped unrun, it would warn
            raise Error(f"compare: {name!r} only returns its work, as type {type(result).__name__}: no window would do "
                        "it\n  hint: measure a function that does the work to its end, such as lambda: "
                        f"{'list' if isinstance(result, one_by_one) else 'asyncio.run'}(f())")


def _time_of(call):
    """Of one call, roughly; in ns."""
    number, took = 1, 0
    while took < WINDOW_NS and number <= 1 << 20:
        number *= 2
        start = time.perf_counter_ns()
        for _ in itertools.repeat(None, number):
            call()
        took = time.perf_counter_ns() - start
    return max(took, 1) / number


def _calls_in_window(calls, cap_s):
    """So many that a window of the fastest arm is long beside what surrounds it, and fewer where the cap would hold no
    CAP_BLOCKS with a slower arm: a block has two slots of an arm, of an untimed window and a timed one at least."""
    times = [_time_of(call) for call in calls]
    longest = 1e9 * cap_s / (CAP_BLOCKS * len(times) * 2 * 2)
    return max(1, min(math.ceil(WINDOW_NS / min(times)), math.floor(longest / max(times))))


def _window(call, number):
    if number == 1:
        return call

    def window():
        for _ in itertools.repeat(None, number):
            call()
    return window


def _duration(cap):
    """5, 5.0, "5" and "5s" are five seconds."""
    if isinstance(cap, str) and re.fullmatch(r"(\d+\.?\d*|\.\d+) ?(ns|us|ms|s|min)?", cap.strip()):
        return cap.replace(" ", "")
    if isinstance(cap, numbers.Real) and not isinstance(cap, bool) and 0 < cap < 1e300:
        return f"{float(cap)}s"
    raise Error(f"cap: {cap!r} is no time\n  hint: give seconds, such as 5 or 0.5, or a text such as \"5s\" or "
                "\"2min\"")


def _settings(options, cap):
    if isinstance(options, str):
        if cap is not None:
            raise Error("cap: the options are a text already\n  hint: write measure.cap into it")
        return options
    if options is not None and not isinstance(options, collections.abc.Mapping):
        raise Error("options: give a dict, such as {\"measure.margin\": 0.01}, or the text of a study")
    pairs = dict(options or {})
    if cap is not None:
        pairs["measure.cap"] = _duration(cap)
    # As YAML, in which a value may hold anything; a text in JSON's quotes is YAML too.
    return "".join(f"{path}: {json.dumps(value if isinstance(value, bool) else str(value), ensure_ascii=False)}\n"
                   for path, value in pairs.items())


def _cap_s(settings):
    """Seconds of the cap that the settings give; else of the library's cap, or of its shortest preset."""
    said = re.findall(r"\bcap[\"']?\s*[=:]\s*[\"']?(\d+\.?\d*|\.\d+) ?(ns|us|ms|s|min)?\b", settings)
    value, unit = said[-1] if said else (2 if re.search(r"\bpreset\b", settings) else 10, "s")
    return float(value) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "": 1, "min": 60}[unit]


def _check_arms(arms):
    if not isinstance(arms, collections.abc.Mapping) or not arms:
        raise Error("compare: give {name: callable}, the baseline first, such as {\"old\": f, \"new\": g}")
    for name, call in arms.items():
        if not isinstance(name, str) or not callable(call):
            raise Error(f"compare: {name!r} is no name of a callable\n  hint: give {{name: callable}}; a call with "
                        "arguments is functools.partial(f, x) or lambda: f(x)")


def compare(arms, *, out=None, cap=None, number=None, options=None, library=None, check=None, tolerance=None):
    """Measure {name: callable} in interleaved, mirrored blocks; the first is the baseline. Gives a Result.

    `out`: the run folder, new or empty; by default a fresh one below the folder that the variable INFEROMETER_RUNS
    names, else below runs/ of the working directory; the last line printed says where. `cap`: the longest time of the
    blocks, in seconds or as "5s" or "2min" (default 10). `number`: calls in one window, by default so many that one
    of the fastest arm lasts 100 us, or fewer where a slow arm would pass the cap. `options`: settings as {path: value},
    such as {"measure.margin": 0.01}, or the text of a study. `library`: the path of libinferometer.so. `check`: a
    function that is called with the name of each arm once the windows are over; it overwrites the arm's output, runs
    the arm, and gives (sqrt(sum (x - ref)^2 / sum ref^2), max |x - ref| / max |ref|, values compared), against a
    reference in higher precision. They stand in the report, and an arm above `tolerance` is not compared.

    Callables get no arguments, their results are not used, and each is called a few times more than it is measured.
    One that gives a coroutine or a generator is refused: its work would not be done."""
    _check_arms(arms)
    if number is not None and (not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= 10 ** 9):
        raise Error("number: this is no whole number of calls\n  hint: give 1 to 1000000000, or leave it out")
    if (check is None) != (tolerance is None) or not (check is None or callable(check)) or \
            not isinstance(tolerance or 0, numbers.Real):
        raise Error("check: give a function, with the largest error that counts as right as tolerance")
    loaded = load(library)
    settings = _settings(options, cap)
    with Session(loaded, _path(out) or _fresh_folder(), settings) as session:
        _call_first(arms)
        number = number or _calls_in_window(arms.values(), _cap_s(settings))
        windows = {name: _window(call, number) for name, call in arms.items()}
        judged = session.measure(windows, check, tolerance or 0.0)
        return Result(session, judged, list(arms), number)


def _fresh_folder():
    """An empty folder where the user wants runs; None: the library makes one."""
    runs = os.environ.get("INFEROMETER_RUNS")
    if not runs:
        return None
    try:
        os.makedirs(runs, exist_ok=True)
        return tempfile.mkdtemp(prefix=time.strftime("session-%Y%m%d-%H%M%S-"), dir=runs)
    except OSError as error:
        raise Error(f"INFEROMETER_RUNS: {runs}: {error.strerror}\n  hint: name a folder that can be written to, or "
                    "give out=") from None


def _name_of(function):
    return re.sub(r"[^A-Za-z0-9_+.-]", "_", getattr(function, "__name__", "function"))[:40]


def _bound(function, arguments, keywords):
    return functools.partial(function, *arguments, **keywords) if arguments or keywords else function


def bench(function=None, *, against=None, **settings):
    """A decorator. The function stays what it is, and gets two more: `f.measure(*arguments)` measures it alone, and
    `f.compare(*arguments)` against the baseline `against`, both called with these arguments. `settings` are those of
    `compare`.

        @inferometer.bench(against=old)
        def new(data): ...
        print(new.compare(data))"""
    def decorate(decorated):
        name = _name_of(decorated)

        def measure(*arguments, **keywords):
            return compare({name: _bound(decorated, arguments, keywords)}, **settings)

        def compare_with(*arguments, **keywords):
            if against is None:
                raise Error(f"{name} has no baseline\n  hint: decorate it with @inferometer.bench(against=old)")
            base = _name_of(against)
            return compare({base if base != name else "baseline": _bound(against, arguments, keywords),
                            name: _bound(decorated, arguments, keywords)}, **settings)

        decorated.measure, decorated.compare = measure, compare_with
        return decorated
    if function is not None and not callable(function):
        raise Error("bench: write @inferometer.bench, or @inferometer.bench(against=old)")
    return decorate if function is None else decorate(function)


# ---- a with block ----

class Timer:
    """What lies in a `with` block, timed where it stands. One pass through it is one sample: `seconds`. The same timer
    may be entered again; `samples` are all of them. A block that an exception leaves is no sample."""

    def __init__(self, name="block"):
        self.name, self.samples, self._start = name, [], None

    def __enter__(self):
        if self._start is not None:
            raise Error(f"{self.name}: the timer runs already\n  hint: one timer for each block")
        self._start = time.perf_counter_ns()
        return self

    def __exit__(self, kind, *unused):
        took, self._start = time.perf_counter_ns() - self._start, None
        if kind is None:
            self.samples.append(took * 1e-9)

    @property
    def seconds(self):
        if not self.samples:
            raise Error(f"{self.name}: nothing was timed yet")
        return self.samples[-1]

    def __str__(self):
        n = len(self.samples)
        if n == 0:
            return f"{self.name}: nothing was timed yet"
        if n == 1:
            return f"{self.name}: {_seconds(self.samples[0])}, one sample: how far another would lie is not known"
        spread = f"{_seconds(min(self.samples))} to {_seconds(max(self.samples))}"
        if n < ENOUGH:
            return f"{self.name}: {spread} in {n} samples, too few for an interval"
        return (f"{self.name}: median {_seconds(statistics.median(self.samples))}, {spread} in {n} samples, one after "
                "the other: to compare it with other code, use inferometer.compare")

    __repr__ = __str__


def timer(name="block"):
    """`with inferometer.timer("load") as load: ...`, then `print(load)` or `load.seconds`."""
    return Timer(name)
