# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""MinHash signatures of the documents of a batch, from their postings: `ingest/sketches.py`, compiled."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libcpp.algorithm cimport lower_bound, sort
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


cdef inline uint64_t bucket(const uint16_t* signature, Py_ssize_t band) noexcept nogil:
    cdef uint64_t value = band
    cdef Py_ssize_t row
    for row in range(ROWS):
        value = mixed(value ^ ((<uint64_t>signature[band * ROWS + row] << 32) + <uint64_t>row))
    return value


cdef inline Py_ssize_t equal_minima(const uint16_t* one, const uint16_t* other) noexcept nogil:
    cdef Py_ssize_t j, equal = 0
    for j in range(BINS):
        equal += one[j] == other[j]
    return equal


def bucket_keys(const uint16_t[::1] bins):
    """See `sketches.plain_keys`."""
    cdef Py_ssize_t texts = bins.shape[0] // BINS, text, band
    cdef vector[uint32_t] keys
    keys.resize(texts * BANDS)
    with nogil:
        for text in range(texts):
            for band in range(BANDS):
                keys[text * BANDS + band] = <uint32_t>(bucket(&bins[text * BINS], band) >> 32)
    return PyBytes_FromStringAndSize(<char*>keys.data(), texts * BANDS * 4)


def sharing(const uint32_t[::1] some, const uint32_t[::1] others):
    """See `sketches.plainly_sharing`."""
    cdef Py_ssize_t texts = others.shape[0] // BANDS, text, band, count = some.shape[0], at
    cdef uint32_t key
    cdef vector[uint32_t] found
    # Whether some key ends in these 18 bits: nearly none does.
    cdef vector[char] ends = vector[char](1 << 18, 0)
    with nogil:
        for at in range(count):
            ends[some[at] & 0x3ffff] = 1
        for text in range(texts):
            for band in range(BANDS):
                key = others[text * BANDS + band]
                if ends[key & 0x3ffff]:
                    at = lower_bound(&some[0], &some[0] + count, key) - &some[0]
                    if at < count and some[at] == key:
                        found.push_back(<uint32_t>text)
                        break
    return found


def beside_another(const uint32_t[::1] keys):
    """See `sketches.plainly_beside_another`."""
    cdef Py_ssize_t texts = keys.shape[0] // BANDS, text, band, at
    cdef vector[uint64_t] places  # of texts, behind their keys
    cdef vector[char] shared = vector[char](texts, 0)
    places.resize(texts)
    with nogil:
        for band in range(BANDS):
            for text in range(texts):
                places[text] = (<uint64_t>keys[text * BANDS + band] << 32) | <uint64_t>text
            sort(places.begin(), places.end())
            for at in range(1, texts):
                if places[at] >> 32 == places[at - 1] >> 32:
                    shared[<uint32_t>places[at]] = shared[<uint32_t>places[at - 1]] = 1
    return [text for text in range(texts) if shared[text]]


def near_pairs(const uint16_t[::1] bins, const uint32_t[::1] order, Py_ssize_t least, Py_ssize_t crowd):
    """See `sketches.plain_pairs`."""
    cdef Py_ssize_t texts = order.shape[0], d, j, at, end, other, one, equal
    cdef uint32_t first, second
    cdef vector[pair[uint64_t, uint32_t]] places
    # Ranks of both, and their equal minima. Of texts that share a bucket, most are not near.
    cdef vector[pair[pair[uint32_t, uint32_t], uint32_t]] near
    cdef vector[uint32_t] ranks
    ranks.resize(texts)
    for at in range(texts):
        ranks[order[at]] = <uint32_t>at
    places.reserve(texts)
    for j in range(BANDS):  # one after the other, for less memory
        places.clear()
        for d in range(texts):
            places.push_back(pair[uint64_t, uint32_t](bucket(&bins[d * BINS], j), ranks[d]))
        sort(places.begin(), places.end())
        at = 0
        while at < <Py_ssize_t>places.size():
            end = at + 1
            while end < <Py_ssize_t>places.size() and places[end].first == places[at].first:
                end += 1
            for one in range(at, end if end - at < crowd else at + 1):
                for other in range(one + 1, end):
                    first, second = places[one].second, places[other].second
                    equal = equal_minima(&bins[<Py_ssize_t>order[first] * BINS], &bins[<Py_ssize_t>order[second] * BINS])
                    if equal >= least:
                        near.push_back(
                            pair[pair[uint32_t, uint32_t], uint32_t](
                                pair[uint32_t, uint32_t](first, second), <uint32_t>equal
                            )
                        )
            at = end
    sort(near.begin(), near.end())
    found = []
    for at in range(<Py_ssize_t>near.size()):
        if at > 0 and near[at].first == near[at - 1].first:
            continue
        found.append((near[at].first.first, near[at].first.second, near[at].second))
    return found


def near_some(
    const uint16_t[::1] some,
    const uint16_t[::1] others,
    list hashes,
    object apart,
    Py_ssize_t least,
    uint32_t[::1] texts,
    list firsts,
):
    """See `sketches.plainly_near_some`."""
    cdef Py_ssize_t count = some.shape[0] // BINS, rows = others.shape[0] // BINS
    cdef Py_ssize_t text, row, band, equal
    cdef const uint16_t* signature
    cdef uint64_t value
    # Whether a band of some text begins with a number: nearly none does.
    cdef vector[char] begins = vector[char](BANDS << 16, 0)
    cdef vector[pair[uint64_t, uint32_t]] places
    cdef vector[uint32_t] shared
    cdef pair[uint64_t, uint32_t] key
    cdef uint32_t place, bands
    cdef size_t at
    for text in range(count):
        signature = &some[text * BINS]
        for band in range(BANDS):
            begins[(band << 16) + signature[band * ROWS]] = 1
            places.push_back(
                pair[uint64_t, uint32_t](bucket(signature, band), <uint32_t>(BANDS * text + band))
            )
    sort(places.begin(), places.end())
    found = []
    for row in range(rows):
        signature = &others[row * BINS]
        shared.clear()
        for band in range(BANDS):
            if not begins[(band << 16) + signature[band * ROWS]]:
                continue
            value = bucket(signature, band)
            key = pair[uint64_t, uint32_t](value, 0)
            at = lower_bound(places.begin(), places.end(), key) - places.begin()
            while at < places.size() and places[at].first == value:
                place = places[at].second
                texts[place] += 1
                first, own_hash = firsts[place], hashes[row]
                if (first is None or own_hash < first) and own_hash not in apart:
                    firsts[place] = own_hash
                shared.push_back(place)
                at += 1
        sort(shared.begin(), shared.end())
        at = 0
        while at < shared.size():
            text = shared[at] // BANDS
            bands = 0
            while at < shared.size() and shared[at] // BANDS == <uint32_t>text:
                bands |= (<uint32_t>1) << (shared[at] % BANDS)
                at += 1
            equal = equal_minima(&some[text * BINS], signature)
            if equal >= least:
                found.append((text, row, equal, bands))
    return found
