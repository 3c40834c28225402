# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate bash from the table of flags.
_clprobe_offer() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}
_clprobe_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$1")
}
_clprobe() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' each
  COMPREPLY=()
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  case $before in
  --series)
    _clprobe_offer 'global global-scalar global-pages constant-argument constant-program local image load-latency load-throughput store-throughput load-model store-model thread-latency chains loaded' "$word"
    return
    ;;
  --address)
    _clprobe_offer 'auto pointer index offset' "$word"
    return
    ;;
  --words)
    _clprobe_offer '4 8 16' "$word"
    return
    ;;
  --type)
    _clprobe_offer 'int float double' "$word"
    return
    ;;
  --vector)
    _clprobe_offer '1 2 4 8 16' "$word"
    return
    ;;
  --operation)
    _clprobe_offer 'read write copy update' "$word"
    return
    ;;
  --buffer)
    _clprobe_offer 'device host svm' "$word"
    return
    ;;
  --timer)
    _clprobe_offer 'event host' "$word"
    return
    ;;
  --target)
    _clprobe_offer 'cache memory host' "$word"
    return
    ;;
  --case)
    _clprobe_offer 'memory latency banks barrier chain divergence uts utsd implicit' "$word"
    return
    ;;
  --clock)
    _clprobe_offer 'auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter' "$word"
    return
    ;;
  --baseline)
    _clprobe_files "$word"
    return
    ;;
  --fail-on)
    _clprobe_offer 'never worse changed' "$word"
    return
    ;;
  --size-unit)
    _clprobe_offer 'auto B KiB MiB' "$word"
    return
    ;;
  --time-unit)
    _clprobe_offer 'auto ns us' "$word"
    return
    ;;
  --output|-o)
    _clprobe_files "$word"
    return
    ;;
  --format|-f)
    _clprobe_offer 'table json csv markdown html svg' "$word"
    return
    ;;
  --color)
    _clprobe_offer 'auto always never' "$word"
    return
    ;;
  --generate)
    _clprobe_offer 'man bash zsh fish' "$word"
    return
    ;;
  --device|-d|--sizes|--step|--unroll|--strides|--ways|--sub-groups|--instructions|--max-memory|--elements|--grid|--work-group|--work-items|--loads|--mergers|--time-budget|--timeout|--seed|--threshold|--device-name)
    return
    ;;
  esac
  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $each in
    list|explain|report|compare|import) command=$each ;;
    esac
  done
  if [[ $word == -* ]]; then
    _clprobe_offer '--device -d --sizes --series --step --unroll --address --words --strides --ways --sub-groups --instructions --max-memory --elements --grid --work-group --type --vector --operation --buffer --timer --work-items --loads --mergers --target --case --time-budget --quick --thorough --timeout --clock --seed --dry-run --baseline --threshold --fail-on --device-name --size-unit --time-unit --output -o --format -f --json --color --verbose -v --quiet -q --generate --version --help -h' "$word"
  elif [[ $command == report || $command == compare || $command == import ]]; then
    _clprobe_files "$word"
  elif [[ $command == explain ]]; then
    _clprobe_offer 'latency bandwidth' "$word"
  elif [[ $command == '' ]]; then
    _clprobe_offer 'list explain report compare import latency bandwidth' "$word"
  fi
}
complete -F _clprobe clprobe
