# Runs the steps of a script: names each one, times it, and on failure shows what it said.
#
# Sourced by the scripts beside it after `set -euo pipefail`. A step's output goes to a log file in
# out/logs; STEP_OUTPUT=show lets it through instead.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/out/logs
steps_done=()
mkdir -p "$logs"

# Milliseconds since the epoch.
now() {
  local micro=${EPOCHREALTIME/[.,]/}
  echo $((micro / 1000))
}

# Milliseconds as seconds with one decimal.
seconds() {
  printf '%d.%d' $(($1 / 1000)) $(($1 % 1000 / 100))
}

say() {
  printf '%s\n' "$1"
}

# One sentence and its cure, then the end.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  [[ $# -lt 2 ]] || printf '  fix: %s\n' "$2" >&2
  exit 1
}

# step NAME COMMAND...   runs the command, or ends the script with the last lines it printed.
step() {
  local name=$1 log begin took status
  shift
  log=$logs/$(tr -c 'a-zA-Z0-9\n' '-' <<<"$name").log
  printf '── %s\n' "$name"
  begin=$(now)
  # In a subshell with its own -e, which a function called in a condition would not heed.
  set +e
  if [[ ${STEP_OUTPUT:-log} == show ]]; then
    (set -e; "$@")
    status=$?
  else
    (set -e; "$@") >"$log" 2>&1
    status=$?
  fi
  set -e
  took=$(($(now) - begin))
  if ((status != 0)); then
    if [[ ${STEP_OUTPUT:-log} == show ]]; then
      die "\"$name\" failed with status $status after $(seconds $took) s"
    fi
    tail -n 40 "$log" >&2
    die "\"$name\" failed with status $status after $(seconds $took) s" \
      "what it printed is in ${log#"$root"/}"
  fi
  printf '   %s s\n' "$(seconds $took)"
  steps_done+=("$took $name")
}

# The steps with their times, and the sum since `script_begin`.
summarize_steps() {
  local row
  printf '\n'
  for row in "${steps_done[@]}"; do
    printf '%8s s  %s\n' "$(seconds "${row%% *}")" "${row#* }"
  done
  printf '%8s s  %s\n' "$(seconds $(($(now) - script_begin)))" "in all"
}

script_begin=$(now)
