#compdef clprobe
# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate zsh from the table of flags.
_clprobe_words() {
  case ${words[(r)(list|explain|report|compare|import)]} in
    report|compare|import) _files ;;
    explain) compadd - latency bandwidth ;;
    list) ;;
    *) compadd - list explain report compare import latency bandwidth ;;
  esac
}
_clprobe() {
  _arguments -s \
    '--device=[an index, P\:D, part of a name, all, sim\:PRESET, or a comma list of those]:SEL: ' \
    '-d[an index, P\:D, part of a name, all, sim\:PRESET, or a comma list of those]:SEL: ' \
    '--sizes=[working sets\: 64KiB, 1KiB-1GiB, 1KiB-1GiB*2 or a comma list of those]:RANGE: ' \
    '--series=[series of points to measure]:LIST:_sequence compadd - global global-scalar global-pages constant-argument constant-program local image load-latency load-throughput store-throughput load-model store-model thread-latency chains loaded' \
    '--step=[bytes from one access to its neighbour, a multiple of 8]:SIZE: ' \
    '--unroll=[loads in one iteration of a chase, 1 to 64 (16)]:N: ' \
    '--address=[how a load is addressed]:FORM:(auto pointer index offset)' \
    '--words=[bytes of one access to local memory]:LIST:_sequence compadd - 4 8 16' \
    '--strides=[words from lane to lane in local memory\: 0-65 or 1,2,4]:LIST: ' \
    '--ways=[lanes that meet in one bank\: 1-32 or 1,2,4]:LIST: ' \
    '--sub-groups=[sub-groups that access local memory together\: 1-32]:LIST: ' \
    '--instructions=[accesses that do not wait for each other\: 1-32]:LIST: ' \
    '--max-memory=[most device memory that may be used]:SIZE: ' \
    '--elements=[elements in each buffer, a power of two\: 2^28, 256M]:N: ' \
    '--grid=[work-items of a launch, a power of two]:N: ' \
    '--work-group=[work-items in a work-group, a power of two]:N: ' \
    '--type=[types of the elements]:LIST:_sequence compadd - int float double' \
    '--vector=[values in an element]:LIST:_sequence compadd - 1 2 4 8 16' \
    '--operation=[what is done with the elements]:LIST:_sequence compadd - read write copy update' \
    '--buffer=[where the buffers lie]:LIST:_sequence compadd - device host svm' \
    '--timer=[what times a launch]:WORD:(event host)' \
    '--work-items=[work-items of the group\: 2-64 or 32,64,128]:LIST: ' \
    '--loads=[independent loads of a work-item\: 1-4 or 1,2,8]:LIST: ' \
    '--mergers=[work-items, and sub-groups, that share a line\: 1,2,4]:LIST: ' \
    '--target=[what answers the loads]:LIST:_sequence compadd - cache memory host' \
    '--case=[kernels whose stalls are shown]:LIST:_sequence compadd - memory latency banks barrier chain divergence uts utsd implicit' \
    '--time-budget=[time for all probes of a device\: 500ms, 30s, 2min, 1h]:TIME: ' \
    '--quick[fewer sizes and samples\: a first look]' \
    '--thorough[more sizes and samples\: for publication]' \
    '--timeout=[longest wait for one answer of a driver (30s)]:TIME: ' \
    '--clock=[clock read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)' \
    '--seed=[seed of everything that is shuffled (42)]:N: ' \
    '--dry-run[say what would be measured, and measure nothing]' \
    '--baseline=[what the other runs are set beside; else the first one]:FILE:_files' \
    '--threshold=[changes up to this are none (3%)]:SHARE: ' \
    '--fail-on=[exit status 4 when a finding is]:VERDICT:(never worse changed)' \
    '--device-name=[the device, where the file does not name it]:NAME: ' \
    '--size-unit=[of the sizes in a list]:UNIT:(auto B KiB MiB)' \
    '--time-unit=[of the latencies in a list]:UNIT:(auto ns us)' \
    '*--output=[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files' \
    '*-o[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files' \
    '--format=[format of stdout]:FORMAT:(table json csv markdown html svg)' \
    '-f[format of stdout]:FORMAT:(table json csv markdown html svg)' \
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
