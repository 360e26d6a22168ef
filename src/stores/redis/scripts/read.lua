-- A cell as it is; version 0 when there is none.
-- Reads: extra. Writes and publishes nothing.
--@include solo
local text = redis.call('HGET', KEYS[6], 'v' .. ARGV[4])
local cell = text and cmsgpack.unpack(text) -- version, value, operation, expires, kind
if not cell or cell[4] <= now or cell[5] ~= tonumber(ARGV[3]) then return {now, 'cell', 0, ''} end
return {now, 'cell', cell[1], cell[2]}
