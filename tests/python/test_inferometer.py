#!/usr/bin/env python3
"""inferometer.py on a built library: test_inferometer.py LIBRARY COMMAND. Exit 77: this Python has no ctypes.

The clock is the scripted one where numbers are held against known ones; callables are counted, to see how they are
called.
"""
import asyncio
import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings
import xml.etree.ElementTree as tree

try:
    import ctypes
except ImportError:
    print("this Python has no ctypes")
    sys.exit(77)

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python", "inferometer.py")
LIBRARY, COMMAND = (os.path.abspath(path) for path in sys.argv[1:3])


def load_module(path=SOURCE):
    spec = importlib.util.spec_from_file_location("inferometer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


inferometer = load_module()


def fake(script="step_ns=100000; noise=0.01; slot_noise=0.001; arm.new.step_ns=50000", **more):
    return {"device.kind": "fake", "device.script": script, "measure.repeats": 200, "seed": 1, **more}


def nothing():
    return None


class InAFolder(unittest.TestCase):
    def setUp(self):
        self.before, self.folder = os.getcwd(), tempfile.mkdtemp()
        os.chdir(self.folder)
        os.environ["INFEROMETER_LIBRARY"] = LIBRARY

    def tearDown(self):
        os.chdir(self.before)
        shutil.rmtree(self.folder)

    def verify(self, folder):
        done = subprocess.run([COMMAND, "verify", folder], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Compare(InAFolder):
    def test_numbers_of_a_known_pair(self):
        result = inferometer.compare({"old": nothing, "new": nothing}, number=1, options=fake(), out="run")
        self.assertEqual((result.word, result.baseline, result.dir), ("faster", "old", "run"))
        self.assertAlmostEqual(result.speedup, 2, delta=0.02)
        self.assertTrue(result.interval[0] < 2.02 and result.interval[1] > 1.98, result.interval)
        self.assertAlmostEqual(result.change_percent, -50, delta=1)
        self.assertAlmostEqual(result["old"].seconds, 100e-6, delta=1e-6)
        self.assertAlmostEqual(result["new"].seconds, 50e-6, delta=1e-6)
        self.assertTrue(result["new"].seconds_interval[0] <= result["new"].seconds <= result["new"].seconds_interval[1])
        self.assertEqual(result["new"].level, 0.95)
        self.assertIsNone(result["old"].speedup)
        self.assertEqual(str(result).split("\n")[0][:18], "new: faster, 2.00x")
        self.assertTrue(os.path.exists(result.report))
        self.assertEqual(result.exit_code, 0)
        self.verify("run")

    def test_the_time_is_that_of_one_call(self):
        result = inferometer.compare({"old": nothing, "new": nothing}, number=10, options=fake())
        self.assertAlmostEqual(result["old"].seconds, 10e-6, delta=1e-7)
        self.assertAlmostEqual(result.speedup, 2, delta=0.02)
        self.assertTrue(result.dir.startswith("runs/"), result.dir)
        self.assertTrue(str(result).endswith("report: " + os.path.abspath(result.report)), str(result))

    def test_runs_are_kept_where_the_user_wants_them(self):
        with unittest.mock.patch.dict(os.environ, INFEROMETER_RUNS="kept/here"):
            first, second = (inferometer.compare({"old": nothing}, number=1, options=fake()) for _ in range(2))
        self.assertEqual([os.path.dirname(each.dir) for each in (first, second)], ["kept/here"] * 2)
        self.assertNotEqual(first.dir, second.dir)
        self.assertFalse(os.path.exists("runs"))
        self.verify(first.dir)
        with open("kept/file", "w", encoding="utf-8"), \
                unittest.mock.patch.dict(os.environ, INFEROMETER_RUNS="kept/file"), \
                self.assertRaisesRegex(inferometer.Error, "INFEROMETER_RUNS: kept/file.*\n.*out="):
            inferometer.compare({"old": nothing}, number=1, options=fake())

    def test_nothing_is_measured_under_valgrind(self):
        # What valgrind puts in front of every program that it runs; it may be absent here.
        with unittest.mock.patch.dict(os.environ, LD_PRELOAD="/usr/libexec/valgrind/vgpreload_core-amd64-linux.so"), \
                self.assertRaisesRegex(inferometer.Error, "runs under valgrind: its times.*\n.*run without it"):
            inferometer.compare({"old": nothing}, number=1, options=fake())
        self.assertFalse(os.path.exists("runs"))
        self.assertEqual(inferometer.compare({"old": nothing}, number=1, options=fake()).trust, "solid")

    def test_several_variants_are_named(self):
        result = inferometer.compare({"old": nothing, "new": nothing, "third": nothing}, number=1, options=fake())
        self.assertEqual((result["new"].word, result["third"].word), ("faster", "undecided"))
        self.assertGreater(result["new"].level, 0.95)  # two comparisons at once
        with self.assertRaisesRegex(inferometer.Error, r"2 variants\n.*result\['third'\]\.speedup"):
            result.speedup  # noqa: B018
        self.assertEqual(len(str(result).split("\n")), 2 + 3 + 2)

    def test_one_arm_has_a_time_and_no_comparison(self):
        result = inferometer.compare({"old": nothing}, number=1, options=fake())
        self.assertAlmostEqual(result["old"].seconds, 100e-6, delta=1e-6)
        self.assertEqual(result.svg(), "")
        with self.assertRaisesRegex(inferometer.Error, "0 variants"):
            result.word  # noqa: B018

    def test_what_is_printed_says_how_far_it_can_be_trusted_and_what_a_step_is(self):
        result = inferometer.compare({"old": nothing, "new": nothing}, number=10, options=fake())
        self.assertEqual((result.trust, result.remedy), ("solid", ""))
        self.assertIn("\nsolid: of scripted times (device.kind=fake)", str(result))
        self.assertIn(f"\n{result.blocks} blocks, a step of the report is a window of 10 calls, report: ", str(result))
        self.assertRegex(str(result), r"\nold: 10\.0 µs a call \[")
        self.assertIn("<b>solid</b>: of scripted times", result._repr_html_())
        self.assertIn("a window of 10 calls", result._repr_html_())
        with open(result.dir + "/report.md", encoding="utf-8") as page:
            self.assertRegex(page.read(), r"\*\*old\*\* \| 10\d(\.\d+)? µs|\*\*old\*\* \| 9\d(\.\d+)? µs")

    def test_a_ratio_of_undisturbed_blocks_says_what_all_blocks_give(self):
        def arm(of_all, speedup=1.05, interval=(1.02, 1.09)):
            numbers = {"step_ns": (53600, None), "speedup": (speedup, interval), "change_percent": (-4.8, (-8, -2)),
                       "change_percent_all_blocks": (100 / of_all - 100, None)}

            def metric(_index, name):
                number, ends = numbers[name]
                return unittest.mock.Mock(number=number, state=0, has_interval=ends is not None, low=(ends or [0])[0],
                                          high=(ends or [0])[-1], level=0.95, reason=b"", text=b"faster")
            return inferometer.Arm(unittest.mock.Mock(metric=metric), 1, "list", 1).words("loop")
        alone = "faster, 1.05x [1.02, 1.09] the speed of loop"
        self.assertEqual(arm(1.084), alone + ", of undisturbed blocks; of all 1.08x")
        self.assertEqual(arm(1.055), alone)
        self.assertTrue(arm(1.0046, 0.9992, (0.985, 1.02)).endswith(", of undisturbed blocks; of all 1.005x"))
        self.assertNotIn("of all", arm(1.055, interval=None))

    def test_undecided_has_its_reason(self):
        same = fake("step_ns=100000; noise=0.05; slot_noise=0.01; arm.new.step_ns=100300", **{"measure.margin": 0})
        result = inferometer.compare({"old": nothing, "new": nothing}, number=1, options=same)
        self.assertEqual((result.word, result.trust), ("undecided", "undecided"))
        self.assertIsNotNone(result.interval)
        self.assertRegex(result.reason, "^undecided after [0-9]+ blocks[,:] ")
        self.assertRegex(str(result).split("\n")[0], r"^new: undecided, .* the speed of old; after [0-9]+ blocks[,:] ")
        self.assertIn("measure.margin", result.remedy)
        self.assertNotIn("--", result.remedy)

    def test_an_arm_that_does_not_exist(self):
        result = inferometer.compare({"old": nothing, "new_one": nothing}, number=1, options=fake())
        with self.assertRaises(inferometer.UnknownArm) as caught:
            result["new-one"]  # noqa: B018
        self.assertIsInstance(caught.exception, KeyError)
        self.assertEqual(str(caught.exception), "the result has no arm 'new-one'; it has 'old', 'new_one'\n"
                                                "  hint: did you mean 'new_one'?")
        with self.assertRaisesRegex(inferometer.Error, "^the result has no arm 7; it has 'old', 'new_one'$"):
            result[7]  # noqa: B018

    def test_a_cap_in_seconds_or_with_its_unit(self):
        for cap in (1, 1.0, "1", "1s", "1.0 s", "1000ms"):
            result = inferometer.compare({"old": nothing}, number=1, options=fake(), cap=cap)
            with open(result.dir + "/config.lock.json", encoding="utf-8") as lock:
                self.assertRegex(lock.read(), r'"measure\.cap": 1(\.0)?\b')

    def test_few_blocks_have_no_interval_and_say_so(self):
        result = inferometer.compare({"old": nothing, "new": nothing}, number=1, options=fake(**{"measure.repeats": 8}))
        self.assertEqual((result.word, result.interval), ("undecided", None))
        self.assertIn("no interval: too few blocks", str(result))
        self.assertIn("no interval", result._repr_html_())

    def test_calls_are_mirrored_and_counted(self):
        order = []
        result = inferometer.compare({"old": lambda: order.append("A"), "new": lambda: order.append("B")}, number=1,
                                     options=fake(**{"measure.repeats": 24, "measure.slot_steps": 1,
                                                     "measure.slot_min": 0, "measure.warmup": 1}))
        tail = "".join(order)[-8 * result.blocks:]  # a slot: one untimed call and a timed one
        blocks = {tail[at:at + 8] for at in range(0, len(tail), 8)}
        self.assertEqual(blocks, {"AABBBBAA", "BBAAAABB"})

    def test_short_calls_are_put_together(self):
        class Counted:
            calls = 0

            def __call__(self):
                self.calls += 1
        one, two = Counted(), Counted()
        result = inferometer.compare({"one": one, "two": two}, cap=0.5)
        self.assertGreater(result.number, 20)
        self.assertLess(result["one"].seconds, 20e-6)
        self.assertGreater(min(one.calls, two.calls), result.number * result.blocks)
        self.verify(result.dir)

    def test_a_slow_arm_beside_a_fast_one_keeps_to_the_cap(self):
        """One window of so many calls as the fast arm wants would last 2 s of the slow one, and there are dozens."""
        remembered = functools.lru_cache(lambda: time.sleep(0.05))
        start = time.monotonic()
        result = inferometer.compare({"plain": lambda: time.sleep(0.001), "memo": remembered}, cap=0.4)
        self.assertLess(time.monotonic() - start, 40)  # it was 123 s, and is 1 s
        self.assertLessEqual(result.number, 4)
        self.assertGreater(result["memo"].overhead, 0.02)
        self.assertRegex(str(result), r"\nmemo: .* a call.*; up to \d+ % of it is Inferometer's own: a larger number= ")
        self.assertLess(result["plain"].overhead, 0.01)
        self.assertEqual(str(result).count("Inferometer's own"), 1)

    def test_short_windows_say_what_they_do_to_a_comparison(self):
        short = fake("step_ns=1000000; noise=0.01; slot_noise=0.001; arm.new.step_ns=5000")
        for arms, line in (({"old": nothing, "new": nothing}, 2), ({"new": nothing, "old": nothing}, 1)):
            said = str(inferometer.compare(arms, number=10, options=short)).split("\n")
            self.assertIn("the speed of " + next(iter(arms)) + "; windows this short shrink the difference", said[0])
            self.assertRegex(said[line], r"^new: [45]\d\d ns a call \[.*\]; up to 10 % of it is Inferometer's own: a")
            self.assertEqual(str(said).count("Inferometer's own"), 1)
        self.assertNotIn("short", str(inferometer.compare({"old": nothing, "new": nothing}, number=10, options=fake())))

    def test_the_cap_bounds_the_calls_of_a_window(self):
        calls = functools.partial(inferometer._calls_in_window, cap_s=10)
        times = {"fast": 50.0, "near": 900.0, "slow": 1e6, "endless": 3e9}
        with unittest.mock.patch.object(inferometer, "_time_of", times.get):
            self.assertEqual(calls(["fast", "near"]), 2000)
            self.assertEqual(calls(["slow", "fast"]), 104)  # a 96th of the cap
            self.assertEqual(calls(["fast", "slow", "near", "near"]), 52)
            self.assertEqual(calls(["fast", "endless"]), 1)
            self.assertEqual(calls(["slow", "slow"]), 1)

    def test_the_cap_is_read_wherever_it_stands(self):
        for settings, seconds in (("", 10), ("seed: 1", 10), ('measure.cap: "0.4s"\n', 0.4), ("measure.cap=400ms", 0.4),
                                  ("seed=1;measure.cap=2min", 120), ("measure:\n  cap: 3\n  warmup_cap: 1s", 3),
                                  ("measure.warmup_cap=1s", 10), ("preset=quick", 2), ("measure.cap=...", 10),
                                  ("preset=quick\nmeasure.cap=4s", 4)):
            self.assertAlmostEqual(inferometer._cap_s(settings), seconds, msg=settings)

    def test_the_callers_number_is_obeyed(self):
        calls = []
        result = inferometer.compare({"old": functools.partial(calls.append, 1)}, number=7, cap="1ms", options=fake())
        self.assertEqual((result.number, len(calls) % 7), (7, 1))  # windows, and the untimed first call

    def test_an_exception_is_the_callers_and_leaves_an_interrupted_run(self):
        count = []

        def fails():
            count.append(1)
            if len(count) == 150:
                raise ValueError("mine")
        with self.assertRaisesRegex(ValueError, "mine"):
            inferometer.compare({"old": nothing, "new": fails}, number=1, options=fake(), out="left")
        with open("left/run.log", encoding="utf-8") as log:
            self.assertIn('"stage":"interrupted"', log.read())
        inferometer.compare({"old": nothing}, number=1, options=fake())  # the session was closed

    def test_options_as_a_text(self):
        result = inferometer.compare({"old": nothing, "new": nothing}, number=1,
                                     options="device.kind=fake\nmeasure.repeats=24\nseed=1")
        self.assertGreater(result.blocks, 0)


class Refused(InAFolder):
    def refuse(self, words, *arguments, **keywords):
        with self.assertRaisesRegex(inferometer.Error, words):
            inferometer.compare(*arguments, **keywords)
        self.assertFalse(os.path.exists("runs"))

    def test_wrong_arguments(self):
        pair = {"old": nothing, "new": nothing}
        self.refuse("give {name: callable}", [nothing, nothing])
        self.refuse("give {name: callable}", {})
        self.refuse("'new' is no name of a callable", {"old": nothing, "new": 3})
        self.refuse("3 is no name of a callable", {3: nothing})
        self.refuse("no whole number of calls", pair, number=0)
        for number in (1.5, True, 10 ** 30, 10 ** 5000, "3"):
            self.refuse("no whole number of calls\n  hint: give 1 to 1000000000", pair, number=number)
        for out in (5, 0, ["run"], "a\0b"):
            self.refuse(r"^out: .* is no path\n  hint: give the run folder", pair, out=out)
        self.refuse("give a dict", pair, options=["measure.mde=1"])
        self.refuse("options are a text already", pair, options="seed=1", cap=3)
        for cap in ("soon", "5ss", "-5s", "", 0, -1, float("nan"), float("inf"), True, [5], "5h", 10 ** 400):
            self.refuse(r"^cap: .* is no time\n  hint: give seconds, such as 5", pair, cap=cap)
        self.refuse("unknown key 'measure.capp'", pair, options={"measure.capp": 3})
        for name in ("old one", "\ud800"):
            self.refuse("letters, digits", {name: nothing}, number=1)
        os.mkdir("full")
        with open("full/file", "w", encoding="utf-8"):
            pass
        self.refuse("full", pair, number=1, out="full", options=fake())

    def test_a_call_that_only_promises_its_work(self):
        async def slow():
            time.sleep(0.01)

        async def slowly():
            yield time.sleep(0.01)

        def generator():
            yield time.sleep(0.01)

        class Later:
            def __await__(self):
                return iter(())
        promises = {"coroutine": (slow, r"asyncio\.run"), "generator": (generator, "list"),
                    "async_generator": (slowly, r"asyncio\.run"), "Later": (Later, r"asyncio\.run"),
                    "map": (lambda: map(len, [""]), "list")}
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            for kind, (call, instead) in promises.items():
                for number in (None, 1):
                    self.refuse(f"^compare: 'new' only returns its work, as type {kind}:.*\n  hint: .*: {instead}",
                                {"old": nothing, "new": call}, number=number)
            with self.assertRaisesRegex(inferometer.Error, "'slow' only returns its work, as type coroutine"):
                inferometer.bench(slow).measure()
        self.assertEqual([str(each.message) for each in warned], [])
        done = {"old": lambda: asyncio.run(slow()), "new": lambda: list(generator())}
        self.assertGreater(inferometer.compare(done, number=1, cap=0.1)["old"].seconds, 0.01)

    def test_a_library_that_is_not_there(self):
        copy = os.path.join(self.folder, "python", "inferometer.py")
        os.mkdir(os.path.dirname(copy))
        shutil.copy(SOURCE, copy)
        alone = load_module(copy)
        del os.environ["INFEROMETER_LIBRARY"]
        alone.ctypes.util.find_library = lambda name: None  # this machine may have one installed
        with self.assertRaises(alone.Error) as caught:
            alone.compare({"old": nothing})
        for place in ("python/libinferometer.so", "build/libinferometer.so"):
            self.assertIn(f"not at {self.folder}/{place}", str(caught.exception))
        self.assertIn("`make`", str(caught.exception))
        self.assertIn("INFEROMETER_LIBRARY", str(caught.exception))
        os.mkdir("build")
        shutil.copy(LIBRARY, "build/libinferometer.so")  # the tree that `make` built
        self.assertTrue(alone.load().inferometer_version())
        os.environ["INFEROMETER_LIBRARY"] = os.path.join(self.folder, "nowhere.so")
        with self.assertRaisesRegex(alone.Error, r"nowhere\.so cannot be loaded.*\n.*`make`"):
            alone.load()
        with self.assertRaisesRegex(alone.Error, "5 cannot be loaded"):
            alone.load(5)

    def test_a_library_of_something_else(self):
        with self.assertRaisesRegex(inferometer.Error, "has no inferometer_open"):
            inferometer.load("libc.so.6")


class Check(InAFolder):
    def compare(self, errors, **more):
        self.order = []
        arms = {name: functools.partial(self.order.append, name) for name in errors}

        def check(name):
            self.order.append(f"check {name}")
            return errors[name]
        return inferometer.compare(arms, number=1, options=fake(), check=check, tolerance=1e-3, out="run", **more)

    def test_outputs_are_checked_when_the_windows_are_over(self):
        result = self.compare({"old": (1e-4, 2e-4, 100), "new": (3e-4, 4e-4, 100)})
        self.assertEqual(self.order[-2:], ["check old", "check new"])
        self.assertEqual(sum(entry.startswith("check") for entry in self.order), 2)
        self.assertEqual(result.word, "faster")
        with open("run/run.log", encoding="utf-8") as log:
            checks = [line for line in log if '"stage":"check"' in line]
        self.assertTrue(any('"error_max_rel":0.0004' in line and '"values":100' in line for line in checks), checks)
        self.verify("run")

    def test_a_wrong_output_is_not_compared(self):
        for old, new in (((0.0, 0.0, 1), (1e-4, 2e-3, 1)), ((1e-4, 2e-3, 1), (0.0, 0.0, 1)),
                         ((0.0, 0.0, 1), (float("nan"), float("nan"), 1))):
            result = self.compare({"old": old, "new": new})
            self.assertIsNone(result.speedup, (old, new))
            self.assertTrue(result.reason)
            shutil.rmtree("run")

    def test_what_a_check_must_give(self):
        for given in (1e-3, None, (0.0, 0.0), (0.0, 0.0, 1.5), (0.0, 0.0, 0), (0.0, 0.0, 1 << 64), ("a", 0.0, 1),
                      (0.0, None, 1), (10 ** 400, 0.0, 1)):
            with self.assertRaisesRegex(inferometer.Error, "^check: of 'old' it gave this .*, not .rms, largest, "
                                        "values.\n  hint: give two errors, and how many values"):
                self.compare({"old": given, "new": given})
            shutil.rmtree("run")

    def test_what_is_no_check(self):
        for more in ({"check": nothing}, {"tolerance": 1e-3}, {"check": 3, "tolerance": 1e-3},
                     {"check": nothing, "tolerance": "1e-3"}):
            with self.assertRaisesRegex(inferometer.Error, "check: give a function, with the largest error"):
                inferometer.compare({"old": nothing}, **more)


class AttentionExample(unittest.TestCase):
    """What examples/session/attention_gpu.py takes from our sources; it runs where PyTorch has a GPU."""
    example = load_module(os.path.join(os.path.dirname(SOURCE), "..", "examples", "session", "attention_gpu.py"))

    def test_the_kernel_is_the_one_that_the_command_takes(self):
        of = self.example.kernel_for
        self.assertEqual(of(9, 132, 32, 4096, 128), ("flash_sm90", "ifm_hopper_f16_128_2", 128, 256, 99328))
        self.assertEqual(of(9, 132, 32, 255, 128), ("flash", "ifm_flash_f16_128", 256, 256, 139264))
        self.assertEqual(of(8, 108, 32, 4096, 64), ("flash", "ifm_flash_f16_64", 128, 128, 55296))
        with self.assertRaisesRegex(self.example.inferometer.Error, "there is no kernel"):
            of(9, 132, 32, 4096, 48)
        # What tests/e2e/cuda_attention.sh finds the command to take, on two multiprocessors.
        command = {(128, 64): "flash_f16_64", (129, 64): "hopper_f16_64_1", (193, 64): "flash_f16_64",
                   (256, 64): "flash_f16_64", (256, 128): "hopper_f16_128_2", (257, 64): "hopper_f16_64_1",
                   (385, 64): "hopper_f16_64_2", (257, 32): "flash_f16_32"}
        self.assertEqual({shape: of(9, 2, 1, *shape)[1] for shape in command},
                         {shape: "ifm_" + name for shape, name in command.items()})

    def test_its_arguments_are_those_of_the_header(self):
        header = self.example.read("kernel/cuda/attention.h")
        body = re.search(r"struct ifm_attention_arguments \{(.*?)\n\};", header, re.S).group(1)
        names = re.findall(r"[*\s]([a-z_]+)(?=[,;])", re.sub(r"/\*.*?\*/", "", body))
        self.assertEqual(names, [name for name, _ in self.example.Arguments._fields_])
        self.assertEqual(ctypes.sizeof(self.example.Arguments), 56)


class Figure(InAFolder):
    def test_the_picture_is_well_formed_and_holds_every_variant(self):
        result = inferometer.compare({"old": nothing, "new": nothing, "third": nothing}, number=1, options=fake())
        svg = tree.fromstring(result.svg())
        self.assertEqual(len(svg.findall("circle")), 2)
        texts = [text.text for text in svg.findall("text")]
        self.assertTrue({"old: 1x", "new", "third"} <= set(texts), texts)
        self.assertIn("faster, 2.00x", svg.get("aria-label"))
        self.assertGreaterEqual(int(svg.get("font-size")), 12)
        page = tree.fromstring("<div>" + result._repr_html_() + "</div>")
        self.assertEqual(page.find(".//a").get("href"), result.report)
        self.assertEqual(len(page.findall(".//tr")), 4)
        width = float(svg.get("viewBox").split()[2])
        for line in svg.findall("line"):
            self.assertTrue(0 <= float(line.get("x1")) <= float(line.get("x2")) <= width)

    def test_texts_from_outside_are_no_markup(self):
        result = inferometer.compare({"old": nothing, "new": nothing}, number=1, options=fake())
        result["new"].name = result.baseline = "<script>&\""
        page = "<div>" + result._repr_html_() + "</div>"
        self.assertNotIn("<script", page)
        tree.fromstring(page)


class Decorator(InAFolder):
    def test_a_function_stays_and_can_be_measured(self):
        seen = []

        def old(value, twice=False):
            seen.append((value, twice))
            return value

        @inferometer.bench(against=old, number=1, options=fake())
        def new(value, twice=False):
            seen.append((value, twice))
            return value * 2

        self.assertEqual(new(3), 6)
        result = new.compare(4, twice=True)
        self.assertEqual((result.baseline, result.word), ("old", "faster"))
        self.assertEqual(set(seen[1:]), {(4, True)})
        self.assertEqual(list(new.measure(5).arms), ["new"])

    def test_without_a_baseline(self):
        @inferometer.bench
        def alone():
            return 1
        self.assertEqual(alone(), 1)
        with self.assertRaisesRegex(inferometer.Error, r"alone has no baseline\n.*against=old"):
            alone.compare()
        with self.assertRaisesRegex(inferometer.Error, "write @inferometer.bench"):
            inferometer.bench(3)

    def test_two_of_one_name(self):
        def make():
            def work():
                return None
            return work
        decorated = inferometer.bench(make(), against=make(), number=1, options=fake())
        self.assertEqual(list(decorated.compare().arms), ["baseline", "work"])


class WithBlock(unittest.TestCase):
    def test_what_so_many_samples_can_say(self):
        timer = inferometer.timer("load")
        self.assertEqual(str(timer), "load: nothing was timed yet")
        with self.assertRaisesRegex(inferometer.Error, "nothing was timed yet"):
            timer.seconds  # noqa: B018
        with timer as inside:
            sum(range(10000))
        self.assertIs(inside, timer)
        self.assertTrue(0 < timer.seconds < 10)
        self.assertRegex(str(timer), r"^load: [\d.]+ [mµ]?s, one sample: how far another would lie is not known$")
        for _ in range(2):
            with timer:
                pass
        self.assertRegex(str(timer), "in 3 samples, too few for an interval$")
        timer.samples[:] = [0.004, 0.001, 0.002, 0.003, 0.002, 0.002]
        self.assertEqual(str(timer), "load: median 2.00 ms, 1.00 ms to 4.00 ms in 6 samples, one after the other: "
                                     "to compare it with other code, use inferometer.compare")

    def test_what_is_no_sample(self):
        timer = inferometer.timer()
        with self.assertRaises(KeyError), timer:
            raise KeyError
        self.assertEqual(timer.samples, [])
        with self.assertRaisesRegex(inferometer.Error, "runs already"), timer, timer:
            pass


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
