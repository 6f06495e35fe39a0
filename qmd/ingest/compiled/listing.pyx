# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Listing of a folder, facts of its files, and their comparison with those of the index.

No object of Python is made for a file that is as the index has it, but for its path.
"""

import os

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint64_t
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from * nogil:
    """
    #include <algorithm>
    #include <cerrno>
    #include <cstdint>
    #include <cstring>
    #include <string>
    #include <vector>

    enum { OTHER = 0, FILE_ENTRY = 1, FOLDER_ENTRY = 2, LINK_ENTRY = 3 };

    struct Entry {
        uint64_t begin;  // first bytes of the name, which mostly tell two apart
        std::string name;
        int kind;

        Entry(const char *text, int kind) : begin(0), name(text), kind(kind) {
            for (size_t at = 0; at < 8; at++)
                begin = begin << 8 | (at < name.size() ? (unsigned char)name[at] : 0);
        }

        bool operator<(const Entry &other) const {
            return begin != other.begin ? begin < other.begin : name < other.name;
        }
    };

    #ifdef _WIN32
    static const bool AVAILABLE = false;
    static int list_folder(const char *folder, std::vector<Entry> &found) { return ENOSYS; }
    static int open_folder(const char *folder) { errno = ENOSYS; return -1; }
    static void close_folder(int folder) {}
    static int facts_of(int folder, const char *name, int64_t *facts) { return ENOSYS; }
    #else
    #include <dirent.h>
    #include <fcntl.h>
    #include <sys/stat.h>
    #include <unistd.h>

    static const bool AVAILABLE = true;

    #ifdef __APPLE__
    #define MODIFIED st_mtimespec
    #define CHANGED st_ctimespec
    #else
    #define MODIFIED st_mtim
    #define CHANGED st_ctim
    #endif

    static int kind_of_mode(mode_t mode) {
        return S_ISREG(mode) ? FILE_ENTRY
            : S_ISDIR(mode) ? FOLDER_ENTRY
            : S_ISLNK(mode) ? LINK_ENTRY : OTHER;
    }

    static int open_folder(const char *folder) {
        return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }

    static void close_folder(int folder) { close(folder); }

    static int list_folder(const char *folder, std::vector<Entry> &found) {
        int opened = open_folder(folder);
        if (opened < 0) return errno;
        DIR *listing = fdopendir(opened);
        if (!listing) { int code = errno; close(opened); return code; }
        for (;;) {
            errno = 0;
            struct dirent *each = readdir(listing);
            if (!each) break;
            const char *name = each->d_name;
            if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]))) continue;
            int kind = OTHER;
            struct stat info;
            switch (each->d_type) {
                case DT_REG: kind = FILE_ENTRY; break;
                case DT_DIR: kind = FOLDER_ENTRY; break;
                case DT_LNK: kind = LINK_ENTRY; break;
                case DT_UNKNOWN:  // some file systems do not tell; what fails here fails later, too
                    if (!fstatat(opened, name, &info, AT_SYMLINK_NOFOLLOW))
                        kind = kind_of_mode(info.st_mode);
                    break;
                default: break;
            }
            found.emplace_back(name, kind);
        }
        int code = errno;
        closedir(listing);
        std::sort(found.begin(), found.end());
        return code;
    }

    // Nanoseconds, or the bound of what 64 bits hold.
    static int64_t nanoseconds(const struct timespec &time) {
        int64_t found;
        if (__builtin_mul_overflow((int64_t)time.tv_sec, (int64_t)1000000000, &found)
            || __builtin_add_overflow(found, (int64_t)time.tv_nsec, &found))
            return time.tv_sec < 0 ? -INT64_MAX : INT64_MAX;
        return found;
    }

    // Size, both times and inode of a regular file; -1: it is something else, or an error.
    static int facts_of(int folder, const char *name, int64_t *facts) {
        struct stat info;
        if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW)) return errno;
        if (!S_ISREG(info.st_mode)) return -1;
        facts[0] = info.st_size;
        facts[1] = nanoseconds(info.MODIFIED);
        facts[2] = (int64_t)info.st_ino;
        facts[3] = nanoseconds(info.CHANGED);
        return 0;
    }
    #endif
    """
    cdef cppclass Entry:
        string name
        int kind
    bint AVAILABLE
    int FILE_ENTRY
    int list_folder(const char *folder, vector[Entry] &found)
    int open_folder(const char *folder)
    void close_folder(int folder)
    int facts_of(int folder, const char *name, int64_t *facts)

cdef extern from "errno.h" nogil:
    int errno

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    object PyUnicode_DecodeFSDefaultAndSize(const char *text, Py_ssize_t size)
    bytes PyUnicode_EncodeFSDefault(object text)
    bint PyUnicode_IS_ASCII(object text)


available = AVAILABLE


def listed(str folder, frozenset suffixes):
    """See `listing.listed`: names of files with the suffixes, and (name, kind) of all others."""
    cdef bytes path = PyUnicode_EncodeFSDefault(folder)
    cdef const char *place = PyBytes_AS_STRING(path)
    cdef vector[Entry] entries
    cdef vector[string] wanted
    cdef int code
    cdef size_t at, dot
    cdef string suffix, last
    cdef bint was_wanted = False
    for each in suffixes:
        wanted.push_back(<string>(<bytes>each.encode()))
    with nogil:
        code = list_folder(place, entries)
    if code:
        raise OSError(code, os.strerror(code), folder)
    cdef list taken = [], others = []
    cdef bint is_taken
    for at in range(entries.size()):
        name = PyUnicode_DecodeFSDefaultAndSize(entries[at].name.c_str(), entries[at].name.size())
        is_taken = False
        if entries[at].kind == FILE_ENTRY and entries[at].name[0] != b".":
            dot = entries[at].name.rfind(b".")
            if dot != <size_t>-1:
                suffix = entries[at].name.substr(dot)
                if suffix != last:  # nearly always that of the file before
                    last = suffix
                    was_wanted = has(wanted, suffix)
                is_taken = was_wanted
        if is_taken:
            taken.append(name)
        else:
            others.append((name, entries[at].kind))
    return taken, others


cdef bint has(const vector[string] &wanted, string suffix) noexcept nogil:
    """Look a suffix up, in small letters."""
    cdef size_t at
    for at in range(suffix.size()):
        if 65 <= suffix[at] <= 90:
            suffix[at] = suffix[at] + 32
    for at in range(wanted.size()):
        if wanted[at] == suffix:
            return True
    return False


def facts(str folder, list names):
    """See `listing.facts`."""
    cdef bytes path = PyUnicode_EncodeFSDefault(folder)
    cdef const char *place = PyBytes_AS_STRING(path)
    cdef Py_ssize_t count = len(names), at, length
    cdef vector[const char *] texts
    cdef str name
    cdef list encoded = []  # names with other letters; ASCII is read where it is
    cdef bytes other
    cdef vector[int64_t] columns = vector[int64_t](4 * count, 0)
    cdef vector[int] codes = vector[int](count, 0)
    cdef int64_t found[4]
    cdef int opened, code = 0, column
    texts.reserve(count)
    for name in names:
        if PyUnicode_IS_ASCII(name):
            texts.push_back(PyUnicode_AsUTF8AndSize(name, &length))
        else:
            other = PyUnicode_EncodeFSDefault(name)
            encoded.append(other)  # keeps it
            texts.push_back(PyBytes_AS_STRING(other))
    with nogil:
        opened = open_folder(place)
        if opened < 0:
            code = errno
        else:
            for at in range(count):
                codes[at] = facts_of(opened, texts[at], found)
                if codes[at] == 0:
                    for column in range(4):
                        columns[column * count + at] = found[column]
            close_folder(opened)
    failed = [(at, code or codes[at]) for at in range(count) if code or codes[at]]
    made = []
    for column in range(4):
        made.append(PyBytes_FromStringAndSize(<char*>columns.data() + column * count * 8, count * 8))
    return made, failed


cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL


cdef extern from * nogil:
    """
    #include <string_view>

    struct Facts { int64_t size, mtime, ctime; uint64_t inode; };

    // Read "size mtime ctime inode/path" and return where the path begins.
    static const char *read_facts(const char *at, const char *end, Facts &found) {
        int64_t *signed_ones[3] = {&found.size, &found.mtime, &found.ctime};
        for (int64_t *value : signed_ones) {
            bool negative = at < end && *at == '-';
            uint64_t number = 0;
            if (negative) at++;
            for (; at < end && *at != ' '; at++) number = 10 * number + (uint64_t)(*at - '0');
            *value = (int64_t)(negative ? 0 - number : number);
            at++;
        }
        found.inode = 0;
        for (; at < end && *at != '/'; at++) found.inode = 10 * found.inode + (uint64_t)(*at - '0');
        return at < end ? at + 1 : end;
    }

    // Files of a folder, in order of their paths, which are compared with those of the index one by one.
    struct Comparison {
        std::vector<std::string_view> paths;
        std::vector<char> same;
        std::vector<std::string> others;
        const int64_t *sizes, *mtimes, *ctimes;
        const uint64_t *inodes;
        size_t expected = 0;

        void add(std::string_view path, const Facts &facts) {
            size_t place = expected;
            if (place >= paths.size() || paths[place] != path) {  // the table is mostly in this order
                place = std::lower_bound(paths.begin(), paths.end(), path) - paths.begin();
                if (place == paths.size() || paths[place] != path) {
                    others.emplace_back(path);
                    return;
                }
            }
            expected = place + 1;
            if (facts.size == sizes[place] && facts.mtime == mtimes[place]
                && facts.ctime == ctimes[place] && facts.inode == inodes[place])
                same[place] = 1;
            else
                others.emplace_back(path);
        }

        // Of lines, NUL between two.
        void add_lines(const char *line, size_t length) {
            const char *stop = line + length;
            Facts facts;
            while (line < stop) {
                const char *end = (const char *)std::memchr(line, 0, stop - line);
                if (!end) end = stop;
                const char *path = read_facts(line, end, facts);
                add(std::string_view(path, end - path), facts);
                line = end + 1;
            }
        }

        // Of columns, NUL behind each path.
        void add_columns(
            const int64_t *size, const int64_t *mtime, const int64_t *ctime, const uint64_t *inode,
            const char *path, size_t rows
        ) {
            for (size_t row = 0; row < rows; row++) {
                size_t length = std::strlen(path);
                add(std::string_view(path, length), Facts{size[row], mtime[row], ctime[row], inode[row]});
                path += length + 1;
            }
        }
    };
    """
    cppclass string_view "std::string_view":
        string_view(const char *text, size_t size)
    cppclass Comparison:
        vector[string_view] paths
        vector[char] same
        vector[string] others
        const int64_t *sizes
        const int64_t *mtimes
        const int64_t *ctimes
        const uint64_t *inodes
        void add_lines(const char *line, size_t length) except +
        void add_columns(
            const int64_t *size, const int64_t *mtime, const int64_t *ctime, const uint64_t *inode,
            const char *path, size_t rows
        ) except +


def differing(
    object known,
    list paths,
    const int64_t[::1] sizes,
    const int64_t[::1] mtimes,
    const uint64_t[::1] inodes,
    const int64_t[::1] ctimes,
    size_t first,
    size_t end,
):
    """See `file_facts.differing`."""
    cdef size_t at
    cdef Py_ssize_t length
    cdef const char *text
    cdef const int64_t[::1] known_sizes, known_mtimes, known_ctimes
    cdef const uint64_t[::1] known_inodes
    cdef const unsigned char[::1] known_paths
    cdef Comparison found
    for at in range(first, end):
        text = PyUnicode_AsUTF8AndSize(paths[at], &length)
        found.paths.push_back(string_view(text, length))
    found.same.resize(end - first)
    if first < end:
        found.sizes, found.mtimes = &sizes[first], &mtimes[first]
        found.inodes, found.ctimes = &inodes[first], &ctimes[first]
    if isinstance(known, str):
        text = PyUnicode_AsUTF8AndSize(known, &length)
        with nogil:
            found.add_lines(text, length)
    else:
        for columns in known:
            known_sizes, known_mtimes, known_ctimes = [each.cast("q") for each in columns[:3]]
            known_inodes, known_paths = columns[3].cast("Q"), columns[4]
            if known_sizes.shape[0]:
                with nogil:
                    found.add_columns(
                        &known_sizes[0], &known_mtimes[0], &known_ctimes[0], &known_inodes[0],
                        <const char*>&known_paths[0], known_sizes.shape[0],
                    )
    others = found.others  # as a list of bytes
    return (
        [first + at for at in range(end - first) if not found.same[at]],
        [each.decode() for each in others],
    )
