#compdef clprobe
# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate zsh.
_clprobe() {
  local line
  local -a answer offered
  answer=("${(@f)$(${words[1]} --complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  for line in ${answer[2,-1]}; do
    offered+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
  done
  if [[ $answer[1] == list ]]; then
    _describe clprobe offered -S ''
  else
    _describe clprobe offered
  fi
  if [[ $answer[1] == files ]]; then
    compset -P '--*='
    _files
  fi
}
if [[ ${funcstack[1]} == _clprobe ]]; then
  _clprobe "$@"
else
  compdef _clprobe clprobe
fi
