"""
Transcripts from elsewhere into a ledger: streamed, byte for byte, and twice is as good as once.

`import_file` does it all; `repaired` keeps nothing and tells a transcript again. What they consist of: `chunks` and
`lines` (a file in bounded memory), `records` (every good JSON record, every bad one named), `sources` (the format's
reader), `plan` (events and ids made from content), `meeting` (what is recorded already), `writing` (many events a
commit), `bundles` (the ledger's own export).
"""

from ledger.importing.refusals import TranscriptChanged
from ledger.importing.repairing import Repaired, format_of, repaired
from ledger.importing.report import ImportReport, Problem, SessionReport
from ledger.importing.run import Wanted, import_file, imported
from ledger.importing.sources import Source

__all__ = [
    "ImportReport",
    "Problem",
    "Repaired",
    "SessionReport",
    "Source",
    "TranscriptChanged",
    "Wanted",
    "format_of",
    "import_file",
    "imported",
    "repaired",
]
