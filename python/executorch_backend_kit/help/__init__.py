"""What a code or an error text means, and what to do next.

codes/, errors.toml, rules/   the data; their form is in schemas/
data                          loads them
answers                       finds what a text means
"""

from executorch_backend_kit.help.answers import Answer, Explanation, explain

__all__ = ["Answer", "Explanation", "explain"]
