import type { DatabaseSnapshot } from "../../platform/database/database-snapshot.ts";

/** Of every file that the snapshot has: the key of its bytes, their count and SHA-256, and its id; a line each. */
export function readFileList(snapshot: DatabaseSnapshot): AsyncIterable<Buffer> {
  return snapshot.readQuery("select storage_key, bytes, encode(sha256, 'hex'), id from files order by id");
}
