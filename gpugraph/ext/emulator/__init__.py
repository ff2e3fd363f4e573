"""The emulated device: CUDA C++ files run without a GPU.

A ``.cu`` file is compiled unchanged by the system's C++ compiler against the headers in ``shim/`` and runs on NumPy
arrays.  A CUDA thread is a fiber; threads are in lock-step only where CUDA promises it.  ``device`` is what
algorithms use, ``module`` the lower layer, ``races`` and ``sanitize`` the two ways to hunt for defects.
"""
