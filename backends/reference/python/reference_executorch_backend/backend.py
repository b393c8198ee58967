"""The ahead-of-time half of the backend: a delegated graph in, a blob out."""

from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from executorch_backend_kit.pte import Envelope, NamedNeed, seal
from torch.export import ExportedProgram

from . import __version__, blob
from .compiler import Compiler

WEIGHTS = "weights"  # compile spec: "blob" (default) or "named"


class ReferenceBackend(BackendDetails):
    """Its name is the id in the .pte file and must equal the runtime's."""

    @staticmethod
    def preprocess(
        edge_program: ExportedProgram, compile_specs: list[CompileSpec]
    ) -> PreprocessResult:
        specs = {spec.key: bytes(spec.value) for spec in compile_specs}
        if not specs.items() <= {(WEIGHTS, b"blob"), (WEIGHTS, b"named")}:
            raise ValueError(
                f"REFERENCE-COMPILE-SPEC: {specs} is not understood. "
                f"There is one compile spec: {WEIGHTS}, b'blob' or b'named'."
            )
        compiler = Compiler(edge_program)
        compiler.run()
        weights, key, store = bytes(compiler.weights), "", NamedDataStore()
        if specs.get(WEIGHTS) == b"named" and weights:
            key = blob.weights_key(weights)
            store.add_named_data(key, weights, alignment=blob.ALIGNMENT)
        envelope = Envelope(
            backend_id="ReferenceBackend",
            backend_version=__version__,
            package="reference-executorch-backend",
            blob_format=blob.FORMAT,
            oldest_reader=blob.OLDEST_READER,
            payload_alignment=blob.ALIGNMENT,
            named_data={key: NamedNeed.of(weights)} if key else {},
        )
        return PreprocessResult(
            processed_bytes=seal(blob.encode(compiler.program, weights, key), envelope),
            debug_handle_map=compiler.debug_handles,
            data_store_output=store.get_named_data_store_output(),
        )
