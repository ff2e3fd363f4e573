"""The JSON objects that a file of records holds."""

from __future__ import annotations

import os
from typing import Any

from gpugraph.records.record_file import read_record_file


def read_records(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    return [record.data for record in read_record_file(path).records]
