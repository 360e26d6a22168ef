-- Wants a claim: granted, queued or refused.
-- Reads: mark, record; claims, holders where somebody is in the way; bars, extra where there are some; ballot and
-- ballots where it has a ballot, which then takes the place of the mark.
-- Writes: mark (with a ballot: ballot and ballots) and record; claims and waited to queue; claims and holders beside another holder.
-- Publishes: contended to who is in the way of the first in the line; changed; what time has ended.
--@include solo
if now > tonumber(ARGV[4]) then return {now, 'refused', 'too_late', 0, 0} end
local text = call('GET', KEYS[2])
local vote -- a function, where there is a ballot
if ARGV[16] then
--@include ballot
end

if not text and ARGV[6] ~= '4' then -- the usual case: nobody is there, no condition
    local lease, number = ARGV[11] * 1000, now
    if vote then
        local highest
        number, highest = vote()
        if not number then return {now, 'refused', 'outvoted', 0, highest} end
    else
        local before = tonumber(call('SET', KEYS[1], seconds .. micros, 'GET') or 0) or 0
        if before >= now then
            number = before + 1
            call('SET', KEYS[1], string.format('%.0f', number))
        end
    end
    call('SET', KEYS[2], pack(SOLO_AND_DETAILS, 'hf1s', 0, 0, 0, 0, 0, 0, 0, 0, now + lease, now, number,
        ARGV[6], ARGV[7], 1, ARGV[5], now, lease, ARGV[8], ARGV[10], ARGV[12], ARGV[9],
        #ARGV[2], ARGV[2], #ARGV[13], ARGV[13], ARGV[14]), 'PX', string.format('%d', ARGV[11] + 10001))
    return {now, 'granted', number, now, 0}
end

-- The next usual case: one holds a lock alone and another wants to; it joins the line, or is refused.
if text and ARGV[6] == '0' and ARGV[7] == '0' and ARGV[12] == '0' and #text > HEAD_SIZE then
    local magic, waiters, fair, ticket, claims_until, first, first_until, waited_until, bars_until, expires, _, _,
        how, _, holder = unpack_from(HEAD, text)
    local id, queue = ARGV[5], ARGV[3] ~= '0'
    if magic == 'hf1s' and how == '00' and expires > now and bars_until <= now and holder ~= id and
        (waiters == 0 or (queue and first_until > now)) and
        unpack_from('<I4c0', text, NAME_AT) == ARGV[2] then
        local blocked_for = math.ceil((expires - now) / 1000)
        if not queue then return {now, 'refused', 'busy', blocked_for, 0} end
        local there = call('HMGET', KEYS[3], ANCHOR, id)
        if there[2] == false and (there[1] == false) == (waiters == 0) then
            local lease = ARGV[11] * 1000
            local mine = now + lease
            local owned = ARGV[3] == '2' and '1' or '0'
            ticket = ticket + 1
            local place = pack(PLACE, '#', ticket)
            local details = pack(PLACE_AND_DETAILS, place, #ARGV[13], ARGV[13], ARGV[14])
            local waiter = pack(WAITER, mine, lease, id, ARGV[15], ARGV[8], '00', ARGV[10], owned, now, now)
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
            call('SETRANGE', KEYS[2], IN_LINE, pack('<ddddddd', waiters + 1, fair + ARGV[10], ticket,
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
    local lease = ARGV[11] * 1000
    return {id = ARGV[5], mode = tonumber(ARGV[7]), permits = tonumber(ARGV[8]), state = 0, number = 0,
            since = now, began = now, expires = now + lease, lease = lease, fair = ARGV[10] == '1',
            joins = ARGV[12] == '1', owner = ARGV[13], info = ARGV[14], secret = ARGV[15],
            owned = ARGV[3] == '2'}
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
    local number, highest = joined and joined.number
    if vote and not joined then
        number, highest = vote()
        if not number then return refused('outvoted', 0, highest) end
    end
    e.state, e.number = HELD, number or next_sequence()
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
    if ARGV[3] ~= '0' then return join_line(b, e) end
    return refused('busy', blocked_for(b))
end

local b = open(ARGV[2], text)
return finish(submit(b, wanted(), tonumber(ARGV[6]), tonumber(ARGV[9])), true, b)
