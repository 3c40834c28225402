#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016,SC2154  # shells expand their own; Bats and common.bash set the variables
# What tools/package and `cmake --install` make of the program that is tested. The package is installed
# below a folder of the test's own, by a copy of the system's list of packages: what it depends on
# counts, and nothing of the system is touched.
bats_require_minimum_version 1.5.0

setup_file() {
  export repository=$BATS_TEST_DIRNAME/../.. made=$BATS_FILE_TMPDIR/made
  "$repository/tools/package" --build "$(dirname "$CLPROBE")" "$made"
}

setup() {
  load ../cli/common
  common_setup
  root=$BATS_TEST_TMPDIR/root
  deb=$(echo "$made"/clprobe_*.deb)
}

# on_root dpkg's arguments. An ordinary user is root in a name space of his own. Slim images exclude
# documentation, which is included again.
on_root() {
  local become=()
  ((EUID == 0)) || become=(unshare --map-root-user)
  "${become[@]}" dpkg --instdir="$root" --admindir="$BATS_TEST_TMPDIR/dpkg" --log="$BATS_TEST_TMPDIR/log" \
    --path-include='/*' "$@"
}

# No package's triggers: man-db's would run its script in the folder, where nothing else is.
install_package() {
  mkdir -p "$root" "$BATS_TEST_TMPDIR"/dpkg/{info,triggers,updates}
  cp /var/lib/dpkg/status "$BATS_TEST_TMPDIR/dpkg/"
  cp /var/lib/dpkg/info/format "$BATS_TEST_TMPDIR/dpkg/info/"
  on_root --install "$deb" 2>"$BATS_TEST_TMPDIR/warnings" || {
    grep --invert-match 'files list file' "$BATS_TEST_TMPDIR/warnings"
    return 1
  }
  CLPROBE=$root/usr/bin/clprobe
}

@test "the package installs where its dependencies are, runs, and leaves nothing behind" {
  local page
  install_package
  clprobe version
  [[ $status -eq 0 && "${lines[0]%% (*}-1" == "clprobe $(dpkg-deb --field "$deb" Version)"* ]]
  runs_where_it_is
  for page in "$repository"/docs/*.md; do
    [[ -s $root/usr/share/doc/clprobe/docs/${page##*/} ]]
  done
  page=$(mandoc -T utf8 "$root/usr/share/man/man1/clprobe.1.gz" | sed 's/.\x08//g')
  [[ $page == *'CLPROBE(1)'*'EXIT STATUS'*130* ]]
  on_root --purge clprobe 2>/dev/null
  run find "$root" -mindepth 1
  [[ $output == '' ]]
  diff <(dpkg-query --show) <(dpkg-query --admindir="$BATS_TEST_TMPDIR/dpkg" --show)
}

@test "shells find the completions of the package" {
  local data
  install_package
  export HOME=$BATS_TEST_TMPDIR XDG_CONFIG_HOME=$BATS_TEST_TMPDIR XDG_DATA_DIRS=$root/usr/share
  export PATH=$root/usr/bin:$PATH
  unset XDG_DATA_HOME BASH_COMPLETION_USER_DIR
  run bash --norc -c '. /usr/share/bash-completion/bash_completion
    _completion_loader clprobe
    complete -p clprobe
    COMP_WORDS=(clprobe explain infl) COMP_CWORD=2
    _clprobe
    echo "${COMPREPLY[@]}"
    COMP_WORDS=(clprobe --device "") COMP_CWORD=2
    _clprobe
    echo "${COMPREPLY[@]}"'
  [[ ${lines[0]} == 'complete -F _clprobe clprobe' && ${lines[1]} == inflight ]]
  [[ " ${lines[2]} " == *' 0 '* && ${lines[2]} == *sim:gsi* ]]
  run fish -c 'complete -C "clprobe explain lat"; complete -C "clprobe --device "'
  [[ ${lines[0]} == latency* && $output == *$'\n0\t'* && $output == *sim:gsi* ]]
  # Debian's zsh looks into this folder by itself, and only of the system's.
  data=$root/usr/share/zsh/vendor-completions
  run zsh -f -c 'print -l $fpath'
  [[ $'\n'$output$'\n' == *$'\n/usr/share/zsh/vendor-completions\n'* ]]
  run zsh -f -c 'fpath=($1 $fpath)
    autoload -Uz compinit && compinit -u -D
    print $_comps[clprobe]
    _describe() { print ${(P)2} }
    words=(clprobe --device "") CURRENT=3
    autoload +X -Uz _clprobe && _clprobe' zsh "$data"
  [[ ${lines[0]} == _clprobe && " ${lines[1]}" == *' all:'*' 0:'* ]]
}

