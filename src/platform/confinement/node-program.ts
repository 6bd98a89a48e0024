import { basename, dirname, join } from "node:path";
import type { View } from "./view.ts";

const installation = join(import.meta.dirname, "../../..");
/** In the build this is the folder of all its files; `import.meta.dirname` is the folder of the source in both. */
const codeDir = dirname(import.meta.filename);
const isBuilt = import.meta.filename.endsWith(".js");

/** The file to run for one of our programs, named by its source. Built code runs the programs of its own build. */
export function findProgram(sourcePath: string): string {
  return isBuilt ? join(codeDir, `${basename(sourcePath, ".ts")}.js`) : sourcePath;
}

/** Describes one of our programs run by this Node, with the paths of our installation that it needs. */
export function describeNodeProgram(
  sourcePath: string,
  { heapMebibytesMax, reads, runs, writes }: View & { heapMebibytesMax: number },
): {
  command: readonly [path: string, ...words: string[]];
  environment: Readonly<Record<string, string>>;
  view: View;
} {
  return {
    command: [process.execPath, `--max-old-space-size=${heapMebibytesMax}`, findProgram(sourcePath)],
    // OpenSSL would fail to read the system's configuration.
    environment: { OPENSSL_CONF: "/dev/null" },
    view: {
      reads: [
        ...(isBuilt ? [codeDir] : []),
        ...["src", "node_modules", "assets", "package.json"].map((name) => join(installation, name)),
        ...reads,
      ],
      ...(runs === undefined ? {} : { runs }),
      writes,
    },
  };
}
