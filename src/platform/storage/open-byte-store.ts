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

/** The bucket of the settings, or a folder in the data folder where they name none. */
export async function openByteStore(settings: StorageSettings): Promise<ByteStore> {
  const { s3_bucket: bucket } = settings;
  if (bucket === undefined) return await createDiskStore({ folder: join(settings.data_dir, "files") });
  return await openBucket(settings, { bucket, prefix: "" });
}

/**
 * A place beside the files' own: a folder, or `s3://bucket/prefix`, which is reached as the bucket of the settings is. To be
 * written to, a folder is made; to be read, it is there.
 */
export async function openPlace(
  where: string,
  settings: BucketSettings,
  { use }: { use: "read" | "write" },
): Promise<ByteStore> {
  if (!where.includes("/")) {
    // A word that was mistyped is not to become a folder.
    throw new OperatorError(
      `"${where}" is no place.`,
      `Name a folder by its path, such as ./${where}, or s3://bucket/prefix.`,
    );
  }
  if (!/^\w+:\/\//.test(where)) {
    const folder = resolve(where);
    if (use === "write" || existsSync(folder)) return await createDiskStore({ folder });
    throw new OperatorError(`There is no folder ${folder}.`, "Name the folder, or s3://bucket/prefix, of the backups.");
  }
  const [, bucket = "", path = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)\/?(.*)$/.exec(where) ?? [];
  if (bucket === "") {
    throw new OperatorError(`${where} is no place that bytes can be kept in.`, "Name a folder, or s3://bucket/prefix.");
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
      "One half of the bucket's credentials is missing.",
      "Set both s3_access_key_id and s3_secret_access_key, or neither to use what the machine knows.",
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