@test "lintian finds no fault with the package" {
  run lintian --allow-root --fail-on error,warning "$deb"
  [[ $status -eq 0 && $output == '' ]] || {
    printf '%s\n' "$output"
    return 1
  }
}

@test "the package recommends a driver, and depends on the libraries that the program has" {
  [[ $(dpkg-deb --field "$deb" Recommends) == 'pocl-opencl-icd | opencl-icd' ]]
  [[ $(dpkg-deb --field "$deb" Depends) == *libc6*ocl-icd-libopencl1* ]]
  [[ $(dpkg-deb --field "$deb" Architecture) == "$(dpkg --print-architecture)" ]]
}

@test "cmake --install takes a prefix and DESTDIR, and what a page links to is there" {
  local build file link
  build=$(dirname "$CLPROBE")
  umask 002
  DESTDIR=$root cmake --install "$build" --prefix /opt/clprobe >/dev/null
  cmake --install "$build" --prefix "$BATS_TEST_TMPDIR/prefix" >/dev/null
  diff --recursive "$root/opt/clprobe" "$BATS_TEST_TMPDIR/prefix"
  cd "$root/opt/clprobe"
  for file in bin/clprobe libexec/clprobe/libclprobe_layer.so share/{man/man1/clprobe.1,doc/clprobe/LICENSE,zsh/site-functions/_clprobe} \
    share/{bash-completion/completions/clprobe,fish/vendor_completions.d/clprobe.fish}; do
    [[ -s $file ]] || return 1
  done
  # For all to read, and its owner alone to change.
  run find . ! -perm -o=r -o -perm /g=w
  [[ $output == '' ]]
  cd share/doc/clprobe
  for file in README.md docs/*.md; do
    while read -r link; do
      # Measured runs, and what only those need who change clprobe, stay in the repository.
      [[ -e $(dirname "$file")/$link || $link =~ ^(\.\./)?(results/.*|CONTRIBUTING\.md|tools/[a-z]+)$ ]] || {
        printf '%s links to %s\n' "$file" "$link"
        return 1
      }
    done < <(grep --only-matching --perl-regexp '\]\((?!https?:)\K[^)#]+' "$file")
  done
}

@test "package and archive are the same whoever makes them, and the archive has the commit" {
  local version archive commit
  version=$(dpkg-deb --field "$deb" Version)
  archive=clprobe-${version%-*}.tar.gz
  (cd "$made" && sha256sum --check --quiet SHA256SUMS)
  [[ $(wc -l <"$made/SHA256SUMS") -eq 2 ]]
  umask 077
  GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=tar.umask GIT_CONFIG_VALUE_0=user TZ=Asia/Tokyo \
    "$repository/tools/package" --build "$(dirname "$CLPROBE")" again >/dev/null
  cmp "$made/SHA256SUMS" again/SHA256SUMS
  # Unpacked in somebody's repository it does not take that one's commit.
  git init --quiet . && tar -xzf "$made/$archive"
  cd "${archive%.tar.gz}"
  commit=$(git -C "$repository" rev-parse HEAD)
  cmake -DROOT="$PWD" -DOUTPUT=version.hpp -DVERSION="${version%-*}" -P tools/cmake/Version.cmake
  grep --quiet "commit = \"${commit:0:12}\"" version.hpp
}

@test "after a package is made, what cmake --install has installed is still listed" {
  local build
  build=$(dirname "$CLPROBE")
  cmake --install "$build" --prefix "$BATS_TEST_TMPDIR/prefix" >/dev/null
  "$repository/tools/package" --build "$build" again >/dev/null
  [[ $(ls again) == $'SHA256SUMS\nclprobe-'*$'\nclprobe_'*'.deb' ]]
  # As docs/install.md says.
  xargs --arg-file="$build/install_manifest.txt" rm
  run find "$BATS_TEST_TMPDIR/prefix" -type f
  [[ $output == '' ]]
}

@test "what tools/package needs is installed with the rest" {
  # shellcheck disable=SC1091
  source "$repository/tools/setup.sh"
  run column 3 "${package_needs[@]}"
  [[ $'\n'$output$'\n' == *$'\nfile\n'* && $'\n'$output$'\n' == *$'\ndpkg-dev\n'* ]]
}

@test "what is asked wrongly of tools/package" {
  run "$repository/tools/package" --no-such-option
  [[ $status -eq 1 && $output == *--no-such-option* ]]
  run "$repository/tools/package" --build
  [[ $status -eq 1 && $output == *folder* ]]
  run "$repository/tools/package" a b
  [[ $status -eq 1 && $output == *'too many'* ]]
  run "$repository/tools/package" --archive --build
  [[ $status -eq 1 && $output == *--build* ]]
}
