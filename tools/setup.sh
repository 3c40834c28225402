# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034  # the scripts that source this use the lists
# Lists the packages that clprobe needs and installs them; sourced by the scripts in tools/. All messages go
# to stderr, since stdout belongs to the program's results.

# Required packages, one per row: description | test | package for apt | dnf | pacman | zypper. A test is a
# word and its argument: `program NAME`, `header PATH` (below an include folder), `library NAME`, `icd
# PATTERN` (a registered OpenCL driver), `file PATTERN...`. Tests look for files instead of asking the package
# database, which takes no process and accepts other installations. The package `-` does not exist on that
# system and is optional for the build.
run_needs=(
  "C++ compiler|program g++|g++|gcc-c++|gcc|gcc-c++"
  "CMake|program cmake|cmake|cmake|cmake|cmake"
  "Ninja|program ninja|ninja-build|ninja-build|ninja|ninja"
  "OpenCL loader|library libOpenCL.so|ocl-icd-opencl-dev|ocl-icd-devel|ocl-icd|ocl-icd-devel"
  "OpenCL headers|header CL/cl.h|opencl-c-headers|opencl-headers|opencl-headers|opencl-headers"
  "OpenCL C++ header|header CL/opencl.hpp|opencl-clhpp-headers|opencl-headers|opencl-clhpp|opencl-cpp-headers"
  "cxxopts|header cxxopts.hpp|libcxxopts-dev|cxxopts-devel|cxxopts|cxxopts-devel"
  "fmt|header fmt/core.h|libfmt-dev|fmt-devel|fmt|fmt-devel"
  "JSON for C++|header nlohmann/json.hpp|nlohmann-json3-dev|json-devel|nlohmann-json|nlohmann_json-devel"
  "pugixml|header pugixml.hpp|libpugixml-dev|pugixml-devel|pugixml|pugixml-devel"
  "cmark|header cmark.h|libcmark-dev|cmark-devel|cmark|cmark-devel"
  "utf8proc|header utf8proc.h|libutf8proc-dev|utf8proc-devel|libutf8proc|utf8proc-devel"
  "Nettle|header nettle/sha2.h|nettle-dev|nettle-devel|nettle|nettle-devel"
  "zlib|header zlib.h|zlib1g-dev|zlib-devel|zlib|zlib-devel"
  "PoCL, OpenCL on the CPU|icd pocl*.icd|pocl-opencl-icd|pocl|pocl|pocl"
)

# Additional packages for tools/package, on Debian.
package_needs=(
  "dpkg-shlibdeps|program dpkg-shlibdeps|dpkg-dev"
  "file, by which CPack knows programs|program file|file"
  "Git|program git|git"
)

# Additional packages for the test suite, with names for Debian only.
test_needs=(
  "doctest|header doctest/doctest.h|doctest-dev"
  "Bats|program bats|bats"
  "clinfo|program clinfo|clinfo"
  "clpeak|program clpeak|clpeak"
  "hashcat|program hashcat|hashcat"
  "CLBlast's tuners|program clblast_tuner_xdot|clblast-utils"
  "CLBlast's clients|program clblast_test_xaxpy|clblast-tests"
  "clFFT's client|program clFFT-client|clfft-client"
  "PyOpenCL|file /usr/lib/python3/dist-packages/pyopencl|python3-pyopencl"
  "darktable|program darktable-cli|darktable"
  "jq|program jq|jq"
  "rusticl and Clover|icd rusticl.icd|mesa-opencl-icd"
  "Oclgrind|program oclgrind|oclgrind"
  "Oclgrind's headers|header oclgrind/Plugin.h|liboclgrind-dev"
  "Intel's offline compiler|program ocloc|intel-opencl-icd"
  "AMD's device libraries|file /usr/lib/*/amdgcn/bitcode/ockl.bc|rocm-device-libs"
  "Clang 14|program clang++-14|clang-14"
  "Clang 14's sanitizers|file /usr/lib/llvm-14/lib/clang/14*/lib/linux/libclang_rt.asan-*|libclang-rt-14-dev"
  "clang-format 14|program clang-format-14|clang-format-14"
  "clang-tidy 14|program clang-tidy-14|clang-tidy-14"
  "Clang 14's headers, for clang-tidy's plugin|file /usr/lib/llvm-14/include/clang/AST/AST.h|libclang-14-dev"
  "LLVM 14's headers, likewise|file /usr/include/llvm-14/llvm/ADT/StringRef.h|llvm-14-dev"
  "Clang 15, the LLVM of AMD's device libraries|program clang-15|clang-15"
  "Clang 19, for newer AMD devices|program clang-19|clang-19"
  "Chromium|program chromium|chromium"
  "Chromium's driver|program chromedriver|chromium-driver"
  "Selenium for Python|file /usr/lib/python3/dist-packages/selenium|python3-selenium"
  "pgrep|program pgrep|procps"
  "bash-completion|file /usr/share/bash-completion/bash_completion|bash-completion"
  "fish|program fish|fish"
  "zsh|program zsh|zsh"
  "mandoc|program mandoc|mandoc"
  "lintian|program lintian|lintian"
  "ShellCheck|program shellcheck|shellcheck"
  "codespell|program codespell|codespell"
  "ESLint|program eslint|eslint"
  "flake8|program flake8|flake8"
  "mypy|program mypy|mypy"
  "Python|program python3|python3"
  "jsonschema for Python|file /usr/lib/python3/dist-packages/jsonschema /usr/local/lib/python3*/*-packages/jsonschema|python3-jsonschema"
)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

