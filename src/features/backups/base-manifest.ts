import { text } from "node:stream/consumers";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { OperatorError } from "../../platform/errors/operator-error.ts";
import type { ByteStore } from "../../platform/storage/byte-store.ts";

const part = Type.Object({ key: Type.String(), bytes: Type.Integer(), sha256: Type.String() });

/** A base backup of the embedded server: with the WAL after it, any time since `taken_at` can be restored. */
const baseSchema = Type.Object({
  format: Type.Literal(1),
  id: Type.String(),
  taken_at: Type.String(),
  server_version: Type.String(),
  start_log: Type.String(),
  server: part,
  secrets: Type.Union([part, Type.Null()]),
  secret_fingerprint: Type.Union([Type.String(), Type.Null()]),
});

export type Base = Static<typeof baseSchema>;

/** Manifests are in this folder, their parts in subfolders. */
export const baseFolder = "base";
const manifestPattern = /^[\w-]+\.json$/;

async function listBases(archive: ByteStore): Promise<Base[]> {
  const bases: Base[] = [];
  for (const name of (await archive.list(baseFolder)).filter((found) => manifestPattern.test(found))) {
    const value: unknown = JSON.parse(await text(await archive.open(`${baseFolder}/${name}`)));
    if (Value.Check(baseSchema, value)) bases.push(value);
  }
  return bases;
}

/** The last base backup taken by a given time, or the last of all for `null`. */
export async function getBase(archive: ByteStore, until: Date | null): Promise<Base> {
  const bases = (await listBases(archive)).toSorted((a, b) => a.taken_at.localeCompare(b.taken_at));
  const usable = bases.filter(({ taken_at }) => until === null || new Date(taken_at) <= until);
  const base = usable.at(-1);
  if (base !== undefined) return base;
  const [first] = bases;
  throw first === undefined
    ? new OperatorError("There is no base backup in that place.", "Use the wal_archive of the original.")
    : new OperatorError(`The earliest time that can be restored is ${first.taken_at}.`, "Use a later time.");
}
