-- Included behind `common`: the ledger of one name. It is read where it is needed and changed
-- in memory; `closing` writes it.
-- Reads: mark, record, claims, holders, extra. Writes and publishes nothing.

local mark = nil -- the last sequence, once it was read
local drawn = false
local notices = {} -- pairs of client and text

-- Whether there is anything in `claims`.
local function is_spread(r)
    return r.waiters > 0 or (r.holders > 0 and not r.solo)
end

-- Opens the ledger of the name. An absent record is a blank one.
local function open(name, text)
    if text == nil then text = call('GET', KEYS[2]) end
    local record = text and unpack_record(text, name, KEYS[2]) or blank_record(name)
    local b = {r = record, text = text, record = KEYS[2], claims = KEYS[3],
               holders = KEYS[4], bars = KEYS[5], extra = KEYS[6],
               known = {}, raw = {},    -- entries by id; fields of claims as they were read
               lists = {},              -- who waits to join, by owner
               put = {}, dropped = {},  -- changes of claims: entries by id, and fields
               gaps = {},               -- ends of gaps in the line, changed
               ends = {}, over = {},    -- changes of holders
               set = {}, unset = {},    -- of extra
               holder_at = 0,           -- how many of holders were read
               changed = {}}            -- what watchers are told of: kind and part
    b.spread, b.before = is_spread(record), text
    if record.solo and not record.solo.owner then -- its details go into the record when that is written
        b.lent = record.solo.id
        add_details(record.solo, call('HGET', b.claims, b.lent), DETAILS_AT)
        b.before = pack_record(record)
    end
    return b
end

local function is_empty(r)
    return r.holders == 0 and r.waiters == 0 and r.cells == 0 and r.keep_until <= now
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
    if not mark then mark = tonumber(call('GET', KEYS[1]) or 0) or 0 end
    mark = math.max(mark + 1, now)
    drawn = true
    return mark
end

-- A field of `claims`, as it was when the script began.
local function field(b, name)
    if b.raw[name] == nil then b.raw[name] = call('HGET', b.claims, name) end
    return b.raw[name]
end

-- Reads two fields of `claims` in one step.
local function fetch(b, one, two)
    if b.raw[one] ~= nil and b.raw[two] ~= nil then return end
    local found = call('HMGET', b.claims, one, two)
    b.raw[one], b.raw[two] = b.raw[one] or found[1], b.raw[two] or found[2]
end

local function find(b, id)
    local r = b.r
    if r.solo and r.solo.id == id then return r.solo end
    if b.known[id] == nil and is_spread(r) then
        local text = field(b, id)
        local waits = text and string.sub(text, 1, 1) == '#' and field(b, string.sub(text, 1, DETAILS_AT - 1))
        if waits then
            b.known[id] = unpack_waiter(waits, (unpack_from('<d', text, 2)), text)
        else
            b.known[id] = text and string.sub(text, 1, 1) ~= '#' and unpack_holder(text)
        end
    end
    return b.known[id] or nil
end

-- An entry that is in `claims`, new or changed.
local function keep(b, e)
    b.known[e.id], b.put[e.id], b.dropped[e.id] = e, e, nil
    if e.ticket == b.r.first then b.r.first_until = e.expires end
    if e.expires > b.r.claims_until then
        b.r.claims_until = e.expires + e.lease
        b.stretch = true
    end
    if e.owned and e.ticket and e.expires > b.r.waited_until then
        b.r.waited_until = e.expires + e.lease
        b.list = true
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
        local text = b.r.waiters > 0 and call('HGET', b.claims, '@' .. owner)
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
    r.ticket = r.ticket + 1
    if r.waiters == 0 then r.first = r.ticket end
    e.ticket = r.ticket
    b.raw[place_of(e.ticket)] = pack_waiter(e)
    keep(b, e)
end

-- Who goes from the middle of the line leaves a gap. The two ends of a gap know each other, so that it
-- is passed in one step and grows in one step, however many have gone.
local function gap_end(ticket)
    return pack('<c1d', '-', ticket)
end

-- The other end of the gap that begins or ends here; nil when there is none.
local function across(b, ticket)
    local name = gap_end(ticket)
    local text = b.gaps[name]
    if text == nil then text = field(b, name) end
    return text and unpack_from('<d', text) or nil
end

local function open_gap(b, ticket)
    fetch(b, gap_end(ticket - 1), gap_end(ticket + 1))
    local from, to = across(b, ticket - 1), across(b, ticket + 1)
    if from then b.gaps[gap_end(ticket - 1)] = false end
    if to then b.gaps[gap_end(ticket + 1)] = false end
    from, to = from or ticket, to or ticket
    b.gaps[gap_end(from)], b.gaps[gap_end(to)] = pack('<d', to), pack('<d', from)
end

-- The next one in the line is the first.
local function advance(b)
    local r = b.r
    local place = place_of(r.first + 1)
    local is_there = b.raw[place] and not b.dropped[place]
    local last = r.first < r.ticket and not is_there and across(b, r.first + 1)
    if last then
        b.gaps[gap_end(r.first + 1)], b.gaps[gap_end(last)] = false, false
        r.first = last
    end
    r.first = r.first + 1
    b.first_left = true
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
    b.dropped[place_of(e.ticket)] = true
    drop(b, e)
    if e.ticket == b.r.first then advance(b) else open_gap(b, e.ticket) end
    e.ticket = nil
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
        b.holder_id = b.holder_id or call('ZRANGE', b.holders, b.holder_at, b.holder_at)[1]
        local id = b.holder_id
        if not id then break end
        local e = not (b.over[id] or b.ends[id]) and find(b, id)
        if e then
            if not soonest or e.expires < soonest.expires then soonest = e end
            break
        end
        b.holder_at, b.holder_id = b.holder_at + 1, nil
    end
    if soonest then return soonest end
    r.holders, r.used, r.first_until = 0, 0, 0 -- somebody deleted our keys
    b.spread = b.spread and is_spread(r)
    return nil
end

-- The first in the line; nil when nobody waits.
local function first_waiter(b)
    local r = b.r
    if r.waiters == 0 then return nil end
    local place = place_of(r.first)
    if b.raw[place] == nil then fetch(b, place, place_of(r.first + 1)) end -- the next is looked at soon
    local text = b.raw[place]
    local e = text and find(b, (select(3, unpack_from(WAITER, text))))
    if e then return e end
    r.waiters, r.fair = 0, 0 -- somebody deleted our keys
    b.spread = b.spread and is_spread(r)
    return nil
end

-- The ids of all who hold, in no order.
local function holder_ids(b)
    local ids = {}
    if b.r.solo then return {b.r.solo.id} end
    if b.r.holders == 0 then return ids end
    for _, id in ipairs(call('ZRANGE', b.holders, 0, -1)) do
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
        local flat = call('HGETALL', b.extra)
        for i = 1, #flat, 2 do b.extras[flat[i]] = flat[i + 1] end
    end
    return b.extras
end
