"""Many threads on one library and one table of compiled cases: the figures of a serial run, one compilation a case, one object a document."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import costmodel
from costmodel import api
from costmodel.library import Library

THREADS = 16
CASES = [
    (model, hardware, techniques, context)
    for model in ("1b", "8b", "mixtral-8x7b")
    for hardware in ("ddr5", "rtx4090")
    for techniques in ((), ("int4",), ("kv-int8", "flash-attention"))
    for context in (1024, 5000)
]


@pytest.fixture
def switching():
    """Threads change places as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(tasks, threads: int = THREADS) -> list:
    """Results of functions that threads start at the same moment."""
    gate = threading.Barrier(threads)

    def work(mine):
        gate.wait()
        return [task() for task in mine]

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(work, [tasks[i::threads] for i in range(threads)]))
    return [parts[i % threads][i // threads] for i in range(len(tasks))]


def data(case, library=None) -> str:
    model, hardware, techniques, context = case
    return json.dumps(costmodel.predict(model, hardware, techniques=techniques, context=context, library=library).to_dict())


@pytest.fixture
def builds(monkeypatch):
    """Counts compilations, from an empty table."""
    from costmodel.compile import build as room

    counted: list = []
    real = room.build

    def build(case, library, free=None):
        counted.append((case.model, case.hardware, case.techniques))
        return real(case, library, free)

    monkeypatch.setattr(room, "build", build)
    monkeypatch.setattr(api, "_runnables", {})
    return counted


def test_different_cases_give_the_figures_of_a_serial_run(switching, builds):
    alone = Library()
    serial = [data(case, alone) for case in CASES]
    builds.clear()
    tasks = [lambda case=case: data(case) for case in CASES * 4]
    assert together(tasks) == serial * 4
    assert len(builds) == len(set(builds)) == len({case[:3] for case in CASES})
    assert not api._building


def test_one_case_is_compiled_once(switching, builds):
    found = together([lambda: costmodel.predict("8b", "h100-sxm", techniques=("int8",)) for _ in range(THREADS * 4)])
    assert len(builds) == 1 and len({id(p.runnable) for p in found}) == 1
    assert len({p.tps.expected for p in found}) == 1


def test_a_refused_case_is_refused_in_every_thread(switching, builds):
    def refused():
        with pytest.raises(costmodel.SpecError) as error:
            costmodel.predict("8b", "rtx409")
        return str(error.value)

    found = together([refused] * (THREADS * 2))
    assert len(set(found)) == 1 and "rtx4090" in found[0]
    assert not api._building and not api._runnables


def test_a_table_that_is_emptied_meanwhile(switching, monkeypatch):
    monkeypatch.setattr(api, "_runnables", {})
    monkeypatch.setattr(api, "KEPT", 3)
    alone = Library()
    serial = [data(case, alone) for case in CASES[:8]]
    assert together([lambda case=case: data(case) for case in CASES[:8] * 4]) == serial * 4
    assert len(api._runnables) <= 3 + THREADS


def test_a_library_gives_every_thread_the_same_documents(switching):
    library = Library()
    wanted = [
        ("model", "8b"),
        ("hardware", "rtx4090"),
        ("hardware", "RTX 4090"),
        ("engine", "llama.cpp"),
        ("format", "q4_k"),
        ("model", "1b"),
    ]
    found = together([lambda w=w: library.load(*w) for w in wanted * THREADS])
    assert {len({id(spec) for spec in found[i :: len(wanted)]}) for i in range(len(wanted))} == {1}
    names = together([lambda: library.names("hardware")] * THREADS)
    assert len({id(n) for n in names}) == 1


def test_the_shared_library_is_one(switching, monkeypatch):
    import costmodel.library as room

    monkeypatch.setattr(room, "_shared", None)
    assert len({id(library) for library in together([room.shared] * (THREADS * 4))}) == 1


def test_one_prediction_read_by_many_threads(switching):
    names = ["tps", "ttft_s", "tpot_s", "memory", "prefill", "decode", "e2e_s", "operators", "overheads", "assumptions", "system_tps"]
    for _ in range(20):
        p = costmodel.predict("8b", "rtx4090", batch=3)
        found = together([lambda p=p, name=name: (name, getattr(p, name)) for name in names * THREADS])
        for name in names:
            assert len({id(value) for n, value in found if n == name}) == 1, name
        assert json.dumps(p.to_dict()) == json.dumps(costmodel.predict("8b", "rtx4090", batch=3).to_dict())


def test_formulas_and_files(switching, tmp_path):
    config = os.path.join(os.path.dirname(__file__), "data", "configs", "qwen3-8b.json")
    library = Library()
    programs = together([lambda: str(costmodel.compile("8b").flops("decode", values=True))] * 8, 8)
    assert len(set(programs)) == 1
    assert (
        len({id(library.load("model", config)) for _ in range(2)} | {id(s) for s in together([lambda: library.load("model", config)] * 16)})
        == 1
    )


COLD = """
import sys, threading
sys.setswitchinterval(1e-6)
import costmodel
from costmodel.solve.check import check
jobs = [
    lambda: costmodel.predict("8b", "ddr5").tps.expected,
    lambda: costmodel.compile("8b").params(),
    lambda: costmodel.load_hardware("rtx4090").name,
    lambda: costmodel.predict("8b", "rtx4090").to_dict()["model"],
    lambda: check(costmodel.predict("8b", "ddr5"), 40.0).verdict,
    lambda: costmodel.predict("tests/data/configs/qwen3-8b.json", "ddr5").tps.expected > 0,
    lambda: [str(e.problems[0].help) for e in [costmodel.SpecError(costmodel.Problem("x", None, "y"))]],
    lambda: costmodel.load_technique("int4").text(),
]
gate, results = threading.Barrier(len(jobs) * 3), [None] * (len(jobs) * 3)
def work(i):
    gate.wait()
    results[i] = jobs[i % len(jobs)]()
threads = [threading.Thread(target=work, args=(i,)) for i in range(len(results))]
[t.start() for t in threads]
[t.join(60) for t in threads]
assert not any(t.is_alive() for t in threads), "stuck"
for i in range(len(jobs)):
    assert results[i] is not None and results[i] == results[i + len(jobs)] == results[i + 2 * len(jobs)], (i, results[i])
print("done")
"""


def test_a_cold_process_whose_threads_import_everything_at_once():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, timeout=120, cwd=root)
        assert done.returncode == 0 and done.stdout == "done\n", done.stderr


FORKED = """
import os, threading, time, warnings
warnings.simplefilter("ignore")
import costmodel
from costmodel import api
from costmodel.library import shared
costmodel.predict("8b", "ddr5")
held, go = threading.Event(), threading.Event()
def hold():
    with shared()._lock:
        held.set()
        go.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    costmodel.predict("1b", "rtx4090")
    os._exit(7)
for _ in range(600):
    pid, status = os.waitpid(child, os.WNOHANG)
    if pid:
        break
    time.sleep(0.1)
else:
    os.kill(child, 9)
    status = 0
go.set()
thread.join()
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_does_not_wait_for_threads_that_it_does_not_have():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert done.stdout == "7\n", done.stderr


def test_what_crosses_to_another_process_does(tmp_path):
    p = costmodel.predict("8b", "h100-sxm", techniques="disaggregation:decode=a100-sxm-80gb")
    assert p.tps.expected > 0
    twin = pickle.loads(pickle.dumps(p))
    assert twin.tps.expected == p.tps.expected and twin.to_dict() == p.to_dict()
    with pytest.raises(costmodel.SpecError) as refused:
        costmodel.predict("8b", "rtx409", techniques=("int4",))
    error = pickle.loads(pickle.dumps(refused.value))
    assert str(error) == str(refused.value) and [str(q) for q in error.problems] == [str(q) for q in refused.value.problems]
    assert error.problems[0].help == refused.value.problems[0].help


def imported(file: Path, root: Path) -> set[str]:
    """Modules of the package that a file imports when it is imported itself, and the packages that it lies in."""
    parts = file.relative_to(root.parent).with_suffix("").parts
    package = parts[:-1]  # of a file, and of an __init__ itself
    found = {".".join(package)} if parts[-1] != "__init__" else {".".join(parts[:-2])}
    for node in ast.parse(file.read_text("utf-8")).body:
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        base = package[: len(package) - node.level + 1] + tuple((node.module or "").split(".") if node.module else ())
        found |= {".".join(base), *(".".join((*base, alias.name)) for alias in node.names)}
    return found


def test_modules_do_not_import_in_a_circle():
    """Where they do, Python gives a thread half a module when another one comes from the other side."""
    root = Path(costmodel.__file__).parent
    files = {".".join(f.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__"): f for f in root.rglob("*.py")}
    graph = {name: {m for m in imported(file, root) if m in files and m != name} for name, file in files.items()}
    assert "costmodel.language.formula" in graph["costmodel.language.formula.fold"]  # the graph is not empty
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())
