// Runs the gateway with `node --watch` and rebuilds the site when a source changes. Reload an open page to see the new
// build.
import { spawn, spawnSync } from "node:child_process";
import { watch } from "node:fs";
import { join } from "node:path";

const repositoryDir = join(import.meta.dirname, "..");
/** Debounce: editors write a file several times. */
const quietMs = 200;

const watched = ["src", "packages", "migrations"].map((folder) => `--watch-path=${join(repositoryDir, folder)}`);
const gateway = spawn(
  process.execPath,
  [...watched, "--watch-preserve-output", join(repositoryDir, "src/main.ts"), "serve", ...process.argv.slice(2)],
  { stdio: "inherit" },
);
gateway.on("exit", (code) => process.exit(code ?? 0));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => gateway.kill(signal));

let timer: NodeJS.Timeout | undefined;
watch(join(repositoryDir, "web"), { recursive: true }, () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    spawnSync(process.execPath, [join(repositoryDir, "scripts/build-web.ts")], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }, quietMs);
});