fail() {
  say "$@"
  exit 1
}

# matches_file PATTERN...: succeeds if a file matches one of the patterns.
matches_file() {
  local pattern
  for pattern in "$@"; do
    if compgen -G "$pattern" >/dev/null; then
      return 0
    fi
  done
  return 1
}

# is_there TEST ARGUMENT...: succeeds if a need is met.
is_there() {
  local test=$1
  shift
  case $test in
    program) command -v "$1" >/dev/null ;;
    header) [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]] ;;
    library) matches_file "/usr/lib/*/$1" "/usr/lib/$1" "/usr/lib64/$1" "/usr/local/lib/$1" ;;
    icd) matches_file "/etc/OpenCL/vendors/$1" ;;
    file) matches_file "$@" ;;
    *) fail "tools/setup.sh: unknown test '$test'" ;;
  esac
}

# missing_needs ROW...: prints the rows that are not met, one per line.
missing_needs() {
  local row test
  for row in "$@"; do
    IFS='|' read -r _ test _ <<<"$row"
    # Word splitting must keep the patterns unexpanded.
    local words
    read -ra words <<<"$test"
    if ! is_there "${words[@]}"; then
      printf '%s\n' "$row"
    fi
  done
}

# without_optional ROW...: prints the rows that the build requires.
without_optional() { printf '%s\n' "$@" | grep --invert-match --extended-regexp -- '^$|\|-$' || true; }

# column N ROW...: prints the Nth column of each row without repeats, in order, and skips empty ones.
column() {
  local number=$1 row
  shift
  for row in "$@"; do
    cut -d '|' -f "$number" <<<"$row"
  done | awk 'NF && !seen[$0]++'
}

install_command_of_other_system() {
  local manager
  for manager in 'dnf:4:dnf install' 'pacman:5:pacman -S' 'zypper:6:zypper install'; do
    if command -v "${manager%%:*}" >/dev/null; then
      printf '%s\n' "${manager#*:}"
      return
    fi
  done
}

