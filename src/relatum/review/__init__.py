"""An analyst in the loop: a local page that shows clusters, asks questions and takes corrections.

`session` is all of it without a page: it holds what people answered, solves a component again, and
says what to ask next; `facts` are answers taken together, `warm` is one component, `kept` all that
are looked at, `near` which of them are asked about together, `doubtful` and `queue` what to ask,
`changes` what an answer did, `standing` how many of everything there are, `catalogue` the tables,
`corrections` what a split or a join says, `exporting` what comes out. `whole` is the same for
rankings and classifications. The page is in `web`. This room imports tables of pairs, probability
and explanation. Begin with `session`.
"""

from __future__ import annotations

from relatum.review.session import Session
from relatum.review.web.serving import Review, review, review_whole, serve
from relatum.review.whole import Whole

__all__ = ["Review", "Session", "Whole", "review", "review_whole", "serve"]
