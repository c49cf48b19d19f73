# Completion of swaplock-agent and swaplock-server for fish: the flags that
# --help tells, and files.

function __swaplock_daemon_flags
    set -l words (commandline -opc)
    $words[1] --help 2>/dev/null |
        string replace -rf '^    (--[a-z_0-9]+) \((.*)' '$1\t$2'
    printf -- '%s\n' --flagfile --help --version
end

for daemon in swaplock-agent swaplock-server
    complete -c $daemon -n "string match -q -- '-*' (commandline -ct)" -f \
        -a '(__swaplock_daemon_flags)'
end
