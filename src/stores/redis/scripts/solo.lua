-- Included first: the server's time, and the record of a name that one claim holds and about which
-- there is nothing else to know. That is most records, so they are written in a way that can be
-- judged and changed without unpacking:
--
--   hf1s  claim id  expires  began  sequence  since  the rest, packed
--   1     5         38       54     70        86     102
--
-- Reads: TIME. Writes and publishes nothing.

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2] -- microseconds

-- When a key may go that is needed until `moment`, in milliseconds. Later by 10 s, so that those who
-- come soon after the end of a lease still find out whose it was.
local function expiry(moment)
    return math.ceil(moment / 1000) + 10000
end

-- `rest`: name, kind, declared limit, mode, permits, lease, fair, joins, owner, info; packed.
local function solo_text(id, expires, began, number, since, rest)
    return string.format('hf1s%s%016.0f%016.0f%016.0f%016.0f', id, expires, began, number, since) .. rest
end

-- Whether the record is such a one, of this claim, and its lease is not over.
local function is_solo_of(text, id)
    return string.sub(text, 1, 37) == 'hf1s' .. id and tonumber(string.sub(text, 38, 53)) > now
end
