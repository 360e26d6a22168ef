-- Included first: the server's time, and the record of a name that one claim holds and about which
-- there is little else to know: the line behind it and bars. That is most records, so they are
-- written in a way that is read without making a table and changed in place:
--
--   byte 0    hf1s
--        4    waiters, how many of them are fair, the last place, the end of `claims`,
--             the place of the first, the first is alive until,
--             the name is listed in `waited` until (0: it is not)          IN_LINE
--        60   the last bar ends
--        68   the lease ends, began                                        IN_TERM
--        84   sequence, kind and mode (digits), whether details follow the name,
--             claim id                                                     up to here: HEAD
--        128  since, lease, permits, fair and joins (digits)               from 4 to here: CHANGES
--        150  declared limit, the name, details: owner and info            all: SOLO
--
-- Somebody who waits is two fields of `claims`: its place (PLACE) -> WAITER, and its id -> the place and
-- details. Those of a holder may still lie there. The field ANCHOR tells that the key is the one which
-- the record means.
--
-- A claim that is wanted comes from its client written as the record has it, in two pieces around the
-- times: kind, mode, 1 and the id; and all from the lease on. So the record of a free name is put together
-- without taking the claim apart.
--
-- What comes before the other includes makes no function: that alone costs more than a command.
-- Reads: TIME. Writes and publishes nothing.

-- The beginning of a record with no line, no bar, not listed: hf1s and 64 zeros.
local UNCONTENDED = 'hf1s\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
local HEAD = '<c4dddddddddddc2Bc33'
local CHANGES = '<dddddddddddc2Bc16c1c16ddI4c1c1' -- of the id: client, '-', number
local SOLO = '<c4dddddddddddc1c1Bc33ddI4c1c1I4I4c0'
local SOLO_AND_DETAILS = '<c4dddddddddddc1c1Bc33ddI4c1c1I4I4c0I4c0c0'
local DETAILS, PLACE_AND_DETAILS = '<I4c0c0', '<c9I4c0c0'
-- expires, lease, claim id, secret, permits, mode and joins, fair, has an owner, since, began
local WAITER = '<ddc33c16I4c2c1c1dd'
local HEIR = '<ddc16xc16c16I4c2c1' -- the beginning of the same, with client and number
local PLACE = '<c1d' -- of '#' and the ticket
local IN_LINE, IN_TERM, AT_SEQUENCE, ANCHOR = '4', '68', '84', '!'
local HEAD_SIZE, DECLARED_AT, NAME_AT, DETAILS_AT = 128, 151, 155, 10
local TRIMMED = 10 -- of `waited` in passing: more than are added

local call, pack, unpack_from = redis.call, struct.pack, struct.unpack
local clock = call('TIME')
local seconds, micros = clock[1], clock[2]
local now = seconds * 1000000 + micros -- microseconds
if #micros < 6 then micros = string.sub('00000' .. micros, -6) end -- seconds .. micros: `now` as text
