#!/usr/bin/env python3
"""inferometer.py in a notebook, by Jupyter's own kernel: test_notebook.py LIBRARY. Exit 77: no Python here has one."""
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree

needed = ("nbclient", "nbformat", "ipykernel")
if any(importlib.util.find_spec(name) is None for name in needed):
    debian = "/usr/bin/python3"  # the packages are of Debian's Python, and another one may come first in PATH
    if os.path.exists(debian) and "IFM_SECOND" not in os.environ:
        os.execve(debian, [debian, *sys.argv], {**os.environ, "IFM_SECOND": "1"})
    print("this Python has no Jupyter kernel: install python3-nbclient and python3-ipykernel")
    sys.exit(77)

import nbclient
import nbformat

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.abspath(sys.argv[1])

COMPARE = """\
import inferometer
fake = {"device.kind": "fake", "seed": 1, "measure.repeats": 200,
        "device.script": "step_ns=100000; noise=0.01; slot_noise=0.001; arm.new.step_ns=50000"}
result = inferometer.compare({"old": lambda: None, "new": lambda: None}, options=fake, out="runs/one")
result"""
TIMER = """\
with inferometer.timer("load") as load:
    sum(range(1000))
print(load)"""
RAISES = """\
def broken():
    raise ValueError("no such weight")
inferometer.compare({"old": lambda: None, "broken": broken}, out="runs/two")"""


def executed(*cells):
    """The outputs of each cell, run in an empty folder by a fresh kernel of this Python."""
    folder = tempfile.mkdtemp()
    os.environ.update(INFEROMETER_LIBRARY=LIBRARY, PYTHONPATH=os.path.join(HERE, "..", "..", "python"),
                      JUPYTER_PATH=folder, IPYTHONDIR=folder, PYTHONDONTWRITEBYTECODE="1",
                      PYDEVD_DISABLE_FILE_VALIDATION="1")
    spec = os.path.join(folder, "kernels", "this")
    os.makedirs(spec)
    with open(os.path.join(spec, "kernel.json"), "w", encoding="utf-8") as file:
        file.write(json.dumps({"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                        "display_name": "this", "language": "python"}))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(notebook, kernel_name="this", timeout=300, allow_errors=True,
                                     resources={"metadata": {"path": folder}})
    try:
        client.execute()
    finally:
        shutil.rmtree(folder)
    return [cell.outputs for cell in notebook.cells]


class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.compared, cls.timed, cls.raised = executed(COMPARE, TIMER, RAISES)

    def test_result_is_a_figure(self):
        shown = [output for output in self.compared if output.output_type == "execute_result"]
        self.assertEqual(len(shown), 1, self.compared)
        page = tree.fromstring("<div>" + shown[0].data["text/html"] + "</div>")
        picture = page.find(".//svg")
        self.assertIsNotNone(picture)
        self.assertRegex(picture.get("aria-label"), r"^new: faster, (1\.99|2\.0\d?)\dx ")
        self.assertIn("new: faster", shown[0].data["text/plain"])

    def test_nothing_else_is_shown(self):
        self.assertEqual([output for output in self.compared if output.output_type != "execute_result"], [])

    def test_timer_prints_its_sample(self):
        self.assertEqual([output.get("name") for output in self.timed], ["stdout"], self.timed)
        self.assertRegex(self.timed[0].text, r"^load: [0-9.]+ \S+s, one sample")

    def test_an_exception_of_a_callable_is_the_cell_s(self):
        self.assertEqual(self.raised[-1].output_type, "error", self.raised)
        self.assertEqual((self.raised[-1].ename, self.raised[-1].evalue), ("ValueError", "no such weight"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
