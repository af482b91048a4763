-- Ids that the database makes rise with the time, as those do that the worker makes. A random id goes to a random page of
-- each index that holds it: a claim of a thousand jobs wrote to as many pages of the key and of the attempts' key, and
-- after a checkpoint each of them went to the log as a whole.

-- UUID version 7 of RFC 9562: 48 bits of milliseconds, 12 bits of the fraction of the millisecond (its method 3), so that
-- the rows of one statement rise too, and 62 random bits. A random UUID gives those, and its variant.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN (
    overlay(lpad(to_hex((date_part('epoch', clock_timestamp()) * 1000 * 4096)::bigint), 15, '0') PLACING '7' FROM 13 FOR 0)
    || substr(gen_random_uuid()::text, 19)
)::uuid;
COMMENT ON FUNCTION uuid_v7() IS 'A new id: UUIDs of version 7 rise with the time they are made.';

ALTER TABLE jobs ALTER COLUMN id SET DEFAULT uuid_v7();
ALTER TABLE requirement_cache ALTER COLUMN id SET DEFAULT uuid_v7();
