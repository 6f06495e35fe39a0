# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Quick test for what `text/machine_data.py` finds: most texts have nothing like it.

It looks at places that are so near to each other that no data lies between two of them.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp

cdef extern from "<string.h>" nogil:
    void* memmem(const void* text, size_t size, const void* part, size_t length)

cdef enum:  # of text/machine_data.py
    LONGEST_RUN = 128
    LINE_RUN = 40
    STRETCH = 400
    LONG_LINE = 1000

    RUNS = 1
    NUMBERS = 2
    DUMPS = 4
    MINIFIED = 8

    ENCODED = 1
    AROUND = 2  # of a line of encoded data
    LETTER = 4
    HEXADECIMAL = 8  # digit, or letter of a hexadecimal number or of its mark
    BREAK = 16
    SPACED = 32  # mark behind which a blank is no part of minified text
    NEAR = 32  # bytes between two places in a run
    AHEAD = 8  # bytes of a run behind one of these places
    APART = 128  # bytes between two places in a stretch of numbers
    PART = 64  # bytes of a part of a long line
    PARTS = 3
    FEW_BLANKS = 20
    MOST_SPACED = 2
    FOREIGN = 100
    DUMPED = 4
    FEWEST = 100  # digits of a stretch

cdef uint8_t CLASS[256]
cdef int _code
for _code in range(256):
    CLASS[_code] = 0
    if _code >= 128 or _code == 95:
        CLASS[_code] |= BREAK
    if _code < 128:
        if chr(_code).isalnum() or chr(_code) in "+/=_%\\-":
            CLASS[_code] |= ENCODED
        if chr(_code) in " \t>\"'*#,;)\r":
            CLASS[_code] |= AROUND
        if chr(_code) in ",;:{}()=|>]":
            CLASS[_code] |= SPACED
        if chr(_code).isalpha():
            CLASS[_code] |= LETTER
        if chr(_code) in "0123456789abcdefABCDEFxXuU":
            CLASS[_code] |= HEXADECIMAL

ctypedef const uint8_t* Text


def kinds_of_data(bytes data not None):
    """Tell which kinds of data a text may have; it has no others.

    Args:
        data: in UTF-8.

    Returns:
        0, or the sum of `RUNS`, `NUMBERS`, `DUMPS` and `MINIFIED` of text/machine_data.py.
    """
    cdef Text text = <Text> PyBytes_AS_STRING(data)
    cdef Text end = text + PyBytes_GET_SIZE(data)
    cdef int found
    with nogil:
        found = has_lines(text, end)
        if memmem(text, end - text, b'"mappings"', 10) != NULL:  # of a source map
            found |= RUNS
        found |= has_run(text, end) * RUNS | has_numbers(text, end) * NUMBERS
    return found


cdef bint has_run(Text text, Text end) noexcept nogil:
    """Find a long run, or a line of encoded data with another one below."""
    cdef Text at = text, first, last
    while at < end:
        first = last = at
        while last < end and CLASS[last[0]] & ENCODED:
            last += 1
        if last - at >= AHEAD:
            while first > text and CLASS[(first - 1)[0]] & ENCODED:
                first -= 1
            if last - first > LONGEST_RUN and is_filled(first, last):
                return True
            if last - first >= LINE_RUN and (
                follows(last, end) and is_filled(first, last)
                or first - text >= 8 and memcmp(first - 8, b";base64,", 8) == 0
            ):
                return True
            at = last
        at += NEAR
    return False


cdef bint is_filled(Text first, Text last) noexcept nogil:
    """Whether most of a run are letters and digits: it is no rule of a table."""
    cdef Py_ssize_t filled = 0, size = last - first
    while first < last:
        filled += CLASS[first[0]] & (LETTER | HEXADECIMAL) != 0
        first += 1
    return 2 * filled >= size


