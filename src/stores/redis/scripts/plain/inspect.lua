-- Who holds the key of a name: its value, its time left, and whether it is one of ours.
-- KEYS: name. Reads: name. Writes and publishes nothing.
--@include plain/value
local value = value_of(KEYS[1])
if not value then return {now, 'none'} end
return {now, 'held', value, redis.call('PTTL', KEYS[1]), parse(value) and 1 or 0}
