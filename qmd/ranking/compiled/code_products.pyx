# distutils: language = c++
# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Inner products of many vectors of 8-bit numbers with one of 16-bit numbers."""

from libc.stdint cimport int8_t, int16_t, int64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <stddef.h>

    // GCC adds up several numbers at once from -O3 on, other compilers from -O2 on.
    #if defined(__GNUC__) && !defined(__clang__)
    #define QMD_FAST __attribute__((optimize("O3")))
    #else
    #define QMD_FAST
    #endif

    QMD_FAST static void qmd_products(
        const int8_t *codes, const int16_t *query, const float *scales, const int64_t *rows,
        float *out, ptrdiff_t count, ptrdiff_t width, float scale)
    {
        for (ptrdiff_t at = 0; at < count; at++) {
            ptrdiff_t row = rows ? (ptrdiff_t) rows[at] : at;
            const int8_t *code = codes + row * width;
            int32_t sum = 0;
            for (ptrdiff_t each = 0; each < width; each++) {
                int16_t number = code[each];
                sum += (int32_t) number * (int32_t) query[each];
            }
            out[at] = (float) sum * (scale * scales[row]);
        }
    }
    """
    void qmd_products(
        const int8_t* codes,
        const int16_t* query,
        const float* scales,
        const int64_t* rows,
        float* out,
        Py_ssize_t count,
        Py_ssize_t width,
        float scale,
    ) noexcept nogil


def products(
    const int8_t[:, ::1] codes not None,
    const float[::1] scales not None,
    const int16_t[::1] query not None,
    float scale,
    float[::1] out not None,
    const int64_t[::1] rows,
):
    """Write `scale * scales[row] * (codes[row] @ query)` of each row into `out`.

    Args:
        codes: (n, width)
        scales: (n,)
        query: (width,), so small that no sum of products exceeds 32 bits.
        rows: those to compare; None: all.
    """
    cdef Py_ssize_t count = codes.shape[0] if rows is None else rows.shape[0]
    cdef Py_ssize_t each
    cdef const int64_t* chosen = NULL
    if scales.shape[0] != codes.shape[0] or query.shape[0] != codes.shape[1]:
        raise ValueError("The arrays do not fit each other.")
    if out.shape[0] != count:
        raise ValueError("The arrays do not fit each other.")
    if rows is not None:
        for each in range(count):
            if not 0 <= rows[each] < codes.shape[0]:
                raise ValueError("There is no such row.")
    if count == 0 or query.shape[0] == 0:
        out[:] = 0
        return
    if rows is not None:
        chosen = &rows[0]
    with nogil:
        qmd_products(
            &codes[0, 0],
            &query[0],
            &scales[0],
            chosen,
            &out[0],
            count,
            query.shape[0],
            scale,
        )
