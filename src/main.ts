import { enableCompileCache } from "node:module";
import { text } from "node:stream/consumers";

// Later starts skip compiling what has not changed; nothing is lost where the cache cannot be written.
enableCompileCache();
const { runCommandLine } = await import("./cli/run-command-line.ts");
process.exitCode = await runCommandLine(process.argv.slice(2), {
  isTerminal: process.stdout.isTTY === true,
  print: (line) => process.stdout.write(`${line}\n`),
  tell: (line) => process.stderr.write(`${line}\n`),
  readInput: () => text(process.stdin),
});
