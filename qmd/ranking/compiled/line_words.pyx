# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Words of a query in lines: loops of `ranking/matcher.py` and `ranking/snippets.py`, compiled."""

from cpython.unicode cimport PyUnicode_Find, PyUnicode_READ_CHAR, PyUnicode_Substring
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

cdef extern from *:
    """
    static inline int qmd_is_of_word(Py_UCS4 c)
    {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    static inline int qmd_is_small(Py_UCS4 c) { return c >= 'a' && c <= 'z'; }
    static inline int qmd_is_capital(Py_UCS4 c) { return c >= 'A' && c <= 'Z'; }
    """
    bint is_of_word "qmd_is_of_word"(Py_UCS4 character) noexcept
    bint is_small "qmd_is_small"(Py_UCS4 character) noexcept
    bint is_capital "qmd_is_capital"(Py_UCS4 character) noexcept

cdef struct Matching:
    Py_ssize_t line
    uint64_t bits


def add_words(
    str text not None,
    str lowered not None,
    starts,
    Py_ssize_t first,
    Py_ssize_t stop,
    apart,
    dict begins not None,
    dict known not None,
    unknown,
    dict found not None,
    dict bit_of not None,
    Py_ssize_t longest,
):
    """Add the bits of words that begin in some ways. See `matcher.plainly_add_words`.

    Args:
        bit_of: bits of folded words.
        longest: characters of a word that count.
    """
    cdef vector[Py_ssize_t] bounds
    cdef vector[uint64_t] met
    cdef Py_ssize_t at, line, after, end, word_end, size = len(text)
    cdef uint64_t bits, bit
    for line in range(first, stop + 1):
        bounds.push_back(starts[line])
    met.resize(stop - first)
    for key, value in found.items():
        met[<Py_ssize_t> key - first] = value
    end = bounds[stop - first]
    for start, value in begins.items():
        bits = value
        line = 0
        at = PyUnicode_Find(lowered, start, bounds[0], end, 1)
        while at >= 0:
            if (
                at
                and is_small(PyUnicode_READ_CHAR(text, at - 1))
                and not is_capital(PyUnicode_READ_CHAR(text, at))
            ):
                at = PyUnicode_Find(lowered, start, at + 1, end, 1)
                continue
            while bounds[line + 1] <= at:
                line += 1
            after = bounds[line + 1]
            if bits & ~met[line] and (not apart or first + line not in apart):
                word_end = at + 1
                while at and is_of_word(PyUnicode_READ_CHAR(text, at - 1)):
                    at -= 1
                while word_end < size and is_of_word(PyUnicode_READ_CHAR(text, word_end)):
                    word_end += 1
                if is_plain(text, at, min(word_end, at + longest)):
                    value = bit_of.get(
                        PyUnicode_Substring(lowered, at, min(word_end, at + longest))
                    )
                    bit = 0 if value is None else value
                else:
                    raw = PyUnicode_Substring(text, at, word_end)
                    value = known.get(raw)
                    bit = unknown(raw) if value is None else value
                met[line] |= bit
                if bits & ~met[line]:
                    after = word_end  # the line may have another word that begins so
            at = PyUnicode_Find(lowered, start, after, end, 1)
    for line in range(stop - first):
        if met[line]:
            found[first + line] = met[line]


def line_starts(list lines not None):
    """Return where each line starts in its text. See `snippets.plainly_line_starts`."""
    cdef Py_ssize_t at = 0
    starts = [0]
    for line in lines:
        at += len(<str> line) + 1
        starts.append(at)
    return starts


cdef inline bint is_plain(str text, Py_ssize_t start, Py_ssize_t end):
    """Check that a word of ASCII is one token. See `tokenizer.plain`."""
    cdef Py_ssize_t capitals = 0, smalls = 0, at
    cdef Py_UCS4 character
    for at in range(start, end):
        character = PyUnicode_READ_CHAR(text, at)
        if is_capital(character):
            capitals += 1
        elif is_small(character):
            smalls += 1
        elif character == u"_":
            return False
    return (
        capitals == 0
        or smalls == 0
        or (capitals == 1 and is_capital(PyUnicode_READ_CHAR(text, start)))
    )


cdef inline int count_of(uint64_t bits) noexcept nogil:
    """Count the bits that are set: few are."""
    cdef int count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


def best_window(
    list starts not None, matching, Py_ssize_t length, distinct, counts, Py_ssize_t reach
):
    """Find the window with the most words of the query. See `snippets.plainly_best_window`.

    Args:
        reach: characters that are looked at after a window with all words.
    """
    cdef vector[Matching] ahead
    cdef Matching each
    cdef size_t head = 0, at, kept
    cdef Py_ssize_t wanted = -1 if distinct is None else distinct
    cdef Py_ssize_t count = 0, seen, spread, last = starts[len(starts) - 1]
    cdef Py_ssize_t most_seen = 0, most_spread = 0, most_count = 0, best_first = -1, best_last = 0
    cdef uint64_t bits = 0
    cdef bint has_coming, is_left_out
    has_coming = take(matching, &each)
    while True:
        while has_coming and (
            head == ahead.size()
            or <Py_ssize_t> starts[each.line + 1] - <Py_ssize_t> starts[ahead[head].line] <= length
        ):
            ahead.push_back(each)
            bits |= each.bits
            count += count_of(each.bits)
            has_coming = take(matching, &each)
        if head == ahead.size() or <Py_ssize_t> starts[ahead[head].line] > last:
            break
        if count_of(bits) < most_seen:
            count -= count_of(ahead[head].bits)
            head += 1
            continue
        bits, spread = 0, 0
        for at in range(head, ahead.size()):
            if ahead[at].bits & ~bits:
                bits |= ahead[at].bits
                spread = ahead[at].line - ahead[head].line
        seen = count_of(bits)
        if seen > most_seen or (
            seen == most_seen
            and (-spread > most_spread or (-spread == most_spread and count > most_count))
        ):
            if counts is not None:
                is_left_out = False
                for at in range(head, ahead.size()):
                    if not counts(ahead[at].line):
                        is_left_out = True
                        break
                if is_left_out:
                    kept = head
                    count = 0
                    for at in range(head, ahead.size()):
                        if counts(ahead[at].line):
                            ahead[kept] = ahead[at]
                            count += count_of(ahead[at].bits)
                            kept += 1
                    ahead.resize(kept)
                    continue
            best_first, best_last = ahead[head].line, ahead[head].line + spread + 1
            most_seen, most_spread, most_count = seen, -spread, count
            if seen == wanted:
                if not spread:
                    break
                # The same words may be nearer to each other, but not at the other end of a book.
                last = min(last, <Py_ssize_t> starts[ahead[head].line] + reach)
        count -= count_of(ahead[head].bits)
        head += 1
    return None if best_first < 0 else (best_first, best_last)


cdef bint take(matching, Matching* into) except -1:
    """Take the next line that matches; False without one."""
    found = next(matching, None)
    if found is None:
        return False
    into.line, into.bits = (<tuple> found)[0], (<tuple> found)[1]
    return True
