-- Calls of the request log by wire. Most are chat, which is found from the newest on; what is rare among them has an index.
create index requests_by_wire on requests (account_id, wire, created_at) where wire <> 'chat';
