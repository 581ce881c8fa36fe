"""``kernelwood serve``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from kernelwood.cli.console import note, one_name, running, say
from kernelwood.cli.model_files import load_extractor
from kernelwood.cli.options import jobs_option
from kernelwood.cli.outputs import check_inputs
from kernelwood.cli.web_options import address_options, need_web, token_of

_EPILOG = """\b
Examples:
  kernelwood serve model.kw
  kernelwood serve interactions=ppi.kw drugs=ddi.kw --port 9000
  kernelwood serve model.kw --host 0.0.0.0 --token-file token.txt

\b
  curl http://127.0.0.1:8420/v1/extract -H 'Content-Type: application/json' \\
    -d '{"text": "Raf binds Ras.", "terms": [["Raf", "Protein"], ["Ras", "Protein"]]}'
"""


def _check_models(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, str]:
    """Return files by the names of their models."""
    found: dict[str, str] = {}
    for text in value:
        name, sign, path = text.partition("=")
        if not sign or Path(text).exists():
            name, path = Path(text).name.removesuffix(".kw"), text
        if name in found:
            raise click.BadParameter(
                f"two models are called {name!r}: {found[name]} and {path}; give NAME=FILE"
            )
        found[name] = path
    return found


@click.command(epilog=_EPILOG)
@click.argument(
    "models", metavar="[NAME=]MODEL...", nargs=-1, required=True, callback=_check_models
)
@address_options(port=8420)
@click.option(
    "--max-queue", type=click.IntRange(min=1), metavar="N", default=64,
    help="Requests for a model that may wait; more get status 429.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", default=30.0,
    help="Time limit of a request, including the time in the queue.",
)  # fmt: skip
@jobs_option
def serve(models: dict[str, str], **options: Any) -> None:
    """Serve models over HTTP.

    MODEL is a file of kernelwood train; a request without the name of a model gets the first.
    POST /v1/extract and /v1/verify return relations and verdicts as JSON, /openapi.json describes
    the interface. The service is reachable from this machine only, unless --host is given; then
    requests need a token, which is read from a file or generated and printed. SIGINT (Ctrl-C) and
    SIGTERM end the service after the requests in progress.
    """
    need_web()
    check_inputs(*models.values())
    token = token_of(options)
    from kernelwood.web import Limits, create_service, run

    with running(options["n_jobs"], bar=False):
        app = create_service(
            {name: load_extractor(path) for name, path in models.items()},
            limits=Limits(queue=options["max_queue"], seconds=options["timeout"]),
            token=token,
            hosts=options["hosts"],
            n_jobs=options["n_jobs"],
        )

    def report(url: str) -> None:
        say(f"serving {', '.join(map(one_name, models))} at {url}", err=True)
        if token is not None and options["token_file"] is None:
            say(f"token: {token}", err=True)
        note("press Ctrl-C to end")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # answers contain them
        run(app, host=options["host"], port=options["port"], report=report)
