/* An FFTW (LD_PRELOAD) whose inverse transforms take rows of modes for $WRONG_STRIDE shorter than they are: a
 * library that computes something else than it is asked for, without a word. */
#include <dlfcn.h>
#include <fftw3.h>
#include <stdlib.h>

typedef fftwf_plan plan_function(int, const int *, int, fftwf_complex *, const int *, int, int, float *,
                                 const int *, int, int, unsigned);

fftwf_plan fftwf_plan_many_dft_c2r(int rank, const int *n, int howmany, fftwf_complex *in, const int *inembed,
                                   int istride, int idist, float *out, const int *onembed, int ostride,
                                   int odist, unsigned flags)
{
    const char *wrong = getenv("WRONG_STRIDE");
    union {
        void *object;
        plan_function *function;
    } next = {dlsym(RTLD_NEXT, "fftwf_plan_many_dft_c2r")};
    return next.function(rank, n, howmany, in, inembed, istride, idist - (wrong ? atoi(wrong) : 0), out,
                         onembed, ostride, odist, flags);
}
