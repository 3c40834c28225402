# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Finds the changed files, to which tools/test and tools/check are limited without --all; sourced by them.
# Results depend on the repository alone, so that they are equal for everyone with the commit.

# On main, the commits of one push are unknown. Commits within this time before the last one count as changed.
# Older ones were checked by an earlier push or on their branch, or are found by the random share of unchanged
# files.
window_seconds=$((4 * 3600))

# base_commit: prints the commit with which the current files are compared. It is $CLPROBE_BASE if set; on a
# branch, the commit where it left main; on main, the newest first-parent commit older than the window, at the
# latest the last commit but one. Fails without such a commit, as in a shallow clone.
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

# changed_files: prints files that differ from the base and new untracked files, one per line. Fails without a
# base.
changed_files() {
  local base
  base=$(base_commit) || return
  git diff --name-only --no-renames "$base" -- && git ls-files --others --exclude-standard
}

# changed_code: prints those of the C files on stdin whose code differs from the base, comments aside.
changed_code() {
  local base file
  base=$(base_commit)
  while IFS= read -r file; do
    if ! cmp --quiet <(git show "$base:$file" 2>/dev/null | without_comments) <(without_comments <"$file"); then
      printf '%s\n' "$file"
    fi
  done
}

# without_comments: prints the tokens of the C source on stdin, one per line, without comments.
without_comments() { gcc -fpreprocessed -dD -E -P -w -x c - | tr --squeeze-repeats '[:space:]' '\n'; }

# drawn SHARE: prints one in SHARE of the lines on stdin. The choice differs for each commit, so that every
# line is drawn eventually.
drawn() {
  local lines
  mapfile -t lines
  shuf --head-count=$(((${#lines[@]} + $1 - 1) / $1)) --random-source=<(yes "$(git rev-parse HEAD)") \
    --echo -- "${lines[@]}"
}

# including FOLDER FILE...: prints each FILE and the tracked files below FOLDER that include one directly or
# indirectly.
including() {
  local folder=$1 file names=("${@:2}") printed=' ' next
  while ((${#names[@]} > 0)); do
    next=()
    for file in "${names[@]}"; do
      [[ $printed != *" $file "* ]] || continue
      printed+="$file "
      printf '%s\n' "$file"
      [[ $file == *.@(hpp|h|def|clh) ]] || continue
      # Includes are matched by file name alone. A file of the same name elsewhere only causes additional
      # checks, while a path might be missed. Dots in names match any letter, which is harmless.
      mapfile -t -O "${#next[@]}" next < <(git grep --files-with-matches --extended-regexp \
        "^#include \"([^\"]*/)?${file##*/}\"" -- "$folder")
    done
    names=("${next[@]}")
  done
}
