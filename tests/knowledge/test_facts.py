"""The facts: complete, well formed, and consistent with each other."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from executorch_backend_kit.knowledge import Knowledge, load, source, store
from executorch_backend_kit.knowledge.schema_check import problems, read_schema

KINDS = ("backends", "targets")
SOURCES = Path(__file__).parents[2] / "python" / "executorch_backend_kit" / "knowledge"
FILES = sorted(path for kind in KINDS for path in (SOURCES / kind).glob("*.toml"))

# Every backend that must be there, whatever its state.
NEEDED = {
    "xnnpack",
    "coreml",
    "mps",
    "metal",
    "mlx",
    "coreai",
    "vulkan",
    "webgpu",
    "cuda",
    "openvino",
    "mediatek",
    "nxp",
    "samsung",
    "cadence",
    "ethos-u",
    "vgf",
    "cortex-m",
    "qnn",
    "native",
    "portable",
    "example",
    "tensorrt",
}


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return load()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file_fits_its_schema_and_is_named_by_its_name(path: Path) -> None:
    schema = store.schema_of(path.parent.name)
    document = source.read(path, schema)
    assert document["name"] == path.stem
    jsonschema.Draft202012Validator(read_schema(schema)).validate(document)


def test_every_backend_is_described(knowledge: Knowledge) -> None:
    assert set(knowledge.backends) >= NEEDED
    assert not knowledge.findings


def test_there_are_25_devices_and_the_classes_leave_questions(knowledge: Knowledge) -> None:
    kinds = [target.get("kind") for target in knowledge.targets.values()]
    assert kinds.count("device") >= 25
    for name in ("android", "ios"):
        target = knowledge.targets[name]
        assert target.get("kind") == "class"
        assert target.get("questions")


def test_names_and_aliases_of_targets_mean_one_thing(knowledge: Knowledge) -> None:
    words = [w for t in knowledge.targets.values() for w in (t.name, *t.aliases)]
    assert len(words) == len(set(words))


def test_names_and_aliases_of_backends_mean_one_thing(knowledge: Knowledge) -> None:
    words = [w for b in knowledge.backends.values() for w in (b.name, *b.aliases)]
    assert len(words) == len(set(words))


def test_references_lead_somewhere(knowledge: Knowledge) -> None:
    for target in knowledge.targets.values():
        for use in target.get("backends", default=()):
            assert use["name"] in knowledge.backends, target.name
        for question in target.get("questions", default=()):
            assert set(question["answers"]) <= set(knowledge.targets), target.name
    for backend in knowledge.backends.values():
        for name in (*backend.texts("fallback", "chain"), *backend.texts("instead")):
            assert name in knowledge.backends, backend.name


def test_a_run_on_a_host_cpu_never_counts_for_a_device(knowledge: Knowledge) -> None:
    """ "ran on target" is claimed for the one kind of machine where it was seen."""
    for target in knowledge.targets.values():
        for index in range(len(target.get("backends", default=()))):
            level = target.evidence("backends", index).level
            assert level != "ran on host CPU"
            if level == "ran on target":
                assert target.name == "linux-x86-64"


def test_facts_of_another_release_are_laid_over(knowledge: Knowledge) -> None:
    mps = knowledge.backends["mps"]
    assert mps.removed_from("1.5.1")
    assert not mps.removed_from("1.4.1")
    assert mps.for_release("1.4.1").get("modules", 0, "state") == "imports"
    assert mps.for_release("1.5.1").get("modules", 0, "state") == "absent"
    assert knowledge.backends["native"].before_its_time("1.4.1")
    vgf = knowledge.backends["vgf"].for_release("1.4.1")
    assert vgf.texts("runtime", "registered_in_wheel") == ("linux-x86-64",)
    assert vgf.evidence("runtime").release == "1.4.1"
    assert vgf.evidence("export").release == "1.5.1"


def test_compiled_form_is_the_sources() -> None:
    """What the wheel holds, if this is the wheel, is what the sources of this checkout say."""
    sources = json.loads(json.dumps(store.read_sources(SOURCES)))
    assert store.kit_documents() == sources
    assert [*store.kit_documents()["targets"]] == [*sources["targets"]]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"schema": "etbk.backend/1"}, ("name",)),
        ({"kind": "gadget"}, ("kind",)),
        ({"name": "Upper"}, ("name",)),
        ({"unknown_field": 1}, ("unknown_field",)),
        ({"aliases": "x"}, ("aliases",)),
        ({"aliases": [""]}, ("aliases", 0)),
        (
            {"options": [{"name": "x", "type": "complex", "where": "partitioner"}]},
            ("options", 0, "type"),
        ),
        (
            {"requires": [{"package": "x", "range": "~~3", "install": "pip"}]},
            ("requires", 0, "range"),
        ),
        ({"export": {"snippet": "", "delegates": {"X": "one"}}}, ("export", "delegates", "X")),
        (
            {"evidence": {"level": "seen", "release": "1", "date": "2026-01-01"}},
            ("evidence", "level"),
        ),
    ],
)
def test_own_schema_checker_agrees_with_a_validator(
    document: dict[str, object], field: tuple[object, ...]
) -> None:
    schema = read_schema(store.schema_of("backends"))
    assert field in [problem.field for problem in problems(document, schema)]
    if field[-1] != "range":  # the format version-range is the kit's own
        errors = jsonschema.Draft202012Validator(schema).iter_errors(document)
        places = {tuple(e.absolute_path) for e in errors} | {
            (*e.absolute_path, *e.message.split("'")[1:2])
            for e in jsonschema.Draft202012Validator(schema).iter_errors(document)
        }
        assert field in places
