# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate bash.
_clprobe() {
  local each kind='' word=${COMP_WORDS[COMP_CWORD]} before
  local -a typed=()
  # bash splits words at "=" and ":", and replaces what follows them.
  for each in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#typed[@]} -gt 0 && ($each == [=:] || ${typed[-1]} == *[=:]) ]]; then
      typed[-1]+=$each
    else
      typed+=("$each")
    fi
  done
  [[ $word != [=:] ]] || word=''
  before=${typed[-1]%"$word"}
  COMPREPLY=()
  {
    read -r kind
    mapfile -t COMPREPLY
  } < <("${COMP_WORDS[0]}" --complete "${typed[@]}" 2>/dev/null | cut -f 1)
  COMPREPLY=("${COMPREPLY[@]#"$before"}")
  if [[ $kind == list ]]; then
    compopt -o nospace 2>/dev/null
  elif [[ $kind == files ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _clprobe clprobe
