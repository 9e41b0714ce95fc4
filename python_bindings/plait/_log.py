"""plait's log by Python's logging: logger `plait`, and one for each component below it."""

from __future__ import annotations

import atexit
import logging
import os
from typing import Any

from plait import _plait
from plait.errors import UserError

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL + 1)  # as base/log.h has them
_LOGGER = logging.getLogger("plait")
_COMPONENTS = {name: logging.getLogger(f"plait.{name}") for name in _plait._log_levels()}


def _tell(level: int, component: str, text: str, seconds: float) -> None:
    logger = _COMPONENTS[component]
    if not logger.isEnabledFor(_LEVELS[level]):
        return
    record = logger.makeRecord(logger.name, _LEVELS[level], "plait", 0, text, (), None)
    record.created, record.msecs = seconds, seconds * 1000 % 1000
    logger.handle(record)


def _follow() -> None:
    """Only what some logger wants is made."""
    wanted = {}
    for name, logger in _COMPONENTS.items():
        least = logger.getEffectiveLevel()
        wanted[name] = next((number for number, level in enumerate(_LEVELS) if level >= least), len(_LEVELS) - 1)
    _plait._set_log_levels(wanted)


def _watch(logger: logging.Logger) -> None:
    set_level = logger.setLevel

    def set_level_and_follow(level: Any) -> None:
        set_level(level)
        _follow()

    logger.setLevel = set_level_and_follow  # type: ignore[method-assign]


class _Standard(logging.StreamHandler):  # type: ignore[type-arg]
    """Standard error, as long as the program has no handler of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            super().emit(record)


def _begin() -> None:
    for logger in (_LOGGER, *_COMPONENTS.values()):
        _watch(logger)
    words = os.environ.get("PLAIT_LOG")
    try:
        for name, level in _plait._log_words(words or "").items() if words else ():
            _COMPONENTS[name].setLevel(_LEVELS[level])
    except UserError as error:
        _LOGGER.warning("%s: %s; %s", error.where, error.what, error.remedy)
        words = None
    if words:
        handler = _Standard()
        handler.setFormatter(logging.Formatter("%(name)s %(levelname)s: %(message)s"))
        _LOGGER.addHandler(handler)
    _plait._set_log(_tell, _follow)
    _follow()
    atexit.register(_plait._set_log, None, None)


_begin()
