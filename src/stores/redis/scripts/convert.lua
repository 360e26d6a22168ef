-- Changes how a held claim holds, without a gap: only to something weaker.
-- Reads: record; claims, holders, mark where there are several.
-- Writes: record, claims, holders; what those need who hold now too.
-- Publishes: granted to those who hold now; what time has ended; changed.
--@include solo
--@include common
--@include ledger
--@include closing
--@include rules

local function convert(b, id, mode, permits)
    local r = b.r
    local e = live(b) and find(b, id)
    if not e or e.state ~= HELD then return refused('gone') end
    if e.mode == mode and e.permits == permits then return {now, 'converted', grant_of(r, e)} end
    if mode == EXCLUSIVE or (mode == PERMITS and permits > e.permits) then
        return refused('would_deadlock')
    end
    count_held(r, e, -1)
    e.mode, e.permits = mode, permits
    count_held(r, e, 1)
    keep_holder(b, e)
    move_line(b)
    return {now, 'converted', grant_of(r, e)}
end

local b = open(ARGV[2])
return finish(convert(b, ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])), false, b)
