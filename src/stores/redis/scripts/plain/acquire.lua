-- Takes the key of a name as `SET NX PX` does; sent twice it is granted once.
-- KEYS: name, mark, bar. ARGV: claim id, lease, not_after.
-- Reads: all three. Writes: name, mark. Publishes nothing.
--@include plain/value
local id, lease = ARGV[1], tonumber(ARGV[2])
if now > tonumber(ARGV[3]) or redis.call('EXISTS', KEYS[3]) == 1 then return refused('too_late') end

local value = value_of(KEYS[1])
if value then
    local owner, number, kept = parse(value)
    if owner == id and kept then return refused('too_late') end
    if owner == id then return {now, 'granted', number, began(KEYS[1], lease), 0} end
    local left = math.min(redis.call('PTTL', KEYS[1]), LONGEST) -- -1: its owner set no end, and there is none
    return refused('busy', left < 0 and 0 or math.max(1, left), left)
end
local before = tonumber(redis.call('GET', KEYS[2]) or 0) or 0
local number = math.max(before + 1, now)
redis.call('SET', KEYS[2], number)
redis.call('SET', KEYS[1], id .. ':' .. string.format('%.0f', number), 'PX', lease)
return {now, 'granted', number, now, 0}
