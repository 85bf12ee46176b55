"""The language: text is parsed to a syntax tree, compiled to steps, and run to values.

    program = parse("y = x**3 + b", variables=bindings)
    inputs = free_names(program, known=library.constants)
    result = Machine(compile_program(program), bindings, library).run()

These modules do not depend on tensors: values, functions and methods come from a
`Library`. They raise no exceptions but `ProgramError` and `KeyboardInterrupt`.
"""
