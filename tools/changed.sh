# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What has changed, for what tools/test and tools/check look at without --all; sourced by them. The
# answers follow from the repository alone, so that everybody who has the commit gets the same.

# On main itself nobody knows what was pushed together. What is older than this, before the last
# commit, was looked at by an earlier push or on the branch that it came from; what was not is found
# by the share that is drawn from all the rest.
window_seconds=$((6 * 3600))

# base_commit: the commit that the current files are compared with. $CLPROBE_BASE says it; on a
# branch it is where the branch left main; on main the newest commit of main's own line that is older
# than the window, and at the latest the one before the last. Fails where there is none: a clone
# without that much history, or a young repository.
base_commit() {
  local main base=
  if [[ -n ${CLPROBE_BASE:-} ]]; then
    git rev-parse --quiet --verify "$CLPROBE_BASE^{commit}"
    return
  fi
  for main in origin/main main; do
    if base=$(git merge-base HEAD "$main" 2>/dev/null) && [[ $base != "$(git rev-parse HEAD)" ]]; then
      printf '%s\n' "$base"
      return
    fi
  done
  base=$(git rev-list --first-parent --max-count=1 \
    --before=$(($(git log -1 --format=%ct) - window_seconds)) HEAD^ 2>/dev/null)
  [[ -n $base ]] && printf '%s\n' "$base"
}

# changed_files: those that differ from the base, and new ones that nobody has added yet; one a line.
# Fails where there is no base.
changed_files() {
  local base
  base=$(base_commit) || return
  git diff --name-only --no-renames "$base" -- && git ls-files --others --exclude-standard
}

# drawn SHARE: of the lines on stdin one in SHARE, others for every commit, so that nothing is left out
# for long.
drawn() {
  local lines
  mapfile -t lines
  shuf --head-count=$(((${#lines[@]} + $1 - 1) / $1)) --random-source=<(yes "$(git rev-parse HEAD)") \
    --echo -- "${lines[@]}"
}

# including FOLDER FILE...: the FILEs, and the tracked files below FOLDER that include one of them,
# directly or by way of another.
including() {
  local folder=$1 file names=("${@:2}") seen=' ' next
  while ((${#names[@]} > 0)); do
    next=()
    for file in "${names[@]}"; do
      [[ $seen != *" $file "* ]] || continue
      seen+="$file "
      printf '%s\n' "$file"
      [[ $file == *.@(hpp|h|def|clh) ]] || continue
      # By its name alone: a file of the same name elsewhere costs a look, a path could be missed. Its
      # dots stand for any letter, which does no harm.
      mapfile -t -O "${#next[@]}" next < <(git grep --files-with-matches --extended-regexp \
        "^#include \"([^\"]*/)?${file##*/}\"" -- "$folder")
    done
    names=("${next[@]}")
  done
}
