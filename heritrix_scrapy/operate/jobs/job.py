"""What has become of one job, and what can be done with it? As Heritrix's CrawlJob (spec/output 11.2).

A job is unbuilt, built, launched, over; the crawl itself is another process, and what is known of it comes from its
socket and its ``state.json``, so that an engine that is started anew knows as much. Everything here blocks: whoever
serves many calls it in a thread. Times and counts of the crawl come from the crawl.
"""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from heritrix_scrapy.model.errors import ConfigurationError, StoreError
from heritrix_scrapy.operate import checkpoints, record
from heritrix_scrapy.operate.control import ControlError, NotRunning, ask
from heritrix_scrapy.operate.joblog import JobLog
from heritrix_scrapy.operate.jobs import launching
from heritrix_scrapy.operate.jobs.attendant import Attendant
from heritrix_scrapy.operate.jobs.building import Built, NotBuilt, build, checked, project_settings
from heritrix_scrapy.operate.jobs.folder import jobdir_of
from heritrix_scrapy.operate.life import ACTIVE, End, State
from heritrix_scrapy.operate.numbers import log, newest
from heritrix_scrapy.operate.reach import Job as Reached
from heritrix_scrapy.operate.standing import of_stopped

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

    from heritrix_scrapy.operate.jobs.folder import Place
    from heritrix_scrapy.operate.jobs.remarks import Remark

#: Seconds that a teardown waits for the end of the crawl (Heritrix: CrawlJob.teardown).
TEARDOWN: Final = 3.3

#: Seconds that an answer which is being made is waited for at the engine's end.
CLOSE: Final = 3.0

UNBUILT: Final = "Unbuilt"
READY: Final = "Ready"


class JobError(Exception):
    """Something cannot be done in the state that the job is in. ``text``: why."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a job stands. ``state``: of the crawl's controller, None of a job that is not built; ``status``: in
    Heritrix's words; ``running``: a process crawls; ``told``: the crawl's own answer to ``status``, when it gave one;
    ``launches``, ``last_launch_ms``: how often, and when, 0 for never."""

    state: str | None
    end: str | None
    status: str
    built: bool
    valid: bool
    launched: bool
    running: bool
    told: Mapping[str, Any] | None
    record: record.Record
    reasons: tuple[str, ...] = ()

    @property
    def actions(self) -> tuple[str, ...]:
        """What can be done, in the order of Heritrix's buttons; ``launch`` of a profile is not among it."""
        if not self.built:
            return ("build", "launch")
        if not self.running:
            return ("launch", "teardown") if self.valid and not self.launched else ("teardown",)
        first = {"RUNNING": ("pause",), "EMPTY": ("pause",), "PAUSING": ("unpause",), "PAUSED": ("unpause",)}
        return (*first.get(str(self.state), ()), "checkpoint", "terminate", "teardown")


