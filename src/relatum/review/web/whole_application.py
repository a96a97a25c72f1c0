"""The page of a ranking or a classification: one question, and what is found so far."""

from __future__ import annotations

import csv
import io
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

from relatum.errors import DataError
from relatum.io.files import guarded
from relatum.review.doubtful import DOUBT
from relatum.review.web.application import Pages, redirect, text_of
from relatum.review.web.views import name
from relatum.review.whole import Said, Whole

SHOWN = 500  # elements in the list


class WholeApplication(Pages):
    """The page of a `Whole`, as an ASGI application.

    Parameters
    ----------
    review : Whole
    """

    def __init__(self, review: Whole) -> None:
        super().__init__()
        self.review = review
        self.asgi = Starlette(
            routes=[
                self.get("/", self.page),
                self.get("/result.csv", self.result),
                self.get("/static/{name}", self.static),
                self.post("/answer", self.answer),
                self.post("/skip", self.skip),
                self.post("/undo", self.undo),
                self.post("/prove", self.prove),
            ],
            exception_handlers={404: self.not_found},
        )

    def page(self, request: Request) -> Response:
        """Return the page."""
        self.review.sync()
        after = request.query_params.get("after")
        told = self.review.told.get(int(after)) if after else None
        if told is not None:
            told = [(k, self._value(a), self._value(b)) for k, a, b in told]  # type: ignore[misc]
        rows = self._rows()
        return self.render(
            "whole.html",
            review=self.review,
            question=self.review.question(),
            left=self.review.left(),
            told=told,
            last=self.review.file.last_action(str(self.review.who or "")),
            contradictions=[self._contradiction(*found) for found in self.review.aside],
            rows=rows[:SHOWN],
            more=max(0, len(rows) - SHOWN),
            name=lambda k: name(self.review.name(k)),
            label=lambda k: name(self.review.name(k, 1)),
        )

    def _value(self, value: int) -> str:
        return str(value + 1) if self.review.is_order else name(self.review.name(value, 1))

    def _contradiction(self, said: Said, sentence: str) -> tuple[str, list[tuple[Said, str]]]:
        between = " comes before " if self.review.is_order else " has the label "
        facts = [*self.review.against(said), said]
        texts = [self.review.name(s.a) + between + self.review.name(s.b, 1) for s in facts]
        return sentence, list(zip(facts, texts, strict=True))

    def _rows(self) -> list[tuple[str, str, float | None, bool]]:
        """Return the result, line by line: what, what, how sure, and whether it is in doubt."""
        review, p = self.review, self.review.known()
        order, values = review.order(), review.values()
        out: list[tuple[str, str, float | None, bool]] = []
        for place, k in enumerate(order):
            if review.is_order:
                follows = order[place + 1] if place + 1 < len(order) else None
                chance = None if follows is None else float(p[k, follows])
                doubt = chance is not None and chance < 1 - DOUBT
                out.append((str(place + 1), name(review.name(k)), chance, doubt))
            else:
                chance = float(p[k, values[k]])
                label = name(review.name(int(values[k]), 1))
                out.append((name(review.name(k)), label, chance, chance < 1 - DOUBT))
        return out

    def result(self, _request: Request) -> Response:
        """Return the result as a table."""
        out, review = io.StringIO(newline=""), self.review
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["rank", "element"] if review.is_order else ["element", "label"])
        values = review.values()
        for k in review.order():
            value = int(values[k])
            own = guarded(review.name(k))
            row = [value, own] if review.is_order else [own, guarded(review.name(value, 1))]
            writer.writerow(row)
        return Response(out.getvalue(), media_type="text/csv; charset=utf-8")

    def _numbers(self, form: dict[str, list[str]], most: int) -> list[int]:
        found = [int(x) for x in text_of(form, "pair").split()]
        if not 1 <= len(found) <= most:
            raise DataError("A question is about two.")
        return found

    def answer(self, form: dict[str, list[str]]) -> Response:
        """Take an answer."""
        pair = self._numbers(form, 2)
        if len(pair) != 2:
            raise DataError("An answer names two.")
        self.review.answer(pair[0], pair[1])
        return self._back(max(self.review.told))

    def skip(self, form: dict[str, list[str]]) -> Response:
        """Do not ask that again."""
        self.review.skip(self._numbers(form, 2))
        return redirect("/")

    def undo(self, form: dict[str, list[str]]) -> Response:
        """Take back an action, or the last one."""
        text = text_of(form, "action")
        return self._back(self.review.undo(int(text) if text else None))

    def prove(self, _form: dict[str, list[str]]) -> Response:
        """Search for a proof."""
        self.review.proved()
        return redirect("/")

    def _back(self, action: int | None) -> Response:
        query: dict[str, Any] = {} if action is None else {"after": str(action)}
        return redirect("/", query)
