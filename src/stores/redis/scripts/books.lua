-- Included behind `common`: the books of one name. They are read where they are needed and changed
-- in memory; `closing` writes them.
-- Reads: mark, record, claims, line, holders, extra. Writes and publishes nothing.

local mark = nil -- the last sequence, once it was read
local drawn = false
local notices = {} -- pairs of client and text

-- Opens the books whose group begins behind KEYS[at]. An absent record is a blank one.
local function open(name, at, text)
    if text == nil then text = redis.call('GET', KEYS[at + 1]) end
    local record = text and unpack_record(text, name, KEYS[at + 1]) or blank_record(name)
    return {r = record, text = text, record = KEYS[at + 1], claims = KEYS[at + 2],
            line = KEYS[at + 3], holders = KEYS[at + 4], bars = KEYS[at + 5], extra = KEYS[at + 6],
            known = {}, raw = {},         -- entries by id, and as text; false: it is not in `claims`
            lists = {},                   -- who waits to join, by owner
            put = {}, dropped = {},       -- changes of claims
            queue = {}, left = {},        -- of the line
            ends = {}, over = {},         -- of holders
            set = {}, unset = {},         -- of extra
            front = {}, front_at = 1,     -- the part of the line that was read, and who is first in it
            front_end = 0, holder_at = 0, -- how many of line and holders were read
            changed = {}}                 -- what watchers are told of: kind and part
end

local function is_empty(r)
    return r.holders == 0 and r.waiters == 0 and r.cells == 0 and r.keep_until <= now
end

-- Whether there is anything in `claims`.
local function is_spread(r)
    return r.waiters > 0 or (r.holders > 0 and not r.solo)
end

local function tell(id, word, rest)
    table.insert(notices, {string.sub(id, 1, 16), word .. ' ' .. string.sub(id, 18) .. ' ' .. rest})
end

