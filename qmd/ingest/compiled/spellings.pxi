"""Distinct words, each with a number: a part of `words.pyx`."""

import os

from libc.string cimport memcmp

# FNV-1a of 64 bits (Fowler, Noll, Vo), with a random number of this process for each byte, so that
# words that share a place cannot be chosen.
cdef extern from *:
    """static const uint64_t PRIME = 0x100000001b3;"""
    const uint64_t PRIME

cdef uint64_t RANDOM[256]
cdef int _byte
for _byte in range(256):
    RANDOM[_byte] = int.from_bytes(os.urandom(8), "little")


cdef struct Spelled:  # of 12 bytes: there may be millions
    uint32_t hash
    uint32_t at   # of its bytes among those of all
    int32_t size  # in bytes


cdef cppclass Spellings:
    """Distinct words, numbered in the order in which they are met."""

    vector[uint8_t] letters
    vector[Spelled] words
    vector[int32_t] places  # numbers of words by their hashes; -1: empty

    int32_t number(const uint8_t* start, int32_t size, uint64_t hash) except -1 nogil:
        """The number of a word, which is new if it was not met before."""
        cdef size_t mask, place
        cdef int32_t number
        cdef uint32_t low = <uint32_t> (hash ^ (hash >> 32))
        cdef Spelled word
        if 2 * this.words.size() >= this.places.size():
            this.widen()
        mask = this.places.size() - 1
        place = low & mask
        while True:
            number = this.places[place]
            if number < 0:
                break
            if (
                this.words[number].hash == low
                and this.words[number].size == size
                and memcmp(&this.letters[this.words[number].at], start, size) == 0
            ):
                return number
            place = (place + 1) & mask
        number = <int32_t> this.words.size()
        if this.letters.size() + size > UINT32_MAX:
            with gil:
                raise OverflowError("there are too many words")
        word.hash, word.at, word.size = low, <uint32_t> this.letters.size(), size
        this.letters.insert(this.letters.end(), start, start + size)
        this.words.push_back(word)
        this.places[place] = number
        return number

    int widen() except -1 nogil:
        """Twice as many places, so that few words have to go on to another."""
        cdef size_t size = max(<size_t> 1 << 12, 2 * this.places.size()), place, number
        cdef vector[int32_t] wider
        wider.resize(size, -1)
        for number in range(this.words.size()):
            place = this.words[number].hash & (size - 1)
            while wider[place] >= 0:
                place = (place + 1) & (size - 1)
            wider[place] = <int32_t> number
        this.places.swap(wider)
        return 0


cdef uint64_t hashed(const uint8_t* start, int32_t size) noexcept nogil:
    cdef uint64_t hash = 0
    cdef int32_t at
    for at in range(size):
        hash = (hash ^ RANDOM[start[at]]) * PRIME
    return hash


cdef str spelled(Spellings& spellings, size_t number):
    cdef Spelled* word = &spellings.words[number]
    return (<const char*> &spellings.letters[word.at])[: word.size].decode()


cdef bint is_large(uint8_t byte) noexcept nogil:
    return ord("A") <= byte <= ord("Z")


cdef bint is_small(uint8_t byte) noexcept nogil:
    return ord("a") <= byte <= ord("z")


cdef bint is_digit(uint8_t byte) noexcept nogil:
    return ord("0") <= byte <= ord("9")
