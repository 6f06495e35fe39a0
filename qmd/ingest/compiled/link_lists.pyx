# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Share of a text that stands in lists of links: the rules of `text/link_lists.py`, compiled."""

from libc.string cimport memchr
from libc.stdint cimport uint8_t

from qmd.text import link_lists as rules

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t at) nogil
    bint is_space "Py_UNICODE_ISSPACE"(Py_UCS4 letter) nogil
    bint is_decimal "Py_UNICODE_ISDECIMAL"(Py_UCS4 letter) nogil

ctypedef Py_ssize_t Place

cdef Place FEWEST = rules.FEWEST, LINK = rules.LINK, ENTRY = rules.ENTRY

cdef struct Text:
    int kind
    void* data
    Place end

cdef struct Shown:  # characters of a line as it is shown
    Place size  # without blanks at both ends
    Place blanks  # after the last other character
    bint has_begun
    Place labels  # characters of the texts of links

cdef struct Link:
    Place end  # 0: there is none
    Place label
    Place label_end


def link_percent(str text not None, *, Place start = 0):
    """Compute the percentage. See `text/link_lists.py`."""
    cdef Text whole
    cdef Place listed
    whole.kind, whole.data, whole.end = PyUnicode_KIND(text), PyUnicode_DATA(text), len(text)
    with nogil:
        listed = percentage(whole, start) if may_be_list(whole, start) else 0
    return listed


cdef inline Py_UCS4 letter(Text text, Place at) noexcept nogil:
    """Return a character; 0 at the end."""
    return PyUnicode_READ(text.kind, text.data, at) if at < text.end else 0


cdef inline bint is_blank(Py_UCS4 one) noexcept nogil:
    return one == 32 or one == 9


cdef inline bint is_mark(Py_UCS4 one) noexcept nogil:
    """Tell marks of emphasis and code."""
    return one == ord("*") or one == ord("_") or one == ord("~") or one == ord("`")


cdef Place next_of(Text text, Place at, uint8_t wanted) noexcept nogil:
    """Find the next ASCII character of a kind; the end: there is none."""
    cdef const void* found
    if text.kind == 1:
        if at >= text.end:
            return text.end
        found = memchr(<const uint8_t*> text.data + at, wanted, text.end - at)
        return text.end if found == NULL else <const uint8_t*> found - <const uint8_t*> text.data
    while at < text.end and PyUnicode_READ(text.kind, text.data, at) != wanted:
        at += 1
    return at


cdef bint may_be_list(Text text, Place start) noexcept nogil:
    """Check that a text has enough links, and enough lines that may be entries."""
    cdef Place size = text.end - start, at, found = 0
    at = next_of(text, start, ord("["))
    while at < text.end and (found < FEWEST or found * LINK < size):
        found += 1
        at = next_of(text, at + 1, ord("["))
    at = next_of(text, start, ord(":"))
    while at < text.end and (found < FEWEST or found * LINK < size):
        if letter(text, at + 1) == ord("/") and letter(text, at + 2) == ord("/"):
            found += 1
        at = next_of(text, at + 1, ord(":"))
    if found < FEWEST or found * LINK < size:
        return False
    found, at = 0, start
    if at and letter(text, at - 1) != 10:
        at = next_of(text, at, 10) + 1
    while at < text.end and (found < FEWEST or found * ENTRY < size):
        found += may_be_entry(text, at)
        at = next_of(text, at, 10) + 1
    return found >= FEWEST and found * ENTRY >= size


cdef Place after_number(Text text, Place at) noexcept nogil:
    """Find the end of the number of an item, `12.` or `12)`; 0: there is none."""
    cdef Place first = at
    while at - first < 9 and is_decimal(letter(text, at)):
        at += 1
    if at == first or (letter(text, at) != ord(".") and letter(text, at) != ord(")")):
        return 0
    return at + 1


cdef bint is_bullet(Py_UCS4 one) noexcept nogil:
    return one == ord("-") or one == ord("*") or one == ord("+")


cdef Place after_box(Text text, Place at) noexcept nogil:
    """Find the end of a check box, `[x] `, and of the blanks after it; `at`: there is none."""
    cdef Place first = at
    cdef Py_UCS4 mark = letter(text, at + 1)
    if letter(text, at) != ord("[") or (mark != 32 and mark != ord("x") and mark != ord("X")):
        return first
    if letter(text, at + 2) != ord("]") or not is_blank(letter(text, at + 3)):
        return first
    return after_blanks(text, at + 3)


