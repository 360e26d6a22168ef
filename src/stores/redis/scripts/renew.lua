-- Shows that claims of one name, held and waiting, are alive.
-- Reads: record; claims, line, holders, mark where there are several.
-- Writes: the record, or the claim; what the next ones need when time has freed the name.
-- Publishes: granted to those who hold now; what time has ended; changed.
--@include solo
local text = redis.call('GET', KEYS[2])
if not text then
    local reply = {now, 'renewed'}
    for _ = 3, #ARGV, 2 do
        for _, value in ipairs({'gone', 0, 0, 0}) do table.insert(reply, value) end
    end
    return reply
end

if #ARGV == 4 and is_solo_of(text, ARGV[3]) then -- the usual case: nobody else is there
    local expires = math.max(tonumber(string.sub(text, 38, 53)), now + ARGV[4] * 1000)
    local number, since = tonumber(string.sub(text, 70, 85)), tonumber(string.sub(text, 86, 101))
    redis.call('PEXPIREAT', KEYS[2], expiry(expires)) -- needs no memory, and so the next may have some
    redis.call('SET', KEYS[2], solo_text(ARGV[3], expires, now, number, since, string.sub(text, 102)),
        'PXAT', expiry(expires))
    return {now, 'renewed', 'alive', number, now, 0}
end
--@include common
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
