"""A private redis-server in a folder of its own, on a socket there: no port, no clash."""

import ctypes
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import redis

_PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """Begins in the constructor, ends in `stop` or when the test's process ends, however that happens."""

    def __init__(self, *options, program=("redis-server",)):
        self.folder = tempfile.mkdtemp(prefix="holdfast-redis-")
        self.socket = self.folder + "/redis.sock"
        self._process = subprocess.Popen(
            [*program, "--port", "0", "--unixsocket", self.socket, "--dir", self.folder, "--save", "",
             "--appendonly", "no", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_parent)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _wait(self):
        give_up = time.monotonic() + 20
        while not self._answers():
            if time.monotonic() > give_up or self._process.poll() is not None:
                raise RuntimeError("redis-server does not begin")
            time.sleep(0.01)

    def _answers(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self.socket) == 0

    def connect(self):
        return redis.Redis(unix_socket_path=self.socket)

    def pause(self):
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)

    def wait(self):
        """For a server that was told to end."""
        self._process.wait(60)

    def stop(self):
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
