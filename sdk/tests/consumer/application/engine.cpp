// Stands for the static library of an application. Licence: BSD-3-Clause.
int engine_version();
int engine_version() { return 1; }
