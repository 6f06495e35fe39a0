"""System calls of Windows: open, lock and map files, watch and end processes.

Only imported on Windows. `safe_open`, `processes` and `workers` call it where POSIX has calls that
Windows lacks, so that the rest of the code knows one interface.

Source: Microsoft, Windows API reference: fileapi.h, processthreadsapi.h, jobapi2.h, psapi.h,
namedpipeapi.h, consoleapi.h.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import ctypes
import io
import msvcrt
import os
from ctypes import wintypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)

_GENERIC_READ, _GENERIC_WRITE = 0x80000000, 0x40000000
_FILE_LIST_DIRECTORY, _FILE_ADD_FILE = 1, 2
_SHARE_READ, _SHARE_WRITE, _SHARE_DELETE = 1, 2, 4
_CREATE_NEW, _OPEN_EXISTING, _OPEN_ALWAYS = 1, 3, 4
_BACKUP_SEMANTICS, _OPEN_REPARSE_POINT = 0x02000000, 0x00200000
_INVALID_HANDLE = ctypes.c_void_p(-1).value

_LOCK_FAIL_IMMEDIATELY, _LOCK_EXCLUSIVE = 1, 2
_LOCKED_AT_HIGH = 0x40000000
"""Upper half of the offset of the byte that is locked, far behind the content: unlike flock(2), a
lock of Windows keeps others from reading the bytes that it covers."""

_SHARING_VIOLATION, _LOCK_VIOLATION = 32, 33

_QUERY_LIMITED = 0x1000
_STILL_ACTIVE = 259

_JOB_KILL_ON_CLOSE = 0x2000
_KILLED = 0x716D64
"""Exit code of a process that was ended here."""
_EXTENDED_LIMITS = 9

_VIRTUAL_TERMINAL = 0x0004


class _Overlapped(ctypes.Structure):
    _fields_ = (
        ("internal", ctypes.c_void_p),
        ("internal_high", ctypes.c_void_p),
        ("offset", wintypes.DWORD),
        ("offset_high", wintypes.DWORD),
        ("event", wintypes.HANDLE),
    )


class _MemoryCounters(ctypes.Structure):
    _fields_ = (
        ("cb", wintypes.DWORD),
        ("page_faults", wintypes.DWORD),
        ("peak_working_set", ctypes.c_size_t),
        ("working_set", ctypes.c_size_t),
        ("quota_peak_paged", ctypes.c_size_t),
        ("quota_paged", ctypes.c_size_t),
        ("quota_peak_nonpaged", ctypes.c_size_t),
        ("quota_nonpaged", ctypes.c_size_t),
        ("pagefile", ctypes.c_size_t),
        ("peak_pagefile", ctypes.c_size_t),
    )


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", wintypes.LARGE_INTEGER),
        ("job_time", wintypes.LARGE_INTEGER),
        ("flags", wintypes.DWORD),
        ("least_working_set", ctypes.c_size_t),
        ("most_working_set", ctypes.c_size_t),
        ("most_processes", wintypes.DWORD),
        ("affinity", ctypes.c_size_t),
        ("priority", wintypes.DWORD),
        ("scheduling", wintypes.DWORD),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("io", ctypes.c_ulonglong * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


def _declare() -> None:
    """Declare results and arguments: a handle has 64 bits, and ctypes assumes 32."""
    handle, dword, pointer = wintypes.HANDLE, wintypes.DWORD, ctypes.c_void_p
    for name, result, *arguments in (
        ("CreateFileW", handle, wintypes.LPCWSTR, dword, dword, pointer, dword, dword, handle),
        ("CloseHandle", wintypes.BOOL, handle),
        ("LockFileEx", wintypes.BOOL, handle, dword, dword, dword, dword, pointer),
        ("UnlockFileEx", wintypes.BOOL, handle, dword, dword, dword, pointer),
        ("OpenProcess", handle, dword, wintypes.BOOL, dword),
        ("GetExitCodeProcess", wintypes.BOOL, handle, pointer),
        ("GetProcessTimes", wintypes.BOOL, handle, pointer, pointer, pointer, pointer),
        ("QueryFullProcessImageNameW", wintypes.BOOL, handle, dword, wintypes.LPWSTR, pointer),
        ("K32GetProcessMemoryInfo", wintypes.BOOL, handle, pointer, dword),
        ("PeekNamedPipe", wintypes.BOOL, handle, pointer, dword, pointer, pointer, pointer),
        ("CreateJobObjectW", handle, pointer, wintypes.LPCWSTR),
        ("SetInformationJobObject", wintypes.BOOL, handle, ctypes.c_int, pointer, dword),
        ("AssignProcessToJobObject", wintypes.BOOL, handle, handle),
        ("TerminateJobObject", wintypes.BOOL, handle, wintypes.UINT),
        ("GetStdHandle", handle, dword),
        ("GetConsoleMode", wintypes.BOOL, handle, pointer),
        ("SetConsoleMode", wintypes.BOOL, handle, dword),
    ):
        function = getattr(_kernel, name)
        function.restype, function.argtypes = result, arguments


_declare()


def _failure(path: Path | str | None = None) -> OSError:
    """Build the error for the last call that failed."""
    code = ctypes.get_last_error()
    return OSError(0, ctypes.FormatError(code).strip(), path and str(path), code)


# -- files -----------------------------------------------------------------------------


def open_file(path: Path | str, flags: int) -> int:
    """Open a file so that others may rename or remove it meanwhile, as on POSIX.

    Args:
        flags: of `os.open`.

    Returns:
        A descriptor in binary mode that child processes do not inherit.

    Raises:
        OSError: it cannot be opened.
    """
    write = flags & (os.O_WRONLY | os.O_RDWR)
    access = (0 if flags & os.O_WRONLY else _GENERIC_READ) | (_GENERIC_WRITE if write else 0)
    how = _OPEN_EXISTING
    if flags & os.O_CREAT:
        how = _CREATE_NEW if flags & os.O_EXCL else _OPEN_ALWAYS
    shared = _SHARE_READ | _SHARE_WRITE | _SHARE_DELETE
    handle = _kernel.CreateFileW(str(path), access, shared, None, how, _OPEN_REPARSE_POINT, None)
    if handle == _INVALID_HANDLE:
        raise _failure(path)
    kept = flags & os.O_APPEND
    descriptor = msvcrt.open_osfhandle(handle, kept | os.O_BINARY | os.O_NOINHERIT)
    if flags & os.O_TRUNC:
        os.ftruncate(descriptor, 0)
    return descriptor


def lock_file(descriptor: int, *, shared: bool) -> bool:
    """Lock an open file, and return whether that succeeded at once."""
    kind = _LOCK_FAIL_IMMEDIATELY | (0 if shared else _LOCK_EXCLUSIVE)
    place = _Overlapped(offset_high=_LOCKED_AT_HIGH)
    handle = msvcrt.get_osfhandle(descriptor)
    if _kernel.LockFileEx(handle, kind, 0, 1, 0, ctypes.byref(place)):
        return True
    if ctypes.get_last_error() == _LOCK_VIOLATION:
        return False
    raise _failure()


def unlock_file(descriptor: int) -> None:
    """Release the lock of an open file: after a mere close, it may stay for a moment."""
    place = _Overlapped(offset_high=_LOCKED_AT_HIGH)
    _kernel.UnlockFileEx(msvcrt.get_osfhandle(descriptor), 0, 1, 0, ctypes.byref(place))


def hold_folder(path: Path | str, *, shared: bool) -> int | None:
    """Open a folder so that no other process holds it alone.

    Folders have no locks; their share modes do the same. A process that holds a folder alone has
    it open for writing, which no holder shares. Files in it can be made and removed meanwhile, and
    the folder itself renamed or removed.

    Returns:
        A descriptor; None: another process holds it.

    Raises:
        OSError: it cannot be opened.
    """
    access = _FILE_LIST_DIRECTORY if shared else _FILE_ADD_FILE
    handle = _kernel.CreateFileW(
        str(path),
        access,
        _SHARE_READ | _SHARE_DELETE,
        None,
        _OPEN_EXISTING,
        _BACKUP_SEMANTICS | _OPEN_REPARSE_POINT,
        None,
    )
    if handle == _INVALID_HANDLE:
        if ctypes.get_last_error() == _SHARING_VIOLATION:
            return None
        raise _failure(path)
    return msvcrt.open_osfhandle(handle, os.O_NOINHERIT)


def keep_folder(path: Path | str) -> int:
    """Open a folder, which may be a link, so that it is neither renamed nor removed meanwhile.

    Raises:
        OSError: it cannot be opened.
    """
    handle = _kernel.CreateFileW(
        str(path),
        _FILE_LIST_DIRECTORY,
        _SHARE_READ | _SHARE_WRITE,
        None,
        _OPEN_EXISTING,
        _BACKUP_SEMANTICS | _OPEN_REPARSE_POINT,
        None,
    )
    if handle == _INVALID_HANDLE:
        raise _failure(path)
    return msvcrt.open_osfhandle(handle, os.O_NOINHERIT)


# -- processes -------------------------------------------------------------------------


def process_began(process: int) -> str | None:
    """Return the start of a process in ticks of the system; None if it has ended.

    Raises:
        PermissionError: it is of another user.
    """
    handle = _kernel.OpenProcess(_QUERY_LIMITED, False, process)
    if not handle:
        error = _failure()
        if isinstance(error, PermissionError):
            raise error
        return None
    try:
        code, times = wintypes.DWORD(), (wintypes.FILETIME * 4)()
        _kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        if code.value != _STILL_ACTIVE:
            return None
        at = [ctypes.byref(times, number * ctypes.sizeof(wintypes.FILETIME)) for number in range(4)]
        if not _kernel.GetProcessTimes(handle, *at):
            raise _failure()
        return str(times[0].dwHighDateTime << 32 | times[0].dwLowDateTime)
    finally:
        _kernel.CloseHandle(handle)


def program_of(process: int) -> str | None:
    """Return the path of the program that a process runs; None if the system hides it."""
    handle = _kernel.OpenProcess(_QUERY_LIMITED, False, process)
    if not handle:
        return None
    try:
        size = wintypes.DWORD(1 << 15)
        text = ctypes.create_unicode_buffer(size.value)
        done = _kernel.QueryFullProcessImageNameW(handle, 0, text, ctypes.byref(size))
        return text.value if done else None
    finally:
        _kernel.CloseHandle(handle)


class JobProcess:
    """Python process whose children end with it, and which ends with this process.

    Args:
        arguments: command line.
        requests: descriptor that becomes its stdin.
        answers: descriptor that becomes its stdout.

    A job object holds the process and all that it starts. The job is closed, and so ended, by
    `end`, or by the system when this process ends in whatever way.
    """

    def __init__(self, arguments: list[str], requests: int, answers: int) -> None:
        self._job = _kernel.CreateJobObjectW(None, None)
        if not self._job:
            raise _failure()
        limits = _ExtendedLimits()
        limits.basic.flags = _JOB_KILL_ON_CLOSE
        size = ctypes.sizeof(limits)
        if not _kernel.SetInformationJobObject(
            self._job, _EXTENDED_LIMITS, ctypes.byref(limits), size
        ):
            raise _failure()
        import subprocess  # later, as the front of the command line loads this module

        self._popen = subprocess.Popen(
            arguments,
            stdin=requests,
            stdout=answers,
            stderr=subprocess.DEVNULL,
            creationflags=subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP,
        )
        self._handle = int(self._popen._handle)  # type: ignore[attr-defined]  # of its own
        _kernel.AssignProcessToJobObject(self._job, self._handle)
        self.pid = self._popen.pid

    def resident(self) -> int | None:
        """Return the bytes that it has in memory; None if the system does not tell."""
        found = _MemoryCounters(cb=ctypes.sizeof(_MemoryCounters))
        if not _kernel.K32GetProcessMemoryInfo(self._handle, ctypes.byref(found), found.cb):
            return None
        return int(found.working_set)

    def kill(self, *, group: bool) -> None:
        """End it, with all that it has started, from any thread."""
        _kernel.TerminateJobObject(self._job, _KILLED)

    def end(self, *, group: bool) -> int | None:
        """End it, and release the job.

        Returns:
            Its exit code; None: it had ended by itself, or was ended here.
        """
        self.kill(group=group)
        self._popen.kill()  # it may not have been in the job yet
        code = self._popen.wait()
        _kernel.CloseHandle(self._job)
        return None if code in (0, 1, _KILLED) else code


def is_readable(descriptor: int) -> bool:
    """Return whether a pipe has bytes to read, or is closed at its other end."""
    waiting = wintypes.DWORD()
    handle = msvcrt.get_osfhandle(descriptor)
    if not _kernel.PeekNamedPipe(handle, None, 0, None, ctypes.byref(waiting), None):
        return True  # reading tells the end, or the error
    return bool(waiting.value)


# -- the terminal ----------------------------------------------------------------------


def speak_utf8() -> None:
    """Let pipes and files carry UTF-8 with line feeds, as elsewhere, and consoles show styling.

    PYTHONIOENCODING names another encoding.
    """
    is_asked = "PYTHONIOENCODING" in os.environ
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            encoding = stream.encoding if is_asked else "utf-8"
            newline = None if stream is sys.stdin else "\n"
            stream.reconfigure(encoding=encoding, newline=newline)
    for number in (-11, -12):  # STD_OUTPUT_HANDLE, STD_ERROR_HANDLE
        handle, mode = _kernel.GetStdHandle(number & 0xFFFFFFFF), wintypes.DWORD()
        if _kernel.GetConsoleMode(handle, ctypes.byref(mode)):
            _kernel.SetConsoleMode(handle, mode.value | _VIRTUAL_TERMINAL)


def read_key() -> str:
    """Wait for a key of the console, and discard those that were pressed before.

    Raises:
        KeyboardInterrupt: it was Ctrl-C.
    """
    while msvcrt.kbhit():
        msvcrt.getwch()
    key = msvcrt.getwch()
    if key == "\x03":
        raise KeyboardInterrupt
    return key


def binary(descriptor: int) -> None:
    """Let a descriptor carry bytes as they are: by default, line breaks are changed."""
    msvcrt.setmode(descriptor, os.O_BINARY)
