# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154  # Bats sets status, output and stderr
# Loaded by every suite. CLPROBE names the program.

# A run of a second or two on PoCL: three working sets. The budget is never used up, but on a busy
# host with a cold cache the one of --quick could be, and points would be missing.
# shellcheck disable=SC2034
few_sizes=(--sizes "16KiB-64KiB*2" --quick --time-budget 60s)

common_setup() {
  : "${CLPROBE:?names the program to test}"
  export OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd
  unset NO_COLOR CLICOLOR_FORCE
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

# The run document on stdout or in FILE answers the jq filter with true.
json_says() {
  local filter=$1 file=${2:-}
  if [[ -n $file ]]; then
    jq --exit-status "$filter" "$file" >/dev/null
  else
    jq --exit-status "$filter" <<<"$output" >/dev/null
  fi || {
    printf 'not true: %s\n' "$filter"
    return 1
  }
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
