-- Ends one claim, held or waiting: released, or gone when the store does not know it.
-- Reads: record; claims, holders, mark where others hold or wait; bars to bar the claim.
-- Writes: deletes the record of a name that is free then, and its place in waited; else the record, and what
-- the next ones need.
-- Publishes: granted to those who hold now; changed; what time has ended.
--@include solo
local id, text = ARGV[3], call('GET', KEYS[2])
local usual = #ARGV == 3 -- ends at once, without a bar, and is not used up

--@include sole
if usual and sole then
    call('DEL', KEYS[2])
    return now -- released
end
if usual and not text then return {now, 'gone'} end
if usual and #text > HEAD_SIZE then
    local magic, waiters, fair, ticket, claims_until, first, _, waited_until, bars_until, expires, _, _, how, detailed,
        holder = unpack_from(HEAD, text)
    local ours = magic == 'hf1s' and holder == id and expires > now and
        unpack_from('<I4c0', text, NAME_AT) == ARGV[2]
    if ours and waiters == 0 and bars_until == 0 then -- somebody has waited
        call('DEL', KEYS[2])
        if waited_until > 0 then call('ZREM', KEYS[7], KEYS[2]) end
        return {now, 'released'}
    end

    -- The next usual case: others wait to hold the lock alone, and the first of them holds it now. All
    -- else that the rules look at (the dead, joining owners, readers, gaps) is left to them.
    local one, two, place, one_until, lease, client, claim, secret, permits, its_how, is_fair
    local moment = seconds .. micros
    local two_until, before = 0, {} -- the mark before; a table: it was not written
    if ours and waiters > 0 and how == '00' then
        place = pack(PLACE, '#', first)
        local found = call('HMGET', KEYS[3], place, pack(PLACE, '#', first + 1))
        one, two = found[1], found[2]
    end
    if one and (two or waiters == 1) then
        one_until, lease, client, claim, secret, permits, its_how, is_fair = unpack_from(HEIR, one)
        if two then two_until = unpack_from('<d', two) end
        if one_until > now and its_how == '00' and (not two or two_until > now) then
            before = redis.pcall('SET', KEYS[1], moment, 'GET')
        end
    end
    if type(before) ~= 'table' then
        local number, number_text = now, moment
        if (tonumber(before or 0) or 0) >= now then
            number = before + 1
            number_text = string.format('%.0f', number)
            call('SET', KEYS[1], number_text)
        end
        expires = now + lease
        if two then
            call('HDEL', KEYS[3], place, id)
            if expires > claims_until then
                claims_until = expires + lease
                call('PEXPIREAT', KEYS[3], string.format('%.0f', math.ceil(claims_until / 1000) + 10000))
                call('PEXPIREAT', KEYS[2],
                    string.format('%.0f', math.ceil(math.max(claims_until, bars_until) / 1000) + 10000))
            end
            local changes = pack(CHANGES, waiters - 1, fair - is_fair, ticket, claims_until, first + 1,
                two_until, waited_until, bars_until, expires, now, number, '00', 0, client, '-', claim, now, lease,
                permits, is_fair, '0')
            if detailed == 0 then
                call('SETRANGE', KEYS[2], IN_LINE, changes)
            else -- without the details of who goes
                call('SET', KEYS[2], 'hf1s' .. changes ..
                    string.sub(text, DECLARED_AT, NAME_AT + 3 + #ARGV[2]), 'KEEPTTL')
            end
        else
            local details = string.sub(call('HGET', KEYS[3], client .. '-' .. claim) or '', DETAILS_AT)
            call('DEL', KEYS[3])
            call('SET', KEYS[2], 'hf1s' .. pack(CHANGES, 0, 0, 0, 0, 0, 0, waited_until, bars_until, expires, now,
                number, '00', 1, client, '-', claim, now, lease, permits, is_fair, '0') ..
                string.sub(text, DECLARED_AT, NAME_AT + 3 + #ARGV[2]) .. details,
                'PXAT', string.format('%.0f', math.ceil(math.max(expires, bars_until) / 1000) + 10000))
        end
        local terms = number_text .. ' ' .. moment .. (two and ' 1 ' or ' 0 ') .. string.sub(ARGV[1], 1, 16)
        redis.pcall('PUBLISH', string.sub(ARGV[1], 17) .. 'client:' .. client,
            'granted ' .. claim .. ' ' .. terms .. ' ' .. redis.sha1hex(terms .. secret))
        return {now, 'released'}
    end
end
local keep_for, bar_until = (ARGV[4] or 0) * 1000, tonumber(ARGV[5] or 0)
--@include common
--@include ledger
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
        tell_first_of_kept(b)
        return 'released'
    end
    if e.state == HELD and ARGV[6] == '1' then r.current = math.max(0, r.current - e.permits) end
    local between = e.state == 0 and e.ticket ~= r.first -- nobody was waiting for it to go
    end_entry(b, e)
    if not between then move_line(b) end
    return 'released'
end

local b = open(ARGV[2], text)
if bar_until >= now then bar(b) end
return finish({now, settle(b)}, bar_until >= now, b)
