#compdef clprobe
# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate zsh from the table of flags.
_clprobe_words() {
  case ${words[(r)(list|explain|report)]} in
    report) _files ;;
    explain) compadd - latency bandwidth ;;
    list) ;;
    *) compadd - list explain report latency bandwidth ;;
  esac
}
_clprobe() {
  _arguments -s \
    '--device=[devices\: an index, P\:D, part of a name, all, or a comma list of those]:SEL: ' \
    '-d[devices\: an index, P\:D, part of a name, all, or a comma list of those]:SEL: ' \
    '--sizes=[working sets\: 64KiB, 1KiB-1GiB, 1KiB-1GiB*2 or a comma list of those]:RANGE: ' \
    '--series=[series of points to measure]:LIST:_sequence compadd - global global-scalar global-pages constant-argument constant-program local image' \
    '--step=[bytes from one access to its neighbour, a multiple of 8]:SIZE: ' \
    '--unroll=[loads in one iteration of a chase, 1 to 64 (16)]:N: ' \
    '--address=[how a load is addressed]:FORM:(auto pointer index offset)' \
    '--max-memory=[most device memory that may be used]:SIZE: ' \
    '--elements=[elements in each buffer, a power of two\: 2^28, 256M]:N: ' \
    '--grid=[work-items of a launch, a power of two]:N: ' \
    '--work-group=[work-items in a work-group, a power of two]:N: ' \
    '--type=[types of the elements]:LIST:_sequence compadd - int float double' \
    '--vector=[values in an element]:LIST:_sequence compadd - 1 2 4 8 16' \
    '--operation=[what is done with the elements]:LIST:_sequence compadd - read write copy update' \
    '--buffer=[where the buffers lie]:LIST:_sequence compadd - device host svm' \
    '--timer=[what times a launch]:WORD:(event host)' \
    '--time-budget=[time for all probes of a device\: 500ms, 30s, 2min, 1h]:TIME: ' \
    '--quick[fewer sizes and samples\: a first look]' \
    '--thorough[more sizes and samples\: for publication]' \
    '--timeout=[longest wait for one answer of a driver (30s)]:TIME: ' \
    '--clock=[clock read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)' \
    '--seed=[seed of everything that is shuffled (42)]:N: ' \
    '--dry-run[say what would be measured, and measure nothing]' \
    '*--output=[also write FILE\: .json, .csv, .md or .txt; - is stdout]:FILE:_files' \
    '*-o[also write FILE\: .json, .csv, .md or .txt; - is stdout]:FILE:_files' \
    '--format=[format of stdout]:FORMAT:(table json csv markdown)' \
    '-f[format of stdout]:FORMAT:(table json csv markdown)' \
    '--json[short for --format json]' \
    '--color=[colours on stdout]:WHEN:(auto always never)' \
    '--verbose[every point, and what the driver reported]' \
    '-v[every point, and what the driver reported]' \
    '--quiet[results and errors only\: no progress, no advice]' \
    '-q[results and errors only\: no progress, no advice]' \
    '--generate=[print the man page or a shell'\''s completion]:WHAT:(man bash zsh fish)' \
    '--version[version, commit and compiler]' \
    '--help[this text]' \
    '-h[this text]' \
    '*:word:_clprobe_words'
}
if [[ ${funcstack[1]} == _clprobe ]]; then
  _clprobe "$@"
else
  compdef _clprobe clprobe
fi
