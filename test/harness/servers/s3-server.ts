import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import S3rver from "@20minutes/s3rver";
import { dataParent } from "../data-parent.ts";

export type S3Server = AsyncDisposable & {
  endpoint: string;
  bucket: string;
  /** The folder of its objects. */
  folder: string;
};

/** An S3 server on its own port. */
export async function startS3Server(): Promise<S3Server> {
  const folder = mkdtempSync(join(dataParent, "sluice-s3-"));
  const bucket = "files";
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: folder,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  // It does not support the slash that the current SDK appends to a bucket and includes in the signature.
  server.middleware.unshift(async (context, next) => {
    if (/^\/[^/]+\/$/.test(context.path)) {
      context.path = context.path.slice(0, -1);
      delete context.headers.authorization;
    }
    await next();
  });
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    folder,
    async [Symbol.asyncDispose]() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
