"""What is this URI, as text?

``fixup`` repairs and resolves, ``surt`` and ``prefixes`` say which part of the web it lies in, ``domain`` who
the name was assigned to, ``canonical`` by which key it counts as seen, ``seed_lines`` what a seeds text says.
Nothing here knows of crawls, settings or time; ``strict`` means Heritrix's answer to the byte.
"""
