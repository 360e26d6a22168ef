-- Deletes the key of a name when it is ours, or keeps it as nobody's for a minimum hold.
-- KEYS: name, bar. ARGV: claim id, keep_for, bar_until.
-- Reads: name. Writes: name; bar when a copy of the acquire may still be under way. Publishes nothing.
--@include plain/value
local id, keep_for, bar_until = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local value = value_of(KEYS[1])
local owner, _, kept = parse(value or '')
local ours = owner == id

if ours and not kept and keep_for == 0 then redis.call('DEL', KEYS[1]) end
if bar_until >= now then
    local length = math.min(bar_until - now, 86400 * 1000000)
    redis.call('SET', KEYS[2], 1, 'PX', math.ceil(length / 1000) + 1)
end
if ours and not kept and keep_for > 0 then
    redis.call('SET', KEYS[1], value .. ':kept', 'PX', keep_for)
end
return {now, ours and 'released' or 'gone'}
