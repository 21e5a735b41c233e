#compdef @NAME@
# Completes command lines of @NAME@ in zsh. The program itself says what may follow: `@NAME@ complete`.
_@NAME@() {
    local -a lines texts shown head
    local program=${(Q)words[1]} line tab=$'\t'
    lines=("${(@f)$("${program/#\~\//$HOME/}" complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    head=("${(@ps:\t:)lines[1]}")
    case $head[1] in
    :files)
        [[ -n $head[2] ]] && compset -P "${(b)head[2]}"
        _files
        ;;
    :folders)
        [[ -n $head[2] ]] && compset -P "${(b)head[2]}"
        _files -/
        ;;
    :programs)
        _alternative 'commands:command:_command_names -e' 'files:file:_files'
        ;;
    :workload)
        shift $head[2] words
        ((CURRENT -= head[2]))
        _normal
        ;;
    :words)
        for line in "${(@)lines[2,-1]}"; do
            [[ -z $line ]] && continue
            texts+=("${line%%${tab}*}")
            shown+=("${${line%%${tab}*}//:/\\:}:${line#*${tab}}")
        done
        # One word that more follows has no blank behind it.
        if ((${#texts} == 1)) && [[ $texts[1] == *[=:,/] ]]; then
            compadd -S '' -- $texts
        else
            _describe -t words '@NAME@' shown
        fi
        ;;
    esac
}
if [[ $funcstack[1] == _@NAME@ ]]; then
    _@NAME@ "$@"
else
    compdef _@NAME@ @NAME@
fi
