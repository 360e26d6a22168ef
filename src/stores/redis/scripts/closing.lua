-- Included behind `books`: writes what was changed, removals first, each key once, then publishes.
-- Only `finish` is called from outside; behind it nothing is judged any more.
-- Reads: extra. Writes: mark, record, claims, line, holders, bars, extra. Publishes: all notices.

local BATCH = 1000 -- arguments of one command: Lua's stack is finite

local function all(command, key, list)
    for first = 1, #list, BATCH do
        redis.call(command, key, unpack(list, first, math.min(first + BATCH - 1, #list)))
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

-- Returns whether anything was removed.
local function write_removals(b)
    local fresh = {}
    if b.fresh_line then table.insert(fresh, b.line) else remove_all('ZREM', b.line, b.left) end
    if b.fresh_holders then table.insert(fresh, b.holders) else remove_all('ZREM', b.holders, b.over) end
    if b.fresh_claims then table.insert(fresh, b.claims) else remove_all('HDEL', b.claims, b.dropped) end
    remove_all('HDEL', b.extra, b.unset)
    if #fresh > 0 then redis.call('DEL', unpack(fresh)) end
    return #fresh > 0 or next(b.left) or next(b.over) or next(b.dropped) or next(b.unset)
end

local function write_claims(b)
    local claims, line, ends = {}, {}, {}
    for id, e in pairs(b.put) do
        table.insert(claims, id)
        table.insert(claims, cmsgpack.pack(pack_entry(e)))
    end
    for owner, list in pairs(b.lists) do
        if #list > 0 then
            table.insert(claims, '@' .. owner)
            table.insert(claims, cmsgpack.pack(list))
        end
    end
    for id, ticket in pairs(b.queue) do
        table.insert(line, ticket)
        table.insert(line, id)
    end
    for id, e in pairs(b.ends) do
        table.insert(ends, e.expires)
        table.insert(ends, id)
    end
    all('HSET', b.claims, claims)
    all('ZADD', b.line, line)
    all('ZADD', b.holders, ends)
    if b.stretch or b.fresh_line or b.fresh_holders or b.fresh_claims then
        local moment = expiry(b.r.claims_until)
        redis.call('PEXPIREAT', b.claims, moment)
        if b.r.waiters > 0 then redis.call('PEXPIREAT', b.line, moment) end
        if not b.r.solo then redis.call('PEXPIREAT', b.holders, moment) end
    end
end

local function write_extra(b)
    local r = b.r
    if b.bar then
        redis.call('ZREMRANGEBYSCORE', b.bars, '-inf', now)
        redis.call('ZADD', b.bars, 'GT', b.bar.moment, b.bar.id)
        redis.call('PEXPIREAT', b.bars, expiry(r.bars_until))
    end
    if next(b.set) then
        local list = {}
        for field, text in pairs(b.set) do
            table.insert(list, field)
            table.insert(list, text)
        end
        all('HSET', b.extra, list)
        redis.call('PEXPIREAT', b.extra, expiry(math.max(r.cells_until, r.watch_until)))
    end
end

local function write(b, grows)
    local r = b.r
    if is_empty(r) then
        if r.bars_until <= now and r.watch_until <= now then
            if b.text then
                redis.call('DEL', b.record, b.claims, b.line, b.holders, b.bars, b.extra)
            end
            return
        end
        local rest = blank_record(r.name)
        rest.bars_until, rest.watch_until, rest.watch_soonest = r.bars_until, r.watch_until, r.watch_soonest
        b.r, r = rest, rest
        b.put, b.lists, b.queue, b.ends = {}, {}, {}, {}
    elseif not is_spread(r) then
        r.claims_until = 0
    end
    local removed = write_removals(b)
    local text = pack_record(r)
    -- A server out of memory lets a script go on that began with a command that needs none: what
    -- does not grow must not fail there.
    if not removed and not grows and b.text and (text ~= b.text or next(b.put)) then
        redis.call('PEXPIREAT', b.record, expiry(record_until(r)))
    end
    if drawn then
        redis.call('SET', KEYS[1], mark)
        drawn = false
    end
    if is_spread(r) then write_claims(b) end
    write_extra(b)
    if text ~= b.text then
        redis.call('SET', b.record, text, 'PXAT', expiry(record_until(r)))
    end
end

-- Writes the books, tells who must be told, and gives back the reply. `grows`: the request asks for
-- more room than before.
local function finish(reply, grows, ...)
    local shelf = {...}
    for _, b in ipairs(shelf) do tell_watchers(b) end
    for _, b in ipairs(shelf) do write(b, grows) end
    for _, notice in ipairs(notices) do
        -- A message is a hint: one that cannot be sent must not undo what was done.
        redis.pcall('PUBLISH', ARGV[1] .. 'client:' .. notice[1], notice[2])
    end
    return reply
end
