"""Words without a value are no factors: the line that they make is shown, not run."""

from __future__ import annotations

import random

import pytest

from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.mend import is_plain
from gradcli.lang.parser import parse
from gradcli.lang.prepare import input_names, read_program

REFUSED = {
    "2 km + 300 m": "2*km + 300*m",
    "5 kg * 3 m": "5*kg * 3*m",
    "sin x squared": "sin(x)*square(d)",
    "the sin x": "tanh(e)*sin(x)",
    "sine x": "sin(e*x)",
    "log of x": "log(of*x)",
    "square root of x": "square(root(of*x))",
    "tan x of y": "tan(x*of*y)",
    "3% of x": "3 % of*x",
    "3 percent": "3*percent",
    "3 apples + 2 pears": "3*apples + 2*pears",
    "2 learning_rate": "2*learning_rate",
    "2lr + 1": "2*lr + 1",
    "2mgh": "2*mgh",
    "(a+b) rate": "(a+b)*rate",
    "2(x+1)rate": "2*(x+1)*rate",
    "f(x) = x squared": "f(x) = x*square(d)",
    "x = 3 km; x*2": "x = 3*km; x*2",
    "y = 2\nz = 3 km\nz*y": "z = 3*km",
    r"\alpha x + \text{loss}": "alpha*x + loss",
}
"""Lines with words that nobody gave a value, and the line as it was read."""

READ = {
    "2x(x+1)": "2*x*(x + 1)",
    "½kx²": "1/2*k*x^2",
    "2xy": "2*x*y",
    "2αβ": "2*α*β",
    "1/2 m v^2": "1/2*m*v^2",
    "k_B T ln W": "k_B*T*ln(W)",
    "2x1 + 3x2": "2x1 + 3x2",
    "2x_max": "2x_max",
    "3v_max² tan(a) + sin x": "3*v_max^2*tan(a) + sin(x)",
    "2alpha x": "2*alpha*x",
    "sina cosb": "sin(a)*cos(b)",
    "tgx + 2 cosx": "tan(x) + 2*cos(x)",
    "x_i y_i": "x_i*y_i",
    "x times y": "x * y",
    "x%": "x/100",
    "R i^2": "R*i^2",
    r"\frac{1}{2} k x^2": "1/2*k*x^2",
    "learning_rate*loss": "learning_rate*loss",
}
"""Formulas as people write them, and what they are read as."""

IMAGINARY = ["exp(i*pi)", "e^(i pi)", "exp(-j*w*t)", "3+4i", "3 - 4*i", "2i + 1",
             "cos(x) + i*sin(x)", "e**(a + i*b)"]  # fmt: skip
REAL = ["L*i^2/2", "R*i", "exp(x/i)", "i + j", "2i + j", "sum(i*x)"]


def read(line: str, *values: str) -> str:
    return read_program(line, read_bindings(values), {}, lambda text: None)


@pytest.mark.parametrize("line", ["2*(n)_k", "2*(n)_3"])
def test_a_rising_factorial_is_refused_with_its_formula(line: str) -> None:
    with pytest.raises(ProgramError) as refused:
        read(line, "n=5")
    last = line[-1]
    assert refused.value.hint == f"a rising factorial is gamma(n + {last})/gamma(n)"


@pytest.mark.parametrize("line", REFUSED)
def test_a_word_is_refused_with_the_line_as_it_was_read(line: str) -> None:
    with pytest.raises(ProgramError) as refused:
        read(line)
    assert refused.value.code == "E208"
    assert refused.value.hint == f"if that is meant, write {REFUSED[line]}"
    place = refused.value.span
    assert place is not None
    assert line[slice(*place)] in refused.value.message


@pytest.mark.parametrize("line", REFUSED.values())
def test_the_line_that_is_shown_is_read_as_it_stands(line: str) -> None:
    assert read(line) == line


@pytest.mark.parametrize("line", REFUSED)
def test_a_word_with_a_value_is_a_name(line: str) -> None:
    split = "squared" in line or line in ("the sin x", "sine x")
    names = input_names(parse(line))
    if not split:
        read(line, *(f"{name}=2" for name in names))


@pytest.mark.parametrize("line", READ)
def test_a_formula_of_letters_is_read(line: str) -> None:
    assert read(line) == READ[line]


@pytest.mark.parametrize("line", IMAGINARY)
def test_complex_numbers_are_refused_where_i_has_no_value(line: str) -> None:
    with pytest.raises(ProgramError, match="complex numbers are not read") as refused:
        read(line)
    assert refused.value.code == "E506"
    read(line, "i=2", "j=3") if "j" in line else read(line, "i=2")


@pytest.mark.parametrize("line", REAL)
def test_a_current_is_no_imaginary_unit(line: str) -> None:
    read(line)


@pytest.mark.parametrize("seed", range(40))
def test_random_formulas_of_letters_are_read_and_words_in_them_refused(
    seed: int,
) -> None:
    draw = random.Random(seed)
    letters = ["x", "y", "t", "a", "θ", "alpha", "x_1", "k", "m2", "v_max"]
    heads = ["sin", "cos", "ln", "sqrt", "exp", "tanh"]
    factor = lambda: draw.choice(
        [draw.choice(letters), f"{draw.choice(heads)}({draw.choice(letters)})"]
    )
    term = lambda: f"{draw.randint(2, 9)} {factor()}*{factor()}"
    line = " + ".join(term() for _ in range(draw.randint(1, 4)))
    assert all(map(is_plain, input_names(parse(read(line)))))
    word = draw.choice(["km", "the", "of", "apples", "squared", "rate", "kg", "loss"])
    with pytest.raises(ProgramError) as refused:
        read(f"{line} + {draw.randint(2, 9)} {word}")
    assert refused.value.code == "E208"
