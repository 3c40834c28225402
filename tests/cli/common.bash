# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # Bats sets status, output and stderr
# Functions for every suite. The variable CLPROBE names the program.

# Options for a run of a second or two on PoCL, with three working sets. The time budget is large, since on a
# busy host with a cold cache the budget of --quick might end before all points are measured.
#  shellcheck disable=SC2034
few_sizes=(--sizes "16KiB-64KiB*2" --quick --time-budget 60s)

# plain_environment: removes variables that change the output of the program, a driver or the shell.
plain_environment() {
  local name
  for name in $(compgen -e); do
    case $name in
    POCL_CACHE_DIR) ;;
    POCL_* | RUSTICL_* | OCL_ICD_* | OPENCL_* | CLPROBE_SURVEY | CLPROBE_CAPTURE | CLPROBE_BUNDLES | \
      NO_COLOR | CLICOLOR* | COLUMNS | LINES | PAGER | LESS | LC_* | TZ | CDPATH | POSIXLY_CORRECT)
      unset "$name"
      ;;
    esac
  done
  export LC_ALL=C.UTF-8 TERM=xterm
}

# until_gone GROUP: waits until the process group is empty, for at most 20 s.
until_gone() {
  local wait
  for ((wait = 0; wait < 200; ++wait)); do
    pgrep --pgroup "$1" >/dev/null || return 0
    sleep 0.1
  done
  pgrep --pgroup "$1" --list-full
  return 1
}

common_setup() {
  : "${CLPROBE:?names the program to test}"
  plain_environment
  export OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
  # A subfolder keeps the tests' files apart from those of Bats.
  mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return 1
  # PoCL's cache of built kernels is kept out of the user's folders. CTest gives all suites one folder, since
  # most of them build the same kernels.
  export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$BATS_RUN_TMPDIR/pocl}
  mkdir -p "$POCL_CACHE_DIR"
}

# require_driver NAME: skips the test if the driver is not registered; fails it under tools/test.
require_driver() {
  [[ -e /etc/OpenCL/vendors/$1.icd ]] && return
  [[ -z ${CLPROBE_REQUIRE_ALL:-} ]] || return 1
  skip "$1 is not installed"
}

# clprobe ARGUMENT...: runs the program and sets `output` (stdout), `stderr` and `status`. A time limit ends
# it after clprobe_seconds (120 by default).
clprobe() {
  run --separate-stderr timeout "${clprobe_seconds:-120}" "$CLPROBE" "$@"
}

# one_line_error: checks that stderr is one line that begins with the program's name.
one_line_error() {
  [[ $stderr == clprobe:* && $stderr != *$'\n'* ]] || {
    printf 'not a one-line error: %s\n' "$stderr"
    return 1
  }
}

# fails_with STATUS WORD...: checks the status (a pattern) and that stderr is one line with every word.
fails_with() {
  local expected=$1 word
  shift
  # shellcheck disable=SC2053
  [[ $status == $expected ]] || {
    printf 'status %s and not %s: %s\n' "$status" "$expected" "$stderr"
    return 1
  }
  one_line_error || return 1
  for word in "$@"; do
    [[ $stderr == *"$word"* ]] || {
      printf 'no "%s" in: %s\n' "$word" "$stderr"
      return 1
    }
  done
}

# json_says FILTER [FILE]: checks that a jq filter is true for a run document, read from FILE or stdout.
json_says() {
  local filter=$1 file=${2:-}
  if [[ -n $file ]]; then
    jq --exit-status "$filter" "$file" >/dev/null
  else
    jq --exit-status "(if type == \"array\" and length == 1 then .[0] else . end) | ($filter)" \
      <<<"$output" >/dev/null
  fi || {
    printf 'not true: %s\n' "$filter"
    return 1
  }
}

# runs_where_it_is: checks that a packaged program finds its worker and its loader layer.
runs_where_it_is() {
  clprobe list --json
  [[ $status -eq 0 ]] && json_says '.devices | length > 0' || return 1
  clprobe profile --list --json -- "$CLPROBE_SURVEYED" many 5
  [[ $status -eq 0 ]] && json_says '.launches == 5 and .timed >= 4'
}

# only_seen <FILE: checks that Unicode classes every character as visible, except line ends.
only_seen() {
  python3 -c '
import sys, unicodedata

invisible = {"Cc", "Cf", "Cn", "Cs", "Zl", "Zp"}
selectors = range(0xFE00, 0xFE10)
text = sys.stdin.buffer.read().decode().replace("\n", "")
found = [c for c in text if unicodedata.category(c) in invisible or ord(c) in selectors]
if found:
    sys.exit("not seen: " + " ".join(f"U+{ord(c):04X}" for c in found))
'
}
