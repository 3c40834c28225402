# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # Bats sets status, output and stderr
# Loaded by every suite. CLPROBE names the program.

# A run of a second or two on PoCL: three working sets. The budget is never used up, but on a busy
# host with a cold cache the one of --quick could be, and points would be missing.
# shellcheck disable=SC2034
few_sizes=(--sizes "16KiB-64KiB*2" --quick --time-budget 60s)

# plain_environment: removes variables that change what the program, a driver or the shell writes.
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

# until_gone GROUP: waits until the process group has no process, for 20 s at most.
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
  # A folder in the test's own: Bats keeps files there.
  mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return 1
  # PoCL keeps built kernels, by default in the user's own folder, which is somebody else's state.
  # CTest gives all suites one folder, since most of them build the same kernels.
  export POCL_CACHE_DIR=${POCL_CACHE_DIR:-$BATS_RUN_TMPDIR/pocl}
  mkdir -p "$POCL_CACHE_DIR"
}

# require_driver NAME: its registration is there, or the test is skipped; where all of them must be
# there (tools/test) it fails.
require_driver() {
  [[ -e /etc/OpenCL/vendors/$1.icd ]] && return
  [[ -z ${CLPROBE_REQUIRE_ALL:-} ]] || return 1
  skip "$1 is not installed"
}

# clprobe ARGUMENT...: runs it; stdout in `output`, stderr in `stderr`, its status in `status`. After two
# minutes, or the suite's own clprobe_seconds, it is ended.
clprobe() {
  run --separate-stderr timeout "${clprobe_seconds:-120}" "$CLPROBE" "$@"
}

# One line on stderr, that begins with the program's name.
one_line_error() {
  [[ $stderr == clprobe:* && $stderr != *$'\n'* ]] || {
    printf 'not a one-line error: %s\n' "$stderr"
    return 1
  }
}

# fails_with STATUS WORD...: the status (a pattern), an error of one line, and that it holds every word.
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

# The run document in FILE, or the only one of the array on stdout, answers the jq filter with true.
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

# runs_where_it_is: the program of a package or archive finds its worker, and the layer that it puts under
# programs.
runs_where_it_is() {
  clprobe list --json
  [[ $status -eq 0 ]] && json_says '.devices | length > 0' || return 1
  clprobe profile --list --json -- "$CLPROBE_SURVEYED" many 5
  [[ $status -eq 0 ]] && json_says '.launches == 5 and .timed >= 4'
}

# only_seen <FILE: every character is one that is seen, or a line end. By Python's table of Unicode.
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
