"""What works on this machine, and why the rest does not.

environment, facts, sdk   looked at afresh each time, without imports
examination               tries backends in child processes
verdict, runtime          judge what was seen
cache                     keeps what trials saw
diagnosis                 puts it together
bundle                    writes a report without personal data

Nothing is imported here: quick commands use single modules of this package.
"""
