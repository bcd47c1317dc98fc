"""The JSON forms of results, as types: a type checker holds callers to them, and `costmodel schema` prints them.

Imported only for types and schemas. Their files do without `annotations` from the future: the types are read at run time.
"""
