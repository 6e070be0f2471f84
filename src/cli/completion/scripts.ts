/**
 * Completion scripts. Each script runs the program at every Tab, so that completion matches the installed version.
 */

/** The supported shells. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
/** One of {@link SHELLS}. */
export type Shell = (typeof SHELLS)[number];

/** Works with Bash 3.2, which macOS has: without mapfile, and with compopt only if it exists. */
const BASH = `# Completion of snicket for bash.
__snicket_complete() {
    local program=\${COMP_WORDS[0]/#\\~/$HOME}
    local current=\${COMP_WORDS[COMP_CWORD]}
    local line directive=4
    type -P "$program" >/dev/null || program=snicket
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :*) directive=\${line#:} ;;
            *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
        esac
    done < <("$program" __complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$current" 2>/dev/null)
    if [[ $directive == 0 ]]; then
        [[ $current == = ]] && current=
        compopt -o filenames 2>/dev/null
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -f -- "$current")
    fi
}
complete -F __snicket_complete snicket kubectl-snicket
`;

const ZSH = `#compdef snicket kubectl-snicket
# Completion of snicket for zsh.
_snicket() {
    local line directive=4 value
    local -a candidates
    while IFS= read -r line; do
        case $line in
            :*) directive=\${line#:} ;;
            *$'\\t'*)
                value=\${line%%$'\\t'*}
                candidates+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
                ;;
            *) candidates+=("\${line//:/\\\\:}") ;;
        esac
    done < <(\${~words[1]} __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
    if [[ $directive == 0 ]]; then
        [[ $PREFIX == -*=* ]] && compset -P 1 '*='
        _files
    elif (( \${#candidates} )); then
        _describe snicket candidates
    fi
}
if [[ \${funcstack[1]} == _snicket ]]; then
    _snicket "$@"
else
    compdef _snicket snicket kubectl-snicket
fi
`;

const FISH = `# Completion of snicket for fish.
function __snicket_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    if test "$lines[-1]" = :0
        set -l path (string replace -r '^-[^=]*=' '' -- "$current")
        set -l before (string match -r '^-[^=]*=' -- "$current")
        for file in (complete -C "__snicket_file $path")
            echo "$before$file"
        end
    else if set -q lines[2]
        printf '%s\\n' $lines[1..-2]
    end
end
complete -c snicket -f -a '(__snicket_complete)'
complete -c kubectl-snicket -f -a '(__snicket_complete)'
`;

/** The completion script of each shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
