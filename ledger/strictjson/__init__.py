"""The border: strict JSON in, canonical bytes and digests, any result as JSON with nothing lost unsaid."""

from ledger.strictjson.canonical import canonical, digest, loads
from ledger.strictjson.check import check
from ledger.strictjson.copying import copied
from ledger.strictjson.decode import decode
from ledger.strictjson.encode import encode_result
from ledger.strictjson.encoded import LOSSY, Encoded, Encoding, Kind
from ledger.strictjson.limits import ARGUMENTS, RESULT, TRUSTED, Json, JsonObject, Limits
from ledger.strictjson.person import to_a_person
from ledger.strictjson.pointer import from_pointer, resolve, to_pointer
from ledger.strictjson.restore import decode_result
from ledger.strictjson.text import export_safe, export_text, printable

__all__ = [
    "ARGUMENTS",
    "LOSSY",
    "RESULT",
    "TRUSTED",
    "Encoded",
    "Encoding",
    "Json",
    "JsonObject",
    "Kind",
    "Limits",
    "canonical",
    "check",
    "copied",
    "decode",
    "decode_result",
    "digest",
    "encode_result",
    "export_safe",
    "export_text",
    "from_pointer",
    "loads",
    "printable",
    "resolve",
    "to_a_person",
    "to_pointer",
]
