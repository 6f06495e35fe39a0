# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Search in the mapped postings of a sidecar, without numpy, which takes longer to load."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint32_t
from libcpp cimport bool
from libcpp.pair cimport pair
from libcpp.vector cimport vector

from qmd.storage.statements import K1, PATH, TITLE, UNITS, B

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #include <algorithm>
    #include <cmath>
    #include <functional>
    #include <iterator>
    #include <limits>
    #include <memory>
    #include <new>
    #include <stdexcept>
    #include <utility>
    #include <vector>

    namespace {

    // One of so many values: fewer are looked up in others, of more all are compared.
    const int64_t FEW = 8;

    struct Misfit : std::invalid_argument {
        Misfit() : std::invalid_argument("The arrays do not fit each other.") {}
    };

    struct Numbers {  // whole numbers of 1, 2 or 4 bytes each
        const unsigned char *data;
        int64_t count;
        int64_t width;

        uint32_t operator[](int64_t at) const {
            switch (width) {
            case 1: return data[at];
            case 2: return reinterpret_cast<const uint16_t *>(data)[at];
            default: return reinterpret_cast<const uint32_t *>(data)[at];
            }
        }
    };

    struct Part {  // see `segments.Part`
        const int64_t *terms, *bounds, *places;
        int64_t count;
        Numbers slots, doubled, counts;
        const uint16_t *positions;
        int64_t occurrences;
        const int64_t *wide;
        const uint32_t *beyond;
        int64_t wides;
    };

    struct Term {  // postings of a term, from the first to the one after the last
        const Part *part;
        int64_t first, last, place;

        int64_t size() const { return last - first; }
    };

    struct Found {
        std::vector<uint32_t> ids;
        std::vector<double> values;
    };

    typedef std::vector<int64_t> Starts;  // the slot in the upper half, the position in the lower

    class Core {
    public:
        const uint32_t *ids = nullptr;
        const double *lengths = nullptr;
        const int64_t *path_starts = nullptr, *body_starts = nullptr;
        int64_t documents = 0;
        std::vector<Part> parts;
        std::vector<uint32_t> gone;  // slots, ascending

        Term find(int64_t term) const {
            Term none = {nullptr, 0, 0, 0};
            int shift = 63;
            for (size_t each = parts.size(); each > 1; each >>= 1) shift--;
            if (term < 0) return none;
            const Part &part = parts[shift == 63 ? 0 : (size_t) (term >> shift)];
            const int64_t *end = part.terms + part.count;
            const int64_t *at = std::lower_bound(part.terms, end, term);
            if (at == end || *at != term) return none;
            int64_t number = at - part.terms;
            Term found = {
                &part, part.bounds[number], part.bounds[number + 1], part.places[number]};
            if (found.first < 0 || found.last < found.first || found.last > part.slots.count
                || found.place < 0 || found.place > part.occurrences)
                throw Misfit();
            return found;
        }

        int64_t count(int64_t number) const {
            Term term = find(number);
            int64_t counted = term.size();
            for (uint32_t slot : gone) counted -= has(term, slot);
            return counted;
        }

        // -- scores: of documents by slot, in units; 0: the document does not match

        void begin() {
            touched.clear();
            may.clear();
            if (scores) return;
            scores.reset(static_cast<double *>(calloc(documents ? documents : 1, sizeof(double))));
            if (!scores) throw std::bad_alloc();
        }

        void add(int64_t number) {
            Term term = find(number);
            for (int64_t at = term.first; at < term.last; at++)
                put(slot_at(term, at), term.part->doubled[at] * 0.5);
        }

        // Add what a term adds to scores, in the order of operations of `inverted_index`.
        void score(int64_t number, double weight, double average, double k1, double b) {
            Term term = find(number);
            for (int64_t at = term.first; at < term.last; at++)
                score_one(slot_at(term, at), term.part->doubled[at] * 0.5, weight, average, k1, b);
        }

        void score_counted(
            int64_t id, double frequency, double weight, double average, double k1, double b)
        {
            int64_t slot = slot_of(id);
            if (slot >= 0) score_one((uint32_t) slot, frequency, weight, average, k1, b);
        }

        void forbid_all() { may.assign(documents, 0); }

        void allow(int64_t id, bool may_answer) {
            int64_t slot = slot_of(id);
            if (may.empty()) may.assign(documents, 1);
            if (slot >= 0) may[slot] = may_answer;
        }

        // Take the best scores, and all that tie with the last of them; or all, by slot.
        Found taken(int64_t limit, bool is_ranking) {
            std::vector<std::pair<double, uint32_t>> best;
            double least = is_ranking ? bound(limit) : 0;
            for (uint32_t slot : touched) {
                double score = scores.get()[slot];
                scores.get()[slot] = 0;
                if (score == 0 || !is_allowed(slot) || (is_ranking && score < least)) continue;
                best.emplace_back(is_ranking ? -score : score, slot);
            }
            Found found;
            if (is_ranking)
                std::sort(best.begin(), best.end());
            else
                std::sort(best.begin(), best.end(), by_slot);
            for (size_t at = 0; at < best.size(); at++) {
                if (is_ranking && (int64_t) at >= limit && best[at].first > best[limit - 1].first)
                    break;
                found.ids.push_back(ids[best[at].second]);
                found.values.push_back(is_ranking ? -best[at].first : best[at].first);
            }
            return found;
        }

        // -- phrases

        Found phrase(
            const std::vector<std::pair<int64_t, int64_t>> &elements, double title, double path)
        {
            std::vector<std::pair<Term, int64_t>> found;
            for (const auto &each : elements) {
                found.emplace_back(find(each.first), each.second);
                if (!found.back().first.part) return Found();
            }
            if (found.empty()) return Found();
            std::stable_sort(found.begin(), found.end(), by_size);
            std::vector<uint32_t> chosen;
            const Term &rarest = found[0].first;
            for (int64_t at = rarest.first; at < rarest.last; at++)
                chosen.push_back(slot_at(rarest, at));
            for (size_t at = 1; at < found.size(); at++) chosen = in_both(chosen, found[at].first);
            Starts starts;
            for (size_t at = 0; at < found.size(); at++) {
                Starts some = starts_of(found[at].first, found[at].second, chosen);
                if (at) {
                    Starts both;
                    std::set_intersection(
                        starts.begin(), starts.end(), some.begin(), some.end(),
                        std::back_inserter(both));
                    some.swap(both);
                }
                starts.swap(some);
                chosen.clear();
                for (int64_t each : starts)
                    if (chosen.empty() || chosen.back() != (uint32_t) (each >> 32))
                        chosen.push_back((uint32_t) (each >> 32));
            }
            Found counted;
            int64_t last = -1;
            for (int64_t each : starts) {
                int64_t slot = each >> 32, position = each & 0xffffffff;
                if (is_gone((uint32_t) slot)) continue;
                if (slot != last) {
                    counted.ids.push_back(ids[slot]);
                    counted.values.push_back(0);
                    last = slot;
                }
                counted.values.back() += position < path_starts[slot]   ? title
                                         : position < body_starts[slot] ? path
                                                                        : 1.0;
            }
            return counted;
        }

    private:
        struct Free {
            void operator()(double *data) const { free(data); }
        };

        std::unique_ptr<double[], Free> scores;  // all 0 between two searches
        std::vector<uint32_t> touched;  // one twice if its sum is 0 in between: no query does that
        std::vector<char> may;  // of each slot: whether it may answer; empty: all

        static bool by_slot(
            const std::pair<double, uint32_t> &one, const std::pair<double, uint32_t> &other)
        {
            return one.second < other.second;
        }

        static bool by_size(
            const std::pair<Term, int64_t> &one, const std::pair<Term, int64_t> &other)
        {
            return one.first.size() < other.first.size();
        }

        uint32_t slot_at(const Term &term, int64_t at) const {
            uint32_t slot = term.part->slots[at];
            if (slot >= documents) throw Misfit();
            return slot;
        }

        int64_t slot_of(int64_t id) const {
            if (id < 0 || id > UINT32_MAX) return -1;
            const uint32_t *at = std::lower_bound(ids, ids + documents, (uint32_t) id);
            return at == ids + documents || *at != id ? -1 : at - ids;
        }

        int64_t lower_bound(const Term &term, int64_t first, uint32_t slot) const {
            int64_t last = term.last;
            while (first < last) {
                int64_t middle = first + (last - first) / 2;
                if (term.part->slots[middle] < slot) first = middle + 1;
                else last = middle;
            }
            return first;
        }

        bool has(const Term &term, uint32_t slot) const {
            if (!term.part) return false;
            int64_t at = lower_bound(term, term.first, slot);
            return at < term.last && term.part->slots[at] == slot;
        }

        bool is_gone(uint32_t slot) const {
            return !gone.empty() && std::binary_search(gone.begin(), gone.end(), slot);
        }

        bool is_allowed(uint32_t slot) const {
            return (may.empty() || may[slot]) && !is_gone(slot);
        }

        void put(uint32_t slot, double value) {
            double before = scores.get()[slot];
            if (!std::isfinite(value)) throw Misfit();  // which cannot be sorted
            if (before == 0) touched.push_back(slot);
            scores.get()[slot] = value + before;
        }

        void score_one(
            uint32_t slot, double frequency, double weight, double average, double k1, double b)
        {
            double below = k1 * ((1 - b) + b * lengths[slot] / average) + frequency;
            put(slot, std::ceil(weight * frequency / below));
        }

        // The last of so many best scores; below all, if there are not more.
        double bound(int64_t limit) const {
            std::vector<double> best;
            if (limit < 1) return std::numeric_limits<double>::infinity();
            if (limit >= (int64_t) touched.size()) return -std::numeric_limits<double>::infinity();
            for (uint32_t slot : touched) {
                double score = scores.get()[slot];
                bool is_full = (int64_t) best.size() == limit;
                if (score == 0 || (is_full && score <= best.front()) || !is_allowed(slot)) continue;
                if (is_full) {
                    std::pop_heap(best.begin(), best.end(), std::greater<double>());
                    best.pop_back();
                }
                best.push_back(score);
                std::push_heap(best.begin(), best.end(), std::greater<double>());
            }
            if ((int64_t) best.size() < limit) return -std::numeric_limits<double>::infinity();
            return best.front();
        }

        std::vector<uint32_t> in_both(const std::vector<uint32_t> &chosen, const Term &term) const {
            std::vector<uint32_t> both;
            bool are_few = FEW * (int64_t) chosen.size() < term.size();
            int64_t at = term.first;
            for (uint32_t slot : chosen) {
                if (are_few) at = lower_bound(term, at, slot);
                else while (at < term.last && term.part->slots[at] < slot) at++;
                if (at == term.last) break;
                if (term.part->slots[at] == slot) both.push_back(slot);
            }
            return both;
        }

        // Where a phrase may start by a term at a place in it; ascending, distinct.
        Starts starts_of(
            const Term &term, int64_t place, const std::vector<uint32_t> &chosen) const
        {
            const Part &part = *term.part;
            Starts starts;
            int64_t offset = term.place;
            size_t next = 0;
            for (int64_t at = term.first; at < term.last && next < chosen.size(); at++) {
                uint32_t slot = part.slots[at];
                int64_t end = offset + part.counts[at];
                if (end > part.occurrences) throw Misfit();
                while (next < chosen.size() && chosen[next] < slot) next++;
                if (next < chosen.size() && chosen[next] == slot) {
                    for (int64_t each = offset; each < end; each++) {
                        int64_t position = part.positions[each] + beyond(part, each);
                        if (position > UINT32_MAX) throw Misfit();
                        if (position >= place)
                            starts.push_back(((int64_t) slot << 32) + position - place);
                    }
                }
                offset = end;
            }
            const auto end = starts.end();
            if (std::adjacent_find(starts.begin(), end, std::greater_equal<int64_t>()) != end) {
                std::sort(starts.begin(), starts.end());
                starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
            }
            return starts;
        }

        int64_t beyond(const Part &part, int64_t at) const {
            if (!part.wides) return 0;
            const int64_t *end = part.wide + part.wides;
            const int64_t *found = std::lower_bound(part.wide, end, at);
            return found == end || *found != at ? 0 : part.beyond[found - part.wide];
        }
    };

    }  // namespace
    """
    cdef struct Numbers:
        const unsigned char* data
        int64_t count
        int64_t width

    cdef struct Part:
        const int64_t* terms
        const int64_t* bounds
        const int64_t* places
        int64_t count
        Numbers slots
        Numbers doubled
        Numbers counts
        const unsigned short* positions
        int64_t occurrences
        const int64_t* wide
        const uint32_t* beyond
        int64_t wides

    cdef struct Found:
        vector[uint32_t] ids
        vector[double] values

    cdef cppclass Core:
        const uint32_t* ids
        const double* lengths
        const int64_t* path_starts
        const int64_t* body_starts
        int64_t documents
        vector[Part] parts
        vector[uint32_t] gone
        int64_t count(int64_t) except +
        void begin() except +
        void add(int64_t) except +
        void score(int64_t, double, double, double, double) except +
        void score_counted(int64_t, double, double, double, double, double) except +
        void forbid_all() except +
        void allow(int64_t, bool) except +
        Found taken(int64_t, bool) except +
        Found phrase(const vector[pair[int64_t, int64_t]]&, double, double) except +


NUMBERS = {"|u1": 1, "<u2": 2, "<u4": 4}

cdef class CompiledPostings:
    """Postings of a sidecar that is mapped into memory, searched one question at a time.

    A number in them that would lead out of an array raises ValueError, after which they are not to
    be used any more.

    Args:
        file: the mapped sidecar.
        places: type, start in bytes and length of each array in it, by name.
        parts: of the postings; see `segments.Segment`.
        gone: slots whose documents are not in the index any more, ascending.
    """

    cdef Core core
    cdef Py_buffer view
    cdef bint is_mapped

    def __cinit__(self, file, dict places, Py_ssize_t parts, gone):
        cdef Part part
        PyObject_GetBuffer(file, &self.view, PyBUF_SIMPLE)
        self.is_mapped = True
        if not 0 < parts < 1 << 20 or parts & (parts - 1):
            raise ValueError("The parts are no power of two.")
        count = places["ids"][2]
        self.core.documents = count
        self.core.ids = <const uint32_t*> self.array(places["ids"], "<u4", count)
        self.core.lengths = <const double*> self.array(places["lengths"], "<f8", count)
        self.core.path_starts = <const int64_t*> self.array(places["path_starts"], "<i8", count)
        self.core.body_starts = <const int64_t*> self.array(places["body_starts"], "<i8", count)
        for number in range(parts):
            own = {name: places[f"{name}_{number}"] for name in PART}
            part.count, postings = own["terms"][2], own["slots"][2]
            part.terms = <const int64_t*> self.array(own["terms"], "<i8", part.count)
            part.bounds = <const int64_t*> self.array(own["bounds"], "<i8", part.count + 1)
            part.places = <const int64_t*> self.array(own["places"], "<i8", part.count)
            part.slots = self.numbers(own["slots"], postings)
            part.doubled = self.numbers(own["doubled"], postings)
            part.counts = self.numbers(own["counts"], postings)
            part.occurrences, part.wides = own["positions"][2], own["wide"][2]
            part.positions = <const unsigned short*> self.array(
                own["positions"], "<u2", part.occurrences
            )
            part.wide = <const int64_t*> self.array(own["wide"], "<i8", part.wides)
            part.beyond = <const uint32_t*> self.array(own["beyond"], "<u4", part.wides)
            self.core.parts.push_back(part)
        last = -1
        for slot in gone:
            if not last < slot < count:
                raise ValueError("The slots that are gone do not ascend.")
            self.core.gone.push_back(slot)
            last = slot

    def __dealloc__(self):
        if self.is_mapped:
            PyBuffer_Release(&self.view)

    cdef const char* array(self, place, kind, count) except NULL:
        """Return where an array starts."""
        found, start, length = place
        size = int(kind[2])
        if found != kind or length != count or start < 0 or count < 0 or start % 8:
            raise ValueError("The arrays do not fit each other.")
        if start + count * size > self.view.len:
            raise ValueError("The arrays do not fit the file.")
        return <const char*> self.view.buf + <Py_ssize_t> start

    cdef Numbers numbers(self, place, count) except *:
        """Return an array of numbers without sign, of any width."""
        cdef Numbers found
        if place[0] not in NUMBERS:
            raise ValueError("The arrays do not fit each other.")
        found.data = <const unsigned char*> self.array(place, place[0], count)
        found.count = count
        found.width = NUMBERS[place[0]]
        return found

    def count(self, int64_t term):
        """Count the documents with a term."""
        return self.core.count(term)

    def any_of(self, terms):
        """Count the documents with any of some terms: (numbers, weighted frequencies)."""
        self.core.begin()
        for term in terms:
            self.core.add(term)
        cdef Found found = self.core.taken(0, False)
        return found.ids, found.values

    def phrase(self, elements):
        """Count the documents with a phrase: (numbers, weighted frequencies).

        Args:
            elements: (term, its place in the phrase)
        """
        cdef vector[pair[int64_t, int64_t]] asked = elements
        cdef Found found = self.core.phrase(asked, TITLE, PATH)
        return found.ids, found.values

    def ranked(self, terms, counted, double average, allowed, banned, int64_t limit):
        """Rank documents: (numbers, scores) of the best, and of all that tie with the last.

        Args:
            terms: (term, weight)
            counted: (numbers of documents, frequencies, weight).
            average: length of a document, weighted by field.
            allowed: numbers of documents that may answer; None: all.
            banned: numbers of documents that may not.
        """
        cdef double frequency, weight
        cdef int64_t number
        self.core.begin()
        for number, weight in terms:
            self.core.score(number, weight * UNITS, average, K1, B)
        for documents, frequencies, weight in counted:
            for number, frequency in zip(documents, frequencies):
                self.core.score_counted(number, frequency, weight * UNITS, average, K1, B)
        if allowed is not None:
            self.core.forbid_all()
            for number in allowed:
                self.core.allow(number, True)
        for number in banned:
            self.core.allow(number, False)
        cdef Found found = self.core.taken(limit, True)
        return found.ids, [score / UNITS for score in found.values]


PART = ("terms", "bounds", "places", "slots", "doubled", "counts", "positions", "wide", "beyond")
