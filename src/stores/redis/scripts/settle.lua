-- Ends one claim, held or waiting: released, or gone when the store does not know it.
-- Reads: record; claims, line, holders, mark where others hold or wait; bars to bar the claim.
-- Writes: deletes the record of a name that is free then; else the record, and what the next ones need.
-- Publishes: granted to those who hold now; changed; what time has ended.
--@include solo
local id, keep_for, bar_until = ARGV[3], ARGV[4] * 1000, tonumber(ARGV[5])
local text = redis.call('GET', KEYS[2])

if bar_until < now then
    if not text then return {now, 'gone'} end
    if keep_for == 0 and is_solo_of(text, id) then -- the usual case: nobody else is there
        redis.call('DEL', KEYS[2])
        return {now, 'released'}
    end
    -- The next usual case: one holds a lock alone, others wait to do so. The first of them holds now.
    -- Anything else that the rules look at (cells, watchers, the dead, joining owners, readers) is
    -- left to them. Places in `r` and `first` are those of `pack_record` and `pack_entry`.
    local r = keep_for == 0 and ARGV[6] ~= '1' and string.sub(text, 1, 4) == 'hf1f' and
        cmsgpack.unpack(string.sub(text, 5))
    local holder = r and r[19]
    if holder and holder[1] == id and holder[2] == 0 and holder[4] == 1 and holder[8] > now and
        r[1] == ARGV[2] and r[2] == 0 and r[7] > 0 and r[13] == 0 and r[18] <= now then
        local ids = redis.call('ZRANGE', KEYS[4], 0, 1)
        local texts = #ids == math.min(2, r[7]) and redis.call('HMGET', KEYS[3], unpack(ids)) or {}
        local first = texts[1] and cmsgpack.unpack(texts[1])
        local behind = texts[2] and cmsgpack.unpack(texts[2])
        if first and first[2] == 0 and first[4] == 0 and first[8] > now and not first[11] and
            (#ids == 1 or (behind and behind[8] > now)) then
            local number = math.max((tonumber(redis.call('GET', KEYS[1]) or 0) or 0) + 1, now)
            redis.call('ZREM', KEYS[4], first[1])
            redis.call('HDEL', KEYS[3], first[1])
            redis.call('SET', KEYS[1], number)
            first[4], first[5], first[6], first[7], first[8] = 1, number, now, now, now + first[9]
            r[7], r[8], r[9], r[19] = r[7] - 1, r[8] - (first[10] and 1 or 0), false, first
            if r[7] == 0 then r[11] = 0 end
            local packed = nil
            if r[7] == 0 and r[10] == 0 and r[16] == 0 and r[18] == 0 and r[3] == r[4] then
                packed = solo_text(first[1], first[8], now, number, now, cmsgpack.pack({r[1], r[2], r[3],
                    first[2], first[3], first[9], first[10], first[11], first[12], first[13]}))
            else
                packed = 'hf1f' .. cmsgpack.pack(r)
            end
            redis.call('SET', KEYS[2], packed, 'PXAT',
                expiry(math.max(first[8], r[10], r[11], r[16], r[18])))
            redis.pcall('PUBLISH', ARGV[1] .. 'client:' .. string.sub(first[1], 1, 16),
                string.format('granted %s %.0f %.0f %d %.0f', string.sub(first[1], 18), number, now,
                    r[7] > 0 and 1 or 0, now))
            return {now, 'released'}
        end
    end
end
--@include common
--@include books
--@include closing
--@include rules
local DAY = 86400 * 1000000

-- A submit of the claim may still be under way; it may take effect up to and including its last moment.
local function bar(b)
    redis.call('ZSCORE', b.bars, id) -- fails before anything is written when the key is not ours
    b.bar = {id = id, moment = math.min(bar_until, now + DAY) + 1}
    b.r.bars_until = math.max(b.r.bars_until, b.bar.moment)
end

local function settle(b)
    local r = b.r
    local e = live(b) and find(b, id)
    if not e then return 'gone' end
    if e.state == KEPT then return 'released' end
    if e.state == HELD and keep_for > 0 then
        e.state, e.expires = KEPT, now + keep_for
        keep_holder(b, e)
        -- It ends at another time than the first in the line was told.
        local first = first_waiter(b)
        if first then tell_changed(string.sub(first.id, 1, 16), r, r.kind, 'holders') end
        return 'released'
    end
    if e.state == HELD and ARGV[6] == '1' then r.current = math.max(0, r.current - e.permits) end
    end_entry(b, e)
    move_line(b)
    return 'released'
end

local b = open(ARGV[2], 1, text)
if bar_until >= now then bar(b) end
return finish({now, settle(b)}, bar_until >= now, b)