class EngineJob:
    """One job of the engine. ``more``: settings of every crawl that the engine launches."""

    def __init__(self, place: Place, more: Mapping[str, str] | None = None) -> None:
        self.place = place
        self._more = dict(more or {})
        self._lock = threading.RLock()
        self._built: Built | None = None
        self._launched = False
        self._process: subprocess.Popen[bytes] | None = None
        #: Whether its folder lies in the jobs folder.
        self.inside = True
        #: The checkpoint that the launch began with.
        self.checkpoint = ""
        self._going = False
        self._attendant = Attendant(self._more)
        #: A stopped job is opened by one at a time.
        self._alone = threading.Lock()
        self._unfit = ""
        #: What the last build had to say.
        self.remarks: list[Remark] = []
        #: What went wrong since the last deed began, in the words of the job's log.
        self.complaints: list[str] = []
        #: What a running crawl has answered last.
        self._last: Mapping[str, Any] = {}
        self._numbers: tuple[Any, Mapping[str, Any]] | None = None
        self._adopt()

    @property
    def name(self) -> str:
        return self.place.name

    @property
    def jobdir(self) -> Path:
        return jobdir_of(self.place)

    @property
    def built(self) -> Built | None:
        """What it was built to, if it is; that of a crawl which another engine has launched is made when asked for."""
        with self._lock:
            if self._built is None and self._launched:
                try:
                    self._built = build(self.place, self._more)
                except NotBuilt as error:
                    self._built = Built(self.place, error.remarks)
            return self._built

    def note(self, text: str, level: str = "INFO") -> None:
        """Add a line to the job's log."""
        if level != "INFO":
            self.complaints = [*self.complaints[-19:], text]
        JobLog(self.jobdir).write(int(time.time() * 1000), text, level)

    def _adopt(self) -> None:
        """Take up what an earlier engine, or somebody at a shell, has launched here."""
        told = record.stands(self.jobdir)
        if told.launches and not told.torn_down and told.state != State.NASCENT.value:
            self._launched = True
            self.checkpoint = told.checkpoint

    # -- looking -------------------------------------------------------------------------------------------------

    def standing(self, *, ask_it: bool = True) -> Standing:
        """How it stands now. ``ask_it``: ask a running crawl for its numbers too."""
        with self._lock:
            self._reap()
            told = record.stands(self.jobdir)
            if not self._launched and not self._built and self._is_on(told):
                # started at a shell meanwhile
                self._adopt()
            if not self._launched:
                return self._not_launched(told)
        running = self._is_on(told)
        answer: Mapping[str, Any] | None = None
        if running and ask_it:
            answer = self._asked()
            if answer is not None:
                self._last = answer
            elif self._is_on(told):
                # it is about to end, or has its hands full: what it said last, in the state that it was found in
                answer = {**self._last, "state": told.state}
            else:
                told = record.stands(self.jobdir)
                running = self._is_on(told)
        state = str((answer or {}).get("state") or told.state)
        if not running and self._going:
            self.discard()
            return self.standing(ask_it=ask_it)
        if running and state == State.FINISHED.value:
            # its process has not ended yet: until then nothing else may begin on the job
            state, answer = State.STOPPING.value, {**self._last, "state": State.STOPPING.value}
        if running:
            return Standing(state, None, f"Active: {state}", True, True, True, True, answer, told)
        end = self._unfit or told.end
        return Standing(State.FINISHED.value, end, f"Finished: {end}", True, True, True, False, None, told)

    def _not_launched(self, told: record.Record) -> Standing:
        built = self._built
        if built is None:
            return Standing(None, None, UNBUILT, False, False, False, False, None, told)
        status = READY if built.valid else f"Finished: {End.CREATED.name}"
        reasons = tuple(built.invalid)
        return Standing(State.NASCENT.value, None, status, True, built.valid, False, False, None, told, reasons)

    def _is_on(self, told: record.Record) -> bool:
        if self._process is not None and self._process.poll() is None:
            return True
        return State(told.state) in ACTIVE

    def _asked(self) -> Mapping[str, Any] | None:
        try:
            return ask(self.jobdir, {"do": "status"}, timeout=20)
        except ControlError:
            return None

    def _reap(self) -> None:
        process = self._process
        if process is not None and process.poll() is not None:
            self._process = None
            told = record.read(self.jobdir)
            if told.pid != process.pid and self._launched:
                # it never came to be a crawl
                self._unfit = End.MISCONFIGURED.name
                for line in launching.last_words(self.jobdir):
                    self.note(line, "SEVERE")

    def numbers(self, standing: Standing) -> Mapping[str, Any]:
        """The entries of ``numbers.model``: of a running crawl what it says, of one that is over what its store holds;
        nothing of a job that is not launched."""
        if standing.running:
            return (standing.told or {}).get("job") or {}
        if not standing.launched:
            return {}
        mark = (standing.record.launch, standing.record.ended_ms, len(self.checkpoints()))
        with self._lock:
            if self._numbers is None or self._numbers[0] != mark:
                try:
                    self._numbers = (mark, of_stopped(self.jobdir, self.name)["job"])
                except (ControlError, StoreError, ConfigurationError, OSError):
                    return {}
            return {**self._numbers[1], "crawlLogTail": newest(log(self.jobdir, "crawl.log"), 10)}

    def checkpoints(self) -> list[str]:
        """Names of those that a launch can begin with, the newest first."""
        return [each.name for each in reversed(checkpoints.listed(self.jobdir))]

    # -- doing ---------------------------------------------------------------------------------------------------

    def build(self) -> bool:
        """Assemble it, unless it is; whether it is then. Why not stands in the job's log."""
        with self._lock:
            if self._built is not None or self._launched:
                return True
            try:
                self._built = build(self.place, self._more)
            except NotBuilt as error:
                self.remarks = error.remarks
                self._refused(error.reasons)
                return False
            self.remarks = self._built.remarks
            self.note("Job instantiated")
            for text in self._built.warnings:
                self.note(text, "WARNING")
            self.validate()
            return True

    def rebuild(self) -> bool:
        """Assemble it anew as its files are now, unless it is launched; whether it may be launched then."""
        with self._lock:
            if self._built is not None and not self._launched:
                self.discard()
            return self.build() and self._built is not None and self._built.valid

    def check(self, text: str) -> list[Remark]:
        """What a build would say, were this text the settings file's."""
        return checked(self.place, text, self._more)

    def validate(self) -> bool:
        """Whether it may be launched; why not stands in the job's log."""
        with self._lock:
            if not self._launched and not self.build_again():
                return False
            for text in self._built.invalid if self._built else ():
                self.note(text, "WARNING")
            return self._built is None or self._built.valid

    def build_again(self) -> bool:
        """Assemble it when it is not."""
        return self._built is not None or self.build()

    def _refused(self, reasons: list[str]) -> None:
        for reason in reasons:
            self.note(reason, "SEVERE")

    def launch(self, checkpoint: str = "", *, resume: bool = False, wait: float = launching.READY) -> bool:
        """Start the crawl, built first where it is not; whether it has come to life.

        A launch begins a new crawl, as Heritrix's does, but for one whose process was killed or that ``resume`` asks
        for: such a crawl goes on with what it has. Raises JobError for a profile, and for a checkpoint that is not
        there."""
        with self._lock:
            if self.place.is_profile:
                raise JobError(f"{self.name} is a profile: copy it to a job, and launch that")
            standing = self.standing(ask_it=False)
            if checkpoint and not standing.built:
                raise JobError("the job is not built: build it, then launch it from a checkpoint")
            if standing.running:
                self.note("Can't relaunch running job", "SEVERE")
                return False
            if standing.launched:
                self.note("Can't relaunch previously-launched assembled job", "SEVERE")
                return False
            settings: dict[str, Any] = dict(self._more)
            if checkpoint:
                try:
                    chosen = checkpoints.chosen(checkpoint, self.jobdir)
                except checkpoints.CheckpointError as error:
                    raise JobError(str(error)) from None
                settings[checkpoints.SETTING] = chosen.name
            if not self.build() or self._built is None or not self._built.valid:
                self.note("Can't launch problem configuration", "SEVERE")
                return False
            told = record.stands(self.jobdir)
            killed = told.end == End.FINISHED_ABNORMAL.name and not told.ended_ms
            if not checkpoint:
                settings["HERITRIX_NEW_CRAWL"] = not (resume or killed)
            if self._built.pauses is not None:
                settings["HERITRIX_PAUSE_AT_START"] = self._built.pauses
            self._unfit, self._going, self._last = "", False, {}
            self.checkpoint = settings.get(checkpoints.SETTING, "")
            try:
                self._process = launching.start(self.place, self.jobdir, settings)
            except OSError as error:
                self.note(f"Can't launch: {error}", "SEVERE")
                return False
            self._launched = True
            process = self._process
        alive = launching.wait(process, self.jobdir, wait)
        if alive:
            self._keep_file()
        else:
            self._reap()
        return alive

    def _keep_file(self) -> None:
        """Put a copy of the job file into the launch's folder, as Heritrix does."""
        latest = self.jobdir / "latest"
        if latest.is_symlink() and not self.place.is_project:
            try:
                shutil.copy2(self.place.config, latest / self.place.config.name)
            except OSError as error:
                self.note(f"no copy of the job file in {latest.resolve().name}: {error}", "WARNING")

    def perform(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Have something done to the job's crawl, running or stopped: see ``reach.Job.perform``.

        Raises ControlError, Refused, ConfigurationError, StorageFull."""
        with self._alone:
            if self.place.is_project:
                # its code is not run in here
                return self._attendant.perform(self.place, self.jobdir, request)
            with Reached(self.jobdir, project_settings(self.place, self._more)) as reached:
                return reached.perform(request)

    def steer(self, verb: str, **given: Any) -> dict[str, Any]:
        """One request to the running crawl. Raises ControlError."""
        return ask(self.jobdir, {"do": verb, **given}, timeout=600)

    def terminate(self) -> None:
        """End a running crawl; nothing happens to any other. Raises JobError of one that is built and not launched."""
        standing = self.standing(ask_it=False)
        if standing.built and not standing.launched:
            raise JobError("the job is not launched")
        if standing.running:
            try:
                self.steer("terminate")
            except NotRunning:
                """It has just ended by itself."""

    def teardown(self, seconds: float = TEARDOWN) -> bool:
        """Put away what was built, after the end of the crawl; whether it is away now. Else it will be, by itself."""
        standing = self.standing(ask_it=False)
        if not standing.built:
            return True
        if standing.running:
            with self._lock:
                self._going = True
            if standing.state != State.STOPPING.value:
                try:
                    self.steer("terminate")
                except ControlError as error:
                    self.note(f"it does not answer: {error}", "WARNING")
            end = time.monotonic() + seconds
            while self.standing(ask_it=False).running:
                if time.monotonic() > end:
                    return False
                time.sleep(0.05)
        self.discard()
        return True

    def close(self, seconds: float = CLOSE) -> None:
        """Let go of what runs for the engine's sake only; crawls go on. ``seconds``: that an answer is waited for."""
        if not self._alone.acquire(timeout=seconds):
            self._attendant.abandon()
            self._alone.acquire()
        try:
            self._attendant.close()
        finally:
            self._alone.release()

    def discard(self) -> None:
        """Forget what was built; the job's files stay."""
        with self._lock:
            if self._built is None and not self._launched:
                return
            was_launched = self._launched
            self._built, self._launched, self._going, self._unfit, self.checkpoint = None, False, False, "", ""
            told = record.stands(self.jobdir)
            if was_launched and told.launches and not told.torn_down:
                told.torn_down = True
                try:
                    record.write(self.jobdir, told)
                except OSError as error:
                    self.note(f"the state cannot be written down: {error}", "WARNING")
            self.note("Job instance discarded")
