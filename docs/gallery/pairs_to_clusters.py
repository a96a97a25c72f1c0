"""A table of scored pairs, and a component with its conflict.

`bob` and `robert` are known to be different, and `rob` cannot be with both: the pair that is
given up is marked. Connected components would put all six records into one cluster.
"""

import pandas as pd

import relatum as rt

pairs = pd.DataFrame(
    [
        ("ann", "anne", 6.0),
        ("ann", "annie", 5.0),
        ("anne", "annie", 7.0),
        ("bob", "rob", 6.0),
        ("rob", "robert", 5.0),
        ("anne", "rob", 1.0),
    ],
    columns=["unique_id_l", "unique_id_r", "match_weight"],
)
found = rt.cluster_pairs(pairs, evidence={"unrelated": [("bob", "robert")]})
print(found.table.groupby("cluster_id")["unique_id"].agg(list).tolist())
print(found.explain("rob", "robert"))
found.plot("ann").savefig("pairs_to_clusters.png")
