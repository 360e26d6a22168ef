-- Included first: the server's time, and the record of a name that one claim holds and about which
-- there is little else to know: the line behind it and bars. That is most records, so they are
-- written in a way that is read without making a table and changed in place:
--
--   byte 0    hf1s
--        4    waiters, how many of them are fair, the last place, the end of `claims`,
--             the place of the first, the first is alive until             IN_LINE
--        52   the last bar ends
--        60   the lease ends, began                                        IN_TERM
--        76   sequence, kind, mode, whether details follow the name, claim id, since, lease,
--             permits, fair, joins                                         up to here: CHANGES
--        142  declared limit, the name, details: owner and info            all: SOLO
--
-- Somebody who waits is two fields of `claims`: its place -> WAITER, and its id -> the place (9
-- bytes) and details. Details of a holder may still be found there. The field ANCHOR tells that the
-- key is the one that the record means.
-- Reads: TIME. Writes and publishes nothing.

local IN_LINE, IN_TERM, ANCHOR = '4', '60', '!' -- where SETRANGE begins
local CHANGES = '<ddddddddddBBBc33ddI4BB'
local SOLO = '<c4ddddddddddBBBc33ddI4BBI4I4c0'
local SOLO_WITH_DETAILS = '<c4ddddddddddBBBc33ddI4BBI4I4c0I4c0c0'
local DETAILS = '<I4c0c0'
local WAITER = '<ddc33I4BBBdd' -- expires, lease, claim id, permits, mode, fair, joins, since, began
local NAME_AT, DETAILS_AT = 147, 10

local call, pack, unpack_from = redis.call, struct.pack, struct.unpack
local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2] -- microseconds

-- `now` as text. Making it of a number costs more than a command.
local function now_text()
    local micros = clock[2]
    return clock[1] .. (#micros == 6 and micros or string.sub('00000' .. micros, -6))
end

-- When a key may go that is needed until `moment`, in milliseconds. Later by 10 s, so that those who
-- come soon after the end of a lease still find out whose it was.
local function expiry(moment)
    return math.ceil(moment / 1000) + 10000
end

-- The field of `claims` for a place in the line.
local function place_of(ticket)
    return pack('<c1d', '#', ticket)
end

local function is_solo_text(text)
    return string.sub(text, 1, 4) == 'hf1s'
end

-- waiters, fair ones, last place, end of `claims`, first place, first until, last bar, expires,
-- began, sequence, kind, mode, with details, id; what follows them in the record is left out.
local function solo_head(text)
    return unpack_from('<xxxxddddddddddBBBc33', text)
end

local function solo_name(text)
    return (unpack_from('<I4c0', text, NAME_AT))
end

-- The next sequence, drawn in one step, as number and text. nil when the mark cannot be written: then
-- nothing was.
local function draw()
    local text = now_text()
    local before = redis.pcall('SET', KEYS[1], text, 'GET')
    if type(before) == 'table' then return nil end
    before = tonumber(before or 0) or 0
    if before < now then return now, text end
    text = string.format('%.0f', before + 1)
    call('SET', KEYS[1], text)
    return before + 1, text
end
