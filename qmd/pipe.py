"""Named pipes of Windows between processes of one user: identity, and the client's end.

Only imported on Windows. `surfaces/forwarded/pipes.py` is the server's end.

Any process may make a pipe of any name, and a server may act as the user of its client. So the
client asks for the owner and the label of the pipe, which are the user and the integrity level of
the process that made it, or lower, and lets the server see nothing of its own identity.

Source: Microsoft, Windows API reference: aclapi.h, sddl.h, securitybaseapi.h, namedpipeapi.h.
"""

import sys

assert sys.platform == "win32"

import _winapi
import ctypes
from ctypes import wintypes

_advapi = ctypes.WinDLL("advapi32", use_last_error=True)
_kernel = ctypes.WinDLL("kernel32", use_last_error=True)

_READ_WRITE = _winapi.GENERIC_READ | _winapi.GENERIC_WRITE
_NOT_IMPERSONATED = 0x00100000
"""SECURITY_SQOS_PRESENT with SECURITY_ANONYMOUS: a server learns nothing of its client."""

_KERNEL_OBJECT, _OWNER_AND_LABEL = 6, 0x11
_TOKEN_QUERY, _TOKEN_USER, _TOKEN_INTEGRITY = 8, 1, 25

_OF_TEXT = "ConvertStringSecurityDescriptorToSecurityDescriptorW"
_TO_TEXT = "ConvertSecurityDescriptorToStringSecurityDescriptorW"

BUSY_MILLISECONDS = 200
"""Time in which a server has to make room for one more client."""


