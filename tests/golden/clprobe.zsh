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
    # A term may have several words; explain takes them unquoted.
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
      '--device=[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--max-memory=[maximum device memory for buffers]:SIZE: '
      '--time-budget=[approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h]:TIME: '
      '--quick[fewer sizes and samples, for a first look]'
      '--thorough[more sizes and samples, for publication]'
      '--timeout=[longest wait for a response from the driver (default 30s)]:TIME: '
      '--clock=[clock to read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)'
      '--seed=[seed of all random orders (default 42)]:N: '
      '--dry-run[print the plan with its memory and time, and exit]'
      '*--label=[name to show for a run instead of its device]:NAME: '
      '*--output=[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '--format=[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[use colours on stdout]:WHEN:(auto always never)'
      '--verbose[show more\: every point or kernel, every reason]'
      '-v[show more\: every point or kernel, every reason]'
      '--quiet[show results and errors only, no progress or advice]'
      '-q[show results and errors only, no progress or advice]'
      '--generate=[print the man page, a shell'\''s completion or the run schema]:WHAT:(man bash zsh fish schema)'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
    ) ;;
    'list') own=(
      '--device=[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--timeout=[longest wait for a response from the driver (default 30s)]:TIME: '
      '--format=[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
    ) ;;
    'explain') own=(
      '--full[with explain\: print the whole page instead of the short form]'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
    ) ;;
    'report') own=(
      '--series=[series to report (a comma list), or series of an imported list]:SERIES:_sequence compadd - global local'
      '*--label=[name to show for a run instead of its device]:NAME: '
      '*--output=[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '--format=[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[use colours on stdout]:WHEN:(auto always never)'
      '--verbose[show more\: every point or kernel, every reason]'
      '-v[show more\: every point or kernel, every reason]'
      '--quiet[show results and errors only, no progress or advice]'
      '-q[show results and errors only, no progress or advice]'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
    ) ;;
    'compare') own=(
      '--live[measure both sides now, alternately, instead of reading files]'
      '--baseline=[run to compare against (default\: the first)]:FILE:_files'
      '--threshold=[ignore changes up to SHARE (default 3%)]:SHARE: '
      '--fail-on=[exit with code 4 if a finding is worse, or for `changed` different at all; tested jointly at 5 % (default never)]:VERDICT:(never worse changed)'
      '*--label=[name to show for a run instead of its device]:NAME: '
      '*--output=[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '--format=[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[use colours on stdout]:WHEN:(auto always never)'
      '--verbose[show more\: every point or kernel, every reason]'
      '-v[show more\: every point or kernel, every reason]'
      '--quiet[show results and errors only, no progress or advice]'
      '-q[show results and errors only, no progress or advice]'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
    ) ;;
    'compare --live') own=(
      '--device=[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--max-memory=[maximum device memory for buffers]:SIZE: '
      '--time-budget=[approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h]:TIME: '
      '--quick[fewer sizes and samples, for a first look]'
      '--thorough[more sizes and samples, for publication]'
      '--timeout=[longest wait for a response from the driver (default 30s)]:TIME: '
      '--clock=[clock to read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)'
      '--seed=[seed of all random orders (default 42)]:N: '
      '--live[measure both sides now, alternately, instead of reading files]'
      '--b-device=[device of side B (default\: the value of --device)]:SEL:_clprobe_devices'
      '*--a-env=[environment variable for side A'\''s drivers only]:NAME=VALUE: '
      '*--b-env=[environment variable for side B'\''s drivers only]:NAME=VALUE: '
      '--runs=[also write both sides'\'' runs to FILE, as JSON]:FILE:_files'
      '--threshold=[ignore changes up to SHARE (default 3%)]:SHARE: '
      '--fail-on=[exit with code 4 if a finding is worse, or for `changed` different at all; tested jointly at 5 % (default never)]:VERDICT:(never worse changed)'
      '*--output=[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '--format=[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[use colours on stdout]:WHEN:(auto always never)'
      '--verbose[show more\: every point or kernel, every reason]'
      '-v[show more\: every point or kernel, every reason]'
      '--quiet[show results and errors only, no progress or advice]'
      '-q[show results and errors only, no progress or advice]'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
    ) ;;
    'import') own=(
      '--device-name=[name of the device, if the file does not give one]:NAME: '
      '--series=[series to report (a comma list), or series of an imported list]:SERIES:_sequence compadd - global local'
      '--size-unit=[unit of sizes in an imported list]:UNIT:(auto B KiB MiB)'
      '--time-unit=[unit of latencies in an imported list]:UNIT:(auto ns us cycles)'
      '--clock-rate=[clock rate of the measured device, such as 1.98GHz or 1980MHz]:RATE: '
      '*--label=[name to show for a run instead of its device]:NAME: '
      '*--output=[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '--format=[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[use colours on stdout]:WHEN:(auto always never)'
      '--verbose[show more\: every point or kernel, every reason]'
      '-v[show more\: every point or kernel, every reason]'
      '--quiet[show results and errors only, no progress or advice]'
      '-q[show results and errors only, no progress or advice]'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
    ) ;;
    'profile') own=(
      '--device=[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '-d[device to measure\: an index, P\:D, gpu, cpu, part of a name, all, sim\:PRESET, or a comma list]:SEL:_clprobe_devices'
      '--time-budget=[approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h]:TIME: '
      '--quick[fewer sizes and samples, for a first look]'
      '--thorough[more sizes and samples, for publication]'
      '--timeout=[longest wait for a response from the driver (default 30s)]:TIME: '
      '--clock=[clock to read inside kernels]:KIND:(auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter)'
      '--seed=[seed of all random orders (default 42)]:N: '
      '--list[only list the program'\''s kernels with launches and device time]'
      '--kernel=[capture only this kernel (its N-th launch)]:NAME[:N]: '
      '--keep=[keep the captured launches, to replay them later or elsewhere]:FOLDER:_files'
      '--headers=[let replayed kernels include files below this folder]:FOLDER:_files'
      '--kernel-file=[OpenCL C file of a kernel to launch without a program]:FILE.cl:_files'
      '--launch=[description of the launch of --kernel-file]:FILE.json:_files'
      '--levels=[saved run of latency on this device, to name memory levels]:FILE.json:_files'
      '--with-secrets[also store values that look like passwords, tokens and keys]'
      '*--output=[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '*-o[also write FILE\: .txt .json .csv .md .html .svg; - is stdout]:FILE:_files'
      '--format=[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '-f[format of the results on stdout]:FORMAT:(table json csv findings curves markdown html svg)'
      '--json[short for --format json]'
      '--color=[use colours on stdout]:WHEN:(auto always never)'
      '--verbose[show more\: every point or kernel, every reason]'
      '-v[show more\: every point or kernel, every reason]'
      '--quiet[show results and errors only, no progress or advice]'
      '-q[show results and errors only, no progress or advice]'
      '--version[print version, commit and compiler]'
      '-V[print version, commit and compiler]'
      '--help[print this summary]'
      '-h[print this summary]'
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
