"""What a process asks of malloc: few heaps, however many threads there are."""

import ctypes
import subprocess
import sys

import pytest

from tests.conftest import ROOT, skip

SCRIPT = """
import ctypes, sys, tempfile, threading
from agentui.heap import share_heaps

if sys.argv[1] == "shared":
    share_heaps()
together = threading.Barrier(8)

def work():
    together.wait()
    held = [bytes(2000) for _ in range(100)]
    together.wait()

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]
with tempfile.NamedTemporaryFile() as told:
    file = libc.fopen(told.name.encode(), b"w")
    libc.malloc_info(0, file)
    libc.fclose(file)
    print(told.read().count(b"<heap nr="))
"""


def heaps(how: str) -> int:
    """How many heaps a process with eight threads has."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, how], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc's malloc has these heaps")
def test_threads_share_two_heaps() -> None:
    if not hasattr(ctypes.CDLL(None), "malloc_info"):
        skip("this C library's malloc is not glibc's")
    assert heaps("shared") == 2
    assert heaps("alone") > 2
