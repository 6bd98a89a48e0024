import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { OperatorError } from "../errors/operator-error.ts";
import type { ByteStore } from "./byte-store.ts";
import { createDiskStore } from "./create-disk-store.ts";
import { createS3Store } from "./create-s3-store.ts";

export type StorageSettings = {
  data_dir: string;
  s3_bucket?: string | undefined;
  s3_endpoint?: string | undefined;
  s3_region: string;
  s3_access_key_id?: string | undefined;
  s3_secret_access_key?: string | undefined;
  s3_path_style: "on" | "off";
};

type BucketSettings = Omit<StorageSettings, "data_dir" | "s3_bucket">;

/** The bucket of the settings, else a folder in data_dir. */
export async function openByteStore(settings: StorageSettings): Promise<ByteStore> {
  const { s3_bucket: bucket } = settings;
  if (bucket === undefined) return await createDiskStore({ folder: join(settings.data_dir, "files") });
  return await openBucket(settings, { bucket, prefix: "" });
}

/**
 * Opens a folder or `s3://bucket/prefix`, with the S3 settings. A folder is created for writing and must exist for
 * reading.
 */
export async function openPlace(
  where: string,
  settings: BucketSettings,
  { use }: { use: "read" | "write" },
): Promise<ByteStore> {
  if (!where.includes("/")) {
    // A typo must not create a folder.
    throw new OperatorError(
      `"${where}" is neither a folder path nor an s3:// URL.`,
      `Use a path such as ./${where}, or s3://bucket/prefix.`,
    );
  }
  if (!/^\w+:\/\//.test(where)) {
    const folder = resolve(where);
    if (use === "write" || existsSync(folder)) return await createDiskStore({ folder });
    throw new OperatorError(
      `The folder ${folder} does not exist.`,
      "Use the folder or s3://bucket/prefix of the backups.",
    );
  }
  const [, bucket = "", path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)\/?(.*)$/.exec(where) ?? [];
  if (bucket === "") {
    throw new OperatorError(
      `"${where}" is neither a folder path nor an s3:// URL.`,
      "Use a folder or s3://bucket/prefix.",
    );
  }
  const prefix = path.replace(/\/*$/, "/").replace(/^\/+/, "");
  return await openBucket(settings, { bucket, prefix });
}

async function openBucket(
  settings: BucketSettings,
  { bucket, prefix }: { bucket: string; prefix: string },
): Promise<ByteStore> {
  const { s3_access_key_id: accessKeyId, s3_secret_access_key: secretAccessKey } = settings;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new OperatorError(
      "Only one of s3_access_key_id and s3_secret_access_key is set.",
      "Set both, or neither to use the machine's own credentials.",
    );
  }
  return await createS3Store({
    ...{ bucket, prefix },
    endpoint: settings.s3_endpoint,
    region: settings.s3_region,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey },
    usesPathStyle: settings.s3_path_style === "on",
  });
}
