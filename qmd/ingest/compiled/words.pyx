# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A batch of documents as postings: the rules of `text/tokenizer.py`, compiled.

    fields ──split──▸ numbers of raw words ─────────────────────────────────▸ postings
                      words beyond ASCII ──▸ Python ──define──▸ folded words
                                                      new ones ──▸ Python ──resolve──▸ terms

A word that was met before is a number, found by its bytes in a table of hashes; what it is indexed
as is told once. The rest is counting: how often each term occurs says where its postings begin,
and since documents are gone through in order, all of them are written in order.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport (
    INT32_MAX, UINT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
)
from libcpp.algorithm cimport sort
from libcpp.pair cimport pair
from libcpp.vector cimport vector

cdef enum:
    FIELDS = 3
    LONGEST = 64  # bytes of a word that count: text/tokenizer.py
    LONGEST_PAIR = 20
    MANY = 4_000_000  # words of a batch whose numbers are not kept for the next one

include "spellings.pxi"

cdef uint8_t IN_WORD[256]
cdef int _code
for _code in range(256):
    IN_WORD[_code] = _code >= 128 or chr(_code).isalnum() or _code == 95

cdef uint8_t IS_MARK_BEFORE[256]
cdef uint8_t IS_MARK_AFTER[256]
cdef uint8_t OPENS[256]  # a word with a mark before it can follow
for _code in range(256):
    IS_MARK_BEFORE[_code] = _code < 128 and chr(_code) in ".@$#-"
    IS_MARK_AFTER[_code] = _code < 128 and chr(_code) in "+#*-"
    OPENS[_code] = _code <= 32 or _code < 128 and chr(_code) in "\"'`([{/*|,=<>"


cdef struct Word:
    uint32_t first  # of its pieces
    uint16_t count  # of its pieces
    uint16_t width  # positions that it takes


cdef struct Piece:
    int32_t folded  # the number of a folded word
    uint32_t shift  # from the first position of the word


cdef struct Posting:  # of a term, the last that was begun
    int32_t next                # place of the next occurrence of the term among the positions
    int32_t row                 # of the posting
    int32_t document            # -1: none was begun


cdef struct Counted:  # a term in the batch
    int32_t times
    int32_t documents
    int32_t last                # document that has it


cdef cppclass Folded:
    """Folded words, and the terms that they have."""

    Spellings spellings
    vector[int32_t] term      # of each word the number of its term
    vector[int64_t] term_ids
    vector[int32_t] places    # numbers of terms by their ids; -1: empty
    vector[int32_t] slots     # of each term among those of the batch; -1: it is not in the batch
    vector[int32_t] met       # terms of the batch

    int32_t number(int64_t term_id) except -1 nogil:
        """The number of a term, which is new if it was not met before."""
        cdef size_t mask, place
        if 2 * this.term_ids.size() >= this.places.size():
            this.widen()
        mask = this.places.size() - 1
        place = this.place(term_id) & mask
        while this.places[place] >= 0:
            if this.term_ids[this.places[place]] == term_id:
                return this.places[place]
            place = (place + 1) & mask
        this.places[place] = <int32_t> this.term_ids.size()
        this.term_ids.push_back(term_id)
        return this.places[place]

    size_t place(int64_t term_id) noexcept nogil:
        cdef uint64_t hash = hashed(<const uint8_t*> &term_id, 8)
        return hash ^ (hash >> 32)

    int widen() except -1 nogil:
        """Twice as many places, so that few terms have to go on to another."""
        cdef size_t size = max(<size_t> 1 << 12, 2 * this.places.size()), place, number
        cdef vector[int32_t] wider
        wider.resize(size, -1)
        for number in range(this.term_ids.size()):
            place = this.place(this.term_ids[number]) & (size - 1)
            while wider[place] >= 0:
                place = (place + 1) & (size - 1)
            wider[place] = <int32_t> number
        this.places.swap(wider)
        return 0

    int begin() except -1 nogil:
        """Forget which terms are in a batch."""
        cdef size_t at
        for at in range(this.met.size()):
            this.slots[this.met[at]] = -1
        this.met.clear()
        this.slots.resize(this.term_ids.size(), -1)
        return 0


cdef class FoldedWords:
    """Folded words of all languages, which their `Words` share."""

    cdef Folded known


