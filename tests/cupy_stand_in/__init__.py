"""A stand-in for CuPy, for tests where there is no GPU: as strict, and it counts.

`record.py` writes down what CuPy has (`recorded.json` says of which version): names,
parameters, the types that a ufunc computes in, its methods. `modules.py` makes modules
of that over NumPy and SciPy, `arrays.py` the arrays in them, which refuse what CuPy's
refuse, and `counts.py` notes what a device is asked for. Nothing of it is imported but
where a test asks: by the fixture `cuda` (`standing.py`), or in a process of its own
that looks for modules in `PATH`.

Invariant: what runs here has called nothing that CuPy lacks, and has moved nothing
between a device and the host but where it said so. Numbers are NumPy's: of what they
are on a GPU it says nothing.
"""

from pathlib import Path

PATH = Path(__file__).with_name("path")
"""The folder in which `cupy` and `cupyx` are these modules."""
