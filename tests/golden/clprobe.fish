# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate fish.
function __clprobe_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l answer ($words[1] --complete $words[2..] "$word" 2>/dev/null)
    string join \n -- $answer[2..]
    test "$answer[1]" = files; and __fish_complete_path (string replace -r '^--[a-z-]+=' '' -- "$word")
end
complete -c clprobe -f -a '(__clprobe_complete)'
