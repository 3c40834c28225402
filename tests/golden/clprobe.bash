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
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local command='' probe='' own='' each
  COMPREPLY=()
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $each in
    list|explain|report|compare|import) command=$each ;;
    --live) [[ $command != compare ]] || command='compare --live' ;;
    latency|bandwidth) probe=$each ;;
    esac
  done
  case $probe$before in
  latency--address)
    _clprobe_offer 'auto pointer offset' "$word"
    return
    ;;
  latency--series)
    _clprobe_offer 'global local' "$word"
    return
    ;;
  bandwidth--operation)
    _clprobe_offer 'read write copy' "$word"
    return
    ;;
  latency--sizes|latency--step|latency--unroll|bandwidth--grid|bandwidth--loads|bandwidth--step)
    return
    ;;
  esac
  case $before in
  --clock)
    _clprobe_offer 'auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter' "$word"
    return
    ;;
  --runs)
    _clprobe_files "$word"
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
    _clprobe_offer 'man bash zsh fish schema' "$word"
    return
    ;;
  --device|-d|--max-memory|--time-budget|--timeout|--seed|--b-device|--a-env|--b-env|--threshold|--device-name|--series)
    return
    ;;
  esac
  case $probe in
  latency) own='--sizes --step --unroll --address --series' ;;
  bandwidth) own='--grid --operation --loads --step' ;;
  esac
  case $command in
  '') own+=' --device -d --max-memory --time-budget --quick --thorough --timeout --clock --seed --dry-run --output -o --format -f --json --color --verbose -v --quiet -q --generate --version --help -h' ;;
  'list') own+=' --device -d --timeout --format -f --json --version --help -h' ;;
  'explain') own+=' --version --help -h' ;;
  'report') own+=' --series --output -o --format -f --json --color --verbose -v --quiet -q --version --help -h' ;;
  'compare') own+=' --live --baseline --threshold --fail-on --output -o --format -f --json --color --verbose -v --version --help -h' ;;
  'compare --live') own+=' --device -d --max-memory --time-budget --quick --thorough --timeout --clock --seed --live --b-device --a-env --b-env --runs --threshold --fail-on --output -o --format -f --json --color --verbose -v --quiet -q --version --help -h' ;;
  'import') own+=' --device-name --series --size-unit --time-unit --output -o --format -f --json --color --verbose -v --quiet -q --version --help -h' ;;
  esac
  if [[ $word == -* ]]; then
    _clprobe_offer "$own" "$word"
  elif [[ $command == report || $command == compare || $command == import ]]; then
    _clprobe_files "$word"
  elif [[ $command == explain ]]; then
    _clprobe_offer 'latency bandwidth' "$word"
  elif [[ $command == '' && $probe == '' ]]; then
    _clprobe_offer 'list explain report compare import latency bandwidth' "$word"
  elif [[ $command == '' || $command == 'compare --live' ]]; then
    _clprobe_offer 'latency bandwidth' "$word"
  fi
}
complete -F _clprobe clprobe
