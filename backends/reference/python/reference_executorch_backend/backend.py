"""The ahead-of-time half of the backend: a delegated graph in, a blob out."""

from executorch.exir._serialize._named_data_store import NamedDataStore
from executorch.exir.backend.backend_details import BackendDetails, PreprocessResult
from executorch.exir.backend.compile_spec_schema import CompileSpec
from torch.export import ExportedProgram

from . import blob
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
        return PreprocessResult(
            processed_bytes=blob.encode(compiler.program, weights, key),
            debug_handle_map=compiler.debug_handles,
            data_store_output=store.get_named_data_store_output(),
        )
