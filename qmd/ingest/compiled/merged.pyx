# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Postings of the parts of a batch as one: `plainly_merged` of `ingest/merging.py`, compiled."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

cdef enum:
    FIELDS = 3
    COUNTS = 3  # columns of numbers after those of the term and the document

cdef struct Columns:
    int64_t* term_id
    uint32_t* number
    uint32_t* counts[COUNTS]
    int32_t* offsets
    uint32_t* positions

cdef struct Part:
    Columns columns
    const uint32_t* of_batch  # number in the batch of each document
    Py_ssize_t rows
    Py_ssize_t row  # that comes next


def merged(list made not None, Py_ssize_t documents):
    """Merge the postings of parts. See `merging.plainly_merged`."""
    cdef vector[Part] parts
    cdef Columns whole
    cdef Py_ssize_t postings = 0, occurrences = 0, at, each
    cdef const uint32_t[::1] of_batch, own_lengths, own_starts
    lengths, starts = bytes(4 * FIELDS * documents), bytes(4 * FIELDS * documents)
    cdef uint32_t* to_lengths = <uint32_t*> PyBytes_AS_STRING(lengths)
    cdef uint32_t* to_starts = <uint32_t*> PyBytes_AS_STRING(starts)
    parts.resize(len(made))
    for each in range(<Py_ssize_t> parts.size()):
        of_batch, found = made[each]
        parts[each].of_batch = &of_batch[0]
        parts[each].rows, parts[each].row = len(found.term_id), 0
        hold(&parts[each].columns, found)
        postings += parts[each].rows
        occurrences += len(found.positions)
        own_lengths, own_starts = found.lengths, found.starts
        for at in range(of_batch.shape[0]):
            memcpy(to_lengths + FIELDS * of_batch[at], &own_lengths[FIELDS * at], 4 * FIELDS)
            memcpy(to_starts + FIELDS * of_batch[at], &own_starts[FIELDS * at], 4 * FIELDS)
    columns = [PyBytes_FromStringAndSize(NULL, 8 * postings)]
    columns += [PyBytes_FromStringAndSize(NULL, 4 * postings) for _ in range(1 + COUNTS)]
    columns.append(PyBytes_FromStringAndSize(NULL, 4 * (postings + 1)))
    columns.append(PyBytes_FromStringAndSize(NULL, 4 * occurrences))
    whole.term_id = <int64_t*> PyBytes_AS_STRING(columns[0])
    whole.number = <uint32_t*> PyBytes_AS_STRING(columns[1])
    for at in range(COUNTS):
        whole.counts[at] = <uint32_t*> PyBytes_AS_STRING(columns[2 + at])
    whole.offsets = <int32_t*> PyBytes_AS_STRING(columns[2 + COUNTS])
    whole.positions = <uint32_t*> PyBytes_AS_STRING(columns[3 + COUNTS])
    with nogil:
        write(parts, &whole, postings)
    return (*columns, lengths, starts)


cdef int hold(Columns* columns, found) except -1:
    """Take the addresses of columns; the caller holds what they are in."""
    cdef const int64_t[::1] term_id = found.term_id
    cdef const int32_t[::1] offsets = found.offsets
    cdef const uint32_t[::1] number = found.number, positions = found.positions, count
    cdef int at
    columns.term_id, columns.number = <int64_t*> &term_id[0], <uint32_t*> &number[0]
    columns.offsets, columns.positions = <int32_t*> &offsets[0], <uint32_t*> &positions[0]
    for at in range(COUNTS):
        count = found[2 + at]
        columns.counts[at] = <uint32_t*> &count[0]
    return 0


cdef void write(vector[Part]& parts, Columns* whole, Py_ssize_t postings) noexcept nogil:
    """Write the postings in their order."""
    cdef Part* part
    cdef Py_ssize_t row, own
    cdef int32_t first, end = 0
    cdef int at
    for row in range(postings):
        part = next_part(parts)
        own = part.row
        part.row += 1
        whole.term_id[row] = part.columns.term_id[own]
        whole.number[row] = part.of_batch[part.columns.number[own]]
        for at in range(COUNTS):
            whole.counts[at][row] = part.columns.counts[at][own]
        whole.offsets[row] = end
        first = part.columns.offsets[own]
        memcpy(
            whole.positions + end,
            part.columns.positions + first,
            4 * (part.columns.offsets[own + 1] - first),
        )
        end += part.columns.offsets[own + 1] - first
    whole.offsets[postings] = end


cdef Part* next_part(vector[Part]& parts) noexcept nogil:
    """Find the part whose next posting is the first one. There are as many as languages."""
    cdef Part* best = NULL
    cdef Part* part
    cdef int64_t term
    cdef size_t each
    for each in range(parts.size()):
        part = &parts[each]
        if part.row < part.rows:
            term = part.columns.term_id[part.row]
            if (
                best == NULL
                or term < best.columns.term_id[best.row]
                or term == best.columns.term_id[best.row]
                and part.of_batch[part.columns.number[part.row]]
                < best.of_batch[best.columns.number[best.row]]
            ):
                best = part
    return best
