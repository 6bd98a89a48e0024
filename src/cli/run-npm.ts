import { execFile } from "node:child_process";
import { readNpmEnvironment } from "../platform/config/npm-environment.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { RunNpm } from "../providers/ai-sdk/install-package.ts";

const npmMsMax = 10 * 60_000;
const printedBytesMax = 64 * 1024 * 1024;

/** The npm that started this command, else the one on the PATH. */
export const runNpm: RunNpm = async (words, folder) => {
  const { ownPath, environment: env } = readNpmEnvironment();
  const [program, first] = ownPath === null ? ["npm", []] : [process.execPath, [ownPath]];
  return await new Promise((resolvePrinted, reject) => {
    const options = { cwd: folder, env, timeout: npmMsMax, maxBuffer: printedBytesMax };
    execFile(
      program,
      [...first, ...words, "--prefix", folder, "--loglevel", "error"],
      options,
      (error, stdout, stderr) => {
        if (error === null) resolvePrinted(stdout);
        else reject(describeNpmFailure(error, { stdout, stderr }));
      },
    );
  });
};

type Printed = { stdout: string; stderr: string };

function describeNpmFailure(error: Error & { code?: unknown }, printed: Printed): OperatorError {
  if (error.code === "ENOENT") {
    return new OperatorError(
      "npm is not installed on this machine.",
      "In a container, install packages when you build your image (docs/operating/upstreams.md).",
      { cause: error },
    );
  }
  const message = `npm install failed: ${readNpmReason(printed) ?? error.message}`;
  return new OperatorError(message, "Check the package name, the version and the network connection.", {
    cause: error,
  });
}

/** npm prints errors as JSON with `--json`, else as text lines. */
function readNpmReason({ stdout, stderr }: Printed): string | null {
  const summary = /"summary": ("(?:[^"\\]|\\.)*")/.exec(stdout)?.[1];
  if (summary !== undefined) return JSON.parse(summary);
  const lines = stderr.split("\n").flatMap((line) => /^npm (?:error|ERR!) (.+)$/.exec(line)?.[1] ?? []);
  return lines.length === 0 ? null : lines.slice(0, 3).join(" ");
}
