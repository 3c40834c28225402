# SPDX-License-Identifier: Apache-2.0
# Made by clprobe --generate fish from the table of flags.
# The command before the cursor: `measure` where there is none, `live` for `compare --live`.
function __clprobe_command
    set -l words (commandline -opc)
    for word in $words[2..]
        if contains -- $word list explain report compare import profile help version
            test $word = compare; and contains -- --live $words; and set word live
            echo $word
            return
        end
    end
    echo measure
end
function __clprobe_of
    contains -- (__clprobe_command) $argv
end
# Options follow their probe: those of the last one before the cursor.
function __clprobe_probe
    set -l last
    set -l words (commandline -opc)
    for word in $words[2..]
        contains -- $word latency bandwidth; and set last $word
    end
    test "$last" = $argv[1]; and __clprobe_of measure live
end
function __clprobe_behind
    set -l words (commandline -opc)
    test "$words[-1]" = $argv[1]
end
function __clprobe_has_probe
    set -l words (commandline -opc)
    for word in $words[2..]
        contains -- $word latency bandwidth; and return 0
    end
    return 1
end
# Offers the arguments that a comma list does not contain yet.
function __clprobe_list
    set -l token (string replace -r '^--[a-z-]+=' '' -- (commandline -ct))
    set -l before (string match -r '^.*,' -- $token)
    set -l there (string split , -- "$before")
    for word in $argv
        contains -- $word $there; or echo "$before$word"
    end
end
function __clprobe_devices
    set -l words (commandline -opc)
    timeout 3 $words[1] list </dev/null 2>/dev/null | string match -rg '^([0-9]+)  '
