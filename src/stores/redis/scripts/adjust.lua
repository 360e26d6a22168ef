-- Declares a semaphore and reads or sets its current limit; or wakes those who wait at a condition.
-- Reads: record; claims, holders, mark where somebody waits.
-- Writes: record; what those need who hold now.
-- Publishes: granted to those who hold now; what time has ended; changed.
--@include solo
--@include common
--@include ledger
--@include closing
--@include rules
local REMEMBERED = 86400 * 1000000 -- a changed limit outlives its last user by a day

-- Lets in as many as wait, at most `most`: nothing is kept for those who come later.
local function wake(b, most)
    local r = b.r
    r.current = math.min(r.used + r.waiters, r.current + most)
    move_line(b)
end

local function adjust(b, kind, mode, limit, current, most)
    local r = b.r
    local alive = live(b)
    local no = alive and disagreement(r, kind, mode, limit)
    if no then return no end
    if alive and most > 0 then wake(b, most) end
    if not alive and not current then return {now, 'adjusted', limit, limit, 0} end
    if not alive then make(b, kind, limit) end
    if current then
        r.current, r.keep_until = current, now + REMEMBERED
        move_line(b)
    end
    return {now, 'adjusted', r.declared, r.current, r.used}
end

local b = open(ARGV[2])
local reply = adjust(b, tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]),
    tonumber(ARGV[7]))
return finish(reply, true, b)
