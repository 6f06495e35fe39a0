# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Front matter of plain entries, read as YAML: what `text/front_matter.py` reads, compiled.

Keys and values in lines of their own, quoted texts without escapes, lists of such, dates, whole
numbers. Whatever else is there, the block is handed to `text/front_matter.py`.
"""

cdef extern from "Python.h":
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t at) nogil

ctypedef Py_ssize_t Place

cdef enum:
    LONGEST = 8000  # characters: so few are within each limit of text/yaml_reader.py
    LONGEST_KEY = 100
    LONGEST_NUMBER = 15  # digits
    AHEAD = 110  # characters in which properties are looked for

    AND = 1  # before the name of an anchor
    STAR = 2  # before that of an alias

cdef struct Text:
    int kind
    void* data
    Place end
    int seen  # `AND` and `STAR`

cdef object OTHER = object()  # a value of another kind


def plain_front_matter(str text not None):
    """Read the front matter of a text.

    Returns:
        Metadata and the characters that it takes; None if it has to be read by other rules.
    """
    cdef Text whole
    cdef Place at = 4, first
    cdef str key
    cdef dict metadata = {}
    whole.kind, whole.data, whole.end = PyUnicode_KIND(text), PyUnicode_DATA(text), len(text)
    whole.seen = 0
    if not is_rule(whole, 0) or letter(whole, 3) != 10:
        return None
    while at < whole.end and at < LONGEST:
        if letter(whole, at) == 10:
            at += 1
            continue
        if is_rule(whole, at):
            if at + 3 < whole.end and letter(whole, at + 3) != 10:
                return None
            return (metadata, at + 3) if metadata and ends_there(whole, at + 3) else None
        first = at
        while is_of_key(letter(whole, at), at - first):
            at += 1
        if at == first or at - first > LONGEST_KEY or letter(whole, at) != ord(":"):
            return None
        key = text[first:at]
        if is_constant(whole, first, at) or key in metadata:
            return None
        at += 1
        value = read_value(text, &whole, &at)
        if value is OTHER or (value is None and key.lower() in ("tags", "tag")):
            return None
        metadata[key] = value
    return None


cdef inline Py_UCS4 letter(Text text, Place at) noexcept nogil:
    """Return a character; 0 at the end."""
    return PyUnicode_READ(text.kind, text.data, at) if at < text.end else 0


cdef inline bint is_rule(Text text, Place at) noexcept nogil:
    return (
        letter(text, at) == ord("-")
        and letter(text, at + 1) == ord("-")
        and letter(text, at + 2) == ord("-")
    )


cdef inline bint is_digit(Py_UCS4 one) noexcept nogil:
    return 48 <= one <= 57


cdef inline bint is_latin(Py_UCS4 one) noexcept nogil:
    return 65 <= one <= 90 or 97 <= one <= 122


cdef inline bint is_of_key(Py_UCS4 one, Place before) noexcept nogil:
    if is_latin(one) or one == ord("_"):
        return True
    return before > 0 and (is_digit(one) or one == ord("-") or one == ord("."))


cdef inline bint is_printable(Py_UCS4 one) noexcept nogil:
    """Tell what YAML reads as it is."""
    if one < 0xA0:
        return 32 <= one < 127
    return (one < 0xD800 and one != 0x2028 and one != 0x2029) or one >= 0x10000


cdef inline bint is_plain(Py_UCS4 one, bint in_list) noexcept nogil:
    """Tell what stands in a text without quotes and means itself."""
    if one >= 0xA0:
        return is_printable(one)
    if is_latin(one) or is_digit(one):
        return True
    if one == ord(",") or one == ord("?"):
        return not in_list
    return (
        one == 32 or one == ord("_") or one == ord("-") or one == ord(".") or one == ord("/")
        or one == ord("(") or one == ord(")") or one == ord("'") or one == ord("+")
        or one == ord(";") or one == ord("!")
    )


cdef bint ends_there(Text text, Place at) noexcept nogil:
    """Check that no second block and no properties follow."""
    cdef Place end
    while at < text.end and (letter(text, at) in (32, 9, 13, 10)):
        at += 1
    if is_rule(text, at) or (letter(text, at) == ord("+") and letter(text, at + 1) == ord("+")):
        return False
    end = min(at + AHEAD, text.end) - 1
    while at < end:
        if letter(text, at) == ord(":") and letter(text, at + 1) == ord(":"):
            return False
        at += 1
    return True


cdef bint is_constant(Text text, Place at, Place end) noexcept nogil:
    """Tell `true`, `false` and `null` in any case."""
    if end - at == 4:
        return is_word(text, at, "true") or is_word(text, at, "null")
    return end - at == 5 and is_word(text, at, "false")


cdef bint is_word(Text text, Place at, const char* word) noexcept nogil:
    while word[0]:
        if (<int> letter(text, at) | 32) != word[0]:
            return False
        word += 1
        at += 1
    return True


cdef object read_value(str text, Text* whole, Place* at):
    """Read what follows a key, up to the end of the line or of a list in lines below."""
    if letter(whole[0], at[0]) == 10:
        return read_items(text, whole, at)
    if letter(whole[0], at[0]) != 32:
        return OTHER
    while letter(whole[0], at[0]) == 32:
        at[0] += 1
    if letter(whole[0], at[0]) == ord("["):
        value = read_list(text, whole, at)
    else:
        value = read_scalar(text, whole, at, False)
    return value if letter(whole[0], at[0]) == 10 else OTHER


cdef object read_items(str text, Text* whole, Place* at):
    """Read a list with an item in each line; None: there is no item."""
    cdef list items = []
    cdef Place indent = -1, first, place
    while True:
        first = place = at[0] + 1
        while letter(whole[0], place) == 32:
            place += 1
        if letter(whole[0], place) != ord("-") or letter(whole[0], place + 1) != 32:
            return items or None
        if indent < 0:
            indent = place - first
        if place - first != indent:
            return OTHER
        at[0] = place + 2
        item = read_scalar(text, whole, at, False)
        if item is OTHER or letter(whole[0], at[0]) != 10:
            return OTHER
        items.append(item)


cdef object read_list(str text, Text* whole, Place* at):
    """Read a list in brackets."""
    cdef list items = []
    at[0] += 1
    if letter(whole[0], at[0]) == ord("]"):
        at[0] += 1
        return items
    while True:
        while letter(whole[0], at[0]) == 32:
            at[0] += 1
        item = read_scalar(text, whole, at, True)
        if item is OTHER:
            return OTHER
        items.append(item)
        at[0] += 1
        if letter(whole[0], at[0] - 1) == ord("]"):
            return items
        if letter(whole[0], at[0] - 1) != ord(","):
            return OTHER


cdef object read_scalar(str text, Text* whole, Place* at, bint in_list):
    """Read a text, in quotes or without, or a number."""
    cdef Place first = at[0]
    cdef Py_UCS4 one = letter(whole[0], first)
    if one == ord('"') or one == ord("'"):
        return read_quoted(text, whole, at, one)
    if not is_latin(one) and not is_digit(one) and one < 0xC0:
        return OTHER
    while is_plain(one, in_list):
        at[0] += 1
        one = letter(whole[0], at[0])
    if letter(whole[0], at[0] - 1) == 32 or is_constant(whole[0], first, at[0]):
        return OTHER
    if not is_digit(letter(whole[0], first)) or is_no_number(whole[0], first, at[0]):
        return text[first : at[0]]
    return read_number(whole[0], first, at[0])


cdef object read_quoted(str text, Text* whole, Place* at, Py_UCS4 quote):
    cdef Place first = at[0] + 1, end = first
    cdef Py_UCS4 one = letter(whole[0], end)
    while one != quote:
        if not is_printable(one) or (one == ord("\\") and quote == ord('"')):
            return OTHER
        if one == ord("&"):
            whole.seen |= AND
        elif one == ord("*"):
            whole.seen |= STAR
        end += 1
        one = letter(whole[0], end)
    at[0] = end + 1
    if letter(whole[0], end + 1) == quote or whole.seen == AND | STAR:
        return OTHER
    return text[first:end]


cdef bint is_no_number(Text text, Place at, Place end) noexcept nogil:
    """Tell a date and the like from a number: `/`, or `-` after a digit."""
    while at < end:
        if letter(text, at) == ord("/"):
            return True
        if letter(text, at) == ord("-") and is_digit(letter(text, at - 1)):
            return True
        at += 1
    return False


cdef object read_number(Text text, Place at, Place end):
    cdef long long number = 0
    if end - at > LONGEST_NUMBER or (end - at > 1 and letter(text, at) == ord("0")):
        return OTHER
    while at < end:
        if not is_digit(letter(text, at)):
            return OTHER
        number = 10 * number + (<int> letter(text, at) - 48)
        at += 1
    return number
