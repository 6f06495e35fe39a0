# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What a text points at, and how it is divided: the rules of `text/outline.py` at the speed of memory.

Lines and blocks are told here. So are the marks of a block that has nothing in it but escapes, code,
plain links `[text](target)`, bare URLs and tags in ASCII; any other is handed to `text/outline.py`.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp
from libcpp.algorithm cimport stable_sort
from libcpp.string cimport string, to_string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from qmd.text import outline as rules

ctypedef Py_ssize_t Place
ctypedef const uint8_t* Text

cdef enum:
    DEEPEST = 64  # backticks of a block that end nothing, before it is handed on: each looks for its end

cdef uint8_t INLINE = rules.INLINE, AUTOLINK = rules.AUTOLINK, IMAGE = rules.IMAGE
cdef uint8_t EMBED = rules.EMBED, TAG = rules.TAG
cdef bytes BETWEEN = rules.BETWEEN

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


cdef struct Opened:
    Place at
    size_t before  # marks there were


cdef bint is_earlier(const Mark& one, const Mark& other) noexcept nogil:
    return one.at < other.at


def outlined(bytes data not None, Place start):
    """The outline of a text.

    Args:
        data: in UTF-8.
        start: where its frontmatter ends.

    Returns:
        Its kinds, lines, texts and targets: see `pipeline/outlines.py`.
    """
    if start < 0:
        raise ValueError("a text begins at 0")
    if BETWEEN in data:
        data = data.replace(BETWEEN, b" ")
    cdef Text text = <Text> PyBytes_AS_STRING(data)
    cdef Place size = PyBytes_GET_SIZE(data), at, next_line
    cdef vector[pair[Place, Place]] regions
    cdef vector[Mark] found
    cdef pair[Place, Place] region
    cdef Mark mark
    find_regions(text, start, size, regions)
    defined = rules.NO_DEFINITIONS
    if b"]:" in data:
        defined = rules.definitions(data, [(each.first, each.second) for each in regions])
    for region in regions:
        at = region.first
        while at < region.second:
            next_line = line_end(text, at, size)
            if atx(text, at, size, &mark):
                found.push_back(mark)
            elif next_line < region.second and is_rule(text, next_line, region.second):
                add(found, rules.setext(data, at, region.second))
            at = next_line
        find_marks(data, text, region.first, region.second, defined, found)
    stable_sort(found.begin(), found.end(), is_earlier)
    return written(text, found)


cdef tuple written(Text text, vector[Mark]& found):
    cdef string kinds, lines, texts, targets
    cdef Place line = 1, seen = 0
    cdef Mark mark
    cdef size_t number
    for number in range(found.size()):
        mark = found[number]
        line += newlines(text, seen, mark.at)
        seen = mark.at
        if number:
            lines.push_back(b" ")
            texts.append(<const char*> BETWEEN, 1)
            targets.append(<const char*> BETWEEN, 1)
        kinds.push_back(<char> mark.kind)
        lines.append(to_string(<long long> line))
        texts.append(<const char*> text + mark.text, mark.text_end - mark.text)
        targets.append(<const char*> text + mark.target, mark.target_end - mark.target)
    return kinds.decode(), lines.decode(), texts.decode(), targets.decode()


cdef int add(vector[Mark]& found, made) except -1:
    """A mark that was made in Python, if there is one."""
    cdef Mark mark
    if made is not None:
        mark.kind, mark.at, mark.text, mark.text_end, mark.target, mark.target_end = made
        found.push_back(mark)
    return 0


# -- lines ---------------------------------------------------------------------


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
    """Where the one to six `#` end with which a line begins that may be a heading; -1: it has none."""
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


# -- links and tags ------------------------------------------------------------