local function tell_changed(client, r, kind, part)
    local head = string.format('changed %d %.0f %d ', kind, now, #r.name)
    table.insert(notices, {client, head .. r.name .. part})
end

-- Rises by every call. Microseconds, so that a server that began anew goes on rising.
local function next_sequence()
    if not mark then mark = tonumber(redis.call('GET', KEYS[1]) or 0) or 0 end
    mark = math.max(mark + 1, now)
    drawn = true
    return mark
end

local function find(b, id)
    local r = b.r
    if r.solo and r.solo.id == id then return r.solo end
    if b.known[id] == nil and is_spread(r) then
        local text = b.raw[id]
        if text == nil then text = redis.call('HGET', b.claims, id) end
        b.known[id] = text and unpack_entry(cmsgpack.unpack(text))
    end
    return b.known[id] or nil
end

-- An entry that is in `claims`, new or changed.
local function keep(b, e)
    b.known[e.id], b.put[e.id], b.dropped[e.id] = e, e, nil
    if e.expires > b.r.claims_until then
        b.r.claims_until = e.expires + e.lease
        b.stretch = true
    end
end

local function drop(b, e)
    b.known[e.id], b.put[e.id], b.dropped[e.id] = false, nil, true
end

local function keep_holder(b, e)
    if e == b.r.solo then return end
    keep(b, e)
    b.ends[e.id], b.over[e.id] = e, nil
end

-- `r.holders` does not count it yet. A key that begins anew is emptied first: it may be left over
-- from a record that somebody deleted by hand.
local function add_holder(b, e)
    local r = b.r
    if r.holders == 0 then
        r.solo = e
        return
    end
    if r.solo then
        local former = r.solo
        b.fresh_holders = true
        b.fresh_claims = b.fresh_claims or r.waiters == 0
        r.solo = false
        keep_holder(b, former)
    end
    keep_holder(b, e)
end

local function remove_holder(b, e)
    if b.r.solo == e then
        b.r.solo = false
        b.known[e.id] = false
        return
    end
    drop(b, e)
    b.ends[e.id], b.over[e.id] = nil, true
end

-- The ids of those of one joining owner who wait, in order. The list is kept as a field of
-- `claims`, so that nobody has to go through the line.
local function joiners(b, owner)
    if not b.lists[owner] then
        local text = b.r.waiters > 0 and redis.call('HGET', b.claims, '@' .. owner)
        b.lists[owner] = text and cmsgpack.unpack(text) or {}
    end
    return b.lists[owner]
end

-- `r.waiters` does not count it yet.
local function add_waiter(b, e)
    local r = b.r
    if e.joins then
        table.insert(joiners(b, e.owner), e.id)
        b.dropped['@' .. e.owner] = nil
    end
    if r.waiters == 0 then
        b.fresh_line = true
        b.fresh_claims = b.fresh_claims or not is_spread(r)
    end
    r.ticket = r.ticket + 1
    b.queue[e.id] = r.ticket
    keep(b, e)
end

-- `r.waiters` still counts it.
local function remove_waiter(b, e)
    if e.joins then
        local list = joiners(b, e.owner)
        for i, id in ipairs(list) do
            if id == e.id then table.remove(list, i) break end
        end
        if #list == 0 then b.dropped['@' .. e.owner] = true end
    end
    b.left[e.id] = true
    drop(b, e)
end

-- The holder whose lease ends first; nil when nobody holds.
local function soonest_holder(b)
    local r = b.r
    if r.solo then return r.solo end
    if r.holders == 0 then return nil end
    local soonest = nil
    for _, e in pairs(b.ends) do
        if not soonest or e.expires < soonest.expires then soonest = e end
    end
    while true do
        b.holder_id = b.holder_id or redis.call('ZRANGE', b.holders, b.holder_at, b.holder_at)[1]
        local id = b.holder_id
        if not id then break end
        local e = not (b.over[id] or b.ends[id]) and find(b, id)
        if e then
            if not soonest or e.expires < soonest.expires then soonest = e end
            break
        end
        b.holder_at, b.holder_id = b.holder_at + 1, nil
    end
    if not soonest then r.holders, r.used = 0, 0 end -- somebody deleted our keys
    return soonest
end

-- Reads the next two of the line and their entries: who lets one in looks at the one behind it.
local function read_front(b)
    b.front = redis.call('ZRANGE', b.line, b.front_end, b.front_end + 1)
    b.front_end, b.front_at = b.front_end + #b.front, 1
    if #b.front == 0 then return end
    local texts = redis.call('HMGET', b.claims, unpack(b.front))
    for i, id in ipairs(b.front) do b.raw[id] = texts[i] end
end

-- The first in the line; nil when nobody waits.
local function first_waiter(b)
    local r = b.r
    while r.waiters > 0 do
        if b.front_at > #b.front then read_front(b) end
        local id = b.front[b.front_at]
        if not id then r.waiters, r.fair = 0, 0 break end -- somebody deleted our keys
        local e = not b.left[id] and find(b, id)
        if e then return e end
        b.front_at = b.front_at + 1
    end
    return nil
end

-- The ids of all who hold, in no order.
local function holder_ids(b)
    local ids = {}
    if b.r.solo then return {b.r.solo.id} end
    if b.r.holders == 0 then return ids end
    for _, id in ipairs(redis.call('ZRANGE', b.holders, 0, -1)) do
        if not (b.over[id] or b.ends[id]) then table.insert(ids, id) end
    end
    for id in pairs(b.ends) do table.insert(ids, id) end
    return ids
end

-- Cells and watchers as they were when the script began: field -> text. A cell is 'v' and its part;
-- a watcher is 'w', its client, the digit of the kind, the part.
local function extras(b)
    if not b.extras then
        b.extras = {}
        local flat = redis.call('HGETALL', b.extra)
        for i = 1, #flat, 2 do b.extras[flat[i]] = flat[i + 1] end
    end
    return b.extras
end
