"""What a user writes to lower a model with the vendor's backend. Prints what came out, as JSON."""

import base64
import json
import sys
from pathlib import Path

import torch
from acme_executorch_backend import AcmePartitioner
from executorch.exir import to_edge_transform_and_lower


class Model(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b + a) - b


options = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}
exported_program = torch.export.export(Model(), (torch.ones(2, 3), torch.ones(2, 3)))
program = to_edge_transform_and_lower(
    exported_program,
    partitioner=[AcmePartitioner(**options)],
).to_executorch()
with Path(sys.argv[1]).open("wb") as file:
    program.write_to_file(file)

plan = program.executorch_program.execution_plan[0]
data = program.executorch_program.backend_delegate_data
print(
    json.dumps(
        {
            "delegates": [delegate.id for delegate in plan.delegates],
            "operators": [operator.name for operator in plan.operators],
            "blobs": [base64.b64encode(blob.data).decode() for blob in data],
        }
    )
)
