"""From a table of scored pairs to entities, respecting what is known."""

import pandas as pd

import relatum as rt

pairs = pd.DataFrame(
    [
        ("Ann Lee", "A. Lee", 0.97),
        ("A. Lee", "Anne Leigh", 0.90),
        ("Ann Lee", "Anne Leigh", 0.30),
        ("Anne Leigh", "Anna Leigh", 0.95),
        ("Bob Ray", "Rob Ray", 0.92),
        ("Rob Ray", "Rob Roy", 0.85),
    ],
    columns=["unique_id_l", "unique_id_r", "match_probability"],
)


def show(title, **options):
    known = options.pop("known", rt.evidence())
    problem = rt.Problem.from_table(pairs, feasible=rt.EQUIVALENCES, **options)
    number = {name: k for k, name in enumerate(problem.ids)}
    if known:
        known = rt.evidence(
            related=[(number[a], number[b]) for a, b in known.get("same", [])],
            unrelated=[(number[a], number[b]) for a, b in known.get("different", [])],
        )
        problem = problem.with_feasible(problem.feasible & known)
    e = rt.infer(problem, prove=True)
    sets = [" = ".join(problem.ids[s]) for s in e.relation.sets()]
    print(f"{title} ({e.status.name}, gap {e.gap:.2g} bits)")
    print("".join(f"  {s}\n" for s in sets))


show("unscored pairs count as 'no opinion'", known={})
show("unscored pairs speak against: -4 bits each", background=-4.0, known={})
show(
    "and Ann Lee is known not to be A. Lee",
    background=-4.0,
    known={"different": [("Ann Lee", "A. Lee")]},
)
