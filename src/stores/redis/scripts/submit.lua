-- Wants a claim: granted, queued or refused.
-- Reads: mark, record; claims, holders where somebody is in the way; bars, extra where there are some; ballot and
-- ballots where it has a ballot, which then takes the place of the mark.
-- Writes: mark (with a ballot: ballot and ballots) and record; claims and waited to queue; claims and holders beside another holder.
-- Publishes: contended to who is in the way of the first in the line; changed; what time has ended.
--@include solo
-- The claim, in this order: what the record has before the times, what it has behind them; for how long the key
-- lives; the last moment; queue and secret. More arguments: whatever is not the usual.
if now > tonumber(ARGV[5]) then return {now, 'refused', 'too_late', 0, 0} end
local text
if #ARGV == 6 then -- the usual case: nobody is there
    local head, tail, lifetime, number = ARGV[2], ARGV[3], ARGV[4], now
--@include fresh
    if redis.REDIS_VERSION_NUM then -- since 7.0 both can be said at once
        text = redis.pcall('SET', KEYS[2], record, 'NX', 'GET', 'PX', lifetime)
        if type(text) == 'table' then -- a server that refuses to write can say at least who is there; a replica cannot
            local why = text
            text = not string.find(why.err, 'READONLY') and call('GET', KEYS[2])
            if not text then return why end
        end
    else
        text = call('GET', KEYS[2])
        if not text then call('SET', KEYS[2], record, 'PX', lifetime) end
    end
    if not text then
        local before = redis.pcall('SET', KEYS[1], seconds .. micros, 'GET')
        if type(before) == 'table' then -- the key of the mark is not ours
            call('DEL', KEYS[2])
            return before
        end
        before = tonumber(before or 0) or 0
        if before < now then return now end -- granted, with this sequence
        call('SET', KEYS[1], string.format('%.0f', before + 1))
        call('SETRANGE', KEYS[2], AT_SEQUENCE, pack('<d', before + 1))
        return {now, 'alone', before + 1}
    end
else
    text = call('GET', KEYS[2])
    if not text and ARGV[8] and string.sub(ARGV[2], 1, 1) ~= '4' then -- nobody is there, and no condition
--@include ballot
        if not number then return {now, 'refused', 'outvoted', 0, highest} end
        local head, tail, lifetime = ARGV[2], ARGV[3], ARGV[4]
--@include fresh
        call('SET', KEYS[2], record, 'PX', lifetime)
        return {now, 'alone', number}
    end
end

local how, id = unpack_from('<c2xc33', ARGV[2])
local lease, permits, fair, joins, limit, name, owner, rest = unpack_from('<dI4c1c1I4I4c0I4c0', ARGV[3])
local info, queue, secret = string.sub(ARGV[3], rest), string.sub(ARGV[6], 1, 1), string.sub(ARGV[6], 2)

