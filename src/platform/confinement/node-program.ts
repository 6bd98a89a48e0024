import { join } from "node:path";
import type { View } from "./view.ts";

const installation = join(import.meta.dirname, "../../..");

/** Describes a script run by this Node, with the paths of our installation that it needs. */
export function describeNodeProgram(
  path: string,
  { heapMebibytesMax, reads, runs, writes }: View & { heapMebibytesMax: number },
): {
  command: readonly [path: string, ...words: string[]];
  environment: Readonly<Record<string, string>>;
  view: View;
} {
  return {
    command: [process.execPath, `--max-old-space-size=${heapMebibytesMax}`, path],
    // OpenSSL would fail to read the system's configuration.
    environment: { OPENSSL_CONF: "/dev/null" },
    view: {
      reads: [...["src", "node_modules", "assets", "package.json"].map((name) => join(installation, name)), ...reads],
      ...(runs === undefined ? {} : { runs }),
      writes,
    },
  };
}