# explain_missing ROW...: prints the names of missing packages, on systems without apt, and exits.
explain_missing() {
  local rows=("$@") known names
  say "missing here: $(column 1 "${rows[@]}" | paste -sd ';' | sed 's/;/; /g')"
  known=$(install_command_of_other_system)
  if [[ -n $known ]]; then
    mapfile -t names < <(column "${known%%:*}" "${rows[@]}")
    if ((${#names[@]} > 0)); then
      say "install them with: sudo ${known#*:} ${names[*]}"
    fi
  else
    mapfile -t names < <(column 3 "${rows[@]}")
    say "install the packages that Debian calls: ${names[*]}"
  fi
  say "then run this command again"
  exit 1
}

# try COMMAND...: runs a command in a subshell that exits at the first failure, and stores its status in
# `status`. A command in a condition would ignore failures.
try() {
  set +e
  (
    set -e
    "$@"
  )
  status=$?
  set -e
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

apt_install() {
  # DPkg::Lock::Timeout waits while another apt holds the lock, as unattended upgrades do on a fresh machine.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 \
    --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
    -o Acquire::Retries=2 "$@" </dev/null >"$setup_log" 2>&1
}

apt_update() {
  # Without Error-Mode, apt-get update succeeds with old lists if there is no network.
  as_root apt-get update --quiet=2 -o APT::Update::Error-Mode=any \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 </dev/null >"$setup_log" 2>&1
}

# have_candidates PACKAGE...: succeeds if the current lists contain all packages. A bare image has no lists.
have_candidates() {
  local unknown
  unknown=$(LC_ALL=C apt-cache policy "$@" 2>/dev/null | grep --count '^  Candidate: [^(]' || true)
  ((unknown == $#))
}

give_up_on_apt() {
  local by_hand=$1 line
  line=$(grep --max-count=1 '^E: ' "$setup_log" || tail -n 1 "$setup_log")
  rm -f "$setup_log"
  say "apt-get could not get the packages: ${line#E: }"
  say "check the network, or install by hand: $by_hand"
  exit 1
}

install_with_apt() {
  local rows=("$@") packages by_hand
  mapfile -t packages < <(column 3 "${rows[@]}")
  by_hand="apt-get update && apt-get install ${packages[*]}"
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "packages are missing; as root: $by_hand"
    # Without a terminal, sudo cannot ask for the password and may hang.
    [[ -t 2 ]] || sudo -n true 2>/dev/null || fail "packages are missing; as root: $by_hand"
  fi
  say "installing what is missing: ${packages[*]}"
  setup_log=$(mktemp)
  if ! have_candidates "${packages[@]}" || ! apt_install "${packages[@]}"; then
    apt_update || give_up_on_apt "$by_hand"
    apt_install "${packages[@]}" || give_up_on_apt "$by_hand"
  fi
  rm -f "$setup_log"
}

# require ROW...: installs missing packages, or explains what is missing and exits.
require() {
  local missing
  mapfile -t missing < <(missing_needs "$@")
  if ((${#missing[@]} == 0)); then
    return
  fi
  if command -v apt-get >/dev/null; then
    install_with_apt "${missing[@]}"
  else
    mapfile -t missing < <(without_optional "${missing[@]}")
    if ((${#missing[@]} == 0)); then
      return
    fi
    explain_missing "${missing[@]}"
  fi
  mapfile -t missing < <(missing_needs "${missing[@]}")
  mapfile -t missing < <(without_optional "${missing[@]}")
  if ((${#missing[@]} > 0)); then
    fail "still missing after the installation: $(column 1 "${missing[@]}" | paste -sd ',')"
  fi
}

# configure_if_stale PRESET: configures a build that is older than the presets. Ninja handles all other
# changes.
configure_if_stale() {
  local preset=$1 stamp=build/$1/.configured
  if [[ ! -e $stamp || CMakePresets.json -nt $stamp ]]; then
    cmake --preset "$preset" && touch "$stamp"
  fi
}

configure_and_build() { configure_if_stale "$1" && ninja -C "build/$1" "${@:2}"; }

# build PRESET [TARGET...]: configures and builds in the current folder. Ninja checks every file, which takes
# 20 ms and detects edits and `git pull`. Concurrent builds wait for each other. Short successful builds print
# nothing.
build() {
  local preset=$1 lock log=build/$1/.log
  mkdir -p "build/$preset" 2>/dev/null || true
  [[ -w build/$preset ]] || fail "cannot write to $PWD/build/$preset"
  exec {lock}>"build/$preset/.lock"
  flock "$lock"
  if [[ ! -e build/$preset/.configured ]]; then
    say "building in build/$preset; the first build takes some minutes"
    configure_and_build "$@" >&2 || fail "the build failed; see above"
  elif ! configure_and_build "$@" >"$log" 2>&1; then
    cat "$log" >&2
    fail "the build failed; see above"
  fi
  exec {lock}>&-
}
