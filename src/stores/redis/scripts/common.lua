-- Included behind `solo`: how records and entries are written.
-- Reads, writes and publishes nothing.

local HELD, KEPT = 1, 2 -- states of an entry; 0: it waits
local EXCLUSIVE, SHARED, PERMITS = 0, 1, 2
local CONDITION = 4

local function refused(why, blocked_for, detail)
    return {now, 'refused', why, blocked_for or 0, detail or 0}
end

-- When a key may go that is needed until `moment`, in milliseconds. Later by 10 s, so that those who
-- come soon after the end of a lease still find out whose it was.
local function expiry(moment)
    return string.format('%.0f', math.ceil(moment / 1000) + 10000)
end

-- The field of `claims` for a place in the line.
local function place_of(ticket)
    return pack(PLACE, '#', ticket)
end

-- One of several holders, as `claims` has it.
local function pack_holder(e)
    return cmsgpack.pack({e.id, e.mode, e.permits, e.state, e.number, e.since, e.began, e.expires, e.lease,
                          e.fair, e.joins, e.owner, e.info})
end

local function unpack_holder(text)
    local a = cmsgpack.unpack(text)
    return {id = a[1], mode = a[2], permits = a[3], state = a[4], number = a[5], since = a[6],
            began = a[7], expires = a[8], lease = a[9], fair = a[10], joins = a[11], owner = a[12],
            info = a[13]}
end

local function flag(value)
    return value and '1' or '0'
end

local function pack_waiter(e)
    return pack(WAITER, e.expires, e.lease, e.id, e.secret, e.permits, e.mode .. flag(e.joins), flag(e.fair),
        flag(e.owned), e.since, e.began)
end

local function pack_details(e)
    return pack(DETAILS, #e.owner, e.owner, e.info)
end

-- `details`: a text that ends in them, from byte `at` on; false when they are lost.
local function add_details(e, details, at)
    e.owner, e.info = '', ''
    if not details or #details < at + 3 then return end
    local owner, rest = unpack_from('<I4c0', details, at)
    e.owner, e.info = owner, string.sub(details, rest)
end

local function unpack_waiter(text, ticket, details)
    local e = {state = 0, number = 0, ticket = ticket}
    local how, fair, owned
    e.expires, e.lease, e.id, e.secret, e.permits, how, fair, owned, e.since, e.began = unpack_from(WAITER, text)
    e.owned = owned == '1'
    e.mode, e.joins, e.fair = tonumber(string.sub(how, 1, 1)), string.sub(how, 2) == '1', fair == '1'
    add_details(e, details, DETAILS_AT)
    return e
end

-- The record of a name of which nothing is known.
--   declared, current, used: permits · waiters, fair: who waits, and how many of them are fair
--   first, ticket: the first and the last place in the line
--   first_until: the first in the line is alive until then, or longer
--   waited_until: the name is listed in `waited`, with this moment; 0 when it is not
--   solo: the only holder; several are in `claims` and `holders`
--   claims_until: the keys of claims and holders live at least so long
--   *_soonest: nothing of the kind ends earlier · *_until: nothing of the kind ends later
local function blank_record(name)
    return {name = name, kind = 0, declared = 0, current = 0, used = 0, holders = 0, waiters = 0,
            fair = 0, shared = false, keep_until = 0, claims_until = 0, ticket = 0, first = 0,
            first_until = 0, waited_until = 0, cells = 0, cells_soonest = 0, cells_until = 0,
            bars_until = 0, watch_soonest = 0, watch_until = 0, solo = false}
end

-- Whether there is nothing to know but the only holder, its line and bars. Watches that are over are
-- forgotten: their key goes by itself.
local function is_solo(r)
    local e = r.solo
    return e and e.state == HELD and r.cells == 0 and r.keep_until == 0 and r.watch_until <= now and
        r.current == r.declared
end

local function pack_solo(r)
    local e = r.solo
    if r.waiters == 0 then r.ticket, r.claims_until, r.first, r.first_until = 0, 0, 0, 0 end
    return pack(SOLO_AND_DETAILS, 'hf1s', r.waiters, r.fair, r.ticket, r.claims_until, r.first,
        r.first_until, r.waited_until, r.bars_until, e.expires, e.began, e.number, r.kind, e.mode, 1, e.id, e.since,
        e.lease, e.permits, flag(e.fair), flag(e.joins), r.declared, #r.name, r.name,
        #e.owner, e.owner, e.info)
end

local function pack_record(r)
    if is_solo(r) then return pack_solo(r) end
    return 'hf1f' .. cmsgpack.pack({r.name, r.kind, r.declared, r.current, r.used, r.holders, r.waiters,
        r.fair, r.shared, r.keep_until, r.claims_until, r.ticket, r.first, r.first_until, r.cells,
        r.cells_soonest, r.cells_until, r.bars_until, r.watch_soonest, r.watch_until,
        r.solo and pack_holder(r.solo), r.waited_until})
end

-- The owner of the holder is nil when its details are in `claims`.
local function unpack_solo(text)
    local r, e = blank_record(), {state = HELD}
    local _, kind, mode, details, fair, joins, rest
    _, r.waiters, r.fair, r.ticket, r.claims_until, r.first, r.first_until, r.waited_until, r.bars_until,
        e.expires, e.began, e.number, kind, mode, details, e.id, e.since, e.lease, e.permits, fair, joins,
        r.declared, r.name, rest = unpack_from(SOLO, text)
    r.kind, e.mode = tonumber(kind), tonumber(mode)
    e.fair, e.joins = fair == '1', joins == '1'
    if details == 1 then add_details(e, text, rest) end
    r.current, r.holders, r.solo = r.declared, 1, e
    r.shared, r.used = e.mode == SHARED, e.mode == PERMITS and e.permits or 0
    return r
end

local function unpack_full(text)
    local a = cmsgpack.unpack(string.sub(text, 5))
    return {name = a[1], kind = a[2], declared = a[3], current = a[4], used = a[5], holders = a[6],
            waiters = a[7], fair = a[8], shared = a[9], keep_until = a[10], claims_until = a[11],
            ticket = a[12], first = a[13], first_until = a[14], cells = a[15], cells_soonest = a[16],
            cells_until = a[17], bars_until = a[18], watch_soonest = a[19], watch_until = a[20],
            solo = a[21] and unpack_holder(a[21]), waited_until = a[22]}
end

-- An empty `name` is unknown and is not compared.
local function unpack_record(text, name, key)
    local magic = string.sub(text, 1, 4)
    if magic ~= 'hf1s' and magic ~= 'hf1f' then
        error("HOLDFAST the key '" .. key .. "' holds something that is not a record of ours", 0)
    end
    local r = magic == 'hf1s' and unpack_solo(text) or unpack_full(text)
    if name ~= '' and r.name ~= name then
        error("HOLDFAST the names '" .. name .. "' and '" .. r.name .. "' share one key", 0)
    end
    return r
end

-- Until when the record is needed.
local function record_until(r)
    local spread = r.waiters > 0 or (r.holders > 0 and not r.solo)
    return math.max(r.solo and r.solo.expires or 0, spread and r.claims_until or 0, r.keep_until,
        r.cells > 0 and r.cells_until or 0, r.bars_until, r.watch_until)
end
