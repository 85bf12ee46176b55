"""Pictures of graphs for files and notebooks: SVG, PNG, HTML.

Invariant: text of the user is data everywhere: it is escaped in XML, and never a part
of a page's markup or script.
"""
