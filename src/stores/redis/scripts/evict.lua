-- Ends claims of others: all who hold the name, or one claim, held or waiting.
-- Reads: record, claims, holders, mark. Writes: the same.
-- Publishes: gone to those evicted; granted to those who hold now; changed.
--@include solo
--@include common
--@include ledger
--@include closing
--@include rules
local only = ARGV[3]
local b = open(ARGV[2])
live(b)

local chosen = {}
for _, id in ipairs(only == '' and holder_ids(b) or {only}) do
    local e = find(b, id)
    if e then table.insert(chosen, e) end
end
for _, e in ipairs(chosen) do end_entry(b, e, 'it was evicted') end
move_line(b)
return finish({now, 'evicted', #chosen}, false, b)
