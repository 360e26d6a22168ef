-- Shows that claims of one name, held and waiting, are alive.
-- Reads: record; claims, line, holders, mark where there are several.
-- Writes: the record, or the claim; what the next ones need when time has freed the name.
-- Publishes: granted to those who hold now; what time has ended; changed.
--@include common
local text = redis.call('GET', KEYS[2])
if not text then
    local reply = {now, 'renewed'}
    for _ = 3, #ARGV, 2 do
        for _, value in ipairs({'gone', 0, 0, 0}) do table.insert(reply, value) end
    end
    return reply
end

local record = unpack_record(text, ARGV[2], KEYS[2])
local solo = record.solo
if #ARGV == 4 and solo and solo.id == ARGV[3] and solo.state == HELD and solo.expires > now and
    record.waiters == 0 and (record.cells == 0 or record.cells_soonest > now) then
    solo.began = now -- the usual case: nobody else is there
    solo.expires = math.max(solo.expires, now + ARGV[4] * 1000)
    local moment = expiry(record_until(record))
    redis.call('PEXPIREAT', KEYS[2], moment) -- needs no memory, and so the next may have some
    redis.call('SET', KEYS[2], pack_record(record), 'PXAT', moment)
    return {now, 'renewed', 'alive', solo.number, now, 0}
end
--@include books
--@include closing
--@include rules

local function renew(b, id, lease)
    local e = live(b) and find(b, id)
    if not e or e.state == KEPT then return 'gone', 0, 0, 0 end
    e.began = now
    -- Never shorter than it was: a renewal for a shorter lease may come late, after one for a longer
    -- lease on which the holder relies.
    e.expires = math.max(e.expires, now + lease)
    if e.state == HELD then
        keep_holder(b, e)
        return 'alive', grant_of(b.r, e)
    end
    keep(b, e)
    return 'waiting', first_waiter(b) == e and blocked_for(b) or 0, 0, 0
end

local b = open(ARGV[2], 1, text)
local reply = {now, 'renewed'}
for i = 3, #ARGV, 2 do
    for _, value in ipairs({renew(b, ARGV[i], ARGV[i + 1] * 1000)}) do table.insert(reply, value) end
end
return finish(reply, false, b)
