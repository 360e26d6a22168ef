-- Replaces or removes a cell when its version is the expected one and the guard holds.
-- Reads: record, extra; claims, holders where there are several.
-- Writes: mark, record, extra.
-- Publishes: changed to those who watch the cell, unless it is quiet; what time has ended or let in.
--@include solo
--@include common
--@include ledger
--@include closing
--@include rules
local kind, part, expected, value = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5]), ARGV[6]
local ttl, operation, remove, guard_id = ARGV[7] * 1000, ARGV[8], ARGV[9] == '1', ARGV[10]
local quiet = ARGV[11] == '1'
local field = 'v' .. part

local function put(b, version, is_new)
    local r = b.r
    local expires = now + ttl
    if is_empty(r) then make(b, kind, 0) end
    if r.cells == 0 then r.cells_soonest, r.cells_until = expires, 0 end
    if is_new then r.cells = r.cells + 1 end
    r.cells_soonest, r.cells_until = math.min(r.cells_soonest, expires), math.max(r.cells_until, expires)
    b.set[field], b.unset[field] = cmsgpack.pack({version, value, operation, expires, kind}), nil
end

local function erase(b)
    b.r.cells = b.r.cells - 1
    if b.r.cells == 0 then b.r.cells_until = 0 end
    b.unset[field] = true
end

-- The guard is a claim on the same name.
local function guard_holds(b)
    if guard_id == '' then return true end
    local e = live(b) and find(b, guard_id)
    return e and e.state == HELD
end

local function swap(b)
    local no = live(b) and disagreement(b.r, kind)
    if no then return no end
    local text = redis.call('HGET', b.extra, field)
    -- What the record does not count has outlived one that the server evicted. `read` does not ask the
    -- record: left there, the cell would be seen by all and changed by nobody.
    if text and b.r.cells == 0 then b.unset[field] = true end
    local cell = text and not b.unset[field] and b.r.cells > 0 and cmsgpack.unpack(text)
    if cell and cell[3] == operation then return {now, 'swapped', cell[1]} end
    local version, present = cell and cell[1] or 0, cell and cell[2] or ''
    if not guard_holds(b) then return {now, 'conflict', version, present, 1} end
    if version ~= expected then return {now, 'conflict', version, present, 0} end
    -- A version is never used again, so that a late swap of a cell's former life cannot match.
    local fresh = remove and 0 or next_sequence()
    if not remove then
        put(b, fresh, not cell)
    elseif cell then
        erase(b)
    end
    if not quiet then b.changed[kind .. part] = true end
    return {now, 'swapped', fresh}
end

local b = open(ARGV[2])
return finish(swap(b), true, b)
