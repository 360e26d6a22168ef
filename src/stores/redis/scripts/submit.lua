-- Wants all of the claims or none: granted, queued or refused.
-- Reads: mark, record; claims, line, holders where somebody is in the way; bars, extra where there are some.
-- Writes: mark and record; claims and line to queue; claims and holders beside another holder.
-- Publishes: contended to who is in the way of the first in the line; changed; what time has ended.
--@include solo
if now > tonumber(ARGV[4]) then return {now, 'refused', 'too_late', 0, 0, 0} end
local text = redis.call('GET', KEYS[2])

if not text and #KEYS == 7 and ARGV[6] ~= '4' then -- the usual case: nobody is there, no condition
    local lease, number = ARGV[11] * 1000, now
    local rest = cmsgpack.pack({ARGV[2], tonumber(ARGV[6]), tonumber(ARGV[9]), tonumber(ARGV[7]),
        tonumber(ARGV[8]), lease, ARGV[10] == '1', ARGV[12] == '1', ARGV[13], ARGV[14]})
    local before = tonumber(redis.call('SET', KEYS[1], now, 'GET') or 0) or 0
    if before >= now then
        number = before + 1
        redis.call('SET', KEYS[1], number)
    end
    redis.call('SET', KEYS[2], solo_text(ARGV[5], now + lease, now, number, now, rest), 'PXAT',
        expiry(now + lease))
    return {now, 'granted', number, now, 0}
end

-- The next usual case: one holds a lock alone and others wait to do so; one more joins the line. Places in
-- `r`, `holder` and `first` are those of `pack_record` and `pack_entry`.
if text and ARGV[3] == '1' and #KEYS == 7 and ARGV[6] == '0' and ARGV[7] == '0' and ARGV[12] == '0' and
    string.sub(text, 1, 4) == 'hf1f' then
    local id, r = ARGV[5], cmsgpack.unpack(string.sub(text, 5))
    local holder = r[19]
    if holder and holder[1] ~= id and holder[2] == 0 and holder[4] == 1 and holder[8] > now and
        r[1] == ARGV[2] and r[2] == 0 and r[7] > 0 and r[13] == 0 and r[16] <= now then
        local front = redis.call('ZRANGE', KEYS[4], 0, 0)[1]
        local texts = front and redis.call('HMGET', KEYS[3], front, id) or {}
        local first = texts[1] and cmsgpack.unpack(texts[1])
        if first and first[8] > now and not texts[2] then
            local lease, fair = ARGV[11] * 1000, ARGV[10] == '1'
            r[7], r[8], r[12] = r[7] + 1, r[8] + (fair and 1 or 0), r[12] + 1
            redis.call('HSET', KEYS[3], id, cmsgpack.pack({id, 0, tonumber(ARGV[8]), 0, 0, now, now,
                now + lease, lease, fair, false, ARGV[13], ARGV[14]}))
            redis.call('ZADD', KEYS[4], r[12], id)
            if now + lease > r[11] then
                r[11] = now + lease + lease
                redis.call('PEXPIREAT', KEYS[3], expiry(r[11]))
                redis.call('PEXPIREAT', KEYS[4], expiry(r[11]))
            end
            redis.call('SET', KEYS[2], 'hf1f' .. cmsgpack.pack(r), 'PXAT',
                expiry(math.max(holder[8], r[10], r[11], r[16], r[18])))
            return {now, 'queued', math.max(1, math.ceil((holder[8] - now) / 1000))}
        end
    end
end
--@include common
--@include books
--@include closing
--@include rules

-- The claims, each with its books. Claims of one name share theirs.
local function wanted_claims()
    local claims, shelf, by_key = {}, {}, {}
    for i = 1, (#KEYS - 1) / 6 do
        local at, group = 5 + (i - 1) * 11, 1 + (i - 1) * 6
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
        local no = obstacle(c, i - 1, ARGV[3] == '1' and #claims == 1)
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