cdef struct Columns:
    uint32_t* document
    int32_t* offsets
    uint32_t* positions
    uint32_t* counts[FIELDS]


cdef class Words:
    """Raw words met so far, and what each is indexed as.

    `split`, `define` and `resolve` follow one another, then `postings` are those of the batch.

    Args:
        every: leave plain words to Python, too: they have stems of another language.
        folded: words that others have met; None: there are none.

    Raises:
        RuntimeError: one is called out of turn, or after one that failed.
    """

    cdef Spellings raw
    cdef FoldedWords owner
    cdef Folded* known
    cdef vector[Word] words
    cdef vector[Piece] pieces
    cdef bint every
    cdef vector[int32_t] foreign  # raw words that Python has to fold
    cdef int turn  # of: 0 split, 1 define, 2 resolve; -1: one is at work, or has failed
    # of the batch
    cdef vector[int32_t] number
    cdef vector[int32_t] in_field

    def __cinit__(self, bint every=False, FoldedWords folded=None):
        self.owner = FoldedWords() if folded is None else folded
        self.known = &self.owner.known
        self.every = every

    def split(self, list fields not None):
        """Find the words of a batch.

        Args:
            fields: bytes, three to a document, in which every byte above ASCII is part of a word.

        Returns:
            Words that were never met before and are more than ASCII.
        """
        cdef bytes field
        cdef vector[const uint8_t*] texts
        cdef vector[Py_ssize_t] sizes
        cdef size_t at
        cdef int32_t number
        if len(fields) % FIELDS:
            raise ValueError("a document has three fields")
        self.begin(0)
        self.number.clear()
        self.in_field.clear()
        self.foreign.clear()
        for field in fields:
            texts.push_back(<const uint8_t*> PyBytes_AS_STRING(field))
            sizes.push_back(PyBytes_GET_SIZE(field))
        with nogil:
            for at in range(texts.size()):
                self.read(texts[at], sizes[at])
        self.turn = 1
        return [spelled(self.raw, number) for number in self.foreign]

    cdef int begin(self, int turn) except -1:
        if self.turn != turn:
            raise RuntimeError("what is known of words is not whole")
        self.turn = -1
        return 0

    cdef int read(self, const uint8_t* text, Py_ssize_t size) except -1 nogil:
        """Note the words of a field."""
        cdef const uint8_t* at = text
        cdef const uint8_t* end = text + size
        cdef const uint8_t* start
        cdef uint64_t hash
        cdef size_t before = self.number.size()
        cdef int32_t length
        while True:
            while at < end and not IN_WORD[at[0]]:
                at += 1
            if at == end:
                break
            start = at
            hash = 0
            while at < end and IN_WORD[at[0]]:
                hash = (hash ^ RANDOM[at[0]]) * PRIME
                at += 1
            if (
                at < end and IS_MARK_AFTER[at[0]]
                or start > text and IS_MARK_BEFORE[(start - 1)[0]]
            ):
                if self.read_forms(text, start, at, end):
                    continue
            if at - start <= LONGEST:
                length = <int32_t> (at - start)
            else:
                length = LONGEST
                while start[length] & 0xC0 == 0x80:  # no character is cut in two
                    length -= 1
                hash = hashed(start, length)
            self.note(start, length, hash)
        self.in_field.push_back(<int32_t> (self.number.size() - before))
        return 0

    cdef int note(self, const uint8_t* start, int32_t length, uint64_t hash) except -1 nogil:
        """Note a word of the field."""
        cdef int32_t number = self.raw.number(start, length, hash)
        if <size_t> number == self.words.size():
            self.meet(number, start, length)
        self.number.push_back(number)
        return 0

    cdef bint read_forms(
        self, const uint8_t* text, const uint8_t* start, const uint8_t* at, const uint8_t* end
    ) except -1 nogil:
        """Note a word with its marks and joined to the next one: `_marked` and `_joined` of
        text/tokenizer.py.

        Args:
            text: the field.
            start: of the word.
            at: its end.
            end: of the field.

        Returns:
            Whether the word is not indexed without its marks.
        """
        cdef const uint8_t* first = start
        cdef const uint8_t* last = marked(text, &first, at, end)
        cdef bint alone = False
        if last != NULL:
            if last - first <= LONGEST:
                self.note(first, <int32_t> (last - first), hashed(first, <int32_t> (last - first)))
            alone = (
                at - start == 1
                and (is_large(start[0]) or is_small(start[0]))
                and (last - at == 2 or last - at == 1 and at[0] == ord("#"))
            )
        if at < end and at[0] == ord("-"):
            last = joined(text, start, at, end)
            if last != NULL:
                self.note(start, <int32_t> (last - start), hashed(start, <int32_t> (last - start)))
        return alone

    cdef int meet(self, int32_t number, const uint8_t* start, int32_t size) except -1 nogil:
        """Say what a new word is indexed as, or leave it to Python."""
        cdef Word word
        cdef uint8_t lower[LONGEST]
        cdef int32_t at, end
        cdef int32_t small = 0, large = 0, large_after = 0, others = 0
        word.first, word.count, word.width = <uint32_t> self.pieces.size(), 0, 1
        if self.every:
            self.words.push_back(word)
            self.foreign.push_back(number)
            return 0
        for at in range(size):
            if start[at] >= 128 or not IN_WORD[start[at]]:
                self.words.push_back(word)
                self.foreign.push_back(number)
                return 0
            lower[at] = start[at]
            if is_large(start[at]):
                lower[at] += 32
                large += 1
                large_after += at > 0
            elif is_small(start[at]):
                small += 1
            elif start[at] == ord("_"):
                others += 1
        # `plain` of text/tokenizer.py, and `compound` for all others
        if not others and (not large or not small or not large_after):
            self.piece(lower, size, 0)
        elif others < size:
            self.piece(lower, size, 0)
            word.width = 0
            at = 0
            while at < size:
                if start[at] == ord("_"):
                    at += 1
                    continue
                end = part_end(start, at, size)
                if at > 0 or end < size:
                    self.piece(&lower[at], end - at, word.width)
                word.width += 1
                at = end
        word.count = <uint16_t> (self.pieces.size() - word.first)
        self.words.push_back(word)
        return 0

    cdef int piece(self, const uint8_t* folded, int32_t size, uint32_t shift) except -1 nogil:
        cdef Piece piece
        piece.folded = self.known.spellings.number(folded, size, hashed(folded, size))
        piece.shift = shift
        self.pieces.push_back(piece)
        return 0

    def define(self, definitions):
        """Say what words are indexed as, in the order in which `split` gave them.

        Args:
            definitions: of each, the positions it takes, and (folded word, shift) of each piece.

        Returns:
            Folded words that were never met before.
        """
        cdef Word* word
        cdef bytes folded
        cdef size_t number, at = 0
        self.begin(1)
        for width, parts in definitions:
            if at == self.foreign.size():
                raise ValueError("there are more definitions than words")
            word = &self.words[self.foreign[at]]
            word.width, word.count = width, len(parts)
            word.first = <uint32_t> self.pieces.size()
            for part, shift in parts:
                folded = part.encode()
                self.piece(<const uint8_t*> PyBytes_AS_STRING(folded), len(folded), shift)
            at += 1
        if at < self.foreign.size():
            raise ValueError("there are more words than definitions")
        self.turn = 2
        known = self.known.term.size()
        return [
            spelled(self.known.spellings, number)
            for number in range(known, self.known.spellings.words.size())
        ]

    def resolve(self, term_ids):
        """Say what terms folded words have, in the order in which `define` gave them."""
        self.begin(2)
        for term_id in term_ids:
            self.known.term.push_back(self.known.number(term_id))
        if self.known.term.size() != self.known.spellings.words.size():
            raise ValueError("each folded word has a term")
        self.turn = 0

    def postings(self):
        """The postings of the batch, sorted by (term, document).

        Returns:
            Columns, each as the bytes of its numbers: term_id (int64), document, frequencies in
            title, path and body (uint32 each), offsets (int32, one more than there are postings)
            into positions (uint32); then of each document, three numbers (uint32): the occurrences
            of all terms in title, path and body, and the positions at which these begin.
        """
        cdef size_t postings, occurrences = 0
        cdef vector[uint32_t] lengths, starts
        cdef vector[Posting] open_of
        cdef vector[pair[int64_t, int32_t]] used
        if self.turn != 0:
            raise RuntimeError("what is known of words is not whole")
        with nogil:
            postings = self.count(lengths, starts, open_of, used, &occurrences)
        term_id = PyBytes_FromStringAndSize(NULL, 8 * postings)
        document, in_title, in_path, in_body = [
            PyBytes_FromStringAndSize(NULL, 4 * postings) for _ in range(4)
        ]
        offsets = PyBytes_FromStringAndSize(NULL, 4 * (postings + 1))
        positions = PyBytes_FromStringAndSize(NULL, 4 * occurrences)
        cdef Columns to
        to.document = <uint32_t*> PyBytes_AS_STRING(document)
        to.offsets = <int32_t*> PyBytes_AS_STRING(offsets)
        to.positions = <uint32_t*> PyBytes_AS_STRING(positions)
        to.counts[0] = <uint32_t*> PyBytes_AS_STRING(in_title)
        to.counts[1] = <uint32_t*> PyBytes_AS_STRING(in_path)
        to.counts[2] = <uint32_t*> PyBytes_AS_STRING(in_body)
        cdef int64_t* to_term_id = <int64_t*> PyBytes_AS_STRING(term_id)
        cdef size_t term
        cdef int32_t row = 0
        cdef Posting* posting
        with nogil:
            self.scatter(open_of, to)
            for term in range(used.size()):
                posting = &open_of[used[term].second]
                while row <= posting.row:
                    to_term_id[row] = used[term].first
                    row += 1
            to.offsets[postings] = <int32_t> occurrences
            if self.number.size() > MANY:
                self.number = vector[int32_t]()
        return (
            term_id, document, in_title, in_path, in_body, offsets, positions,
            as_bytes(lengths), as_bytes(starts),
        )

    cdef size_t count(
        self,
        vector[uint32_t]& lengths,
        vector[uint32_t]& starts,
        vector[Posting]& open_of,
        vector[pair[int64_t, int32_t]]& used,
        size_t* occurrences,
    ) except? 0 nogil:
        """Count what there will be.

        Returns:
            The number of postings. `open_of` says, of each term, where its first occurrence and
            its first posting will stand, by its slot in the batch; `used` are ids and slots of the
            terms that occur, by their ids.
        """
        cdef vector[Counted] counted
        cdef size_t field, at = 0, end, piece, term, postings = 0
        cdef int32_t document, slot, total = 0, rows = 0
        cdef uint32_t place = 0, length
        cdef Word* word
        cdef Counted unmet
        cdef Posting none
        none.next, none.row, none.document = 0, 0, -1
        unmet.times, unmet.documents, unmet.last = 0, 0, -1
        self.known.begin()
        for at in range(self.number.size()):
            occurrences[0] += self.words[self.number[at]].count
        if occurrences[0] > INT32_MAX:
            with gil:
                raise OverflowError("a batch has too many words")
        at = 0
        for field in range(self.in_field.size()):
            document = <int32_t> (field // FIELDS)
            if field % FIELDS == 0:
                place = 0
            starts.push_back(place)
            length = 0
            end = at + self.in_field[field]
            while at < end:
                word = &self.words[self.number[at]]
                for piece in range(word.first, word.first + word.count):
                    term = self.known.term[self.pieces[piece].folded]
                    slot = self.known.slots[term]
                    if slot < 0:
                        slot = <int32_t> counted.size()
                        self.known.slots[term] = slot
                        self.known.met.push_back(<int32_t> term)
                        counted.push_back(unmet)
                    counted[slot].times += 1
                    if counted[slot].last != document:
                        counted[slot].last = document
                        counted[slot].documents += 1
                        postings += 1
                length += word.count
                place += word.width
                at += 1
            lengths.push_back(length)
            place += 1  # so that no phrase reaches from one field into the next
        for at in range(counted.size()):
            used.push_back(
                pair[int64_t, int32_t](self.known.term_ids[self.known.met[at]], <int32_t> at)
            )
        sort(used.begin(), used.end())
        open_of.resize(counted.size(), none)
        for at in range(used.size()):
            slot = used[at].second
            open_of[slot].next, open_of[slot].row = total, rows - 1
            total += counted[slot].times
            rows += counted[slot].documents
        return postings

    cdef int scatter(self, vector[Posting]& open_of, Columns& to) except -1 nogil:
        """Write each occurrence in its place."""
        cdef size_t field, at = 0, end, piece
        cdef int32_t document = 0
        cdef int32_t row
        cdef uint32_t place = 0
        cdef uint32_t* counts
        cdef Word* word
        cdef Posting* posting
        for field in range(self.in_field.size()):
            counts = to.counts[field % FIELDS]
            if field % FIELDS == 0:
                document = <int32_t> (field // FIELDS)
                place = 0
            end = at + self.in_field[field]
            while at < end:
                word = &self.words[self.number[at]]
                for piece in range(word.first, word.first + word.count):
                    posting = &open_of[self.known.slots[self.known.term[self.pieces[piece].folded]]]
                    if posting.document != document:
                        posting.document = document
                        posting.row += 1
                        row = posting.row
                        to.offsets[row] = posting.next
                        to.document[row] = document
                        to.counts[0][row] = to.counts[1][row] = to.counts[2][row] = 0
                    counts[posting.row] += 1
                    to.positions[posting.next] = place + self.pieces[piece].shift
                    posting.next += 1
                place += word.width
                at += 1
            place += 1
        return 0


cdef const uint8_t* marked(
    const uint8_t* text, const uint8_t** first, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """Where a word with its marks ends; NULL if no mark makes another word of it.

    Args:
        text: the field.
        first: where the word starts, and then where it starts with its marks.
        at: where it ends.
        end: of the field.
    """
    cdef const uint8_t* start = first[0]
    cdef uint8_t mark = at[0] if at < end else 0
    cdef uint8_t following = at[1] if end - at > 1 else 0
    cdef bint is_first
    if mark == ord("+") and following == ord("+"):
        return at + 2
    if (mark == ord("+") or mark == ord("#") or mark == ord("*")) and not IN_WORD[following]:
        if mark != ord("*") or not (
            following == ord("*") or start > text and (start - 1)[0] == ord("*")
        ):
            return at + 1
    mark = (start - 1)[0] if start > text else 0
    if mark == ord("@") or mark == ord("$"):
        is_first = start - text < 2 or ((start - 2)[0] != mark and not IN_WORD[(start - 2)[0]])
    elif mark == ord("#"):
        is_first = start - text < 2 or (start - 2)[0] <= 32
    elif mark == ord(".") and not is_digit(start[0]):
        is_first = start - text < 2 or OPENS[(start - 2)[0]]
    else:
        is_first = (
            mark == ord("-")
            and start - text > 1
            and (start - 2)[0] == ord("-")
            and (start - text < 3 or OPENS[(start - 3)[0]])
        )
        start -= is_first
    if not is_first:
        return NULL
    first[0] = start - 1
    return at


cdef const uint8_t* joined(
    const uint8_t* text, const uint8_t* start, const uint8_t* at, const uint8_t* end
) noexcept nogil:
    """Where two words end that a hyphen joins; NULL if they are no such pair.

    Args:
        text: the field.
        start: of the first word.
        at: its end, where the hyphen is.
        end: of the field.
    """
    cdef const uint8_t* last = at + 1
    cdef uint8_t before = (start - 1)[0] if start > text else 0
    cdef uint8_t after
    if last == end or not IN_WORD[last[0]] or (is_digit((at - 1)[0]) and is_digit(last[0])):
        return NULL
    while last < end and IN_WORD[last[0]]:
        last += 1
    after = last[0] if last < end else 0
    if before == ord("/") or after == ord("/"):
        return NULL
    if before == ord("-") and start - text > 1 and IN_WORD[(start - 2)[0]]:
        return NULL
    if (after == ord("-") or after == ord(".")) and end - last > 1 and IN_WORD[last[1]]:
        if after == ord(".") or at - start > 1:
            return NULL
    return last if last - start <= LONGEST_PAIR else NULL


cdef int32_t part_end(const uint8_t* word, int32_t at, int32_t size) noexcept nogil:
    """Where the part of an identifier ends that begins at a place."""
    cdef int32_t end = at
    while end < size and is_large(word[end]):
        end += 1
    if end - at >= 2 and end < size and is_small(word[end]):
        return end - 1  # HTTP of HTTPRequest
    if end - at <= 1 and end < size and (is_small(word[end]) or is_digit(word[end])):
        while end < size and (is_small(word[end]) or is_digit(word[end])):
            end += 1
        return end
    while end < size and (is_large(word[end]) or is_digit(word[end])):
        end += 1
    return end


cdef bytes as_bytes(vector[uint32_t]& numbers):
    return PyBytes_FromStringAndSize(<char*> numbers.data(), 4 * numbers.size())
