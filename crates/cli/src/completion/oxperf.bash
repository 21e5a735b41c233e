# Completes command lines of @NAME@ in bash. The program itself says what may follow: `@NAME@ complete`.
_@NAME@_complete() {
    local typed=${COMP_LINE:0:COMP_POINT} program=${1/#\~\//$HOME/}
    local -a words
    read -ra words <<<"$typed"
    [[ $typed == *[[:space:]] ]] && words+=("")
    local last=${words[${#words[@]} - 1]} kept=
    # bash completes behind the last = or : of a word.
    [[ $COMP_WORDBREAKS == *=* && $last == *=* ]] && kept=${last%"${last##*=}"}
    [[ $COMP_WORDBREAKS == *:* && $last == *:* ]] && kept=${last%"${last##*[=:]}"}

    local kind argument text about
    COMPREPLY=()
    while IFS=$'\t' read -r text about; do
        if [[ -z $kind ]]; then
            kind=$text argument=$about
        else
            COMPREPLY+=("${text#"$kept"}")
        fi
    done < <("$program" complete -- "${words[@]:1}" 2>/dev/null)

    local -a found
    case $kind in
    :files | :folders)
        local flag=-f
        [[ $kind == :folders ]] && flag=-d
        mapfile -t found < <(compgen "$flag" -- "${last#"$argument"}")
        compopt -o filenames 2>/dev/null
        COMPREPLY=("${found[@]/#/${argument#"$kept"}}")
        ;;
    :programs)
        mapfile -t COMPREPLY < <(compgen -A command -- "$last"; compgen -f -- "$last")
        compopt -o filenames 2>/dev/null
        ;;
    :workload)
        # The line of a program that @NAME@ runs: its own completion, where bash-completion is there.
        local at
        for ((at = 1; at < COMP_CWORD; at++)); do
            [[ ${COMP_WORDS[at]} == "${words[argument]}" ]] && break
        done
        if declare -F _command_offset >/dev/null; then
            _command_offset "$at"
        else
            mapfile -t COMPREPLY < <(compgen -f -- "$last")
            compopt -o filenames 2>/dev/null
        fi
        ;;
    esac
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:,/] ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -F _@NAME@_complete @NAME@
