import type { DatabaseSnapshot } from "../../platform/database/database-snapshot.ts";

/** One line per file of the snapshot: storage key, size, SHA-256 and id. */
export function readFileList(snapshot: DatabaseSnapshot): AsyncIterable<Buffer> {
  return snapshot.readQuery("select storage_key, bytes, encode(sha256, 'hex'), id from files order by id");
}