cdef bint follows(Text at, Text end) noexcept nogil:
    """Whether only marks follow in a line, and the next one has a long run or is the rest of one."""
    cdef Text last
    while at < end and CLASS[at[0]] & AROUND:
        at += 1
    if at == end or at[0] != 10:
        return False
    at += 1
    while at < end and CLASS[at[0]] & AROUND:
        at += 1
    last = at
    while last < end and CLASS[last[0]] & ENCODED:
        last += 1
    if last == at:
        return False
    while last < end and CLASS[last[0]] & AROUND:
        last += 1
    return last == end or last[0] == 10


cdef bint has_numbers(Text text, Text end) noexcept nogil:
    """Find a stretch without a word. It is twice as long as what is between two places."""
    cdef Text at = text, last
    while at < end:
        last = at
        while last < end and not breaks(last, end):
            last += 1
        if last - at >= STRETCH - APART:
            if has_digits(text, at, last):
                return True
            at = last
        at += APART
    return False


cdef bint has_digits(Text text, Text at, Text last) noexcept nogil:
    """Whether enough digits are in a stretch around a place."""
    cdef int digits = 0
    while at > text and not breaks(at - 1, last):
        at -= 1
    while at < last:
        digits += 48 <= at[0] <= 57
        at += 1
    return digits >= FEWEST


cdef inline bint breaks(Text at, Text end) noexcept nogil:
    """Whether a word is at a place: two letters of which one is in no hexadecimal number."""
    if CLASS[at[0]] & BREAK:
        return True
    if not CLASS[at[0]] & LETTER or at + 1 == end or not CLASS[at[1]] & LETTER:
        return False
    if (at[0] | 32) == ord("z") and (at[1] | 32) == ord("m"):  # in a path of an SVG
        return False
    return not (CLASS[at[0]] & HEXADECIMAL and CLASS[at[1]] & HEXADECIMAL)


cdef int has_lines(Text text, Text end) noexcept nogil:
    """Find a long line that has hardly a blank in some part, lines of a dump, and a PEM block."""
    cdef Text at = text, last
    cdef int dumped = 0, found = 0
    while at < end:
        last = <Text> memchr(at, 10, end - at)
        if last == NULL:
            last = end
        if last - at >= LONG_LINE and not found & MINIFIED and has_dense_part(at, last):
            found |= MINIFIED
        dumped = dumped + 1 if begins_dump(at, last) else 0
        if dumped == DUMPED:
            found |= DUMPS
        if last - at > 10 and at[0] == ord("-") and memcmp(at, b"-----BEGIN ", 11) == 0:
            found |= RUNS
        if last - at > 10 and at[0] == ord("b") and memcmp(at, b"begin ", 6) == 0:  # uuencoded
            found |= RUNS
        at = last + 1
    return found


cdef inline bint begins_dump(Text at, Text end) noexcept nogil:
    cdef int place
    if end - at < 20:
        return False
    for place in range(6):
        if not CLASS[at[place]] & HEXADECIMAL:
            return False
    return True


cdef bint has_dense_part(Text at, Text end) noexcept nogil:
    """Whether parts that follow one another have so few blanks as minified text."""
    cdef int blanks[PARTS]
    cdef int spaced[PARTS]
    cdef int foreign[PARTS]
    cdef int part = 0, place, own
    while at + PART <= end:
        own = part % PARTS
        blanks[own] = spaced[own] = foreign[own] = 0
        for place in range(PART):
            if at[place] == 32:
                blanks[own] += 1
                spaced[own] += place > 0 and CLASS[at[place - 1]] & SPACED != 0
            foreign[own] += at[place] >= 128
        at += PART
        part += 1
        if (
            part >= PARTS
            and blanks[0] + blanks[1] + blanks[2] <= FEW_BLANKS
            and spaced[0] + spaced[1] + spaced[2] <= MOST_SPACED
            and foreign[0] + foreign[1] + foreign[2] <= FOREIGN
        ):
            return True
    return False
