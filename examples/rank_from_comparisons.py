"""A consensus order of players from their matches, with a proof that none is more probable."""

import numpy as np

import relatum as rt

rng = np.random.default_rng(2)
players = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gia", "Hal"]
strength = dict(zip(players, np.linspace(2.0, -2.0, len(players)), strict=True))
winners, losers = [], []
for _ in range(120):
    a, b = rng.choice(players, 2, replace=False)
    a_wins = rng.random() < 1 / (1 + 2 ** (strength[b] - strength[a]))
    winners.append(a if a_wins else b)
    losers.append(b if a_wins else a)

ranker = rt.LinearRanker().fit_comparisons(winners, losers)
order = ranker.predict(players)
distance = rt.metrics.kendall(range(len(players)), [players.index(p) for p in order])
print("most probable order:", ", ".join(order))
print(f"{ranker.estimate_.status.name}; {distance} of 28 pairs differ from the true strengths")

known = rt.evidence(related=[(players.index("Hal"), players.index("Ada"))])
print("if Hal is known to be ahead of Ada:", ", ".join(ranker.predict(players, evidence=known)))