end
complete -c clprobe -f
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a list -d 'list devices and probes'
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a explain -d 'explain a probe, a page or a word of the output'
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a report -d 'print runs saved as JSON side by side'
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a compare -d 'report the differences between runs (JSON files or folders)'
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a import -d 'convert other tools\' results, to report and compare them'
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a profile -d 'find, capture and replay the kernels of any OpenCL program'
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a help -d 'show the shared options, or those of a command or probe'
complete -c clprobe -n '__clprobe_of measure; and not __clprobe_has_probe' -a version -d 'print version, commit and compiler'
complete -c clprobe -n '__clprobe_of measure live explain help' -a latency -d 'How long does a load take?'
complete -c clprobe -n '__clprobe_of measure live explain help' -a bandwidth -d 'How much is moved?'
complete -c clprobe -n '__clprobe_of help' -a 'list explain report compare import profile help version'
complete -c clprobe -n '__clprobe_of explain' -a '"knee"'
complete -c clprobe -n '__clprobe_of explain' -a '"lanes together"'
complete -c clprobe -n '__clprobe_of explain' -a '"local memory"'
complete -c clprobe -n '__clprobe_of report compare import profile' -F
complete -c clprobe -n '__clprobe_of report; and not __clprobe_behind report' -a 'latency bandwidth'
complete -c clprobe -n '__clprobe_of measure list live profile' -l device -s d -x -a '(__clprobe_list all sim:gsi sim:kepler (__clprobe_devices))' -d 'device to measure: an index, P:D, gpu, cpu, part of a name, all, sim:PRESET, or a comma list'
complete -c clprobe -n '__clprobe_of measure live' -l max-memory -x -d 'maximum device memory for buffers'
complete -c clprobe -n '__clprobe_of measure live profile' -l time-budget -x -d 'approximate time for all probes of a device, such as 500ms, 30s, 2min, 1h'
complete -c clprobe -n '__clprobe_of measure live profile' -l quick -d 'fewer sizes and samples, for a first look'
complete -c clprobe -n '__clprobe_of measure live profile' -l thorough -d 'more sizes and samples, for publication'
complete -c clprobe -n '__clprobe_of measure list live profile' -l timeout -x -d 'longest wait for a response from the driver (default 30s)'
complete -c clprobe -n '__clprobe_of measure live profile' -l clock -x -a 'auto none khr-device khr-sub-group nvidia-clock64 amd-cycle-counter intel-cycle-counter cpu-cycle-counter' -d 'clock to read inside kernels'
complete -c clprobe -n '__clprobe_of measure live profile' -l seed -x -d 'seed of all random orders (default 42)'
complete -c clprobe -n '__clprobe_of measure' -l dry-run -d 'print the plan with its memory and time, and exit'
complete -c clprobe -n '__clprobe_of compare live' -l live -d 'measure both sides now, alternately, instead of reading files'
complete -c clprobe -n '__clprobe_of live' -l b-device -x -a '(__clprobe_list all sim:gsi sim:kepler (__clprobe_devices))' -d 'device of side B (default: the value of --device)'
complete -c clprobe -n '__clprobe_of live' -l a-env -x -d 'environment variable for side A\'s drivers only'
complete -c clprobe -n '__clprobe_of live' -l b-env -x -d 'environment variable for side B\'s drivers only'
complete -c clprobe -n '__clprobe_of live' -l runs -r -F -d 'also write both sides\' runs to FILE, as JSON'
complete -c clprobe -n '__clprobe_of profile' -l list -d 'only list the program\'s kernels with launches and device time'
complete -c clprobe -n '__clprobe_of profile' -l kernel -x -d 'capture only this kernel (its N-th launch)'
complete -c clprobe -n '__clprobe_of profile' -l keep -r -F -d 'keep the captured launches, to replay them later or elsewhere'
complete -c clprobe -n '__clprobe_of profile' -l headers -r -F -d 'let replayed kernels include files below this folder'
complete -c clprobe -n '__clprobe_of profile' -l kernel-file -r -F -d 'OpenCL C file of a kernel to launch without a program'
complete -c clprobe -n '__clprobe_of profile' -l launch -r -F -d 'description of the launch of --kernel-file'
complete -c clprobe -n '__clprobe_of profile' -l levels -r -F -d 'saved run of latency on this device, to name memory levels'
complete -c clprobe -n '__clprobe_of profile' -l with-secrets -d 'also store values that look like passwords, tokens and keys'
complete -c clprobe -n '__clprobe_of compare' -l baseline -r -F -d 'run to compare against (default: the first)'
complete -c clprobe -n '__clprobe_of compare live' -l threshold -x -d 'ignore changes up to SHARE (default 3%)'
complete -c clprobe -n '__clprobe_of compare live' -l fail-on -x -a 'never worse changed' -d 'exit with code 4 if a finding is worse, or for `changed` different at all; tested jointly at 5 % (default never)'
complete -c clprobe -n '__clprobe_of import' -l device-name -x -d 'name of the device, if the file does not give one'
complete -c clprobe -n '__clprobe_of report import' -l series -x -a '(__clprobe_list global local)' -d 'series to report (a comma list), or series of an imported list'
complete -c clprobe -n '__clprobe_of import' -l size-unit -x -a 'auto B KiB MiB' -d 'unit of sizes in an imported list'
complete -c clprobe -n '__clprobe_of import' -l time-unit -x -a 'auto ns us cycles' -d 'unit of latencies in an imported list'
complete -c clprobe -n '__clprobe_of import' -l clock-rate -x -d 'clock rate of the measured device, such as 1.98GHz or 1980MHz'
complete -c clprobe -n '__clprobe_of measure report compare import' -l label -x -d 'name to show for a run instead of its device'
complete -c clprobe -n '__clprobe_of measure report compare live import profile' -l output -s o -r -F -d 'also write FILE: .txt .json .csv .md .html .svg; - is stdout'
complete -c clprobe -n '__clprobe_of measure list report compare live import profile' -l format -s f -x -a 'table json csv findings curves markdown html svg' -d 'format of the results on stdout'
complete -c clprobe -n '__clprobe_of measure list report compare live import profile' -l json -d 'short for --format json'
complete -c clprobe -n '__clprobe_of measure report compare live import profile' -l color -x -a 'auto always never' -d 'use colours on stdout'
complete -c clprobe -n '__clprobe_of measure report compare live import profile' -l verbose -s v -d 'show more: every point or kernel, every reason'
complete -c clprobe -n '__clprobe_of measure report compare live import profile' -l quiet -s q -d 'show results and errors only, no progress or advice'
complete -c clprobe -n '__clprobe_of measure' -l generate -x -a 'man bash zsh fish schema' -d 'print the man page, a shell\'s completion or the run schema'
complete -c clprobe -n '__clprobe_of explain' -l full -d 'with explain: print the whole page instead of the short form'
complete -c clprobe -n '__clprobe_of measure list explain report compare live import profile' -l version -s V -d 'print version, commit and compiler'
complete -c clprobe -n '__clprobe_of measure list explain report compare live import profile' -l help -s h -d 'print this summary'
complete -c clprobe -n '__clprobe_probe latency' -l sizes -x -d 'working sets'
complete -c clprobe -n '__clprobe_probe latency' -l step -x -d 'bytes between nodes'
complete -c clprobe -n '__clprobe_probe latency' -l unroll -x -d 'loads in one iteration'
complete -c clprobe -n '__clprobe_probe latency' -l address -x -a 'auto pointer offset' -d 'how a load is addressed'
complete -c clprobe -n '__clprobe_probe latency' -l series -x -a '(__clprobe_list global local)' -d 'series of points to measure (default: all)'
complete -c clprobe -n '__clprobe_probe bandwidth' -l grid -x -d 'work-items'
complete -c clprobe -n '__clprobe_probe bandwidth' -l operation -x -a '(__clprobe_list read write copy)' -d 'what is done'
complete -c clprobe -n '__clprobe_probe bandwidth' -l loads -x -d 'independent loads'
complete -c clprobe -n '__clprobe_probe bandwidth' -l step -x -d 'bytes between elements'
