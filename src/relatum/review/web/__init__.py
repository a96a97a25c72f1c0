"""The page of a review: a small server on this machine, pages and pictures.

`serving` runs it, `guard` keeps others out, `application` answers requests with what `views` tells
and the templates in ``pages`` lay out; `drawing` makes pictures. This room imports the core of the
review, one floor up, and the packages starlette, uvicorn and jinja2. Begin with `application`.
"""
