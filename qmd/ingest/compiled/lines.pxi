"""Lines, blocks of code and headings: a part of `outlines.pyx`."""

ctypedef Py_ssize_t Place
ctypedef const uint8_t* Text

cdef enum Class:
    BLANK = 1       # between words of a line: blank, tab, carriage return
    WHITE = 2       # what a regular expression of bytes takes for \s
    LETTER = 4
    DIGIT = 8
    FOREIGN = 16    # part of a character beyond ASCII
    NO_URL = 32     # ends a bare URL
    AFTER_URL = 64  # belongs to the sentence around one
    BEGINS = 128    # may begin something in a block

cdef uint8_t CLASS[256]
cdef int _code
for _code in range(256):
    CLASS[_code] = (
        BLANK * (_code in b" \t\r")
        | WHITE * (_code in b" \t\n\r\f\v")
        | LETTER * (_code < 128 and chr(_code).isalpha())
        | DIGIT * (_code < 128 and chr(_code).isdigit())
        | FOREIGN * (_code >= 128)
        | NO_URL * (_code in b" \t\n\r\f\v<>[]`|\"\\^{}")
        | AFTER_URL * (_code in b"?!.,:;*_~'\"")
        | BEGINS * (_code in b"\\`<[]!#h")
    )


cdef struct Mark:  # see rules.Mark
    uint8_t kind
    Place at
    Place text
    Place text_end
    Place target
    Place target_end


cdef Place line_end(Text text, Place at, Place end) noexcept nogil:
    """Where the line after that of a place begins."""
    cdef const void* found = memchr(text + at, ord("\n"), end - at)
    return end if found == NULL else <Place> (<Text> found - text) + 1


cdef Place newlines(Text text, Place at, Place end) noexcept nogil:
    cdef Place count = 0
    for at in range(at, end):
        count += text[at] == ord("\n")
    return count


cdef Place run(Text text, Place at, Place end) noexcept nogil:
    """Where the run of equal bytes ends that begins at a place."""
    cdef uint8_t byte = text[at]
    while at < end and text[at] == byte:
        at += 1
    return at


cdef Place after_item(Text text, Place at, Place end) noexcept nogil:
    """Where the mark of a list item at a place ends, and the blank after it; -1: there is none."""
    cdef Place first = at
    if at < end and (text[at] == ord("-") or text[at] == ord("*") or text[at] == ord("+")):
        at += 1
    else:
        while at < end and CLASS[text[at]] & DIGIT:
            at += 1
        if not 1 <= at - first <= 9 or at >= end or (text[at] != ord(".") and text[at] != ord(")")):
            return -1
        at += 1
    return at + 1 if at < end and (text[at] == ord(" ") or text[at] == ord("\t")) else -1


cdef bint is_over(Text text, Place at, Place end) noexcept nogil:
    """Whether only blanks follow in a line."""
    while at < end and CLASS[text[at]] & BLANK:
        at += 1
    return at >= end or text[at] == ord("\n")


cdef Place opens_code(Text text, Place at, Place end, uint8_t* byte) noexcept nogil:
    """How long the fence is with which a line opens a block of code; 0: it does not. FENCE."""
    cdef Place item, last
    while at < end:
        if text[at] == ord(" ") or text[at] == ord("\t") or text[at] == ord(">"):
            at += 1
            continue
        item = after_item(text, at, end)
        if item < 0:
            break
        at = item
    if at >= end or (text[at] != ord("`") and text[at] != ord("~")):
        return 0
    byte[0] = text[at]
    last = run(text, at, end)
    if last - at < 3 or (byte[0] == ord("`") and memchr(text + last, ord("`"), end - last) != NULL):
        return 0
    return last - at


cdef Place closes_code(Text text, Place at, Place end, uint8_t byte) noexcept nogil:
    """How long the fence of such bytes is that a line is; 0: it is none. FENCE_END."""
    cdef Place last
    while at < end and (text[at] == ord(" ") or text[at] == ord("\t") or text[at] == ord(">")):
        at += 1
    if at >= end or text[at] != byte:
        return 0
    last = run(text, at, end)
    return last - at if last - at >= 3 and is_over(text, last, end) else 0


cdef int find_regions(
    Text text, Place at, Place size, vector[pair[Place, Place]]& regions
) except -1 nogil:
    """What stands between blank lines and blocks of code."""
    cdef Place end, first = -1, fence = 0, opening
    cdef uint8_t byte = 0, other = 0
    cdef bint is_code
    while at < size:
        end = line_end(text, at, size)
        if fence:
            is_code = True
            opening = closes_code(text, at, end, byte)
            if opening >= fence:
                fence = 0
        else:
            fence = opens_code(text, at, end, &other)
            is_code = fence > 0
            byte = other
        if is_code or is_over(text, at, end):
            if first >= 0:
                regions.push_back(pair[Place, Place](first, at))
            first = -1
        elif first < 0:
            first = at
        at = end
    if first >= 0:
        regions.push_back(pair[Place, Place](first, size))
    return 0


# -- headings ------------------------------------------------------------------


cdef Place hashes(Text text, Place at, Place end) noexcept nogil:
    """Where the one to six `#` end with which a line begins that may be a heading; -1: none do."""
    cdef Place first = at
    while at < end and at - first < 3 and text[at] == ord(" "):
        at += 1
    first = at
    while at < end and at - first < 6 and text[at] == ord("#"):
        at += 1
    return at if at > first else -1


cdef bint is_atx(Text text, Place at, Place end) noexcept nogil:
    """Whether a line is a heading, perhaps of nothing."""
    at = hashes(text, at, end)
    return at >= 0 and (at >= end or text[at] == ord("\n") or CLASS[text[at]] & BLANK)


cdef bint atx(Text text, Place at, Place size, Mark* mark) noexcept nogil:
    """The heading `## text` that a line is."""
    cdef Place first = hashes(text, at, size), last, bare, level
    if first < 0 or not is_atx(text, at, size):
        return False
    level = 0
    while level < 6 and first - level > at and text[first - level - 1] == ord("#"):
        level += 1
    last = line_end(text, first, size)
    if last > first and text[last - 1] == ord("\n"):
        last -= 1
    first, last = trim_left(text, first, last), trim_right(text, first, last)
    if first < last and text[last - 1] == ord("#"):
        bare = last
        while bare > first and text[bare - 1] == ord("#"):
            bare -= 1
        if bare == first or text[bare - 1] == ord(" ") or text[bare - 1] == ord("\t"):
            last = bare
            while last > first and (text[last - 1] == ord(" ") or text[last - 1] == ord("\t")):
                last -= 1
    if first >= last:
        return False
    mark.kind, mark.at, mark.text, mark.text_end = <uint8_t> (ord("0") + level), at, first, last
    mark.target = mark.target_end = 0
    return True


cdef Place trim_left(Text text, Place first, Place last) noexcept nogil:
    while first < last and CLASS[text[first]] & BLANK:
        first += 1
    return first


cdef Place trim_right(Text text, Place first, Place last) noexcept nogil:
    while last > first and CLASS[text[last - 1]] & BLANK:
        last -= 1
    return last


cdef bint is_rule(Text text, Place at, Place end) noexcept nogil:
    """Whether a line is one of `=` or `-` that makes a heading of the line before."""
    cdef Place first = at
    while at < end and at - first < 3 and text[at] == ord(" "):
        at += 1
    if at >= end or (text[at] != ord("=") and text[at] != ord("-")):
        return False
    at = run(text, at, end)
    return is_over(text, at, end)
