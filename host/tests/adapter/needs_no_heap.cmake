# Fails if the bare-metal form of the adapter refers to the heap, to locks or to thread-local
# storage. `operator delete` stays: the virtual destructor of ExecuTorch's BackendInterface names
# it, and nothing calls it.
execute_process(
  COMMAND "${NM}" -u "${OBJECT}"
  OUTPUT_VARIABLE symbols
  COMMAND_ERROR_IS_FATAL ANY)
foreach(name malloc free _Znwm _Znam _ZdaPv __tls_get_addr pthread_mutex_lock __cxa_throw
             __cxa_guard_acquire)
  if(symbols MATCHES "U ${name}(\n|$)")
    message(FATAL_ERROR "the bare-metal adapter refers to ${name}")
  endif()
endforeach()
execute_process(
  COMMAND "${READELF}" -SW "${OBJECT}"
  OUTPUT_VARIABLE sections
  COMMAND_ERROR_IS_FATAL ANY)
if(sections MATCHES "init_array")
  message(FATAL_ERROR "the bare-metal adapter has constructors that must run before main")
endif()
if(NOT symbols MATCHES "register_backend")
  message(FATAL_ERROR "nothing to judge in ${OBJECT}")
endif()
