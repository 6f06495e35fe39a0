# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""What a text points at, and how it is divided: the rules of `text/outline.py`, compiled.

Lines and blocks are told here. So are the marks of a block that has nothing in it but escapes,
code, plain links `[text](target)`, bare URLs and tags in ASCII; any other is handed to
`text/outline.py`.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t
from libc.string cimport memchr, memcmp
from libcpp.algorithm cimport stable_sort
from libcpp.string cimport string, to_string
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from qmd.text import hidden as hidden_rules
from qmd.text import outline as rules

include "lines.pxi"

cdef enum:
    DEEPEST = 64  # runs of backticks that end nothing, before a block is handed on

cdef uint8_t INLINE = rules.INLINE, AUTOLINK = rules.AUTOLINK, IMAGE = rules.IMAGE
cdef int HIDING = hidden_rules.HIDING, INDENTED = hidden_rules.INDENTED, HTML = hidden_rules.HTML
cdef int PROPERTIES = hidden_rules.PROPERTIES
cdef uint8_t EMBED = rules.EMBED, TAG = rules.TAG
cdef bytes BETWEEN = rules.BETWEEN

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
        Its kinds, lines, texts and targets: see `ingest/outlines.py`.
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


def hints(bytes data not None, Place start):
    """What a text may have: bits of `hidden.hints` of `text/hidden.py`.

    Args:
        data: in UTF-8.
        start: where its front matter ends.
    """
    cdef Text text = <Text> PyBytes_AS_STRING(data)
    cdef Place size = PyBytes_GET_SIZE(data)
    cdef int found
    with nogil:
        found = hints_of_tags(text, size)
        if not found & HIDING and (
            may_hide_marks(text, size, ord("%")) or may_hide_marks(text, size, ord("$"))
        ):
            found |= HIDING
        if may_indent_marks(text, size):
            found |= INDENTED
        if has_links(text, min(start, size)):
            found |= PROPERTIES
    return found


cdef int hints_of_tags(Text text, Place size) noexcept nogil:
    """Comments that may hide a mark, and tags with a link."""
    cdef Place at = next_of(text, 0, size, ord("<")), end
    cdef Place closed = 0  # where comments are not looked for before
    cdef int found = 0
    while at < size and found != HIDING | HTML:
        if size - at > 3 and memcmp(text + at, b"<!--", 4) == 0 and at >= closed:
            end = comment_end(text, at, size)
            if end < size and has_mark(text, at, end):
                found |= HIDING
            closed = end
        elif at + 1 < size and CLASS[text[at + 1]] & LETTER and has_target(text, at + 2, size):
            found |= HTML
        at = next_of(text, at + 1, size, ord("<"))
    return found


cdef Place comment_end(Text text, Place at, Place size) noexcept nogil:
    """Where `-->` stands next; the size of the text: nowhere."""
    at = next_of(text, at, size, ord(">"))
    while at < size:
        if at > 1 and text[at - 1] == ord("-") and text[at - 2] == ord("-"):
            return at - 2
        at = next_of(text, at + 1, size, ord(">"))
    return size


cdef bint has_mark(Text text, Place at, Place end) noexcept nogil:
    """Whether a part of a link, a tag or a heading is there. _OF_MARKS."""
    while at < end:
        if text[at] == ord("[") or text[at] == ord("#"):
            return True
        if text[at] == ord("h"):
            if end - at > 3 and memcmp(text + at, b"href", 4) == 0:
                return True
            if end - at > 6 and memcmp(text + at, b"http://", 7) == 0:
                return True
            if end - at > 7 and memcmp(text + at, b"https://", 8) == 0:
                return True
        elif text[at] == ord("s") and end - at > 2 and memcmp(text + at, b"src", 3) == 0:
            return True
        at += 1
    return False