cdef Place after_blanks(Text text, Place at) noexcept nogil:
    while is_blank(letter(text, at)):
        at += 1
    return at


cdef Place after_marks(Text text, Place at) noexcept nogil:
    while is_mark(letter(text, at)):
        at += 1
    return at


cdef Place after_indent(Text text, Place at) noexcept nogil:
    while is_blank(letter(text, at)) or letter(text, at) == ord(">"):
        at += 1
    return at


cdef bint may_be_entry(Text text, Place at) noexcept nogil:
    """Check that a line may be an entry. `_ENTRY`."""
    cdef Place number
    at = after_indent(text, at)
    if is_bullet(letter(text, at)) or letter(text, at) == ord("|"):
        at += 1
    else:
        number = after_number(text, at)
        if not number:
            return False
        at = number
    at = after_blanks(text, at)
    # A check box may be a link, too: its bracket opens one.
    return letter(text, at) == ord("[") or begins_link(text, after_marks(text, after_box(text, at)))


cdef bint begins_link(Text text, Place at) noexcept nogil:
    if letter(text, at) == ord("!"):
        at += 1
        return letter(text, at) == ord("[")
    if letter(text, at) == ord("["):
        return True
    if letter(text, at) == ord("<"):
        at += 1
    return after_scheme(text, at, ":") > 0


cdef Place after_scheme(Text text, Place at, const char* ending) noexcept nogil:
    """Find the end of `http` or `https` and what follows; 0: it is none."""
    if not (
        letter(text, at) == ord("h")
        and letter(text, at + 1) == ord("t")
        and letter(text, at + 2) == ord("t")
        and letter(text, at + 3) == ord("p")
    ):
        return 0
    at += 4
    at += letter(text, at) == ord("s")
    while ending[0]:
        if letter(text, at) != <Py_UCS4> <uint8_t> ending[0]:
            return 0
        at += 1
        ending += 1
    return at