-- The next usual case: one holds a lock alone and another wants to; it joins the line, or is refused.
if text and how == '00' and joins == '0' and #ARGV == 6 and #text > HEAD_SIZE then
    local magic, waiters, fair_ones, ticket, claims_until, first, first_until, waited_until, bars_until, expires, _, _,
        its_how, _, holder = unpack_from(HEAD, text)
    if magic == 'hf1s' and its_how == '00' and expires > now and bars_until <= now and holder ~= id and
        (waiters == 0 or (queue ~= '0' and first_until > now)) and
        unpack_from('<I4c0', text, NAME_AT) == name then
        local blocked_for = math.ceil((expires - now) / 1000)
        if queue == '0' then return {now, 'refused', 'busy', blocked_for, 0} end
        local there = call('HMGET', KEYS[3], ANCHOR, id)
        if there[2] == false and (there[1] == false) == (waiters == 0) then
            local mine = now + lease
            local owned = queue == '2' and '1' or '0'
            ticket = ticket + 1
            local place = pack(PLACE, '#', ticket)
            local details = pack(PLACE_AND_DETAILS, place, #owner, owner, info)
            local waiter = pack(WAITER, mine, lease, id, secret, permits, '00', fair, owned, now, now)
            if waiters > 0 then
                call('HSET', KEYS[3], id, details, place, waiter)
            else
                first, first_until = ticket, mine
                call('HSET', KEYS[3], id, details, place, waiter, ANCHOR, '1')
            end
            if mine > claims_until then
                claims_until = mine + lease
                local moment = string.format('%.0f', math.ceil(math.max(claims_until, expires) / 1000) + 10000)
                call('PEXPIREAT', KEYS[3], moment)
                call('PEXPIREAT', KEYS[2], moment)
            end
            if owned == '1' and mine > waited_until then -- as list_as_waited has it
                waited_until = mine + lease
                call('ZADD', KEYS[7], waited_until, KEYS[2])
                if call('PTTL', KEYS[7]) < (waited_until - now) / 1000 then
                    call('PEXPIREAT', KEYS[7],
                        string.format('%.0f', math.ceil((2 * waited_until - now) / 1000) + 10000))
                end
                local over = call('ZRANGE', KEYS[7], '-inf', now, 'BYSCORE', 'LIMIT', 0, TRIMMED)
                if #over > 0 then call('ZREM', KEYS[7], unpack(over)) end
            end
            if waiters == 0 then
                redis.pcall('PUBLISH', string.sub(ARGV[1], 17) .. 'client:' .. string.sub(holder, 1, 16),
                    'contended ' .. string.sub(holder, 18) .. ' ' .. seconds .. micros)
            end
            call('SETRANGE', KEYS[2], IN_LINE, pack('<ddddddd', waiters + 1, fair_ones + fair, ticket,
                claims_until, first, first_until, waited_until))
            return {now, 'queued', blocked_for}
        end
    end
end
--@include common
--@include ledger
--@include closing
--@include rules

-- The claim that is wanted, as an entry that arrives now.
local function wanted()
    return {id = id, mode = tonumber(string.sub(how, 2)), permits = permits, state = 0, number = 0, since = now,
            began = now, expires = now + lease, lease = lease, fair = fair == '1', joins = joins == '1',
            owner = owner, info = info, secret = secret, owned = queue == '2'}
end

local function admits(b, e)
    local r = b.r
    if e.joins and e.mode == EXCLUSIVE then
        -- What a hold of the same owner has left behind is in nobody's way.
        for _, id in ipairs(holder_ids(b)) do
            local holder = find(b, id)
            if holder and holder.state == HELD and holder.joins and holder.owner == e.owner and
                holder.mode == EXCLUSIVE then return true end
        end
    end
    local behind_line = r.waiters > 0
    if e.mode == PERMITS and not e.fair then behind_line = r.fair > 0 end
    return not behind_line and fits(r, e.mode, e.permits)
end

local function join_line(b, e)
    local r = b.r
    local first = r.waiters == 0
    add_waiter(b, e)
    r.waiters = r.waiters + 1
    if e.fair then r.fair = r.fair + 1 end
    local holder = first and soonest_holder(b)
    if holder and holder.state == HELD then tell(holder.id, 'contended', string.format('%.0f', now)) end
    return {now, 'queued', blocked_for(b)}
end

-- A second claim of one explicit owner joins the hold that is there, with its token.
local function hold(b, e)
    local joined = e.mode == EXCLUSIVE and soonest_holder(b)
    e.state = HELD
    if joined then
        e.number = joined.number
    elseif ARGV[8] then
--@include ballot
        if not number then return refused('outvoted', 0, highest) end
        e.number = number
    else
        e.number = next_sequence()
    end
    add_holder(b, e)
    count_held(b.r, e, 1)
    holders_changed(b)
    return {now, 'granted', grant_of(b.r, e)}
end

local function submit(b, e, kind, limit)
    if is_barred(b, e.id) then return refused('too_late') end
    live(b)
    first_waiter(b) -- a line that somebody deleted is none
    local alive = live(b)
    if not alive then
        make(b, kind, limit)
        -- A condition admits nobody by itself: also its first waiter waits.
        if kind ~= CONDITION then return hold(b, e) end
    end
    local no = disagreement(b.r, kind, e.mode, limit)
    if no then return no end
    local before = find(b, e.id) -- a submit that came twice
    if before then
        if before.state == 0 then return {now, 'queued', blocked_for(b)} end
        if before.state == KEPT then return refused('too_late') end
        return {now, 'granted', grant_of(b.r, before)}
    end
    if admits(b, e) then return hold(b, e) end
    if queue ~= '0' then return join_line(b, e) end
    return refused('busy', blocked_for(b))
end

local b = open(name, text)
return finish(submit(b, wanted(), tonumber(string.sub(how, 1, 1)), limit), true, b)
