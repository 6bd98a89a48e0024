import { join } from "node:path";
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

/** The bucket of the settings, or a folder in the data folder where they name none. */
export async function openByteStore(settings: StorageSettings): Promise<ByteStore> {
  const { s3_bucket: bucket, s3_access_key_id: accessKeyId, s3_secret_access_key: secretAccessKey } = settings;
  if (bucket === undefined) return await createDiskStore({ folder: join(settings.data_dir, "files") });
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined)) {
    throw new OperatorError(
      "One half of the bucket's credentials is missing.",
      "Set both s3_access_key_id and s3_secret_access_key, or neither to use what the machine knows.",
    );
  }
  return await createS3Store({
    bucket,
    endpoint: settings.s3_endpoint,
    region: settings.s3_region,
    credentials:
      accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey },
    usesPathStyle: settings.s3_path_style === "on",
  });
}
