"""A command runs to its end or to its limit, and nothing of it stays behind."""

import itertools
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledger.answers import Failed, OutcomeUnknown, Rejected
from ledger.demo.process import KEPT_HEAD_BYTES, KEPT_TAIL_BYTES, Finished, run_bounded

NO_LIMIT = 1e9


def run(source: str, *arguments: str, folder: Path, clock: Callable[[], float] | None = None) -> Finished:
    """Run Python source; with a clock of its own the limit is ten ticks away."""
    command = [sys.executable, "-c", source, *arguments]
    if clock is None:
        return run_bounded(command, folder=folder, environment={}, limit_seconds=NO_LIMIT)
    return run_bounded(command, folder=folder, environment={}, limit_seconds=10, clock=clock)


class Pipe:
    """A named pipe that a process opens to say that it lives; it ends when every such process is gone."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.heard = b""

    def is_alive(self) -> bool:
        """Tell whether a process has said something."""
        if not self.heard and select.select([self.reader], [], [], 0)[0]:
            self.heard = os.read(self.reader, 100)
        return bool(self.heard)

    def wait_for_the_end(self) -> bytes:
        """Wait until nobody can write any more, and return what was said since."""
        os.set_blocking(self.reader, True)
        return b"".join(iter(lambda: os.read(self.reader, 100), b""))


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Pipe]:
    pipe = Pipe(tmp_path / "pipe")
    yield pipe
    pipe.wait_for_the_end()
    os.close(pipe.reader)


def stopped_until(condition: Callable[[], bool]) -> Callable[[], float]:
    """Return a clock that stands still until the condition holds; then it is beyond the limit, and goes on."""
    ticks = itertools.count(1_000)
    return lambda: next(ticks) if condition() else 0.0


def test_a_command_ends_with_its_exit_code_and_output(root: Path) -> None:
    """Output and errors come as one text in their order, with the exit code; a failure is a result."""
    source = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    assert run(source, folder=root) == Finished(3, "out\nerr\n", 8, truncated=False, left_running=False)


def test_a_signal_is_a_negative_exit_code(root: Path) -> None:
    """A command that crashes is a result as well."""
    assert run("import os; os.abort()", folder=root).exit_code == -signal.SIGABRT


def test_arguments_reach_the_command_unchanged(root: Path) -> None:
    """No shell reads them."""
    hostile = "$(touch pwned); `touch pwned` && touch pwned | \"'\\ *"
    assert run("import sys; print(sys.argv[1], end='')", hostile, folder=root).output == hostile
    assert list(root.iterdir()) == []


@pytest.fixture
def typed() -> Iterator[None]:
    """Let something wait in this process's own input."""
    before = os.dup(0)
    reader, writer = os.pipe()
    os.write(writer, b"typed by somebody")
    os.close(writer)
    os.dup2(reader, 0)
    os.close(reader)
    yield
    os.dup2(before, 0)
    os.close(before)


