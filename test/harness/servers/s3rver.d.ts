/** The subset that tests use; the package has no types. */
declare module "@20minutes/s3rver" {
  type Context = { method: string; path: string; headers: Record<string, string> };

  // biome-ignore lint/style/noDefaultExport: that is how the package is.
  export default class S3rver {
    constructor(options: {
      address: string;
      port: number;
      silent: boolean;
      directory: string;
      vhostBuckets: boolean;
      configureBuckets: readonly { name: string; configs: readonly string[] }[];
    });
    middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
    run(): Promise<{ port: number }>;
    close(): Promise<void>;
  }
}
