# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate bash from the table of flags.
_clprobe_offer() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}
# Offers the words that a comma list does not contain yet.
_clprobe_list() {
  local before='' each
  local -a rest=()
  [[ $2 != *,* ]] || before=${2%,*},
  for each in $1; do
    [[ ,$before == *",$each,"* ]] || rest+=("$before$each")
  done
  _clprobe_offer "${rest[*]}" "$2"
  compopt -o nospace 2>/dev/null
}
_clprobe_devices() {
  timeout 3 "${COMP_WORDS[0]}" list </dev/null 2>/dev/null | sed -n 's/^\([0-9][0-9]*\)  .*/\1/p'
}
# A term may have several words; explain takes them unquoted.
_clprobe_explain() {
  local IFS=$'\n'
  mapfile -t COMPREPLY < <(compgen -W 'latency
bandwidth
knee
lanes together
local memory' -- "$1")
}
_clprobe_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -W "$2" -f -- "$1")
}
_clprobe() {
  local each
  local -a typed=()
  COMPREPLY=()
  for each in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if [[ ${#typed[@]} -gt 0 && ($each == : || ${typed[-1]} == *:) ]]; then
      typed[-1]+=$each
    else
      typed+=("$each")
    fi
  done
  _clprobe_reply
  local word=${typed[-1]}
  if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
  fi
}
_clprobe_reply() {
  local word=${typed[-1]} before=${typed[-2]}
  local command='' probe='' own='' each
  if [[ $word == '=' ]]; then
    word=''
  elif [[ $before == '=' ]]; then
    before=${typed[-3]}
  fi
  for each in "${typed[@]:1:${#typed[@]}-2}"; do
    case $each in
    list|explain|report|compare|import|profile|help|version) [[ $command != '' || $probe != '' ]] || command=$each ;;
    --live) [[ $command != compare ]] || command='compare --live' ;;
    latency|bandwidth) probe=$each ;;
    esac
  done
  if [[ $command == '' || $command == 'compare --live' ]]; then
    case $probe$before in
  latency--address)
    _clprobe_offer 'auto pointer offset' "$word"
    return
    ;;
  latency--series)
    _clprobe_list 'global local' "$word"
    return
    ;;
  bandwidth--operation)
    _clprobe_list 'read write copy' "$word"
    return
    ;;
  latency--sizes|latency--step|latency--unroll|bandwidth--grid|bandwidth--loads|bandwidth--step)
    return
    ;;
    esac
    case $probe in
  latency) own='--sizes --step --unroll --address --series' ;;
  bandwidth) own='--grid --operation --loads --step' ;;
    esac
  fi
  case $before in
  --device|-d)
    _clprobe_list "all sim:gsi sim:kepler $(_clprobe_devices)" "$word"
    return
    ;;
  --clock)
    _clprobe_offer 'auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter' "$word"
    return
    ;;
  --b-device)
    _clprobe_list "all sim:gsi sim:kepler $(_clprobe_devices)" "$word"
    return
    ;;
  --runs)
    _clprobe_files "$word"
    return
    ;;
  --keep)
    _clprobe_files "$word"
    return
    ;;
  --headers)
    _clprobe_files "$word"
    return
    ;;
  --kernel-file)
    _clprobe_files "$word"
    return
    ;;
  --launch)
    _clprobe_files "$word"
    return
    ;;
  --levels)
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
  --series)
    _clprobe_list 'global local' "$word"
    return
    ;;
  --size-unit)
    _clprobe_offer 'auto B KiB MiB' "$word"
    return
    ;;
  --time-unit)
    _clprobe_offer 'auto ns us cycles' "$word"
    return
    ;;
  --output|-o)
    _clprobe_files "$word"
    return
    ;;
  --format|-f)
    _clprobe_offer 'table json csv findings curves markdown html svg' "$word"
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
  --max-memory|--time-budget|--timeout|--seed|--a-env|--b-env|--kernel|--threshold|--device-name|--clock-rate|--label)
    return
    ;;
  esac
  case $command in
  '') own+=' --device -d --max-memory --time-budget --quick --thorough --timeout --clock --seed --dry-run --label --output -o --format -f --json --color --verbose -v --quiet -q --generate --version -V --help -h' ;;
  'list') own+=' --device -d --timeout --format -f --json --version -V --help -h' ;;
  'explain') own+=' --full --version -V --help -h' ;;
  'report') own+=' --series --label --output -o --format -f --json --color --verbose -v --quiet -q --version -V --help -h' ;;
  'compare') own+=' --live --baseline --threshold --fail-on --label --output -o --format -f --json --color --verbose -v --quiet -q --version -V --help -h' ;;
  'compare --live') own+=' --device -d --max-memory --time-budget --quick --thorough --timeout --clock --seed --live --b-device --a-env --b-env --runs --threshold --fail-on --output -o --format -f --json --color --verbose -v --quiet -q --version -V --help -h' ;;
  'import') own+=' --device-name --series --size-unit --time-unit --clock-rate --label --output -o --format -f --json --color --verbose -v --quiet -q --version -V --help -h' ;;
  'profile') own+=' --device -d --time-budget --quick --thorough --timeout --clock --seed --list --kernel --keep --headers --kernel-file --launch --levels --with-secrets --output -o --format -f --json --color --verbose -v --quiet -q --version -V --help -h' ;;
  'help') own+='' ;;
  'version') own+='' ;;
  esac
  if [[ $command == profile && " ${typed[*]:1:${#typed[@]}-2} " == *' -- '* ]]; then
    _clprobe_files "$word"
    return
  fi
  if [[ $word == -* ]]; then
    _clprobe_offer "$own" "$word"
    return
  fi
  case $command in
  report)
    each='latency bandwidth'
    [[ $before != report ]] || each=''
    _clprobe_files "$word" "$each"
    ;;
  compare | import | profile) _clprobe_files "$word" ;;
  explain) _clprobe_explain "$word" ;;
  help) _clprobe_offer 'list explain report compare import profile help version latency bandwidth' "$word" ;;
  list | version) ;;
  '')
    each='latency bandwidth'
    [[ $probe != '' ]] || each='list explain report compare import profile help version latency bandwidth'
    _clprobe_offer "$each" "$word"
    ;;
  *) _clprobe_offer 'latency bandwidth' "$word" ;;
  esac
}
complete -F _clprobe clprobe
