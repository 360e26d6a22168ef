-- Deletes the key of a name: what is ours, and what is not only by force.
-- KEYS: name. ARGV: claim id (empty: whoever holds), force.
-- Reads and writes: name. Publishes nothing.
--@include plain/value
local value = value_of(KEYS[1])
local owner = value and parse(value)
local wanted = ARGV[1] == '' and (owner or ARGV[2] == '1') or (ARGV[1] ~= '' and owner == ARGV[1])
if not value or not wanted then return {now, 'evicted', 0} end
redis.call('DEL', KEYS[1])
return {now, 'evicted', 1}
