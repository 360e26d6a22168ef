-- Asks for notices about a name or a cell for a minute, or for none any more.
-- Reads: record, extra. Writes: the same. Publishes nothing.
--@include solo
--@include common
--@include ledger
--@include closing
--@include rules
local MINUTE = 60 * 1000000

local function forget_the_dead(b)
    local r = b.r
    r.watch_soonest = math.huge
    for other, moment in pairs(extras(b)) do
        if string.sub(other, 1, 1) == 'w' then
            if tonumber(moment) <= now then
                b.unset[other] = true
            else
                r.watch_soonest = math.min(r.watch_soonest, tonumber(moment))
            end
        end
    end
end

local b = open(ARGV[2])
local r, field = b.r, 'w' .. ARGV[5] .. ARGV[3] .. ARGV[4]
local known = redis.call('HEXISTS', b.extra, field)
if ARGV[6] ~= '1' then
    b.unset[field] = true
    local others = redis.call('HLEN', b.extra) - r.cells - known
    if others <= 0 then r.watch_until, r.watch_soonest = 0, 0 end
    return finish({now, 'done'}, false, b)
end
if r.watch_soonest <= now then forget_the_dead(b) end
b.set[field], b.unset[field] = string.format('%.0f', now + MINUTE), nil
r.watch_soonest, r.watch_until = math.min(r.watch_soonest, now + MINUTE), now + MINUTE
return finish({now, 'done'}, true, b)
