"""A prepared program, run again and again while its inputs change.

Invariant: each run is what `execute` would do, draws included; the program is parsed,
compiled and linked once. Inputs are read anew at each run, so that what changes in
place, or is put in another's place by `rebind`, counts from the next run on.

    again = Repeated(prepare("L = (w - 3)**2", read_bindings(["w=0"])))
    again().item()                          # 9.0
"""

from collections.abc import Mapping

from gradcli.engine import Tensor
from gradcli.lang.limits import MAX_STEPS
from gradcli.lang.machine import Machine
from gradcli.lang.run import Prepared, output_of
from gradcli.lang.tensors import TensorLibrary


class Repeated:
    """A function of no arguments: the program's output, its graph below it."""

    def __init__(
        self, prepared: Prepared, of: str | None = None, max_steps: int = MAX_STEPS
    ) -> None:
        self._prepared = prepared
        self._of = of
        library = TensorLibrary(prepared.factory)
        library.sampled = {i.name: i.tensor for i in prepared.inputs if i.sampled}
        self._draws = library.draws
        self._machine = Machine(
            prepared.code, prepared.environment, library, max_steps=max_steps
        )

    def rebind(self, values: Mapping[str, Tensor]) -> None:
        """Run on other tensors for these inputs from now on."""
        self._machine.rebind(values)

    def __call__(self) -> Tensor:
        """Run the program.

        Raises:
            ProgramError: the program fails, or has no output.
        """
        self._draws.restart()
        result = self._machine.run()
        code, factory = self._prepared.code, self._prepared.factory
        return output_of(result, self._of, code, factory)[0]