cdef Place percentage(Text text, Place start) noexcept nogil:
    cdef Place listed = 0, whole = 0, rest, last = text.end, at = start
    cdef bint is_entry = False
    cdef Text line = text
    cdef Shown shown
    while at <= last:
        line.end = next_of(text, at, 10)
        if has_no_text(line, at):
            is_entry = False
        else:
            rest = item_text(line, at)
            if rest >= 0:
                is_entry = begins_entry(line, rest)
            elif not is_space(letter(line, at)):
                is_entry = False  # other indented lines go on with an item
            shown = shown_of(line, at)
            whole += shown.size
            listed += shown.size if is_entry else shown.labels
        at = line.end + 1
    return min(100 * listed // whole, 100) if whole else 0


cdef bint has_no_text(Text line, Place at) noexcept nogil:
    """Check that a line has no text of its own: a heading, a rule, a definition. `_NO_TEXT`."""
    cdef Place first
    cdef Py_UCS4 one
    at = after_blanks(line, at)
    if at == line.end:
        return True
    first = at
    while letter(line, at) == ord("#"):
        at += 1
    if at > first:
        return at - first <= 6 and (at == line.end or is_blank(letter(line, at)))
    while at < line.end:
        one = letter(line, at)
        if not (
            is_blank(one)
            or one == ord("-") or one == ord("=") or one == ord("*") or one == ord("_")
            or one == ord(":") or one == ord("|")
        ):
            break
        at += 1
    if at == line.end:
        return True
    at = first
    if letter(line, at) != ord("["):
        return False
    at += 1
    first = at
    while at < line.end and letter(line, at) != ord("[") and letter(line, at) != ord("]"):
        at += 1
    return (
        at > first
        and letter(line, at) == ord("]")
        and letter(line, at + 1) == ord(":")
        and is_blank(letter(line, at + 2))
    )


cdef Place item_text(Text line, Place at) noexcept nogil:
    """Find the text of a list item or a row of a table; -1: the line is none. `_ITEM`."""
    cdef Place number
    at = after_indent(line, at)
    number = at + 1 if is_bullet(letter(line, at)) else after_number(line, at)
    if number and is_blank(letter(line, number)):
        return after_marks(line, after_box(line, after_blanks(line, number)))
    if letter(line, at) == ord("|"):
        return after_marks(line, after_blanks(line, at + 1))
    return -1


cdef bint begins_entry(Text line, Place at) noexcept nogil:
    """Check that a link is all, or that a separator follows it. `_BEHIND`."""
    cdef Link link = link_at(line, at)
    cdef Py_UCS4 one
    if not link.end:
        return False
    at = after_blanks(line, after_marks(line, link.end))
    if at == line.end:
        return True
    one = letter(line, at)
    return (
        one == ord("-") or 0x2010 <= one <= 0x2015
        or one == ord(":") or one == ord("|") or one == ord(",") or one == ord(";")
        or one == ord(".") or one == ord("(") or one == 0xb7 or one == 0x2022
    )


cdef Shown shown_of(Text line, Place at) noexcept nogil:
    """Count what is shown of a line: its text, of links their labels."""
    cdef Shown shown
    cdef Link link
    cdef Py_UCS4 one
    shown.size = shown.blanks = shown.labels = 0
    shown.has_begun = False
    while at < line.end:
        one = letter(line, at)
        if one == ord("[") or one == ord("!") or one == ord("<") or one == ord("h"):
            link = link_at(line, at)
            if link.end:
                shown.labels += link.label_end - link.label
                while link.label < link.label_end:
                    show(shown, letter(line, link.label))
                    link.label += 1
                at = link.end
                continue
        show(shown, one)
        at += 1
    return shown


cdef inline void show(Shown& shown, Py_UCS4 one) noexcept nogil:
    if is_space(one):
        shown.blanks += shown.has_begun
    else:
        shown.size += shown.blanks + 1
        shown.blanks = 0
        shown.has_begun = True


cdef Link link_at(Text line, Place at) noexcept nogil:
    """Read the link that begins at a place. `_LINK`."""
    cdef Link link
    cdef Place first = at, end
    link.end = 0
    if letter(line, at) == ord("!"):
        at += 1
    if letter(line, at) == ord("["):
        if letter(line, at + 1) == ord("["):
            end = after_label(line, at + 2)
            if end > at + 2 and letter(line, end) == ord("]") and letter(line, end + 1) == ord("]"):
                link.end, link.label, link.label_end = end + 2, after_pipe(line, at + 2, end), end
            return link
        end = after_label(line, at + 1)
        if letter(line, end) == ord("]"):
            link.label, link.label_end = at + 1, end
            link.end = after_target(line, end + 1)
        return link
    if at > first:
        return link
    if letter(line, at) == ord("<"):
        at += 1
    end = after_scheme(line, at, "://")
    if end:
        first = end
        while end < line.end and not ends_address(letter(line, end)):
            end += 1
        if end > first:
            link.label, link.label_end = at, end
            link.end = end + (letter(line, end) == ord(">"))
    return link


cdef inline bint ends_address(Py_UCS4 one) noexcept nogil:
    return one == ord("<") or one == ord(">") or is_space(one)


cdef Place after_label(Text line, Place at) noexcept nogil:
    """Find the next bracket, or the end."""
    while at < line.end and letter(line, at) != ord("[") and letter(line, at) != ord("]"):
        at += 1
    return at


cdef Place after_pipe(Text line, Place first, Place at) noexcept nogil:
    """Find the label of a wiki link: what follows its last `|`."""
    while at > first and letter(line, at - 1) != ord("|"):
        at -= 1
    return at


cdef Place after_target(Text line, Place at) noexcept nogil:
    """Find the end of the target of a link, `(target "title")` or `[reference]`; 0: it has none."""
    cdef Place closing
    if letter(line, at) == ord("["):
        at = after_label(line, at + 1)
        return at + 1 if letter(line, at) == ord("]") else 0
    if letter(line, at) != ord("("):
        return 0
    at += 1
    while at < line.end:
        if letter(line, at) == ord("("):
            closing = after_unbroken(line, at + 1)
            if letter(line, closing) != ord(")"):
                break
            at = closing + 1
        elif letter(line, at) == ord(")") or is_space(letter(line, at)):
            break
        else:
            at += 1
    closing = after_spaces(line, at)
    if closing > at and letter(line, closing) == ord('"'):
        at = closing + 1
        while at < line.end and letter(line, at) != ord('"'):
            at += 1
        if at == line.end:
            return 0
        closing = after_spaces(line, at + 1)
    return closing + 1 if letter(line, closing) == ord(")") else 0


cdef Place after_unbroken(Text line, Place at) noexcept nogil:
    """Find the next parenthesis or blank, or the end."""
    while at < line.end and letter(line, at) != ord("(") and letter(line, at) != ord(")"):
        if is_space(letter(line, at)):
            break
        at += 1
    return at


cdef Place after_spaces(Text line, Place at) noexcept nogil:
    while at < line.end and is_space(letter(line, at)):
        at += 1
    return at
