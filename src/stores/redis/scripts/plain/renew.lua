-- Begins the lease of the key of a name anew when it is ours; never makes it shorter.
-- KEYS: name. ARGV: claim id, lease.
-- Reads and writes: name. Publishes nothing.
--@include plain/value
local lease = tonumber(ARGV[2])
local owner, number, kept = parse(value_of(KEYS[1]) or '')
if owner ~= ARGV[1] or kept then return {now, 'gone', 0, 0, 0} end
local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left < lease then redis.call('PEXPIRE', KEYS[1], lease) end
return {now, 'alive', number, now, 0}
