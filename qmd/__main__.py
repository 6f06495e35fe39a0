"""Entry point of `qmd` and `python -m qmd`.

`main` first installs the handler of Ctrl-C, before any other import: an interrupt during an import
would end in a traceback.
"""


def main() -> None:
    """Run the command line and end the process with its exit code."""
    # The module `signal` makes enumerations, which takes longer than all else here.
    import _signal  # type: ignore[import-not-found]
    import os  # which Python has loaded before

    def end(*_: object) -> None:
        try:
            os.write(2, b"Interrupted.\n")
        finally:
            os._exit(130)

    # A shell may have said that a command in the background is not to be interrupted.
    interrupts = _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler

    def begin() -> None:
        if interrupts:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    if interrupts:
        _signal.signal(_signal.SIGINT, end)
    import sys

    from qmd import forward

    begin()
    code = forward.call(sys.argv[1:])
    if code is not None:
        os._exit(code)
    if interrupts:
        _signal.signal(_signal.SIGINT, end)
    from qmd.startup import run

    run(begin)


if __name__ == "__main__":
    main()
