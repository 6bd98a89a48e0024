import { Readable } from "node:stream";
import { invariant } from "../../lib/invariant.ts";
import { type ByteStore, MissingBytesError } from "./byte-store.ts";

export type S3Place = {
  bucket: string;
  /** Prefix of all keys, such as `sluice/backups/`. */
  prefix?: string;
  /** For S3-compatible services. */
  endpoint: string | undefined;
  region: string;
  /** The default is the machine's own credentials, such as its role. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** The bucket is in the path, not in the host name. */
  usesPathStyle: boolean;
};

const attemptsMax = 3;
const connectMsMax = 5000;
/** Idle timeout. */
const silenceMsMax = 60_000;
const partBytes = 8 * 1024 * 1024;
const partsAtOnceMax = 2;

/** Stores blobs in Amazon S3 or a compatible service. */
export async function createS3Store(place: S3Place): Promise<ByteStore> {
  // Loading these takes a third of a second, so only users of a bucket do.
  const { S3Client, GetObjectCommand, DeleteObjectCommand, ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  const { Upload } = await import("@aws-sdk/lib-storage");
  const { bucket: Bucket, prefix = "" } = place;
  const client = new S3Client({
    region: place.region,
    forcePathStyle: place.usesPathStyle,
    maxAttempts: attemptsMax,
    requestHandler: { connectionTimeout: connectMsMax, requestTimeout: silenceMsMax, socketTimeout: silenceMsMax },
    // Many S3-compatible services lack the newer checksums; TLS and our SHA-256 protect the bytes.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    ...(place.endpoint === undefined ? {} : { endpoint: place.endpoint }),
    ...(place.credentials === undefined ? {} : { credentials: place.credentials }),
  });

  return {
    async put(key, bytes, { signal }) {
      signal.throwIfAborted();
      const body = Readable.from(bytes, { objectMode: false });
      let sourceError: Error | null = null;
      body.once("error", (error) => {
        sourceError = error;
      });
      const upload = new Upload({
        client,
        params: { Bucket, Key: `${prefix}${key}`, Body: body },
        partSize: partBytes,
        queueSize: partsAtOnceMax,
      });
      const onAbort = (): void => {
        body.destroy();
        void upload.abort();
      };
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        await upload.done();
      } catch (error) {
        // The cause is more useful than the server's error about the aborted upload.
        throw signal.aborted ? signal.reason : (sourceError ?? error);
      } finally {
        signal.removeEventListener("abort", onAbort);
        body.destroy();
      }
    },
    async open(key, range) {
      const Range = range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
      try {
        const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: `${prefix}${key}`, ...Range }));
        invariant(Body instanceof Readable, "an object must be a stream");
        return Body;
      } catch (error) {
        const isMissing = error instanceof Error && (error.name === "NoSuchKey" || error.name === "NotFound");
        throw isMissing ? new MissingBytesError(key, { cause: error }) : error;
      }
    },
    async delete(key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: `${prefix}${key}` }));
    },
    async list(folder) {
      const Prefix = folder === "" ? prefix : `${prefix}${folder}/`;
      const names: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix, Delimiter: "/", ContinuationToken }));
        const { Contents = [], CommonPrefixes = [] } = page;
        const found = [...Contents.map(({ Key = "" }) => Key), ...CommonPrefixes.map((common) => common.Prefix ?? "")];
        names.push(...found.map((key) => key.slice(Prefix.length).replace(/\/$/, "")));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
      return names.filter((name) => name !== "").toSorted();
    },
    async close() {
      client.destroy();
    },
  };
}
