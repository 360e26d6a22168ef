-- Ends one claim, held or waiting: released, or gone when the store does not know it.
-- Reads: record; claims, holders, mark where others hold or wait; bars to bar the claim.
-- Writes: deletes the record of a name that is free then; else the record, and what the next ones need.
-- Publishes: granted to those who hold now; changed; what time has ended.
--@include solo
local id = ARGV[3]
local text = call('GET', KEYS[2])

-- The holder of a lock goes and the first in the line holds it; the arguments are the record's head.
-- Returns false, and has changed nothing, where there is more to look at than a live waiter and the one
-- behind it: the dead, joining owners, readers, gaps.
local function hand_over(waiters, fair, ticket, claims_until, first, _, bars_until)
    local place = place_of(first)
    local found = call('HMGET', KEYS[3], place, place_of(first + 1))
    local one, two = found[1], found[2]
    if not one or (waiters > 1 and not two) then return false end
    local alive_until, lease, heir, permits, mode, is_fair, joins = unpack_from(WAITER, one)
    local two_until = two and unpack_from('<d', two) or 0
    if alive_until <= now or mode ~= 0 or joins ~= 0 or (two and two_until <= now) then return false end
    local number, number_text = draw()
    if not number then return false end
    local expires = now + lease
    if two then
        call('HDEL', KEYS[3], place, id)
        if expires > claims_until then
            claims_until = expires + lease
            call('PEXPIREAT', KEYS[3], expiry(claims_until))
            call('PEXPIREAT', KEYS[2], expiry(math.max(claims_until, bars_until)))
        end
        call('SETRANGE', KEYS[2], IN_LINE, pack(CHANGES, waiters - 1, fair - is_fair, ticket, claims_until,
            first + 1, two_until, bars_until, expires, now, number, 0, 0, 0, heir, now, lease, permits,
            is_fair, 0))
    else
        local details = string.sub(call('HGET', KEYS[3], heir) or '', DETAILS_AT)
        call('DEL', KEYS[3])
        call('SET', KEYS[2], 'hf1s' .. pack(CHANGES, 0, 0, 0, 0, 0, 0, bars_until, expires, now, number,
            0, 0, details == '' and 0 or 1, heir, now, lease, permits, is_fair, 0) ..
            string.sub(text, NAME_AT - 4, NAME_AT + 3 + #ARGV[2]) .. details,
            'PXAT', expiry(math.max(expires, bars_until)))
    end
    local moment = now_text()
    redis.pcall('PUBLISH', ARGV[1] .. 'client:' .. string.sub(heir, 1, 16), 'granted ' ..
        string.sub(heir, 18) .. ' ' .. number_text .. ' ' .. moment .. (two and ' 1 ' or ' 0 ') .. moment)
    return true
end

if ARGV[5] == '0' and not text then return {now, 'gone'} end
if ARGV[4] == '0' and ARGV[5] == '0' and ARGV[6] == '0' and is_solo_text(text) then
    local waiters, fair, ticket, claims_until, first, first_until, bars_until, expires, _, _, kind, mode, _,
        holder = solo_head(text)
    if holder == id and expires > now and solo_name(text) == ARGV[2] then
        if waiters == 0 and bars_until == 0 then -- the usual case: nobody else is there
            call('DEL', KEYS[2])
            return {now, 'released'}
        end
        -- The next usual case: others wait to hold the lock alone.
        if waiters > 0 and kind == 0 and mode == 0 and
            hand_over(waiters, fair, ticket, claims_until, first, first_until, bars_until) then
            return {now, 'released'}
        end
    end
end
local keep_for, bar_until = ARGV[4] * 1000, tonumber(ARGV[5])
--@include common
--@include books
--@include closing
--@include rules
local DAY = 86400 * 1000000

-- A submit of the claim may still be under way; it may take effect up to and including its last moment.
local function bar(b)
    call('ZSCORE', b.bars, id) -- fails before anything is written when the key is not ours
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
    local between = e.state == 0 and e.ticket ~= r.first -- nobody was waiting for it to go
    end_entry(b, e)
    if not between then move_line(b) end
    return 'released'
end

local b = open(ARGV[2], 1, text)
if bar_until >= now then bar(b) end
return finish({now, settle(b)}, bar_until >= now, b)
