"""Provider doubles: one process per package that the engine talks to as it would to the real provider, over a fake cloud on disk.

The fake cloud is a directory named by the environment variable `DIRECTORY_VARIABLE`; all that a test sets or looks at is in it:

- ``rules.json``: by resource type, what the double knows of it (`tests.engine.doubles.rules`).
- ``objects/``: one JSON file for each thing that exists, so that separate runs of the engine see the same cloud.
- ``journal.jsonl``: one line for each call that would have changed or read the cloud, in order.
- ``fault.json``: which call is to fail next, and how; removed once it has.
"""

DIRECTORY_VARIABLE = "GPUFLEET_FAKE_CLOUD"
"""Environment variable naming the fake cloud's directory."""
