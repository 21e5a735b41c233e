# Completes command lines of @NAME@ in fish. The program itself says what may follow: `@NAME@ complete`.
function __@NAME@_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    set -l lines ($program complete -- $words[2..] "$current" 2>/dev/null)
    set -l head (string split \t -- $lines[1])
    switch $head[1]
        case :files :folders
            set -l prefix ''
            test (count $head) -gt 1; and set prefix $head[2]
            set -l rest (string sub -s (math (string length -- $prefix) + 1) -- $current)
            for path in (__fish_complete_path $rest)
                printf '%s%s\n' $prefix $path
            end
        case :programs
            __fish_complete_command
            __fish_complete_path $current
        case :workload
            set -l started (string escape -- $words[(math $head[2] + 1)..])
            complete -C "$started $current"
        case :words
            printf '%s\n' $lines[2..]
    end
end
complete -c @NAME@ -f -a '(__@NAME@_complete)'
