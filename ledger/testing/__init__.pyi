from ledger.testing.effects import Effects as Effects
from ledger.testing.effects import no_second_effect as no_second_effect
from ledger.testing.exports import assert_valid_export as assert_valid_export
from ledger.testing.exports import check_export as check_export
from ledger.testing.model import ScriptedModel as ScriptedModel
from ledger.testing.simulated import Crash as Crash

__all__ = ["Crash", "Effects", "ScriptedModel", "assert_valid_export", "check_export", "no_second_effect"]
