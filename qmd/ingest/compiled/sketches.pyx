# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""MinHash signatures of the documents of a batch, from their postings: `ingest/sketches.py`, compiled."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

cdef enum:
    BINS = 128
    BANDS = 16
    ROWS = 5
    LEAST = 15


cdef inline uint64_t mixed(uint64_t x) noexcept nogil:
    x = (x ^ (x >> 33)) * <uint64_t>0xff51afd7ed558ccd
    x = (x ^ (x >> 33)) * <uint64_t>0xc4ceb9fe1a85ec53
    return x ^ (x >> 33)


def sketched(
    const int64_t[::1] term_id,
    const uint32_t[::1] number,
    const int32_t[::1] offsets,
    const uint32_t[::1] positions,
    const uint32_t[::1] starts,
    Py_ssize_t documents,
):
    """See `sketches.plainly_sketched`."""
    cdef Py_ssize_t postings = term_id.shape[0], at, place, d, j, gap
    cdef vector[size_t] base = vector[size_t](documents + 1, 0)
    cdef vector[uint32_t] words
    cdef uint64_t least[BINS]
    cdef uint64_t first, second, word, value
    cdef uint32_t count, begin
    cdef vector[uint16_t] bins = vector[uint16_t](documents * BINS, 0)
    cdef vector[char] told = vector[char](documents, 0)
    for at in range(postings):
        if offsets[at + 1] > offsets[at]:
            d = number[at]
            place = positions[offsets[at + 1] - 1] + 1
            if <size_t>place > base[d + 1]:
                base[d + 1] = place
    for d in range(documents):
        base[d + 1] += base[d]
    words.resize(base[documents], 0)
    for at in range(postings):
        d = number[at]
        begin = starts[3 * d + 2]
        word = (mixed(<uint64_t>term_id[at]) >> 32) | 1
        for place in range(offsets[at], offsets[at + 1]):
            if positions[place] >= begin:
                words[base[d] + positions[place]] = <uint32_t>word
    for d in range(documents):
        first = second = 0
        count = 0
        for j in range(BINS):
            least[j] = <uint64_t>-1
        for place in range(<Py_ssize_t>base[d], <Py_ssize_t>base[d + 1]):
            word = words[place]
            if word == 0:
                continue
            if first != 0:
                value = mixed(first * 3 + second * 5 + word * 7)
                j = value >> 57
                value &= <uint64_t>0x1ffffffffffffff
                if value < least[j]:
                    count += least[j] == <uint64_t>-1
                    least[j] = value
            first, second = second, word
        if count < LEAST:
            continue
        told[d] = 1
        for j in range(BINS):
            gap = 0
            while least[(j + gap) % BINS] == <uint64_t>-1:
                gap += 1
            bins[d * BINS + j] = <uint16_t>(least[(j + gap) % BINS] + <uint64_t>gap * 0x9e37)
    return (
        PyBytes_FromStringAndSize(told.data(), documents),
        PyBytes_FromStringAndSize(<char*>bins.data(), documents * BINS * 2),
    )


def near_pairs(const uint16_t[::1] bins, const uint32_t[::1] order, Py_ssize_t least, Py_ssize_t crowd):
    """See `sketches.plain_pairs`."""
    cdef Py_ssize_t texts = order.shape[0], d, j, k, at, end, other, one, equal, first, second
    cdef uint64_t value
    cdef vector[pair[uint64_t, uint32_t]] places
    cdef vector[pair[uint32_t, uint32_t]] candidates
    cdef pair[uint32_t, uint32_t] candidate
    cdef vector[uint32_t] ranks
    ranks.resize(texts)
    for at in range(texts):
        ranks[order[at]] = <uint32_t>at
    places.reserve(texts)
    for j in range(BANDS):  # one after the other, for less memory
        places.clear()
        for d in range(texts):
            value = j
            for k in range(ROWS):
                value = mixed(value ^ ((<uint64_t>bins[d * BINS + j * ROWS + k] << 32) + <uint64_t>k))
            places.push_back(pair[uint64_t, uint32_t](value, ranks[d]))
        sort(places.begin(), places.end())
        at = 0
        while at < <Py_ssize_t>places.size():
            end = at + 1
            while end < <Py_ssize_t>places.size() and places[end].first == places[at].first:
                end += 1
            for one in range(at, end if end - at < crowd else at + 1):
                for other in range(one + 1, end):
                    candidates.push_back(
                        pair[uint32_t, uint32_t](places[one].second, places[other].second)
                    )
            at = end
    sort(candidates.begin(), candidates.end())
    found = []
    for at in range(<Py_ssize_t>candidates.size()):
        candidate = candidates[at]
        if at > 0 and candidate == candidates[at - 1]:
            continue
        first, second = order[candidate.first] * BINS, order[candidate.second] * BINS
        equal = 0
        for j in range(BINS):
            equal += bins[first + j] == bins[second + j]
        if equal >= least:
            found.append((candidate.first, candidate.second, equal))
    return found
