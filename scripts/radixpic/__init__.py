"""RadixPIC from Python; see docs/python.md. What a script or a call does not need is not imported."""
