import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

const part = Type.Object({ key: Type.String(), bytes: Type.Integer(), sha256: Type.String() });

/**
 * The contents of a backup, written last: every part with its size and SHA-256. Keys are relative to the backup's
 * folder.
 */
const manifestSchema = Type.Object({
  format: Type.Literal(1),
  id: Type.String(),
  /** The time of the database snapshot. */
  taken_at: Type.String(),
  server_version: Type.String(),
  schema: Type.Array(Type.Object({ number: Type.Integer(), name: Type.String(), checksum: Type.String() })),
  tables: Type.Array(Type.Object({ name: Type.String(), columns: Type.Array(Type.String()), parts: Type.Array(part) })),
  partitions: Type.Array(
    Type.Object({
      name: Type.String(),
      parent: Type.String(),
      bound: Type.String(),
      options: Type.Optional(Type.String()),
    }),
  ),
  sequences: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  /** The list of files is a part; the files themselves are under `files/`. */
  files: Type.Object({ list: part, count: Type.Integer(), bytes: Type.Integer() }),
  /** The secret key, if requested. */
  secrets: Type.Union([part, Type.Null()]),
  /** Identifies the key that encrypts the database's secrets without revealing it. */
  secret_fingerprint: Type.Union([Type.String(), Type.Null()]),
});

export type Manifest = Static<typeof manifestSchema>;
export type Part = Static<typeof part>;

export const manifestName = "manifest.json";

/** `null` if it is not a manifest, or one of a newer version. */
export function parseManifest(text: string): Manifest | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(manifestSchema, value) ? value : null;
  } catch {
    // Not JSON, so not a manifest.
    return null;
  }
}

/** All parts except the files, which are in the list of files. */
export function listParts({ tables, files, secrets }: Manifest): Part[] {
  return [...tables.flatMap(({ parts }) => parts), files.list, ...(secrets === null ? [] : [secrets])];
}

export function sumBytes(manifest: Manifest): number {
  return listParts(manifest).reduce((sum, { bytes }) => sum + bytes, manifest.files.bytes);
}
