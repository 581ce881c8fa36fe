"""The service: relations and verdicts of models over HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import kernelwood
from kernelwood.errors import KernelInputError
from kernelwood.relations import RelationExtractor
from kernelwood.structures import shorten, show
from kernelwood.web.batching import Job
from kernelwood.web.metrics import CONTENT_TYPE, Measured, Metrics
from kernelwood.web.openapi import describe_service
from kernelwood.web.security import JSON, ApiError, Guard, TokenGate, http_errors, read_json
from kernelwood.web.served_model import ExtractJob, ServedModel, VerifyJob, encode
from kernelwood.web.service_input import Limits, extract_input, model_name, verify_input

HEALTH = "/health"
_MAX_DEPTH, _MAX_VALUES = 12, 200_000  # of the body of a request
_INLINE = 20_000  # bytes; larger bodies are converted by another thread
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


def create_service(
    models: Mapping[str, RelationExtractor],
    *,
    limits: Limits | None = None,
    token: str | None = None,
    hosts: Iterable[str] = (),
    n_jobs: int | None = None,
) -> Starlette:
    """Return the ASGI application that serves models.

    Parameters
    ----------
    models : mapping of str to RelationExtractor
        Fitted extractors by name; requests without a name get the first. They must not be changed
        while they are served.
    limits : Limits, optional
        Limits of a request.
    token : str, optional
        Token that requests need, except for ``/health``.
    hosts : iterable of str
        Further names in ``Host`` headers that are allowed; see `kernelwood.web.security.Guard`.
    n_jobs : int, optional
        Number of threads for kernels and the bundled parser.

    Raises
    ------
    KernelInputError
        If there are no models, a model is not a RelationExtractor, or a name is not of 1 to 64
        letters, digits, dots, hyphens and underscores.
    NotFittedError
        If a model is not fitted.
    KernelwoodError
        If the parser of a model is not installed.
    """
    _check_models(models)
    if limits is not None and not isinstance(limits, Limits):
        raise KernelInputError(
            f"limits must be a Limits, got {show(limits)}; give web.Limits(documents=...)"
        )
    if isinstance(hosts, str):
        raise KernelInputError(f"hosts must be a list of names, got {hosts!r}; give [{hosts!r}]")
    service = _Service(models, limits or Limits(), n_jobs)
    gate = None if token is None else TokenGate(token, public=(HEALTH,))
    app = Starlette(
        routes=service.routes(),
        middleware=[
            Middleware(
                Measured, metrics=service.metrics, routes=[row.path for row in service.routes()]
            ),
            Middleware(
                Guard,
                hosts=tuple(hosts),
                gate=gate,
                max_body=service.limits.body,
                timeout=service.limits.seconds + 5,  # jobs have their own limit
            ),
        ],
        exception_handlers=http_errors(),
        lifespan=service.lifespan,
    )
    app.router.redirect_slashes = False  # paths with a slash at the end are 404, as JSON
    return app


def _check_models(models: object) -> None:
    """Raise KernelInputError unless models are extractors by names that can be in a URL."""
    if not isinstance(models, Mapping):
        raise KernelInputError(
            f"models must be a mapping of names to extractors, got {show(models)}; give "
            "{'name': extractor}"
        )
    if not models:
        raise KernelInputError("a service needs at least one model")
    for name, model in models.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise KernelInputError(
                f"{shorten(repr(name))} cannot be the name of a model; use 1 to 64 letters, "
                "digits, dots, hyphens and underscores"
            )
        if not isinstance(model, RelationExtractor):
            hint = f"; load the file: kernelwood.load({model!r})" * isinstance(model, str)
            raise KernelInputError(
                f"the model {name!r} must be a RelationExtractor, got {show(model)}{hint}"
            )


class _Service:
    """The routes and what they share."""

    def __init__(
        self, models: Mapping[str, RelationExtractor], limits: Limits, n_jobs: int | None
    ) -> None:
        self.limits, self.metrics = limits, Metrics()
        for name, kind, text in (
            ("queue_length", "gauge", "Number of requests that wait or are computed, by model."),
            ("batches_total", "counter", "Number of batches by model."),
            ("batch_units_total", "counter", "Number of sentences and claims by model."),
        ):
            self.metrics.describe(name, kind, text)
        self.models = {
            name: ServedModel(name, extractor, limits, self.metrics, n_jobs=n_jobs)
            for name, extractor in models.items()
        }
        for name, model in self.models.items():
            self.metrics.gauge("queue_length", model.worker.__len__, model=name)
        self.description = encode(describe_service(limits))

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/v1/extract", self.extract, methods=["POST"]),
            Route("/v1/verify", self.verify, methods=["POST"]),
            Route("/v1/model", self.show_model, methods=["GET"]),
            Route("/v1/models", self.list_models, methods=["GET"]),
            Route(HEALTH, self.health, methods=["GET"]),
            Route("/metrics", self.show_metrics, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
        ]

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Stop the workers at the end; requests in progress are answered by then."""
        yield
        for model in self.models.values():
            await asyncio.to_thread(model.worker.stop)

    async def extract(self, request: Request) -> Response:
        """Extract relations."""

        def convert(model: ServedModel, body: dict[str, Any]) -> Job:
            return ExtractJob(model, extract_input(body, self.limits))

        return await self._run(request, convert)

    async def verify(self, request: Request) -> Response:
        """Verify claims."""

        def convert(model: ServedModel, body: dict[str, Any]) -> Job:
            if not model.pairs:
                raise ApiError(
                    422,
                    "invalid",
                    f"claims are about two entities, but the model {model.name!r} predicts events",
                )
            relations = model.extractor.relations_
            return VerifyJob(model, verify_input(body, relations, self.limits))

        return await self._run(request, convert)

    async def _run(
        self, request: Request, convert: Callable[[ServedModel, dict[str, Any]], Job]
    ) -> Response:
        """Answer a request by a job for the worker of a model."""
        body = await read_json(request, max_depth=_MAX_DEPTH, max_values=_MAX_VALUES)
        model = self._model(model_name(body))
        if len(await request.body()) <= _INLINE:
            job = convert(model, body)
        else:
            job = await asyncio.to_thread(convert, model, body)
        model.worker.submit(job)
        try:
            made = await asyncio.wait_for(asyncio.wrap_future(job.result), self.limits.seconds)
        except (asyncio.TimeoutError, TimeoutError):
            raise ApiError(
                504,
                "timeout",
                f"the request took longer than {self.limits.seconds:g} seconds; send fewer or "
                "shorter documents",
            ) from None
        return Response(made, media_type=JSON)

    def _model(self, name: str | None) -> ServedModel:
        if name is None:
            return next(iter(self.models.values()))
        if name not in self.models:
            known = ", ".join(self.models)
            raise ApiError(
                404, "model", f"the model {shorten(repr(name))} does not exist (models: {known})"
            )
        return self.models[name]

    async def show_model(self, request: Request) -> Response:
        """Return the card of a model."""
        model = self._model(request.query_params.get("name"))
        return _json({"name": model.name, "card": model.card})

    async def list_models(self, request: Request) -> Response:
        """Return names and relation types of all models."""
        default = next(iter(self.models))
        rows = [
            {
                "name": name,
                "default": name == default,
                "relations": [str(kind) for kind in model.extractor.relations_],
                "candidates": model.extractor.candidates,
                "finds_entities": model.extractor.tagger_ is not None,
                "description": model.extractor.description,
            }
            for name, model in self.models.items()
        ]
        return _json({"models": rows})

    async def health(self, request: Request) -> Response:
        """Return that the service works."""
        return _json({"status": "ok", "version": kernelwood.__version__})

    async def show_metrics(self, request: Request) -> Response:
        """Return figures for Prometheus."""
        return Response(self.metrics.text(), headers={"content-type": CONTENT_TYPE})

    async def openapi(self, request: Request) -> Response:
        """Return the description of this interface."""
        return Response(self.description, media_type=JSON)


def _json(value: Any) -> Response:
    return Response(encode(value), media_type=JSON)
