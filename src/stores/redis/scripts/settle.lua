-- Ends one claim, held or waiting: released, or gone when the store does not know it.
-- Reads: record; claims, line, holders, mark where others hold or wait; bars to bar the claim.
-- Writes: deletes the record of a name that is free then; else the record, and what the next ones need.
-- Publishes: granted to those who hold now; changed; what time has ended.
--@include solo
local id, keep_for, bar_until = ARGV[3], ARGV[4] * 1000, tonumber(ARGV[5])
local text = redis.call('GET', KEYS[2])

if bar_until < now then
    if not text then return {now, 'gone'} end
    if keep_for == 0 and is_solo_of(text, id) then -- the usual case: nobody else is there
        redis.call('DEL', KEYS[2])
        return {now, 'released'}
    end
end
--@include common
--@include books
--@include closing
--@include rules
local DAY = 86400 * 1000000

-- A submit of the claim may still be under way; it may take effect up to and including its last moment.
local function bar(b)
    redis.call('ZSCORE', b.bars, id) -- fails before anything is written when the key is not ours
    b.bar = {id = id, moment = math.min(bar_until, now + DAY) + 1}
    b.r.bars_until = math.max(b.r.bars_until, b.bar.moment)
end

local function settle(b)
    local r = b.r
    local e = live(b) and find(b, id)
    if not e then return 'gone' end
    if e.state == KEPT then return 'released' end
    if e.state == HELD and keep_for > 0 then
        e.state, e.expires = KEPT, now + keep_for
        keep_holder(b, e)
        -- It ends at another time than the first in the line was told.
        local first = first_waiter(b)
        if first then tell_changed(string.sub(first.id, 1, 16), r, r.kind, 'holders') end
        return 'released'
    end
    if e.state == HELD and ARGV[6] == '1' then r.current = math.max(0, r.current - e.permits) end
    end_entry(b, e)
    move_line(b)
    return 'released'
end

local b = open(ARGV[2], 1, text)
if bar_until >= now then bar(b) end
return finish({now, settle(b)}, bar_until >= now, b)