cdef bint may_hide_marks(Text text, Place size, uint8_t byte) noexcept nogil:
    """Whether a mark is between the first and the last pair of a byte."""
    cdef Place first = after_pair(text, 0, size, byte), last = size
    if not first:
        return False
    while last - 2 > first and (text[last - 1] != byte or text[last - 2] != byte):
        last -= 1
    return has_mark(text, first, last - 2)


cdef Place after_pair(Text text, Place at, Place size, uint8_t byte) noexcept nogil:
    """Where a byte that stands twice in a row ends; 0: it does not."""
    at = next_of(text, at, size, byte)
    while at + 1 < size:
        if text[at + 1] == byte:
            return at + 2
        at = next_of(text, at + 1, size, byte)
    return 0


cdef bint has_target(Text text, Place at, Place size) noexcept nogil:
    """Whether `href=` or `src=` comes before `<` and `>`."""
    cdef Place end
    while at < size and text[at] != ord("<") and text[at] != ord(">"):
        if CLASS[text[at]] & WHITE:
            end = after_name(text, at + 1, size)
            while end and end < size and CLASS[text[end]] & WHITE:
                end += 1
            if end and end < size and text[end] == ord("="):
                return True
        at += 1
    return False


cdef Place after_name(Text text, Place at, Place size) noexcept nogil:
    """Where `href` or `src` ends, in any case; 0: it is not there."""
    if size - at > 3 and (
        text[at] | 32 == ord("h")
        and text[at + 1] | 32 == ord("r")
        and text[at + 2] | 32 == ord("e")
        and text[at + 3] | 32 == ord("f")
    ):
        return at + 4
    if size - at > 2 and (
        text[at] | 32 == ord("s") and text[at + 1] | 32 == ord("r") and text[at + 2] | 32 == ord("c")
    ):
        return at + 3
    return 0


cdef bint may_indent_marks(Text text, Place size) noexcept nogil:
    """Whether an indented line after a blank one, or one that follows it, has a mark."""
    cdef Place at = next_of(text, 0, size, ord("\n")), end
    while at < size:
        at += 1
        if at < size and text[at] == ord("\r"):
            at += 1
        if at < size and text[at] == ord("\n") and is_indented(text, at + 1, size):
            end = indented_end(text, at + 1, size)
            if has_mark(text, at, end):
                return True
            at = end
        at = next_of(text, at, size, ord("\n"))
    return False


cdef Place indented_end(Text text, Place at, Place size) noexcept nogil:
    """Where the lines end that are indented or blank. The last one is as long as the text."""
    cdef Place end = next_of(text, at, size, ord("\n")), place
    while end < size:
        place = end + 1
        if not is_indented(text, place, size):
            while place < size and CLASS[text[place]] & BLANK:
                place += 1
            if place == size or text[place] != ord("\n"):
                return end
        end = next_of(text, place, size, ord("\n"))
    return end


cdef bint has_links(Text text, Place end) noexcept nogil:
    """Whether front matter may have a link: `[[`, `](` or `://`."""
    cdef Place at
    for at in range(end - 1):
        if text[at] == ord("[") and text[at + 1] == ord("["):
            return True
        if text[at] == ord("]") and text[at + 1] == ord("("):
            return True
        if text[at] == ord(":") and text[at + 1] == ord("/") and at + 2 < end:
            if text[at + 2] == ord("/"):
                return True
    return False


cdef Place next_of(Text text, Place at, Place size, uint8_t byte) noexcept nogil:
    """Where a byte stands next; the size of the text: nowhere."""
    cdef const void* found
    if at >= size:
        return size
    found = memchr(text + at, byte, size - at)
    return size if found == NULL else <Place> (<Text> found - text)


cdef bint is_indented(Text text, Place at, Place size) noexcept nogil:
    """Whether a line begins with four blanks or a tab."""
    return at < size and text[at] == ord("\t") or (
        size - at > 3 and memcmp(text + at, b"    ", 4) == 0
    )


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
    while at < last and (
        CLASS[text[at]] & (LETTER | DIGIT) or text[at] in (ord("+"), ord("."), ord("-"))
    ):
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
