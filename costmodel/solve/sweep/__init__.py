"""Sweeps: every figure of a prediction over meshes and tables of workloads, rates, knobs and documents.

`axes.py` reads what varies, `cells.py` compiles what must be compiled, `program.py` evaluates the rest as NumPy,
`blocks.py` walks a mesh in pieces of bounded memory, `reduce.py` and `write.py` take the pieces.
"""
