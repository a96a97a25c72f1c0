"""What a linker says of itself can be read and stored."""

from __future__ import annotations

import json

from relatum.records.link_report import LinkReport


def test_a_report_is_a_few_lines_and_json():
    report = LinkReport(
        "labels", 10, 8, 4, 20, 5, 0.95, 40, 6, 1.0, 2.0, -4.0, 0.9, 0.8, 0.85, 0.01
    )
    text = str(report)
    assert "block recall 0.950" in text
    assert "(estimated)" not in text
    assert "held out: precision 0.900, recall 0.800, F1 0.850 ± 0.010" in text
    assert "offset +2 bits" in text
    told = json.loads(json.dumps(LinkReport("records", 3, offsets={0.0: 0.5}).as_dict()))
    assert told["offsets"] == {"0": 0.5}
    assert "(estimated)" in str(LinkReport("records", 3, block_recall=0.5))


def test_more_records_lower_the_offset():
    report = LinkReport("labels", 500, offset=1.5, among=500)
    assert [report.shifted(n) for n in (1000, 8000)] == [1.25, 0.5]
    assert report.shifted(100) == report.shifted(500) == 1.5  # fewer records prove nothing
    assert LinkReport("labels", 500, offset=1.5).shifted(10**6) == 1.5  # of an old file
