import { enableCompileCache } from "node:module";
import { text } from "node:stream/consumers";

// Speeds up later starts; ignored if the cache is not writable.
enableCompileCache();
const { runCommandLine } = await import("./cli/run-command-line.ts");
process.exitCode = await runCommandLine(process.argv.slice(2), {
  isTerminal: process.stdout.isTTY === true,
  print: (line) => process.stdout.write(`${line}\n`),
  printNote: (line) => process.stderr.write(`${line}\n`),
  readInput: () => text(process.stdin),
  loadAdminCommands: async () => (await import("./cli/run-for-admin.ts")).adminCommands,
});