cdef int find_marks(
    bytes data, Text text, Place first, Place last, defined, vector[Mark]& found
) except -1:
    """The links and tags of a region, block by block."""
    cdef Place begin = first, end
    while begin < last:
        end = line_end(text, begin, last)
        if not is_atx(text, begin, last):
            while end < last and not begins_block(text, end, last):
                end = line_end(text, end, last)
        else:
            block(data, text, begin, end, defined, found)
            begin = end
            while end < last and not begins_block(text, end, last):
                end = line_end(text, end, last)
            if begin == end:
                continue
        block(data, text, begin, end, defined, found)
        begin = end
    return 0


cdef bint begins_block(Text text, Place at, Place end) noexcept nogil:
    """Whether a new block begins with a line, which is not the first of its region. _BLOCK."""
    cdef Place place = at
    while place < end and (text[place] == ord(" ") or text[place] == ord("\t")):
        place += 1
    if place < end and text[place] == ord("|"):
        return True
    while place < end and (
        text[place] == ord(" ") or text[place] == ord("\t") or text[place] == ord(">")
    ):
        place += 1
    if after_item(text, place, end) >= 0:
        return True
    place = hashes(text, at, end)
    return 0 <= place < end and (text[place] == ord("\n") or CLASS[text[place]] & BLANK)


cdef int block(
    bytes data, Text text, Place at, Place last, defined, vector[Mark]& found
) except -1:
    """The links and tags of a block."""
    cdef vector[Mark] own
    cdef bint are_defined = defined is not rules.NO_DEFINITIONS
    cdef bint is_plain = not are_defined or memchr(text + at, ord("["), last - at) == NULL
    if is_plain and read_block(text, at, last, own):
        found.insert(found.end(), own.begin(), own.end())
        return 0
    for made in rules.block_marks(data, at, last, defined):
        add(found, made)
    return 0


cdef bint read_block(Text text, Place at, Place last, vector[Mark]& found) except? False nogil:
    """The links and tags of a block without definitions; whether all could be told."""
    cdef vector[Opened] opened
    cdef Opened last_opened
    cdef Place linked = 0, end, target
    cdef int in_vain = 0
    cdef uint8_t byte
    cdef Mark mark
    while at < last:
        byte = text[at]
        if not CLASS[byte] & BEGINS:
            at += 1
        elif byte == ord("h"):
            end = after_url(text, at, last)
            if end:
                mark.kind, mark.at = AUTOLINK, at
                mark.text, mark.text_end, mark.target, mark.target_end = at, end, at, end
                found.push_back(mark)
                at = end
            else:
                at += 1
        elif byte == ord("\\"):
            at += 2 if at + 1 < last and text[at + 1] != ord("\n") else 1
        elif byte == ord("`"):
            end = run(text, at, last)
            at = after_code(text, end, last, end - at)
            if at == end:
                in_vain += 1
                if in_vain > DEEPEST:
                    return False
        elif byte == ord("<"):
            if names_scheme(text, at + 1, last):
                return False
            at += 1
        elif byte == ord("["):
            if at + 1 < last and text[at + 1] == ord("["):
                return False
            last_opened.at, last_opened.before = at, found.size()
            opened.push_back(last_opened)
            at += 1
        elif byte == ord("!"):
            if at + 1 < last and text[at + 1] == ord("["):
                if at + 2 < last and text[at + 2] == ord("["):
                    return False
                last_opened.at, last_opened.before = at, found.size()
                opened.push_back(last_opened)
                at += 1
            at += 1
        elif byte == ord("#"):
            end = after_tag(text, at, last)
            if end < 0:
                return False
            if end > at:
                mark.kind, mark.at, mark.text, mark.text_end = TAG, at, at + 1, end
                mark.target = mark.target_end = 0
                while mark.text_end > mark.text and (
                    text[mark.text_end - 1] == ord("/") or text[mark.text_end - 1] == ord("-")
                ):
                    mark.text_end -= 1
                if mark.text < mark.text_end:
                    found.push_back(mark)
                at = end
            else:
                at += 1
        else:  # ]
            at += 1
            if opened.empty():
                continue
            last_opened = opened.back()
            opened.pop_back()
            mark.kind = IMAGE if text[last_opened.at] == ord("!") else INLINE
            if mark.kind == INLINE and last_opened.at < linked:
                continue
            if at >= last or text[at] != ord("("):
                continue
            target = at + 1
            end = target
            while end < last and text[end] != ord(")"):
                if CLASS[text[end]] & WHITE or text[end] in (ord("("), ord("<"), ord("\\")):
                    return False
                end += 1
            if end >= last:
                return False
            keep_pictures(found, last_opened.before, mark.kind == IMAGE)
            mark.at, mark.text, mark.text_end = last_opened.at, last_opened.at + 1, at - 1
            mark.text += mark.kind == IMAGE
            mark.target, mark.target_end = target, end
            at = end + 1
            if mark.kind == INLINE:
                linked = at
            if target < end:
                found.push_back(mark)
    return True


