-- The records of names on which somebody waits who has an owner, and perhaps of a few more.
-- KEYS: waited. Reads: waited. Writes: waited, what is over. Publishes nothing.
--@include solo
local over = call('ZRANGE', KEYS[1], '-inf', now, 'BYSCORE', 'LIMIT', 0, 1000)
if #over > 0 then call('ZREM', KEYS[1], unpack(over)) end
return {now, 'waited', call('ZRANGE', KEYS[1], '(' .. seconds .. micros, '+inf', 'BYSCORE')}
