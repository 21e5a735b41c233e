"""The processes of a cluster: started in a folder of their own, stopped with all that they started."""

import os
import signal
import socket
import subprocess
import time

# How long a process may take to end when it is asked to.
GRACE = 10.0


class Failure(Exception):
    """The test cannot go on: says what failed."""


def free_port():
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Processes:
    """Processes that end with the `with` block, whatever happens in it, and after so many seconds."""

    def __init__(self, folder, seconds):
        self.folder = folder
        self.seconds = seconds
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Stopping ends by itself: the end of the test's time must not interrupt it.
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.stop()

    def start(self, name, command, environment=None):
        """Starts a process; what it prints goes to NAME.log."""
        log = os.path.join(self.folder, name + ".log")
        with open(log, "wb") as output:
            process = subprocess.Popen(
                # They end by themselves, too, for this test may be killed.
                ["timeout", str(self.seconds), *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={**os.environ, **(environment or {})},
                # A group of its own: what it starts is stopped with it.
                start_new_session=True,
            )
        self.running.append((name, process))

    def check(self):
        """Fails if a process has ended."""
        for name, process in self.running:
            if process.poll() is not None:
                raise Failure(f"{name} ended with code {process.returncode}:\n{self.end_of_log(name)}")

    def wait_until(self, what, is_so, deadline):
        """Asks until it is so."""
        while not is_so():
            self.check()
            if time.monotonic() > deadline:
                logs = [f"{name}:\n{self.end_of_log(name)}" for name, _ in self.running]
                raise Failure("\n".join([f"timed out: {what}"] + logs))
            time.sleep(0.2)

    def end_of_log(self, name):
        """The last lines that a process printed."""
        with open(os.path.join(self.folder, name + ".log"), errors="replace") as log:
            return "".join(log.readlines()[-15:])

    def stop(self):
        """Stops all: asked first, then killed."""
        for _, process in self.running:
            signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        for _, process in self.running:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            # Also what it left behind.
            signal_group(process, signal.SIGKILL)
            process.wait()
        self.running = []


def signal_group(process, number):
    """Sends a signal to a process and to those that it started."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def run(command, seconds):
    """Runs a command to its end; gives what it printed on standard output."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        raise Failure(f"{command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(command)}: not done after {seconds} seconds") from error
    if done.returncode:
        told = done.stderr.decode(errors="replace")
        raise Failure(f"{' '.join(command)}: exit code {done.returncode}:\n{told}")
    return done.stdout.decode()