def _declare() -> None:
    """Declare results and arguments: a handle has 64 bits, and ctypes assumes 32."""
    handle, dword, pointer = wintypes.HANDLE, wintypes.DWORD, ctypes.c_void_p
    five = (pointer,) * 5
    text = wintypes.LPCWSTR
    for library, name, result, *arguments in (
        (_kernel, "LocalFree", pointer, pointer),
        (_kernel, "CloseHandle", wintypes.BOOL, handle),
        (_advapi, "OpenProcessToken", wintypes.BOOL, handle, dword, pointer),
        (_advapi, "GetTokenInformation", wintypes.BOOL, handle, dword, pointer, dword, pointer),
        (_advapi, "ConvertSidToStringSidW", wintypes.BOOL, pointer, pointer),
        (_advapi, "GetSecurityInfo", dword, handle, dword, dword, *five),
        (_advapi, _OF_TEXT, wintypes.BOOL, text, dword, pointer, pointer),
        (_advapi, _TO_TEXT, wintypes.BOOL, pointer, dword, dword, pointer, pointer),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


_declare()
_descriptor_of_text, _text_of_descriptor = getattr(_advapi, _OF_TEXT), getattr(_advapi, _TO_TEXT)


def checked(done: int) -> None:
    """Raise the error of the last call of Windows if that failed.

    Raises:
        OSError: it failed.
    """
    if not done:
        raise ctypes.WinError(ctypes.get_last_error())


# -- users -------------------------------------------------------------------------------


def user() -> str:
    """Return the security identifier of the user of this process, as text."""
    return _of_token(_TOKEN_USER)


def _of_token(kind: int) -> str:
    token, size = wintypes.HANDLE(), wintypes.DWORD()
    facts = (ctypes.c_void_p * 32)()  # begins with a pointer to the identifier behind it
    checked(
        _advapi.OpenProcessToken(_winapi.GetCurrentProcess(), _TOKEN_QUERY, ctypes.byref(token))
    )
    try:
        checked(
            _advapi.GetTokenInformation(
                token, kind, facts, ctypes.sizeof(facts), ctypes.byref(size)
            )
        )
    finally:
        _kernel.CloseHandle(token)
    return _text(facts[0])


def own_descriptor() -> ctypes.c_void_p:
    """Make the security descriptor of the pipes of this process, which `free` releases.

    It names the user as the owner, lets the user alone open a pipe, and keeps processes of a lower
    integrity level from writing to it.
    """
    me, made = user(), ctypes.c_void_p()
    rights = f"O:{me}D:P(A;;GA;;;{me})S:(ML;;NW;;;{_of_token(_TOKEN_INTEGRITY)})"
    checked(_descriptor_of_text(rights, 1, ctypes.byref(made), None))
    return made


def free(memory: ctypes.c_void_p | wintypes.LPWSTR) -> None:
    """Release what Windows has allocated."""
    _kernel.LocalFree(memory)


def _is_own(handle: int) -> bool:
    """Return whether a pipe has the owner and the label of pipes of this process.

    Raises:
        OSError: the system does not tell.
    """
    wanted, found = own_descriptor(), ctypes.c_void_p()
    try:
        error = _advapi.GetSecurityInfo(
            handle, _KERNEL_OBJECT, _OWNER_AND_LABEL, *[None] * 4, ctypes.byref(found)
        )
        if error:
            raise ctypes.WinError(error)
        return _described(found) == _described(wanted)
    finally:
        free(found)
        free(wanted)


def _described(descriptor: ctypes.c_void_p) -> str:
    """Return the owner and the label of a security descriptor, as text."""
    text = wintypes.LPWSTR()
    checked(_text_of_descriptor(descriptor, 1, _OWNER_AND_LABEL, ctypes.byref(text), None))
    try:
        return str(text.value)
    finally:
        free(text)


def _text(identifier: int | None) -> str:
    text = wintypes.LPWSTR()
    checked(_advapi.ConvertSidToStringSidW(identifier, ctypes.byref(text)))
    try:
        return str(text.value)
    finally:
        free(text)


# -- the client --------------------------------------------------------------------------


class Pipe:
    """Connection to a server, with the methods of a socket that the front calls."""

    def __init__(self, handle: int, seconds: float) -> None:
        self._handle = handle
        self._seconds = seconds

    def settimeout(self, seconds: float, /) -> None:
        """Set the seconds after which sending and receiving fail."""
        self._seconds = seconds

    def sendall(self, data: bytes, /) -> None:
        """Send bytes.

        Raises:
            OSError: the server has ended, or did not read them in time.
        """
        self._done(_winapi.WriteFile(self._handle, data, overlapped=True)[0])

    def recv(self, size: int, /) -> bytes:
        """Receive some bytes, at least one.

        Raises:
            OSError: the server has ended, or sent nothing in time.
        """
        operation = _winapi.ReadFile(self._handle, size, overlapped=True)[0]
        self._done(operation)
        return bytes(operation.getbuffer() or b"")

    def close(self) -> None:
        """End the connection."""
        _winapi.CloseHandle(self._handle)

    def _done(self, operation: _winapi.Overlapped) -> None:
        """Wait for the end of an operation, or cancel it."""
        try:  # of the ways to wait, Ctrl-C interrupts this one
            _winapi.WaitForMultipleObjects([operation.event], False, int(self._seconds * 1000))
        finally:
            operation.cancel()  # changes nothing if it is done
            _, error = operation.GetOverlappedResult(True)
        if error:
            raise TimeoutError


def connected(path: str, seconds: float) -> Pipe | None:
    """Connect to a server of this user; None if there is none, or too many wait for it.

    Args:
        path: of the pipe.
        seconds: that sending and receiving may take.
    """
    try:
        handle = _opened(path)
    except OSError:
        return None
    try:
        if _is_own(handle):
            return Pipe(handle, seconds)
    except OSError:
        pass
    _winapi.CloseHandle(handle)
    return None


def _opened(path: str) -> int:
    """Open the client's end of a pipe.

    Raises:
        OSError: there is no server, it belongs to another user, or it has no room.
    """
    flags = _winapi.FILE_FLAG_OVERLAPPED | _NOT_IMPERSONATED
    try:
        return _winapi.CreateFile(path, _READ_WRITE, 0, 0, _winapi.OPEN_EXISTING, flags, 0)
    except OSError as error:
        if error.winerror != _winapi.ERROR_PIPE_BUSY:
            raise
    _winapi.WaitNamedPipe(path, BUSY_MILLISECONDS)
    return _winapi.CreateFile(path, _READ_WRITE, 0, 0, _winapi.OPEN_EXISTING, flags, 0)