cdef int keep_pictures(vector[Mark]& found, size_t before, bint inside_picture) except -1 nogil:
    """Of the marks in a link keep pictures, and none of those in a picture."""
    cdef size_t kept = before, number
    for number in range(before, found.size()):
        if not inside_picture and found[number].kind in (IMAGE, EMBED):
            found[kept] = found[number]
            kept += 1
    found.resize(kept)
    return 0


cdef Place after_code(Text text, Place at, Place last, Place length) noexcept nogil:
    """Where the code span ends whose backticks, so many, end at a place; that place: it is none."""
    cdef Place place = at, end
    cdef const void* found
    while place < last:
        found = memchr(text + place, ord("`"), last - place)
        if found == NULL:
            break
        place = <Place> (<Text> found - text)
        end = run(text, place, last)
        if end - place == length:
            return end
        place = end
    return at


cdef bint names_scheme(Text text, Place at, Place last) noexcept nogil:
    """Whether `scheme://` stands at a place."""
    if at >= last or not CLASS[text[at]] & LETTER:
        return False
    while at < last and (CLASS[text[at]] & (LETTER | DIGIT) or text[at] in (ord("+"), ord("."), ord("-"))):
        at += 1
    return last - at > 3 and memcmp(text + at, b"://", 3) == 0


cdef Place after_url(Text text, Place at, Place last) noexcept nogil:
    """Where a bare URL at a place ends; 0: there is none."""
    cdef Place first = at, spare = 0, kept, closed
    if last - at < 8 or memcmp(text + at, b"http", 4) != 0:
        return 0
    if at and CLASS[text[at - 1]] & (LETTER | DIGIT):
        return 0
    at += 4
    at += text[at] == ord("s")
    if last - at < 4 or memcmp(text + at, b"://", 3) != 0 or CLASS[text[at + 3]] & NO_URL:
        return 0
    at += 3
    while at < last and not CLASS[text[at]] & NO_URL:
        spare += text[at] == ord(")")
        spare -= text[at] == ord("(")
        at += 1
    while True:
        while at > first and CLASS[text[at - 1]] & AFTER_URL:
            at -= 1
        if spare <= 0 or text[at - 1] != ord(")"):
            return at
        kept = at
        while text[kept - 1] == ord(")"):
            kept -= 1
        closed = min(spare, at - kept)
        at, spare = at - closed, spare - closed


cdef Place after_tag(Text text, Place at, Place last) noexcept nogil:
    """Where a tag at a place ends; that place: there is none; -1: it has more than ASCII."""
    cdef Place first = at
    if at and not CLASS[text[at - 1]] & WHITE:
        return first
    at += 1
    while at < last and (CLASS[text[at]] & DIGIT or text[at] in (ord("/"), ord("_"), ord("-"))):
        at += 1
    if at >= last or not CLASS[text[at]] & (LETTER | FOREIGN):
        return first
    while at < last and (
        CLASS[text[at]] & (LETTER | DIGIT | FOREIGN) or text[at] in (ord("/"), ord("_"), ord("-"))
    ):
        if CLASS[text[at]] & FOREIGN:
            return -1
        at += 1
    return at
