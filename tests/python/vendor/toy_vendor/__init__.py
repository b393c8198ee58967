"""A pretended vendor for the tests: backends that take `add`, each with its own way to go wrong."""

import os
from pathlib import Path

from executorch_backend_kit.aot.descriptor import BackendDescriptor, Option


def _descriptor(name: str, class_name: str, **changes: object) -> BackendDescriptor:
    def partitioner(**options: bool) -> object:
        from toy_vendor import backends

        return backends.partitioner(class_name, **options)

    values: dict[str, object] = {
        "name": name,
        "id": class_name,
        "package": "toy-vendor",
        "version": "1.0",
        "executorch": ">=1.1",
        "partitioner": partitioner,
        "options": {"greedy": Option(bool, True, "take everything that can be taken")},
    }
    return BackendDescriptor(**(values | changes))  # type: ignore[arg-type]


def unregistered() -> BackendDescriptor:
    """Lowers well; no runtime knows its id."""
    return _descriptor("unregistered", "UnregisteredBackend")


def throws() -> BackendDescriptor:
    """Its partitioner raises."""
    return _descriptor("throws", "ThrowsBackend")


def cannot_compile() -> BackendDescriptor:
    """Its preprocess raises."""
    return _descriptor("cannot-compile", "CannotCompileBackend")


def dies() -> BackendDescriptor:
    """Its preprocess kills the process."""
    return _descriptor("dies", "DiesBackend")


def misnamed() -> BackendDescriptor:
    """Its partitioner delegates to another id than it says."""
    return _descriptor("misnamed", "MisnamedBackend")


def clash() -> BackendDescriptor:
    """Two classes carry its id."""
    return _descriptor("clash", "ClashBackend")


def old() -> BackendDescriptor:
    """Made for another ExecuTorch."""
    return _descriptor("old", "OldBackend", executorch=">=0.1,<0.2")


def needs_more() -> BackendDescriptor:
    """Needs a module that is not there."""
    return _descriptor("needs-more", "NeedsMoreBackend", requires=("no_such_module",))


def raises() -> BackendDescriptor:
    """Cannot even describe itself."""
    raise RuntimeError("the licence file is unreadable")


def not_a_descriptor() -> str:
    """Returns something else."""
    return "hello"


def invalid() -> BackendDescriptor:
    """Breaks a rule of the descriptor."""
    return _descriptor("Invalid Name", "InvalidBackend")


def twin_a() -> BackendDescriptor:
    """Shares its id with twin_b."""
    return _descriptor("twin-a", "TwinBackend")


def twin_b() -> BackendDescriptor:
    """Shares its id with twin_a."""
    return _descriptor("twin-b", "TwinBackend")


def usurper() -> BackendDescriptor:
    """Takes the id of a stock backend."""
    return _descriptor("usurper", "XnnpackBackend")


def _with_plugin(name: str, class_name: str) -> BackendDescriptor:
    """Its runtime half is in the library that the test built."""
    return _descriptor(name, class_name, runtime_library=Path(os.environ["TOY_PLUGIN"]))


def adder() -> BackendDescriptor:
    """Works."""
    return _with_plugin("adder", "AdderBackend")


def unavailable() -> BackendDescriptor:
    """Its device is not there."""
    return _with_plugin("unavailable", "UnavailableBackend")


def init_fails() -> BackendDescriptor:
    """Its init returns an error."""
    return _with_plugin("init-fails", "InitFailsBackend")


def execute_fails() -> BackendDescriptor:
    """Its execute returns an error."""
    return _with_plugin("execute-fails", "ExecuteFailsBackend")


def crashes() -> BackendDescriptor:
    """Its execute aborts the process."""
    return _with_plugin("crashes", "CrashesBackend")


def wrong() -> BackendDescriptor:
    """One of its numbers is off by one percent."""
    return _with_plugin("wrong", "WrongBackend")
