#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats sets status and output
# tools/changed.sh: what must be looked at is not left out.
bats_require_minimum_version 1.5.0

setup() {
  # shellcheck source-path=SCRIPTDIR source=../../tools/changed.sh
  source "$BATS_TEST_DIRNAME/../../tools/changed.sh"
  unset CLPROBE_BASE
  export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
  export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
  cd "$BATS_TEST_TMPDIR" || return 1
  git init --quiet --initial-branch=main work && cd work || return 1
}

# commit HOUR FILE...: writes the files and commits them, so many hours after noon.
commit() {
  local hour=$1 file
  shift
  for file in "$@"; do
    mkdir -p "$(dirname "$file")"
    printf '%s\n' "$hour" >>"$file"
  done
  git add --all
  at "$hour" git commit --quiet --message "$hour"
}

# at HOUR COMMAND...
at() {
  local date=$((1800000000 + $1 * 3600))
  GIT_AUTHOR_DATE="$date +0000" GIT_COMMITTER_DATE="$date +0000" "${@:2}"
}

changed_are() { diff <(printf '%s\n' "$@") <(changed_files | sort); }

@test "on a branch: since it left main, whenever that was" {
  commit 0 a
  git switch --quiet --create branch
  commit 1 b
  commit 90 c
  git switch --quiet main
  commit 91 d
  git switch --quiet branch
  changed_are b c
}

@test "on main: four hours, and at least the last commit" {
  commit 0 a
  commit 19 b
  commit 21 c
  commit 24 d
  # The base is 1, the newest of more than four hours before.
  changed_are c d
  commit 90 e
  changed_are e
}

@test "on main: all that a merge brings, however old it is" {
  commit 0 a
  git switch --quiet --create branch
  commit 1 b
  commit 2 c
  git switch --quiet main
  commit 3 d
  at 90 git merge --quiet --no-ff --message merge branch
  changed_are b c
}

@test "what is not committed has changed, too, and what is gone" {
  commit 0 a b c .gitignore
  commit 90 d
  printf 'ignored\n' >.gitignore
  : >ignored
  : >new
  git rm --quiet a
  changed_are .gitignore a d new
}

@test "CLPROBE_BASE wins; a commit that is not there is no base" {
  commit 0 a
  commit 1 b
  commit 2 c
  CLPROBE_BASE=HEAD~1 changed_are c
  CLPROBE_BASE=nosuch run changed_files
  [ "$status" -ne 0 ]
}

@test "without history there is no answer, which is not the same as no changes" {
  commit 0 a
  run changed_files
  [ "$status" -ne 0 ]
  commit 90 b
  git clone --quiet --depth 1 "file://$PWD" ../shallow
  cd ../shallow
  run changed_files
  [ "$status" -ne 0 ]
}

@test "a clone of main, where origin/main is the same commit" {
  commit 0 a
  commit 90 b
  git clone --quiet . ../clone
  cd ../clone
  changed_are b
  git checkout --quiet --detach
  git branch --quiet --delete --force main
  changed_are b
}

@test "who includes a file, directly or not" {
  mkdir -p src/x
  printf '#include "x/b.hpp"\n' >src/a.cpp
  printf '#include "c.hpp"\n' >src/x/b.hpp
  printf '#include <c.hpp>\n' >src/other.cpp
  printf '#include "abc.hpp"\n' >src/another.cpp
  commit 0 src/x/c.hpp src/abc.hpp
  diff <(printf '%s\n' src/a.cpp src/x/b.hpp src/x/c.hpp) <(including . src/x/c.hpp | sort)
  diff <(printf '%s\n' README src/a.cpp) <(including . README src/a.cpp | sort)
  [ -z "$(including .)" ]
}

@test "clang-tidy looks at what has changed first, and at no more sources than it has time for" {
  # shellcheck source-path=SCRIPTDIR source=../../tools/check
  source "$BATS_TEST_DIRNAME/../../tools/check"
  cd "$BATS_TEST_TMPDIR/work"
  at 0 git commit --quiet --allow-empty --message 0
  commit 90 src/{1..400}.cpp
  printf 'src/%s.cpp\n' {1..400} | jq --raw-input "{file: (\"$PWD/\" + .)}" | jq --slurp . >commands
  run --separate-stderr tidy_sources commands
  [ "$(sort --unique <<<"$output" | wc -l)" -eq "$max_changed" ]
  [ "$(grep --only-matching 'src/[0-9]*.cpp' <<<"$stderr" | sort --unique | wc -l)" -eq $((400 - max_changed)) ]
  # Few changes: all of them, and a share of the others.
  commit 180 src/{1..9}.cpp
  run --separate-stderr tidy_sources commands
  [ "$(head -n 9 <<<"$output" | sort --version-sort | tr '\n' ' ')" = "$(printf 'src/%s.cpp ' {1..9})" ]
  [ "$(sort --unique <<<"$output" | wc -l)" -eq $((9 + (400 - 9 + 7) / 8)) ]
}

@test "a share is the same for a commit, and every name has its turn" {
  local turn names seen=()
  names=$(printf 'src/%s.cpp\n' {1..40})
  for turn in {1..50}; do
    commit "$turn" a
    diff <(drawn 8 <<<"$names") <(drawn 8 <<<"$names")
    mapfile -t -O "${#seen[@]}" seen < <(drawn 8 <<<"$names")
  done
  [ "${#seen[@]}" -eq 250 ]
  [ "$(printf '%s\n' "${seen[@]}" | sort --unique | wc -l)" -eq 40 ]
  [ -z "$(drawn 8 </dev/null)" ]
}
