import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import S3rver from "@20minutes/s3rver";

export type S3Server = AsyncDisposable & {
  endpoint: string;
  bucket: string;
  /** Where its objects lie. */
  folder: string;
};

/** A server that speaks S3, on a port of its own. */
export async function startS3Server(): Promise<S3Server> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-s3-"));
  const bucket = "files";
  const server = new S3rver({
    address: "127.0.0.1",
    port: 0,
    silent: true,
    directory: folder,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  // It does not know the slash that the current SDK puts behind a bucket, and signs with it.
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
