-- Included where `text`, a record, and `id` are known: whether the claim holds and nobody else is there. An id
-- belongs to one name, which needs no second look.
local sole = text and string.sub(text, 96, 128) == id and string.sub(text, 1, 68) == UNCONTENDED and
    unpack_from('<d', text, 69) > now
