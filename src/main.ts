import { enableCompileCache } from "node:module";

// Later starts skip compiling what has not changed; nothing is lost where the cache cannot be written.
enableCompileCache();
const { runCommandLine } = await import("./cli/run-command-line.ts");
await runCommandLine(process.argv.slice(2));
