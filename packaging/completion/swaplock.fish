# Completion of swaplock for fish. Asks the program itself for its subcommands,
# their flags and what --output can be, so it knows what the installed one knows.

# Once the subcommand is there: its help.
function __swaplock_help
    set -l words (commandline -opc)
    $words[1] $words[2] --help 2>/dev/null
end

function __swaplock_subcommands
    set -l words (commandline -opc)
    $words[1] --help 2>/dev/null |
        string replace -rf '^  swaplock ([a-z][a-z-]*) +(.*)' '$1\t$2'
end

function __swaplock_flags
    __swaplock_help | string replace -rf '^  (--?[a-z][a-z_0-9]*)  (.*)' '$1\t$2'
    printf -- '--help\ttell the flags\n'
end

function __swaplock_outputs
    __swaplock_help | string replace -rf '^  --output  [^:]*: ([^(]*).*' '$1' |
        string split ', ' | string trim
end

function __swaplock_wants
    set -l words (commandline -opc)
    switch $argv[1]
        case subcommand
            test (count $words) -eq 1
        case output
            test (count $words) -gt 2 -a "$words[-1]" = --output
        case output=
            string match -q -- '--output=*' (commandline -ct)
        case command # what stands after "--" of record is one of its own
            test (count $words) -gt 2 -a "$words[2]" = record
            and contains -- -- $words[3..-1]
        case flag
            test (count $words) -gt 1
            and not __swaplock_wants command
            and string match -q -- '-*' (commandline -ct)
    end
end

complete -c swaplock -n '__swaplock_wants subcommand' -f -a '(__swaplock_subcommands)'
complete -c swaplock -n '__swaplock_wants subcommand' -f -a '--help --version'
complete -c swaplock -n '__swaplock_wants flag' -f -a '(__swaplock_flags)'
complete -c swaplock -n '__swaplock_wants output' -f -a '(__swaplock_outputs)'
complete -c swaplock -n '__swaplock_wants output=' -f -a '--output=(__swaplock_outputs)'
complete -c swaplock -n '__swaplock_wants command' -a '(__fish_complete_subcommand)'
