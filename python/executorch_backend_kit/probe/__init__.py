"""Runs doubtful code, vendors' imports above all, where it can do no harm.

client        starts the fork server, sends it jobs, hands back what became of each
server        a process that has imported torch and ExecuTorch once, and forks a child per job
containment   what a child may not do, and what is noted of what it did
jobs          what children can be asked to do
"""

from executorch_backend_kit.probe.client import Outcome, Prober, Reply

__all__ = ["Outcome", "Prober", "Reply"]
