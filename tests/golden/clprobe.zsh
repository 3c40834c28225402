#compdef clprobe
# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate zsh from the table of flags.
_clprobe_devices() {
  local -a devices
  devices=(all sim:gsi sim:kepler
    ${(f)"$(timeout 3 ${words[1]} list </dev/null 2>/dev/null |
      sed -n 's/^\([0-9][0-9]*\)  .*/\1/p')"})
  _sequence compadd - $devices
}
_clprobe_words() {
  case $command in
    report) [[ ${words[CURRENT-1]} == report ]] || compadd - latency bandwidth
      _files ;;
    compare|import|profile) _files ;;
    # A term may have several words, which explain takes as they are.
    explain) compadd -Q - latency bandwidth knee 'lanes together' 'local memory' ;;
    help) compadd - list explain report compare import profile help version latency bandwidth ;;
    list|version) ;;
    '') [[ -n $probe ]] || compadd - list explain report compare import profile help version
      compadd - latency bandwidth ;;
    *) compadd - latency bandwidth ;;
  esac
}
_clprobe() {
  local -a own
  local -a before=(${words[2,CURRENT-1]})
  # Options follow their probe: those of the last one before the cursor.
  local probe=${before[(R)(latency|bandwidth)]}
  local command=${before[(r)(list|explain|report|compare|import|profile|help|version)]}
  [[ $command != compare || -z ${before[(r)--live]} ]] || command='compare --live'
  case $command in
    '') own=(
      '--device=[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--max-memory=[memory that buffers may use at most]:SIZE: '
      '--time-budget=[approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h]:TIME: '
      '--quick[fewer sizes and samples\: a first look]'
      '--thorough[more sizes and samples\: for publication]'
      '--timeout=[longest wait for one answer of a driver (30s)]:TIME: '
      '--clock=[clock read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)'
      '--seed=[seed of all random orders (42)]:N: '
      '--dry-run[print the plan, its memory and time, and exit]'
      '*--label=[name of a run, shown in place of its device'\''s; once per run]:NAME: '
      '*--output=[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '--format=[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[colours on stdout]:WHEN:(auto always never)'
      '--verbose[every point, and what the driver reported]'
      '-v[every point, and what the driver reported]'
      '--quiet[results and errors only\: no progress, no advice]'
      '-q[results and errors only\: no progress, no advice]'
      '--generate=[print the man page or a shell'\''s completion]:WHAT:(man bash zsh fish schema)'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'list') own=(
      '--device=[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--timeout=[longest wait for one answer of a driver (30s)]:TIME: '
      '--format=[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'explain') own=(
      '--full[with explain\: the whole page, not the short form]'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'report') own=(
      '--series=[series to report (a comma list), or that an imported list is of]:SERIES:_sequence compadd - global local'
      '*--label=[name of a run, shown in place of its device'\''s; once per run]:NAME: '
      '*--output=[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '--format=[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[colours on stdout]:WHEN:(auto always never)'
      '--verbose[every point, and what the driver reported]'
      '-v[every point, and what the driver reported]'
      '--quiet[results and errors only\: no progress, no advice]'
      '-q[results and errors only\: no progress, no advice]'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'compare') own=(
      '--live[measure both sides now, in turns, instead of reading files]'
      '--baseline=[run to compare against (default\: the first)]:FILE:_files'
      '--threshold=[ignore changes up to this share (default 3%)]:SHARE: '
      '--fail-on=[exit with 4 if a finding got worse, or changed, all of them tested together at 5 % (default never)]:VERDICT:(never worse changed)'
      '*--label=[name of a run, shown in place of its device'\''s; once per run]:NAME: '
      '*--output=[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '--format=[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[colours on stdout]:WHEN:(auto always never)'
      '--verbose[every point, and what the driver reported]'
      '-v[every point, and what the driver reported]'
      '--quiet[results and errors only\: no progress, no advice]'
      '-q[results and errors only\: no progress, no advice]'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'compare --live') own=(
      '--device=[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--max-memory=[memory that buffers may use at most]:SIZE: '
      '--time-budget=[approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h]:TIME: '
      '--quick[fewer sizes and samples\: a first look]'
      '--thorough[more sizes and samples\: for publication]'
      '--timeout=[longest wait for one answer of a driver (30s)]:TIME: '
      '--clock=[clock read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)'
      '--seed=[seed of all random orders (42)]:N: '
      '--live[measure both sides now, in turns, instead of reading files]'
      '--b-device=[device of side B (default\: that of --device)]:SEL:_clprobe_devices'
      '*--a-env=[variable of side A'\''s drivers alone]:NAME=VALUE: '
      '*--b-env=[variable of side B'\''s drivers alone]:NAME=VALUE: '
      '--runs=[also keep both sides'\'' runs in FILE, as JSON]:FILE:_files'
      '--threshold=[ignore changes up to this share (default 3%)]:SHARE: '
      '--fail-on=[exit with 4 if a finding got worse, or changed, all of them tested together at 5 % (default never)]:VERDICT:(never worse changed)'
      '*--output=[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '--format=[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[colours on stdout]:WHEN:(auto always never)'
      '--verbose[every point, and what the driver reported]'
      '-v[every point, and what the driver reported]'
      '--quiet[results and errors only\: no progress, no advice]'
      '-q[results and errors only\: no progress, no advice]'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'import') own=(
      '--device-name=[the device, where the file does not name it]:NAME: '
      '--series=[series to report (a comma list), or that an imported list is of]:SERIES:_sequence compadd - global local'
      '--size-unit=[of the sizes in a list]:UNIT:(auto B KiB MiB)'
      '--time-unit=[of the latencies in a list]:UNIT:(auto ns us cycles)'
      '--clock-rate=[of the device that was measured\: 1.98GHz, 1980MHz]:RATE: '
      '*--label=[name of a run, shown in place of its device'\''s; once per run]:NAME: '
      '*--output=[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '--format=[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[colours on stdout]:WHEN:(auto always never)'
      '--verbose[every point, and what the driver reported]'
      '-v[every point, and what the driver reported]'
      '--quiet[results and errors only\: no progress, no advice]'
      '-q[results and errors only\: no progress, no advice]'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'profile') own=(
      '--device=[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--time-budget=[approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h]:TIME: '
      '--quick[fewer sizes and samples\: a first look]'
      '--thorough[more sizes and samples\: for publication]'
      '--timeout=[longest wait for one answer of a driver (30s)]:TIME: '
      '--clock=[clock read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)'
      '--seed=[seed of all random orders (42)]:N: '
      '--list[list the program'\''s kernels with launches and device time, and no more]'
      '--kernel=[capture this kernel alone, its N-th launch]:NAME[:N]: '
      '--keep=[keep what was captured, to replay it later or elsewhere]:FOLDER:_files'
      '--headers=[let a replayed text include files below this folder]:FOLDER:_files'
      '--kernel-file=[the text of a kernel, without a program that launches it]:FILE.cl:_files'
      '--launch=[how the kernel of --kernel-file is launched]:FILE.json:_files'
      '--levels=[mark the levels of memory that this run of latency found]:FILE.json:_files'
      '--with-secrets[store values that look like passwords, tokens and keys]'
      '*--output=[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .json .csv .md .txt .html .svg; - is stdout]:FILE:_files'
      '--format=[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[colours on stdout]:WHEN:(auto always never)'
      '--verbose[every point, and what the driver reported]'
      '-v[every point, and what the driver reported]'
      '--quiet[results and errors only\: no progress, no advice]'
      '-q[results and errors only\: no progress, no advice]'
      '--version[version, commit and compiler]'
      '-V[version, commit and compiler]'
      '--help[this text]'
      '-h[this text]'
    ) ;;
    'help') own=(
    ) ;;
    'version') own=(
    ) ;;
  esac
  if [[ -z $command || $command == 'compare --live' ]]; then
    case $probe in
    latency) own+=(
      '--sizes=[working sets]:RANGE: '
      '--step=[bytes between nodes]:SIZE: '
      '--unroll=[loads in one iteration]:N: '
      '--address=[how a load is addressed]:FORM:(auto pointer offset)'
      '--series=[series of points to measure (default\: all)]:LIST:_sequence compadd - global local'
    ) ;;
    bandwidth) own+=(
      '--grid=[work-items]:N: '
      '--operation=[what is done]:LIST:_sequence compadd - read write copy'
      '--loads=[independent loads]:LIST: '
      '--step=[bytes between elements]:SIZE: '
    ) ;;
    esac
  fi
  _arguments -s $own '*:word:_clprobe_words'
}
if [[ ${funcstack[1]} == _clprobe ]]; then
  _clprobe "$@"
else
  compdef _clprobe clprobe
fi
