import { join } from "node:path";
import type { View } from "./view.ts";

const installation = join(import.meta.dirname, "../../..");

/** A program of ours, run by this Node: how it is started and what of our own installation it has to see. */
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
    // It would look for a file of the system's that it may not read.
    environment: { OPENSSL_CONF: "/dev/null" },
    view: {
      reads: [...["src", "node_modules", "assets", "package.json"].map((name) => join(installation, name)), ...reads],
      ...(runs === undefined ? {} : { runs }),
      writes,
    },
  };
}
