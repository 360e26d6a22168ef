-- Included behind `ledger`: who may hold, who is next, when it ends. The same rules as in
-- src/stores/lease, function by function.
-- Reads: through the ledger, and bars. Writes and publishes nothing.

local function fits(r, mode, permits)
    if mode == PERMITS then return r.used + permits <= r.current end
    return r.holders == 0 or (mode == SHARED and r.shared)
end

local function count_held(r, e, by)
    r.holders = r.holders + by
    if e.mode == PERMITS then r.used = r.used + by * e.permits end
    if by > 0 then r.shared = e.mode == SHARED end
end

-- Who holds has changed: a leader, those present at a barrier.
local function holders_changed(b)
    b.changed[b.r.kind .. 'holders'] = true
end

-- `why` is told to the claim's client; nil when the client itself asked for the end.
local function end_entry(b, e, why)
    local r = b.r
    if e.state == 0 then
        remove_waiter(b, e)
        r.waiters = r.waiters - 1
        if e.fair then r.fair = r.fair - 1 end
    else
        remove_holder(b, e)
        count_held(r, e, -1)
        holders_changed(b)
    end
    if why and e.state ~= KEPT then tell(e.id, 'gone', string.format('%.0f ', now) .. why) end
end

local function let_in(b, e, number)
    local r = b.r
    remove_waiter(b, e)
    r.waiters = r.waiters - 1
    if e.fair then r.fair = r.fair - 1 end
    e.state, e.number, e.since, e.began, e.expires = HELD, number, now, now, now + e.lease
    add_holder(b, e)
    count_held(r, e, 1)
    local terms = string.format('%.0f %.0f %d ', number, now, r.waiters > 0 and 1 or 0) .. string.sub(ARGV[1], 1, 16)
    tell(e.id, 'granted', terms .. ' ' .. redis.sha1hex(terms .. e.secret))
    holders_changed(b)
end

-- The claims of one explicit owner are one hold: those that wait come in with the first of them.
local function let_joiners_in(b, first)
    local ids = {}
    for _, id in ipairs(joiners(b, first.owner)) do table.insert(ids, id) end
    for _, id in ipairs(ids) do
        local e = find(b, id)
        if e and e.expires > now then let_in(b, e, first.number) end
    end
end

-- What is kept ends at a time that nobody renews and no release announces. The first in the line is
-- told to ask for it: when what stands before it becomes kept, and when it comes to stand there.
local function tell_first_of_kept(b)
    local first = first_waiter(b)
    if first then tell_changed(string.sub(first.id, 1, 16), b.r, b.r.kind, 'holders') end
end

local function move_line(b)
    local r = b.r
    local e = first_waiter(b)
    while e do
        if e.expires <= now then
            end_entry(b, e, 'the waiter did not show that it is alive within its lease')
        elseif fits(r, e.mode, e.permits) then
            let_in(b, e, next_sequence())
            if e.joins then let_joiners_in(b, e) end
        else
            r.first_until = e.expires
            break
        end
        e = first_waiter(b)
    end
    -- A notice whose waiter died has passed on; when nobody is left to hear it, it is forgotten.
    if r.kind == CONDITION and r.waiters == 0 and r.current > r.used then r.current = r.used end
    local holder = b.first_left and soonest_holder(b)
    if holder and holder.state == KEPT then tell_first_of_kept(b) end
    b.first_left = false
end

local function purge_cells(b)
    local r = b.r
    local soonest = math.huge
    for field, text in pairs(extras(b)) do
        if string.sub(field, 1, 1) == 'v' then
            local expires = cmsgpack.unpack(text)[4]
            if expires <= now then
                b.unset[field] = true
                r.cells = r.cells - 1
            else
                soonest = math.min(soonest, expires)
            end
        end
    end
    if soonest == math.huge then r.cells, soonest = 0, 0 end
    r.cells_soonest = soonest
    if r.cells == 0 then r.cells_until = 0 end
end

-- Removes what has expired and moves the line.
local function settle_time(b)
    local r = b.r
    if r.cells > 0 and r.cells_soonest <= now then purge_cells(b) end
    local freed = false
    local e = soonest_holder(b)
    while e and e.expires <= now do
        end_entry(b, e, 'its lease ended without a renewal')
        freed = true
        e = soonest_holder(b)
    end
    -- The first waiter may have died: nobody behind it, and no reader, may wait for a corpse.
    if freed or (r.waiters > 0 and r.first_until <= now) then move_line(b) end
end

-- Whether the name stands for something now.
local function live(b)
    if not b.judged then
        b.judged = true
        settle_time(b)
    end
    return not is_empty(b.r)
end

local function make(b, kind, limit)
    local r = b.r
    r.kind, r.declared, r.current, r.used = kind, limit, limit, 0
    r.keep_until, r.shared = 0, false
end

local function disagreement(r, kind, mode, limit)
    if r.kind ~= kind then return refused('kind', 0, r.kind) end
    if mode == PERMITS and r.declared ~= limit then return refused('limit', 0, r.declared) end
    return nil
end

local function is_barred(b, id)
    if b.r.bars_until <= now then return false end
    return tonumber(call('ZSCORE', b.bars, id) or 0) > now
end

-- The three values of a grant.
local function grant_of(r, e)
    return e.number, e.began, r.waiters > 0 and 1 or 0
end

-- The earliest moment at which the line can move without a release. A condition without holders
-- waits for a notice, not for time.
local function blocked_for(b)
    local e = soonest_holder(b)
    if e then return math.max(1, math.ceil((e.expires - now) / 1000)) end
    return b.r.kind == CONDITION and 0 or 1
end
