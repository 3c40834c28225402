#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # Bats and common.bash set the variables
# The archive that `tools/package --archive` makes for other Linux systems. It builds the program again, in
# build/archive, which takes minutes.
bats_require_minimum_version 1.5.0

setup_file() {
  [[ ${CLPROBE_ARCHIVE-} != no ]] || return 0
  export repository=$BATS_TEST_DIRNAME/../.. made=$BATS_FILE_TMPDIR/made
  "$repository/tools/package" --archive "$made" 3>&-
}

setup() {
  [[ ${CLPROBE_ARCHIVE-} != no ]] || skip "tools/test --all makes the archive"
  load ../cli/common
  common_setup
  tar -xzf "$made"/clprobe-*-linux-*.tar.gz
  top=$(echo "$PWD"/clprobe-*)
  layer=$top/libexec/clprobe/libclprobe_layer.so
  CLPROBE=$top/bin/clprobe
}

@test "the archive's program runs where it is unpacked, and finds its layer" {
  clprobe version
  [[ $status -eq 0 ]]
  runs_where_it_is
}

@test "the archive needs OpenCL's loader, libgcc and glibc 2.34, and nothing else" {
  local file newest
  for file in "$CLPROBE" "$layer"; do
    run bash -c 'readelf --dynamic "$1" | grep -oP "NEEDED.*\[\K[^]]*" |
      grep --invert-match --extended-regexp "^(libOpenCL|libgcc_s|libc|libm|ld-linux-.*)\.so\.[0-9]+$"' - "$file"
    [[ $output == '' ]]
    newest=$(objdump --dynamic-syms "$file" | grep -oP 'GLIBC_\K[0-9.]+' | sort --version-sort | tail -n 1)
    [[ $(printf '%s\n' "$newest" 2.34 | sort --version-sort | tail -n 1) == 2.34 ]]
  done
  # Drivers' C++ libraries must not call this one's functions.
  run bash -c 'nm --dynamic --defined-only --format=just-symbols "$1" "$2" | grep ^_Z' - "$CLPROBE" "$layer"
  [[ $output == '' ]]
}

@test "the archive has completions, pages and the licences of the libraries that are part of it" {
  local file
  for file in share/{man/man1/clprobe.1,doc/clprobe/LICENSE,doc/clprobe/docs/install.md,zsh/site-functions/_clprobe} \
    share/{bash-completion/completions/clprobe,fish/vendor_completions.d/clprobe.fish} \
    share/doc/clprobe/licences/{libfmt-dev,libstdc++6,nettle-dev,GPL-3,LGPL}; do
    [[ -s $top/$file ]] || {
      printf 'no %s\n' "$file"
      return 1
    }
  done
  run find "$top" ! -perm -o=r -o -perm /g=w
  [[ $output == '' ]]
}

@test "the archive is the same whoever makes it" {
  (cd "$made" && sha256sum --check --quiet SHA256SUMS)
  umask 077
  TZ=Asia/Tokyo "$repository/tools/package" --archive again >/dev/null
  cmp "$made/SHA256SUMS" again/SHA256SUMS
}
