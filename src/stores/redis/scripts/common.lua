-- Included behind `solo`: how records and entries are written.
-- Reads, writes and publishes nothing.

local HELD, KEPT = 1, 2 -- states of an entry; 0: it waits
local EXCLUSIVE, SHARED, PERMITS = 0, 1, 2
local CONDITION = 4

local function refused(why, blocked_for, index, detail)
    return {now, 'refused', why, blocked_for or 0, index or 0, detail or 0}
end

local function pack_entry(e)
    return {e.id, e.mode, e.permits, e.state, e.number, e.since, e.began, e.expires, e.lease,
            e.fair, e.joins, e.owner, e.info}
end

local function unpack_entry(a)
    return {id = a[1], mode = a[2], permits = a[3], state = a[4], number = a[5], since = a[6],
            began = a[7], expires = a[8], lease = a[9], fair = a[10], joins = a[11], owner = a[12],
            info = a[13]}
end

-- The claim whose arguments begin with its id at ARGV[at], as an entry that arrives now.
local function entry_from(at)
    local lease = ARGV[at + 6] * 1000
    return {id = ARGV[at], mode = tonumber(ARGV[at + 2]), permits = tonumber(ARGV[at + 3]),
            state = 0, number = 0, since = now, began = now, expires = now + lease, lease = lease,
            fair = ARGV[at + 5] == '1', joins = ARGV[at + 7] == '1', owner = ARGV[at + 8],
            info = ARGV[at + 9]}
end

-- The record of a name of which nothing is known.
--   declared, current, used: permits · waiters, fair: who waits, and how many of them are fair
--   ticket: the last place in the line · solo: the only holder; several are in `claims` and `holders`
--   claims_until: the keys of claims, line and holders live at least so long
--   *_soonest: nothing of the kind ends earlier · *_until: nothing of the kind ends later
local function blank_record(name)
    return {name = name, kind = 0, declared = 0, current = 0, used = 0, holders = 0, waiters = 0,
            fair = 0, shared = false, keep_until = 0, claims_until = 0, ticket = 0, cells = 0,
            cells_soonest = 0, cells_until = 0, bars_until = 0, watch_soonest = 0, watch_until = 0,
            solo = false}
end

-- Whether there is nothing to know but the only holder.
local function is_solo(r)
    local e = r.solo
    return e and e.state == HELD and r.waiters == 0 and r.cells == 0 and r.keep_until == 0 and
        r.bars_until == 0 and r.watch_until == 0 and r.current == r.declared
end

local function pack_record(r)
    if is_solo(r) then
        local e = r.solo
        return solo_text(e.id, e.expires, e.began, e.number, e.since, cmsgpack.pack({r.name, r.kind,
            r.declared, e.mode, e.permits, e.lease, e.fair, e.joins, e.owner, e.info}))
    end
    return 'hf1f' .. cmsgpack.pack({r.name, r.kind, r.declared, r.current, r.used, r.holders, r.waiters,
        r.fair, r.shared, r.keep_until, r.claims_until, r.ticket, r.cells, r.cells_soonest,
        r.cells_until, r.bars_until, r.watch_soonest, r.watch_until, r.solo and pack_entry(r.solo)})
end

local function unpack_solo(text)
    local a = cmsgpack.unpack(string.sub(text, 102))
    local r = blank_record(a[1])
    r.kind, r.declared, r.current = a[2], a[3], a[3]
    r.holders, r.shared, r.used = 1, a[4] == SHARED, a[4] == PERMITS and a[5] or 0
    r.solo = {id = string.sub(text, 5, 37), mode = a[4], permits = a[5], state = HELD,
              number = tonumber(string.sub(text, 70, 85)), since = tonumber(string.sub(text, 86, 101)),
              began = tonumber(string.sub(text, 54, 69)), expires = tonumber(string.sub(text, 38, 53)),
              lease = a[6], fair = a[7], joins = a[8], owner = a[9], info = a[10]}
    return r
end

local function unpack_full(text)
    local a = cmsgpack.unpack(string.sub(text, 5))
    return {name = a[1], kind = a[2], declared = a[3], current = a[4], used = a[5], holders = a[6],
            waiters = a[7], fair = a[8], shared = a[9], keep_until = a[10], claims_until = a[11],
            ticket = a[12], cells = a[13], cells_soonest = a[14], cells_until = a[15],
            bars_until = a[16], watch_soonest = a[17], watch_until = a[18],
            solo = a[19] and unpack_entry(a[19])}
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
