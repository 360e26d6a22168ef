-- Ends claims and grants others, each where nobody else is there: what a client has gathered while it waited.
-- Whatever is not so usual is left as it is, for a script of its own.
-- Reads: mark, records. Writes: mark; deletes records, and makes new ones. Publishes nothing.
--@include solo
local ends = tonumber(ARGV[1])
local wanted = #KEYS - 1 - ends
local done = {} -- a digit for each: 1, or 0 for one that is left
-- The first write, which a server that is out of memory refuses: who lets go may do so all the same.
local number, first, drawn = now, now, false
if wanted > 0 then
    local before = redis.pcall('SET', KEYS[1], string.format('%.0f', now + wanted - 1), 'GET')
    drawn = type(before) ~= 'table'
    if drawn and (tonumber(before or 0) or 0) >= now then
        number = before + 1
        first = number
        call('SET', KEYS[1], string.format('%.0f', number + wanted - 1))
    end
end
if ends > 0 then
    local texts, free = call('MGET', unpack(KEYS, 2, ends + 1)), {}
    for i = 1, ends do
        local id, text = ARGV[i + 1], texts[i]
--@include sole
        if sole then free[#free + 1] = KEYS[i + 1] end
        done[i] = sole and '1' or '0'
    end
    if #free > 0 then call('DEL', unpack(free)) end
end
-- From here on nothing fails as a whole; what could fail so has changed the mark alone.
for i = 1, wanted do
    local at = ends + 4 * i - 2
    local head, tail, lifetime, given = ARGV[at], ARGV[at + 1], ARGV[at + 2], false
    if drawn and now <= tonumber(ARGV[at + 3]) then
--@include fresh
        given = redis.pcall('SET', KEYS[ends + 1 + i], record, 'NX', 'PX', lifetime)
    end
    if given and given.ok then
        number = number + 1
        done[ends + i] = '1'
    else
        done[ends + i] = '0'
    end
end
return {now, first, table.concat(done)}
