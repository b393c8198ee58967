"""What is known to help: each cure says when it applies, what to do, and how to try it.

catalogue    the cures
rewrites     equivalent forms of operators, for the exported program
expressions  the same in the author's source, as a diff
trial        a cure applied to the whole model, measured
"""
