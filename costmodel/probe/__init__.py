"""What this machine is: facts from the system's own files and tools, and (when asked) two measurements.

:class:`System` is the only part that touches the machine; every reader is a function of texts, so that captured outputs
of other machines can be read as well. Nothing here is a document: :mod:`.document` turns facts into one.
"""
