import { runSluice } from "./run-sluice.ts";

process.exitCode = await runSluice(process.argv.slice(2));
