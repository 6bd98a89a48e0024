// Bundles the command line to one JavaScript file that needs nothing but Node 20.
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const folder = process.argv[2] ?? join(import.meta.dirname, "dist");

await build({
  root: import.meta.dirname,
  configFile: false,
  logLevel: "warn",
  ssr: { noExternal: true },
  build: {
    ssr: join(import.meta.dirname, "src/sluice.ts"),
    target: "node20",
    outDir: folder,
    emptyOutDir: true,
    minify: false,
    rolldownOptions: { output: { entryFileNames: "sluice.js", codeSplitting: false, banner: "#!/usr/bin/env node" } },
  },
});
chmodSync(join(folder, "sluice.js"), 0o755);
