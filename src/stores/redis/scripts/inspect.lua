-- One name with its holders, its waiters in order and the value of its cell without a part.
-- Reads: record, claims, holders, extra. Writes: only what time has ended or let in.
-- Publishes: what time has ended or let in.
--@include solo
--@include common
--@include ledger
--@include closing
--@include rules

local function describe(e)
    return {e.id, e.number, e.mode, e.permits, e.since, e.expires, e.info, e.state == KEPT and 1 or 0}
end

local function by_age(one, other)
    if one.since ~= other.since then return one.since < other.since end
    if one.number ~= other.number then return one.number < other.number end
    return one.id < other.id
end

local function by_place(one, other)
    return one.ticket < other.ticket
end

local function holders_of(ids, claims)
    local list = {}
    for _, id in ipairs(ids) do
        if claims[id] then table.insert(list, unpack_holder(claims[id])) end
    end
    table.sort(list, by_age)
    return list
end

local function waiters_of(claims)
    local list = {}
    for name, text in pairs(claims) do
        if string.sub(name, 1, 1) == '#' then
            local id = select(3, unpack_from(WAITER, text))
            table.insert(list, unpack_waiter(text, (unpack_from('<d', name, 2)), claims[id]))
        end
    end
    table.sort(list, by_place)
    return list
end

local b = open(ARGV[2])
if not live(b) then return finish({now, 'none'}, false, b) end
finish(nil, false, b) -- what follows reads what is written now
local r, claims = b.r, {}
local flat = call('HGETALL', b.claims)
for i = 1, #flat, 2 do claims[flat[i]] = flat[i + 1] end
local holding = r.solo and {r.solo} or holders_of(call('ZRANGE', b.holders, 0, -1), claims)

local holders, waiters = {}, {}
for _, e in ipairs(holding) do table.insert(holders, describe(e)) end
for _, e in ipairs(waiters_of(claims)) do table.insert(waiters, describe(e)) end
local text = r.cells > 0 and call('HGET', b.extra, 'v')
local cell = text and cmsgpack.unpack(text)
local value = cell and cell[4] > now and cell[2] or ''
return {now, 'name', r.name, r.kind, r.current, value, holders, waiters}
