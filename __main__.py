"""The Pulumi program: the stack's settings and the inventory become a plan, the plan becomes resources, their facts outputs."""

import signal
import sys

import pulumi

from components.compose import compose
from components.settings import read_settings
from fleet.errors import FleetErrors
from fleet.load import load_plan

MESSAGE_SHOWN = 32
"""Exit code by which a program tells Pulumi's Python host that the user has been told what is wrong."""

# The engine interrupts its program when a provider fails: ending at once beats a traceback and five seconds of waiting.
signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    settings = read_settings()
    outputs = compose(load_plan(settings.inventory), settings)
except FleetErrors as errors:
    pulumi.log.error(str(errors))
    sys.exit(MESSAGE_SHOWN)

for name, value in outputs.items():
    pulumi.export(name, value)
