"""The processor level that all extension modules share.

A module that calls dispatched C functions says at its top::

    from sklboolean._core._cpu cimport cpu_level, sklb_cpu_level

    sklb_cpu_level = &cpu_level
"""

cdef extern from "dispatch.h":
    const int *sklb_cpu_level

cdef int cpu_level
