import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

const part = Type.Object({ key: Type.String(), bytes: Type.Integer(), sha256: Type.String() });

/**
 * What a backup has, written after all of it: every part with its size and SHA-256. Without one there is no backup.
 * Keys are relative to the backup's own folder.
 */
const manifestSchema = Type.Object({
  format: Type.Literal(1),
  id: Type.String(),
  /** The moment that the database is of. */
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
  /** The list of files is a part; the files themselves lie under `files/`, as they are. */
  files: Type.Object({ list: part, count: Type.Integer(), bytes: Type.Integer() }),
  /** The secret key, where it was asked for. */
  secrets: Type.Union([part, Type.Null()]),
  /** Which secret key the database's secrets are sealed with; tells nothing of it. */
  secret_fingerprint: Type.Union([Type.String(), Type.Null()]),
});

export type Manifest = Static<typeof manifestSchema>;
export type Part = Static<typeof part>;

export const manifestName = "manifest.json";

/** `null` where it is not a manifest of ours, or one of a newer version. */
export function parseManifest(text: string): Manifest | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(manifestSchema, value) ? value : null;
  } catch {
    // What is no JSON is no manifest.
    return null;
  }
}

/** All that the database is made of, and what else is in parts; files are in the list of files. */
export function listParts({ tables, files, secrets }: Manifest): Part[] {
  return [...tables.flatMap(({ parts }) => parts), files.list, ...(secrets === null ? [] : [secrets])];
}

export function sumBytes(manifest: Manifest): number {
  return listParts(manifest).reduce((sum, { bytes }) => sum + bytes, manifest.files.bytes);
}
