-- Included behind `ledger`: writes what was changed, removals first, each key once, then publishes.
-- Only `finish` is called from outside; behind it nothing is judged any more.
-- Reads: extra. Writes: mark, record, claims, holders, bars, extra, waited. Publishes: all notices.

local BATCH = 1000 -- arguments of one command: Lua's stack is finite

local function all(command, key, list)
    for first = 1, #list, BATCH do
        call(command, key, unpack(list, first, math.min(first + BATCH - 1, #list)))
    end
end

local function remove_all(command, key, names)
    local list = {}
    for name in pairs(names) do table.insert(list, name) end
    all(command, key, list)
end

-- Finds those who watch what has changed, and forgets those who did not ask again.
local function tell_watchers(b)
    local r = b.r
    if not next(b.changed) or r.watch_until <= now then return end
    for field, moment in pairs(extras(b)) do
        if string.sub(field, 1, 1) == 'w' then
            local about = string.sub(field, 18)
            if tonumber(moment) <= now then
                b.unset[field] = true
            elseif b.changed[about] then
                tell_changed(string.sub(field, 2, 17), r, string.sub(about, 1, 1), string.sub(about, 2))
            end
        end
    end
end

-- Lists the name among those on which somebody waits who has an owner. Those whose time is over go, a
-- few at once, so that names of clients that died do not pile up.
local function list_as_waited(b)
    local key = KEYS[7]
    call('ZADD', key, b.r.waited_until, b.record)
    if call('PTTL', key) < (b.r.waited_until - now) / 1000 then
        call('PEXPIREAT', key, expiry(2 * b.r.waited_until - now)) -- not again for the next one
    end
    local over = call('ZRANGE', key, '-inf', now, 'BYSCORE', 'LIMIT', 0, TRIMMED)
    if #over > 0 then call('ZREM', key, unpack(over)) end
end

-- Returns whether anything was removed.
local function write_removals(b)
    local fresh, spread = {}, is_spread(b.r)
    if b.fresh_holders then table.insert(fresh, b.holders) else remove_all('ZREM', b.holders, b.over) end
    if spread and b.spread then
        for name, text in pairs(b.gaps) do
            if not text then b.dropped[name] = true end
        end
        remove_all('HDEL', b.claims, b.dropped)
    elseif spread or b.spread then
        table.insert(fresh, b.claims)
    end
    remove_all('HDEL', b.extra, b.unset)
    if b.unlist then call('ZREM', KEYS[7], b.record) end
    if #fresh > 0 then call('DEL', unpack(fresh)) end
    return #fresh > 0 or b.unlist or next(b.over) or next(b.dropped) or next(b.unset)
end

local function write_claims(b)
    local claims, ends = {}, {}
    local function put(name, text)
        table.insert(claims, name)
        table.insert(claims, text)
    end
    if not b.spread then put(ANCHOR, '1') end
    for id, e in pairs(b.put) do
        local place = e.ticket and place_of(e.ticket)
        put(id, place and place .. pack_details(e) or pack_holder(e))
        if place then put(place, pack_waiter(e)) end
    end
    for owner, list in pairs(b.lists) do
        if #list > 0 then put('@' .. owner, cmsgpack.pack(list)) end
    end
    for name, text in pairs(b.gaps) do
        if text then put(name, text) end
    end
    for id, e in pairs(b.ends) do
        table.insert(ends, e.expires)
        table.insert(ends, id)
    end
    all('HSET', b.claims, claims)
    all('ZADD', b.holders, ends)
    -- The last of `holders` may have gone, and the key with it, before the next one came.
    if b.stretch or b.fresh_holders or not b.spread or (next(b.over) and next(b.ends)) then
        local moment = expiry(b.r.claims_until)
        call('PEXPIREAT', b.claims, moment)
        if not b.r.solo then call('PEXPIREAT', b.holders, moment) end
    end
end

local function write_extra(b)
    local r = b.r
    if b.bar then
        call('ZREMRANGEBYSCORE', b.bars, '-inf', now)
        call('ZADD', b.bars, 'GT', b.bar.moment, b.bar.id)
        call('PEXPIREAT', b.bars, expiry(r.bars_until))
    end
    if next(b.set) then
        local list = {}
        for field, text in pairs(b.set) do
            table.insert(list, field)
            table.insert(list, text)
        end
        all('HSET', b.extra, list)
        call('PEXPIREAT', b.extra, expiry(math.max(r.cells_until, r.watch_until)))
    end
end

local function write(b, grows)
    local r = b.r
    if r.waiters == 0 and r.waited_until > 0 then
        b.unlist, b.list, r.waited_until = true, false, 0
    end
    if is_empty(r) then
        if r.bars_until <= now and r.watch_until <= now then
            if b.text then
                call('DEL', b.record, b.claims, b.holders, b.bars, b.extra)
                if b.unlist then call('ZREM', KEYS[7], b.record) end
            end
            return
        end
        local rest = blank_record(r.name)
        rest.bars_until, rest.watch_until, rest.watch_soonest = r.bars_until, r.watch_until, r.watch_soonest
        b.r, r = rest, rest
        b.put, b.lists, b.gaps, b.ends = {}, {}, {}, {}
    elseif not is_spread(r) then
        r.claims_until = 0
    end
    local text = pack_record(r)
    if b.lent and text ~= b.before and not b.put[b.lent] then b.dropped[b.lent] = true end
    local removed = write_removals(b)
    -- A server out of memory lets a script go on that began with a command that needs none: what
    -- does not grow must not fail there.
    if not removed and not grows and b.text and (text ~= b.before or next(b.put)) then
        call('PEXPIREAT', b.record, expiry(record_until(r)))
    end
    if drawn then
        call('SET', KEYS[1], string.format('%.0f', mark))
        drawn = false
    end
    if is_spread(r) then write_claims(b) end
    if b.list then list_as_waited(b) end
    write_extra(b)
    if text ~= b.before then
        call('SET', b.record, text, 'PXAT', expiry(record_until(r)))
    end
end

-- Writes the ledger, tells who must be told, and gives back the reply. `grows`: the request asks for
-- more room than before.
local function finish(reply, grows, b)
    tell_watchers(b)
    write(b, grows)
    for _, notice in ipairs(notices) do
        -- A message is a hint: one that cannot be sent must not undo what was done.
        redis.pcall('PUBLISH', string.sub(ARGV[1], 17) .. 'client:' .. notice[1], notice[2])
    end
    return reply
end
