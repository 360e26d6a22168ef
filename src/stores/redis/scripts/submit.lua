-- Wants all of the claims or none: granted, queued or refused.
-- Reads: mark, record; claims, holders where somebody is in the way; bars, extra where there are some.
-- Writes: mark and record; claims and waited to queue; claims and holders beside another holder.
-- Publishes: contended to who is in the way of the first in the line; changed; what time has ended.
--@include solo
if now > tonumber(ARGV[4]) then return {now, 'refused', 'too_late', 0, 0, 0} end
local text = call('GET', KEYS[2])

if not text and #KEYS == 7 and ARGV[6] ~= '4' then -- the usual case: nobody is there, no condition
    local lease, number = ARGV[11] * 1000, now
    local before = tonumber(call('SET', KEYS[1], seconds .. micros, 'GET') or 0) or 0
    if before >= now then
        number = before + 1
        call('SET', KEYS[1], string.format('%.0f', number))
    end
    call('SET', KEYS[2], pack(SOLO_AND_DETAILS, 'hf1s', 0, 0, 0, 0, 0, 0, 0, 0, now + lease, now, number,
        ARGV[6], ARGV[7], 1, ARGV[5], now, lease, ARGV[8], ARGV[10], ARGV[12], ARGV[9],
        #ARGV[2], ARGV[2], #ARGV[13], ARGV[13], ARGV[14]), 'PX', string.format('%d', ARGV[11] + 10001))
    return {now, 'granted', number, now, 0}
end

-- The next usual case: one holds a lock alone and another wants to; it joins the line, or is refused.
if text and #KEYS == 7 and ARGV[6] == '0' and ARGV[7] == '0' and ARGV[12] == '0' and #text > HEAD_SIZE then
    local magic, waiters, fair, ticket, claims_until, first, first_until, waited_until, bars_until, expires, _, _,
        how, _, holder = unpack_from(HEAD, text)
    local id, queue = ARGV[5], ARGV[3] ~= '0'
    if magic == 'hf1s' and how == '00' and expires > now and bars_until <= now and holder ~= id and
        (waiters == 0 or (queue and first_until > now)) and
        unpack_from('<I4c0', text, NAME_AT) == ARGV[2] then
        local blocked_for = math.ceil((expires - now) / 1000)
        if not queue then return {now, 'refused', 'busy', blocked_for, 0, 0} end
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
                redis.pcall('PUBLISH', ARGV[1] .. 'client:' .. string.sub(holder, 1, 16),
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

-- The claims, each with its ledger. Claims of one name share theirs.
local function wanted_claims()
    local claims, shelf, by_key = {}, {}, {}
    for i = 1, (#KEYS - 2) / 5 do
        local at, group = 5 + (i - 1) * 12, 1 + (i - 1) * 5
        local key = KEYS[group + 1]
        if not by_key[key] then
            by_key[key] = open(i == 1 and ARGV[2] or ARGV[at - 1], group, i == 1 and text or nil)
            table.insert(shelf, by_key[key])
        end
        claims[i] = {e = entry_from(at), kind = tonumber(ARGV[at + 1]), limit = tonumber(ARGV[at + 4]),
                     b = by_key[key]}
    end
    return claims, shelf
end

local function admits(b, e)
    local r = b.r
    if e.joins and e.mode == EXCLUSIVE then
        local holder = soonest_holder(b)
        if holder and holder.state == HELD and holder.joins and holder.owner == e.owner and
            holder.mode == EXCLUSIVE then return true end
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

-- Why the claim cannot be held now; nil when it can. One that waits in the line is answered.
local function obstacle(c, index, may_queue)
    local b = c.b
    if is_barred(b, c.e.id) then return refused('too_late') end
    live(b)
    first_waiter(b) -- a line that somebody deleted is none
    local alive = live(b)
    if not alive and c.kind == CONDITION then -- admits nobody by itself: also its first waiter waits
        make(b, c.kind, c.limit)
        alive = true
    end
    if not alive then return nil end
    local no = disagreement(b.r, c.kind, c.e.mode, c.limit, index)
    if no or find(b, c.e.id) or admits(b, c.e) then return no end
    if may_queue then return join_line(b, c.e) end
    return refused('busy', blocked_for(b), index)
end

-- A second claim of one explicit owner joins the hold that is there, with its token.
local function hold(b, e)
    local joined = e.mode == EXCLUSIVE and soonest_holder(b)
    e.state, e.number = HELD, joined and joined.number or next_sequence()
    add_holder(b, e)
    count_held(b.r, e, 1)
    holders_changed(b)
end

local function submit(claims)
    for i, c in ipairs(claims) do
        local no = obstacle(c, i - 1, ARGV[3] ~= '0' and #claims == 1)
        if no then return no end
    end
    local reply = {now, 'granted'}
    for _, c in ipairs(claims) do
        local b = c.b
        if is_empty(b.r) then make(b, c.kind, c.limit) end
        local e = find(b, c.e.id) -- a submit that came twice
        if e and e.state == 0 then return {now, 'queued', blocked_for(b)} end
        if e and e.state == KEPT then return refused('too_late') end
        if not e then
            hold(b, c.e)
            e = c.e
        end
        for _, value in ipairs({grant_of(b.r, e)}) do table.insert(reply, value) end
    end
    return reply
end

local claims, shelf = wanted_claims()
return finish(submit(claims), true, unpack(shelf))
