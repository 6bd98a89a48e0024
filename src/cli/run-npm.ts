import { execFile } from "node:child_process";
import { readNpmEnvironment } from "../platform/config/npm-environment.ts";
import { OperatorError } from "../platform/errors/operator-error.ts";
import type { RunNpm } from "../providers/ai-sdk/install-package.ts";

const npmMsMax = 10 * 60_000;
const printedBytesMax = 64 * 1024 * 1024;

/** The npm that started this command, or the one on the path. */
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
      "npm is not installed here.",
      "In a container, install packages when you build your image (docs/operating/upstreams.md).",
      { cause: error },
    );
  }
  const message = `npm could not install it: ${readNpmReason(printed) ?? error.message}`;
  return new OperatorError(message, "Check the name, the version and the connection.", { cause: error });
}

/** npm explains itself in JSON where it was asked for JSON, else in lines of its own. */
function readNpmReason({ stdout, stderr }: Printed): string | null {
  const summary = /"summary": ("(?:[^"\\]|\\.)*")/.exec(stdout)?.[1];
  if (summary !== undefined) return JSON.parse(summary);
  const lines = stderr.split("\n").flatMap((line) => /^npm (?:error|ERR!) (.+)$/.exec(line)?.[1] ?? []);
  return lines.length === 0 ? null : lines.slice(0, 3).join(" ");
}
