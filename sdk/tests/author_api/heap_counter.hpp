// Counts what the program takes from the heap by `new`. Licence: BSD-3-Clause.
#pragma once

// Calls of any form of operator new so far, on all threads.
int heap_allocations();
