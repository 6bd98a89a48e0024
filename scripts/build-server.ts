// Bundles the gateway and the programs that it starts into dist/server if the sources have changed. Takes two seconds.
// One process start would otherwise load more than a thousand small files, most of them of packages.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { builds, computeStamp, isBuilt } from "./builds.mjs";

const repositoryDir = join(import.meta.dirname, "..");

/** Each build has its own folder, named by the beginning of its stamp. */
const nameLength = 12;

/** Programs by the names of their files, which `findProgram` knows. */
const programs = [
  "src/main.ts",
  "src/features/dramas/film/drawing-process.ts",
  "src/platform/media/conversion-process.ts",
  "src/platform/media/image-process.ts",
  "packages/sandbox/src/studio/studio-process.ts",
  "packages/sandbox/src/studio/speech/speech-process.ts",
];

/** Native code, code beside its own WebAssembly file, and an optional package that is absent on purpose. */
const external = ["sharp", "@echogarden/espeak-ng-emscripten", "pg-native"];

/** Our files are found relative to their source, so a bundled `import.meta.dirname` stays the folder of the source. */
function keepSourceFolders(outputDir: string): Plugin {
  return {
    name: "keep-source-folders",
    transform(code, id) {
      if (id.includes("node_modules") || !code.includes("import.meta.dirname")) return null;
      const folder = JSON.stringify(relative(outputDir, dirname(id)));
      const expression = `process.getBuiltinModule("node:path").join(import.meta.dirname, ${folder})`;
      return { code: code.replaceAll("import.meta.dirname", expression), map: null };
    },
  };
}

if (!isBuilt(builds.server)) await buildServer();

async function buildServer(): Promise<void> {
  const startedAt = performance.now();
  const { dir, stampPath } = builds.server;
  const stamp = computeStamp(builds.server);
  const name = stamp.slice(0, nameLength);
  const outputDir = join(dir, name);
  const bundle = await rolldown({
    input: Object.fromEntries(programs.map((path) => [basename(path, ".ts"), join(repositoryDir, path)])),
    platform: "node",
    external,
    plugins: [keepSourceFolders(outputDir)],
  });
  // Another process may build the same at the same time, and one may run it already: only a whole folder is moved there.
  const freshDir = `${dir}-${process.pid}`;
  try {
    // `node --enable-source-maps` reads the maps.
    await bundle.write({ dir: freshDir, format: "esm", sourcemap: true, entryFileNames: "[name].js" });
    mkdirSync(dir, { recursive: true });
    if (!existsSync(outputDir)) moveFolder(freshDir, outputDir);
  } finally {
    rmSync(freshDir, { recursive: true, force: true });
  }
  const previous = existsSync(stampPath) ? readFileSync(stampPath, "utf8").slice(0, nameLength) : "";
  // Renaming is atomic: another process may be starting.
  replaceFile(join(dir, "main.js"), `import "./${name}/main.js";\n`);
  replaceFile(stampPath, stamp);
  for (const { name: other } of readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    // A gateway of the previous build may be running, and still has to load files.
    if (other !== name && other !== previous) rmSync(join(dir, other), { recursive: true, force: true });
  }
  console.error(`Built the server in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** If another process was first, its folder has the same files. */
function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

function replaceFile(path: string, text: string): void {
  const freshPath = `${path}-${process.pid}`;
  writeFileSync(freshPath, text);
  renameSync(freshPath, path);
}
