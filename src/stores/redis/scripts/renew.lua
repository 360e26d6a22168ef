-- Shows that claims of one name, held and waiting, are alive.
-- Reads: record; claims, holders, mark where there are several.
-- Writes: the record, or the claim, and waited; what the next ones need when time has freed the name.
-- Publishes: granted to those who hold now; what time has ended; changed.
--@include solo
local text = call('GET', KEYS[2])
if not text then
    local reply = {now, 'renewed'}
    for _ = 3, #ARGV, 2 do
        for _, value in ipairs({'gone', 0, 0, 0}) do table.insert(reply, value) end
    end
    return reply
end

if #ARGV == 4 and #text > HEAD_SIZE then -- the usual case: the holder, and at most a line behind it
    local magic, waiters, _, _, claims_until, _, first_until, _, bars_until, expires, _, number, _, _, holder =
        unpack_from(HEAD, text)
    local renewed = math.max(expires, now + ARGV[4] * 1000)
    -- The details of the holder may lie in `claims`, which must not end before it does.
    if magic == 'hf1s' and holder == ARGV[3] and expires > now and
        (waiters == 0 or (first_until > now and renewed <= claims_until)) and
        unpack_from('<I4c0', text, NAME_AT) == ARGV[2] then
        expires = renewed
        -- Needs no memory, and so the next may have some.
        call('PEXPIREAT', KEYS[2],
            string.format('%.0f', math.ceil(math.max(expires, claims_until, bars_until) / 1000) + 10000))
        call('SETRANGE', KEYS[2], IN_TERM, pack('<dd', expires, now))
        return {now, 'renewed', 'alive', number, now, waiters > 0 and 1 or 0}
    end
end
--@include common
--@include ledger
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
    return 'waiting', e.ticket == b.r.first and blocked_for(b) or 0, 0, 0
end

local b = open(ARGV[2], text)
local reply = {now, 'renewed'}
for i = 3, #ARGV, 2 do
    for _, value in ipairs({renew(b, ARGV[i], ARGV[i + 1] * 1000)}) do table.insert(reply, value) end
end
return finish(reply, false, b)
