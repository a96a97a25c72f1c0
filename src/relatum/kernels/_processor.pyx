"""Whether the processor runs code compiled for x86-64-v3 (AVX2, BMI, FMA and the like)."""

cdef extern from *:
    """
    #if defined(_M_X64)
      #include <intrin.h>
      static void relatum_cpuid(unsigned leaf, unsigned r[4]) {
          int found[4];
          __cpuidex(found, (int)leaf, 0);
          for (int k = 0; k < 4; k++) r[k] = (unsigned)found[k];
      }
      static unsigned relatum_saved(void) { return (unsigned)_xgetbv(0); }
    #elif defined(__x86_64__)
      #include <cpuid.h>
      static void relatum_cpuid(unsigned leaf, unsigned r[4]) {
          r[0] = r[1] = r[2] = r[3] = 0;
          __get_cpuid_count(leaf, 0, &r[0], &r[1], &r[2], &r[3]);
      }
      static unsigned relatum_saved(void) {
          unsigned low, high;
          __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
          return low;
      }
    #else
      static void relatum_cpuid(unsigned leaf, unsigned r[4]) { r[0] = r[1] = r[2] = r[3] = 0; }
      static unsigned relatum_saved(void) { return 0; }
    #endif

    static int relatum_has(unsigned word, unsigned bits) { return (word & bits) == bits; }

    static int relatum_x86_64_v3(void) {
        unsigned r[4];
        relatum_cpuid(1, r);
        /* FMA, MOVBE, POPCNT, OSXSAVE, AVX, F16C; and the system saves the wide registers */
        if (!relatum_has(r[2], 1u << 12 | 3u << 22 | 7u << 27)) return 0;
        if (!relatum_has(relatum_saved(), 6u)) return 0;
        relatum_cpuid(7, r);
        if (!relatum_has(r[1], 1u << 3 | 1u << 5 | 1u << 8)) return 0; /* BMI1, AVX2, BMI2 */
        relatum_cpuid(0x80000001u, r);
        return relatum_has(r[2], 1u << 5); /* LZCNT */
    }
    """
    int relatum_x86_64_v3()


def runs_x86_64_v3():
    """Return whether this processor, and its system, run x86-64-v3."""
    return relatum_x86_64_v3() != 0
