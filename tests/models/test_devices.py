"""GPUs that onnxruntime was built for: each is tried once, and used if it pays."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from qmd.models import devices, encoder

CUDA, DML = devices.PROVIDERS[:2]


@pytest.fixture
def built_for(monkeypatch):
    """Makes onnxruntime look as if it was built for some providers, and trials end as is said.

    Returns the providers that were tried.
    """
    tried = []

    def made(*providers, outcome=0):
        def get():
            return [*providers, encoder.PROCESSOR]

        fake = SimpleNamespace(__version__="1", get_available_providers=get)
        monkeypatch.setattr(encoder, "load_onnxruntime", lambda: fake)

        def run(command, **options):
            tried.append(command[-1])
            if isinstance(outcome, Exception):
                raise outcome
            return subprocess.CompletedProcess(command, outcome)

        monkeypatch.setattr(subprocess, "run", run)
        return tried

    return made


def test_without_a_gpu_nothing_is_tried(built_for, tmp_path):
    tried = built_for("AzureExecutionProvider")
    assert devices.worthwhile(tmp_path / "notes") is None
    assert tried == []


def test_a_gpu_that_pays_is_used_and_tried_once(built_for, tmp_path):
    tried = built_for(CUDA, DML)
    assert devices.worthwhile(tmp_path / "notes") == CUDA
    assert devices.worthwhile(tmp_path / "notes") == CUDA
    assert tried == [CUDA]


@pytest.mark.parametrize("outcome", [1, -11, subprocess.TimeoutExpired("trial", 1)])
def test_a_gpu_that_does_not_pay_ends_the_process_or_hangs_is_not_tried_again(
    built_for, tmp_path, outcome
):
    tried = built_for(CUDA, outcome=outcome)
    assert devices.worthwhile(tmp_path / "notes") is None
    assert devices.worthwhile(tmp_path / "notes") is None
    assert tried == [CUDA]


def test_another_version_of_onnxruntime_is_tried_anew(built_for, tmp_path):
    tried = built_for(CUDA, outcome=1)
    devices.worthwhile(tmp_path)
    encoder.load_onnxruntime().__version__ = "2"
    devices.worthwhile(tmp_path)
    assert tried == [CUDA, CUDA]
    assert len(list(tmp_path.iterdir())) == 1


def test_where_nothing_can_be_kept_it_is_tried_each_time(built_for, tmp_path):
    tried = built_for(CUDA)
    (tmp_path / "file").write_text("no folder")
    for _ in range(2):
        assert devices.worthwhile(tmp_path / "file") == CUDA
    assert tried == [CUDA, CUDA]


class Timed:
    """A graph whose passes take as long as is said, on a clock that the test moves."""

    clock = 0.0

    def __init__(self, seconds, vector):
        self.seconds, self.vector = seconds, np.array(vector, np.float32)

    def vectors(self, sequences):
        Timed.clock += self.seconds * len(sequences)
        return np.stack([self.vector] * len(sequences))


@pytest.mark.parametrize(
    ("seconds", "vector", "expected"),
    [(0.01, [1, 0], True), (9.0, [1, 0], False), (0.01, [0.9, 0.44], False)],
    ids=["faster", "slower", "other vectors"],
)
def test_a_gpu_pays_if_it_makes_the_same_vectors_faster(monkeypatch, seconds, vector, expected):
    def graph(model, provider=encoder.PROCESSOR):
        return Timed(1.0, [1, 0]) if provider == encoder.PROCESSOR else Timed(seconds, vector)

    monkeypatch.setattr(encoder, "Graph", graph)
    monkeypatch.setattr(devices.time, "perf_counter", lambda: Timed.clock)
    monkeypatch.setattr(devices.processes, "cores", lambda: 2)
    assert devices.pays(CUDA) is expected


def test_the_trial_runs_to_its_end():
    command = [sys.executable, "-c", devices.TRIAL, "AzureExecutionProvider"]
    trial = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (trial.returncode in (0, 1), trial.stdout, trial.stderr) == (True, "", "")
