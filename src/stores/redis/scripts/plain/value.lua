-- Included by the scripts of the plain layout: the server's time, and whose a value is.
-- Reads: TIME and the key of the name. Writes and publishes nothing.

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2] -- microseconds

local LONGEST = 100 * 365 * 86400000 -- milliseconds: what others leave may last longer than Lua counts

local function refused(why, blocked_for, detail)
    return {now, 'refused', why, blocked_for or 0, detail or 0}
end

-- The value of the key; false when it is absent, empty when it is no string: somebody else's lock.
local function value_of(key)
    local value = redis.pcall('GET', key)
    if type(value) ~= 'table' then return value end
    if string.find(value.err, 'WRONGTYPE', 1, true) then return '' end
    return error(value.err, 0)
end

-- The claim, the sequence and whether it is only kept, of a value of ours; nothing of another.
local function parse(value)
    local id, number, kept = string.match(value, '^(%x+%-%x+):(%d+)(:?k?e?p?t?)$')
    if not id or #id ~= 33 or (kept ~= '' and kept ~= ':kept') then return nil end
    return id, tonumber(number), kept ~= ''
end

-- When the lease of the key began, a millisecond early to be safe against rounding.
local function began(key, lease)
    local left = redis.call('PTTL', key)
    if left < 0 then return now end
    return math.min(now, (math.floor(now / 1000) + left - lease - 1) * 1000)
end
