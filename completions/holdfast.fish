# Completion of the holdfast command for fish. Commands and options come from its own help, so they are those of the
# version that is installed.

# The word that is the command, if there is one yet.
function __holdfast_command
    set -l value 0
    for word in (commandline -opc)[2..]
        if test $value = 1
            set value 0
        else if contains -- $word --store --patience
            set value 1
        else if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end

# "--option<tab>what it does" of each option of a command; of the commands themselves with Commands.
function __holdfast_help
    set -l section $argv[1]
    holdfast $argv[2..] --help 2>/dev/null | awk -v section="$section:" '
        /^[A-Z]/ { inside = ($0 == section) }
        !inside { next }
        section == "Options:" && match($0, /--[a-z-]+/) && /^  -/ {
            name = substr($0, RSTART, RLENGTH); about = ""
        }
        section == "Commands:" && /^  [a-z]/ { name = $1; about = "" }
        name != "" {
            about = $0
            if (sub(/^ +[^ ]+( [^ ]+)?  +/, "", about) == 0 && about !~ /^          /) next
            sub(/^ +/, "", about); print name "\t" about; name = ""
        }'
end

# Names may hold blanks; completion offers those that do not. A store that is slow to answer must not hang the shell.
function __holdfast_names
    set -l words (commandline -opc)
    set -l store
    if set -l at (contains -i -- --store $words)
        set store --store $words[(math $at + 1)]
    end
    timeout 2 holdfast $store list 2>/dev/null </dev/null | awk 'NR > 1 { print $1 }' | sort -u
end

# The names of the configured stores: the keys of [stores].
function __holdfast_stores
    set -l home $XDG_CONFIG_HOME
    test -n "$home"; or set home $HOME/.config
    cat $home/holdfast/config.toml /etc/holdfast/config.toml 2>/dev/null |
        awk '/^[ \t]*\[/ { inside = /^[ \t]*\[stores\]/ } inside && match($0, /^[ \t]*[A-Za-z0-9_-]+[ \t]*=/) {
            name = substr($0, RSTART, RLENGTH); gsub(/[ \t=]/, "", name); print name }'
end

function __holdfast_candidates
    set -l command (__holdfast_command)
    set -l words (commandline -opc)
    switch $words[-1]
        case --store
            printf '%s\n' file: redis:// rediss:// redis+unix: redis+sentinel:// redis+cluster:// etcd:// etcds:// postgres:// mysql:// zookeeper:// quorum+redis:// quorum+rediss:// quorum+mysql:// quorum+postgres:// (__holdfast_stores)
            test "$command" = bench; and echo memory:
        case --on-lost
            printf '%s\n' term kill ignore
        case --mode
            printf '%s\n' mutex fair shared semaphore
        case --wait -w --patience --lease --max-hold --min-hold --grace --duration
            printf '%s\n' 1s 10s 1m 1h
        case --conflict-exit -E --label --claim --owners --names --processes --value --parties --count --limit --permits \
                --pid --command -c
        case '*'
            if string match -q -- '-*' (commandline -ct)
                __holdfast_help Options $command
            else if test -z "$command" -o "$command" = help
                __holdfast_help Commands
            else if test "$command" != bench -a "$command" != schema
                __holdfast_names
            end
    end
end

# Behind "--" stands the program to run.
function __holdfast_program
    set -l words (commandline -opc)
    if set -l at (contains -i -- -- $words)
        complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..]) (commandline -ct))
    end
end

complete -c holdfast -f
complete -c holdfast -n 'not contains -- -- (commandline -opc)' -a '(__holdfast_candidates)'
complete -c holdfast -n 'contains -- -- (commandline -opc)' -a '(__holdfast_program)'