@pytest.mark.usefixtures("typed")
def test_the_command_gets_only_what_it_is_given(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs in its folder, with an empty input, and inherits neither environment nor open files."""
    monkeypatch.setenv("A_SECRET", "canary")
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    source = (
        "import os, sys; print(os.getcwd(), 'A_SECRET' in os.environ, repr(sys.stdin.read()), end=' ')\n"
        f"try: os.fstat({writer}); print('open')\n"
        "except OSError: print('closed')"
    )
    assert run(source, folder=root).output == f"{root} False '' closed\n"
    os.close(reader)
    os.close(writer)


def test_output_is_bounded_at_both_ends(root: Path) -> None:
    """Of a long output the beginning and the end are kept, the rest is counted."""
    size = 1_000_000
    finished = run(f"print('start' + 'x' * {size - 8} + 'end', end='')", folder=root)
    assert finished.truncated
    assert finished.output_bytes == size
    assert finished.output.startswith("start")
    assert finished.output.endswith("end")
    dropped = size - KEPT_HEAD_BYTES - KEPT_TAIL_BYTES
    assert f"x\n[{dropped} bytes left out]\nx" in finished.output


def test_output_at_the_bound_is_whole(root: Path) -> None:
    """Output that just fits is not cut."""
    size = KEPT_HEAD_BYTES + KEPT_TAIL_BYTES
    finished = run(f"print('x' * {size}, end='')", folder=root)
    assert (finished.output, finished.truncated) == ("x" * size, False)


def test_output_that_is_not_utf8_is_shown(root: Path) -> None:
    """Any bytes may come out."""
    assert run("import os; os.write(1, b'caf\\xe9')", folder=root).output == "caf\ufffd"


def test_what_cannot_start_is_rejected(root: Path) -> None:
    """A missing program is a refusal: nothing happened."""
    with pytest.raises(Rejected) as refused:
        run_bounded([str(root / "missing")], folder=root, environment={}, limit_seconds=1)
    assert refused.value.code == "not_started"


# A child in the same process group that ignores polite signals and lives as long as it may.
STUBBORN = """
import os, signal, sys
print('begun', flush=True)
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.write(os.open(sys.argv[1], os.O_WRONLY), b'alive')
    signal.pause()
"""


def test_the_limit_ends_the_whole_group(root: Path, pipe: Pipe) -> None:
    """At the limit the command and its children are killed and gone: a known end, whose answer quotes the output."""
    with pytest.raises(Failed) as failed:
        run(STUBBORN + "signal.pause()", pipe.path, folder=root, clock=stopped_until(pipe.is_alive))
    assert pipe.heard == b"alive"
    assert pipe.wait_for_the_end() == b""
    assert failed.value.code == "timeout"
    assert "begun" in failed.value.message


def test_children_do_not_outlive_a_command_that_ends(root: Path, pipe: Pipe) -> None:
    """A command that ends by itself and leaves a child in its group is a success, and the child is killed."""
    source = STUBBORN + "assert os.read(os.open(sys.argv[2], os.O_RDONLY), 1)"
    go = root / "go"
    os.mkfifo(go)
    door = os.open(go, os.O_RDWR)

    def clock() -> float:
        if pipe.is_alive():
            os.write(door, b"!")
        return 0.0

    finished = run(source, pipe.path, str(go), folder=root, clock=clock)
    os.close(door)
    assert pipe.wait_for_the_end() == b""
    assert finished == Finished(0, "begun\n", 6, truncated=False, left_running=False)


def test_an_interrupt_ends_the_whole_group(root: Path, pipe: Pipe) -> None:
    """Ctrl-C while a command runs leaves nothing of it behind."""

    def clock() -> float:
        if pipe.is_alive():
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        run(STUBBORN + "signal.pause()", pipe.path, folder=root, clock=clock)
    assert pipe.wait_for_the_end() == b""


def test_a_command_may_close_its_output_and_work_on(root: Path) -> None:
    """The end of the output is not the end of the command."""
    source = "import os, sys; os.close(1); os.close(2); os._exit(os.stat(sys.argv[1]).st_size)"
    (root / "size").write_text("12345")
    assert run(source, str(root / "size"), folder=root).exit_code == 5


def test_a_silent_command_meets_the_limit_too(root: Path, pipe: Pipe) -> None:
    """A command that closed its output and hangs is killed at the limit."""
    source = (
        "import os, signal, sys; word = os.open(sys.argv[1], os.O_WRONLY)\n"
        "os.write(word, b'alive'); os.close(1); os.close(2); signal.pause()"
    )
    # The limit is ten seconds away, and then always a tenth of a second: time to see that its output ended.
    times = itertools.chain([0.0], itertools.repeat(9.9))
    with pytest.raises(Failed) as failed:
        run(source, pipe.path, folder=root, clock=lambda: next(times))
    assert pipe.wait_for_the_end() == b"alive"
    assert failed.value.code == "timeout"


# A child that leaves the process group and keeps the output open, until its leash ends.
ESCAPED = """
import os, signal, sys
leash = os.open(sys.argv[2], os.O_RDONLY)
here, there = os.pipe()
if os.fork() == 0:
    os.setsid()
    word = os.open(sys.argv[1], os.O_WRONLY)
    os.write(word, b'alive')
    os.write(there, b'!')
    os.read(leash, 1)
    os._exit(0)
os.read(here, 1)
"""


@pytest.fixture
def leash(root: Path) -> Iterator[str]:
    """A pipe whose end lets an escaped process go."""
    path = root / "leash"
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    yield str(path)
    os.close(held)


def test_an_escape_makes_the_outcome_unknown(root: Path, pipe: Pipe, leash: str) -> None:
    """When something left the group, the limit is no known end: the answer says so instead of waiting for ever."""
    with pytest.raises(OutcomeUnknown):
        run(ESCAPED + "signal.pause()", pipe.path, leash, folder=root, clock=stopped_until(pipe.is_alive))
    assert pipe.heard == b"alive"


def test_an_escape_is_told_with_the_result(root: Path, pipe: Pipe, leash: str) -> None:
    """A command that ended by itself and left something running outside the group says so in its result."""
    ticks = itertools.count()
    command = [sys.executable, "-c", ESCAPED, pipe.path, leash]
    finished = run_bounded(
        command, folder=root, environment={}, limit_seconds=NO_LIMIT, clock=lambda: float(next(ticks))
    )
    assert pipe.is_alive()
    assert (finished.exit_code, finished.left_running) == (0, True)
