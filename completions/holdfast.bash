# Completion of the holdfast command for bash.

_holdfast_names() {
    local store=() i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == --store && -n ${COMP_WORDS[i + 1]} ]] && store=(--store "${COMP_WORDS[i + 1]}")
    done
    # Names may hold blanks; completion offers those that do not. A store that is slow to answer must not hang the shell.
    timeout 2 holdfast "${store[@]}" list 2>/dev/null </dev/null | awk 'NR > 1 { print $1 }' | sort -u
}

# The names of the configured stores: the keys of [stores].
_holdfast_stores() {
    cat "${XDG_CONFIG_HOME:-$HOME/.config}/holdfast/config.toml" /etc/holdfast/config.toml 2>/dev/null |
        awk '/^[ \t]*\[/ { inside = /^[ \t]*\[stores\]/ } inside && match($0, /^[ \t]*[A-Za-z0-9_-]+[ \t]*=/) {
            name = substr($0, RSTART, RLENGTH); gsub(/[ \t=]/, "", name); print name }'
}

_holdfast() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command='' memory=() i
    COMPREPLY=()

    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --store | --patience) ((i++)) ;;
        --)
            # What follows is the program to run: complete it as if it stood alone.
            if [[ $command == run || $command == elect ]] && declare -F _command_offset >/dev/null; then
                _command_offset $((i + 1))
            else
                COMPREPLY=($(compgen -c -f -- "$current"))
            fi
            return
            ;;
        -*) ;;
        *) [[ -z $command ]] && command=${COMP_WORDS[i]} ;;
        esac
    done

    [[ $command == bench ]] && memory=(memory:)

    case $previous in
    --store)
        COMPREPLY=($(compgen -W "file: redis:// rediss:// redis+unix: redis+sentinel:// redis+cluster:// etcd:// etcds:// postgres:// mysql:// zookeeper:// quorum+redis:// quorum+rediss:// quorum+mysql:// quorum+postgres:// $(_holdfast_stores) ${memory[*]}" -- "$current"))
        return
        ;;
    --on-lost)
        COMPREPLY=($(compgen -W 'term kill ignore' -- "$current"))
        return
        ;;
    --mode)
        COMPREPLY=($(compgen -W 'mutex fair shared semaphore' -- "$current"))
        return
        ;;
    --wait | -w | --patience | --lease | --max-hold | --min-hold | --grace | --duration)
        COMPREPLY=($(compgen -W '1s 10s 1m 1h' -- "$current"))
        return
        ;;
    --conflict-exit | --label | --claim | --owners | --names | --processes | --value | --parties | --count | --limit | --permits | --pid | --command | -c | -E) return ;;
    esac

    local options='--store --patience --verbose --help'
    case $command in
    '') options+=' --version' ;;
    run) options+=' --command --nested --wait --no-wait --lease --max-hold --min-hold --shared --fair --limit --permits --on-lost --grace --pass-credentials --conflict-exit --label --quiet' ;;
    lock) options+=' --wait --no-wait --lease --min-hold --shared --fair --limit --permits --on-lost --grace --conflict-exit --label --quiet --pid --check --token' ;;
    unlock) options+=' --pid --quiet' ;;
    elect) options+=' --value --wait --no-wait --lease --max-hold --min-hold --fair --on-lost --grace --pass-credentials --conflict-exit --label --quiet' ;;
    leader) options+=' --watch --json' ;;
    latch) options+=' --count --reset --delete --down --wait --quiet --json' ;;
    barrier) options+=' --parties --wait --reset --delete --label --quiet --json' ;;
    list) options+=' --json' ;;
    show) options+=' --json --deadlocks' ;;
    evict) options+=' --claim --force' ;;
    bench) options+=' --owners --names --processes --mode --duration --json' ;;
    esac

    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    elif [[ -z $command ]]; then
        COMPREPLY=($(compgen -W 'run lock unlock elect leader latch barrier list show evict schema bench help' -- "$current"))
    elif [[ $command == help ]]; then
        COMPREPLY=($(compgen -W 'run lock unlock elect leader latch barrier list show evict schema bench' -- "$current"))
    elif [[ $command != bench && $command != schema ]]; then
        COMPREPLY=($(compgen -W "$(_holdfast_names)" -- "$current"))
    fi
}

complete -F _holdfast holdfast
