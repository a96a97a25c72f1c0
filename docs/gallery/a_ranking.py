"""A ranking with ties, and the bits behind each place.

64 matches of a world cup, draws included. A bar says what it would cost to move one team alone:
short bars are places that a single other result would have changed.
"""

import relatum as rt

matches = rt.datasets.load_matches()
cup = rt.LinearRanker(feasible=rt.WEAK_ORDERS)
cup.fit_comparisons(matches.first, matches.second, matches.goals)
costs = rt.place_costs(cup.problem(cup.items_), cup.estimate_.relation)
print(cup.estimate_.message)
axes = rt.plots.places(cup.estimate_, costs, names=cup.items_)
axes.figure.savefig("a_ranking.png")
