// Builds the site into dist/web if the sources have changed. Takes a few seconds.
import { globSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { builds, computeStamp, isBuilt } from "./builds.mjs";
import { listSitePages } from "./list-site-pages.ts";
import { prerenderSite } from "./prerender-site.ts";

/** Compression does not help smaller files. */
const compressedBytesMin = 512;

/** Already compressed formats. */
const isCompressed = /\.(jpg|mp4|png|webp|woff2)$/;

/** Close to the best ratio in a tenth of the time. */
const packQuality = 5;

const manifestName = "manifest.json";
const configFile = join(import.meta.dirname, "../web/vite.config.ts");

/** Prerendered pages. The server sends the console's pages only to signed-in users. Operators' pages show nothing without data. */
const prerenderedPaths = /^\/(sign-(in|up)|status|docs|console(\/(?!admin)[a-z]+)?)?$/;

/** API requests that every visit of a page makes. */
const askedFirst: readonly [paths: RegExp, asked: readonly string[]][] = [
  [/^\/$/, ["session", "site", "showcase"]],
  [/^\/sign-(in|up)$/, ["site"]],
  [/^\/status$/, ["session", "site", "uptime"]],
  [/^\/docs(\/|$)/, ["session", "site"]],
  [/^\/console/, ["session", "balance"]],
];

/** API requests of a page without a query string; filters make different requests. */
const askedPlainly: readonly [paths: RegExp, asked: readonly string[]][] = [
  [/^\/console$/, ["holds?limit=5", "charges?limit=5", "tasks?limit=5"]],
  [/^\/console\/playground$/, ["models"]],
  [/^\/console\/tasks$/, ["tasks?limit=60", "tasks/counts"]],
];

/** Lazy-loaded modules that most visits show first. */
const partsSeenFirst: Readonly<Record<string, readonly string[]>> = {
  "/console": ["src/pages/overview/latest-tasks.tsx"],
  "/console/playground": ["src/pages/playground/workbench.tsx"],
  "/console/requests": ["src/pages/requests/request-filters.tsx"],
  "/console/tasks": ["src/pages/tasks/task-gallery.tsx"],
  "/console/tasks/:id": ["src/pages/tasks/task-facts.tsx"],
  "/docs/reference/:name": ["src/pages/reference/operation-view.tsx"],
};

if (!isBuilt(builds.web)) await buildWeb();

async function buildWeb(): Promise<void> {
  const startedAt = performance.now();
  const { dir: builtWebDir, stampPath } = builds.web;
  const stamp = computeStamp(builds.web);
  const distDir = dirname(builtWebDir);
  // Build next to the target and rename, so a partial site is never served.
  const freshDir = join(distDir, `web-${process.pid}`);
  // Tests set another NODE_ENV, which would bundle React's development build.
  process.env.NODE_ENV = "production";
  try {
    await build({
      configFile,
      logLevel: "error",
      build: { outDir: freshDir, emptyOutDir: true, manifest: manifestName },
    });
    arrangeShell(freshDir);
    await writePages(freshDir);
    await buildStatusProgram(freshDir);
    for (const name of readdirSync(join(freshDir, "assets"))) compress(join(freshDir, "assets", name));
    writeFileSync(join(freshDir, basename(stampPath)), stamp);
    rmSync(builtWebDir, { recursive: true, force: true });
    renameSync(freshDir, builtWebDir);
  } finally {
    rmSync(freshDir, { recursive: true, force: true });
  }
  console.error(`Built the site in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

/** One file: the server loads it on the first visit of `/status`. */
async function buildStatusProgram(directory: string): Promise<void> {
  await build({
    configFile,
    logLevel: "error",
    ssr: { noExternal: true },
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      ...{ outDir: directory, emptyOutDir: false, copyPublicDir: false, minify: true },
      ssr: "src/render-status.tsx",
      rolldownOptions: { output: { entryFileNames: "render-status.mjs", codeSplitting: false } },
    },
  });
}

type Manifest = Record<string, { file: string; imports?: string[]; assets?: string[] }>;

/**
 * Writes each page's additions to the shared document: preload links for its scripts, so a first visit has no request
 * waterfall, and its prerendered body.
 */
async function writePages(directory: string): Promise<void> {
  const manifest: Manifest = JSON.parse(readFileSync(join(directory, manifestName), "utf8"));
  const shell = readFileSync(join(directory, "index.html"), "utf8");
  const sitePages = listSitePages();
  const paths = sitePages.map(({ path }) => path).filter((path) => prerenderedPaths.test(path));
  const { bodies, docsPages, parts } = await prerenderSite(configFile, { paths, temporaryDir: dirname(directory) });
  const ownPages = docsPages.map(({ path, route, source }) => ({
    path,
    files: [
      ...(sitePages.find((page) => page.path === route)?.files ?? []),
      ...(source === null ? [] : [source, ...(partsSeenFirst[route] ?? [])]),
    ],
  }));
  // A page with its own route is in both lists; the later entry, with its source, wins.
  const pages = [...sitePages, ...ownPages].map(({ path, files }) => {
    const found = new Set<string>();
    for (const file of [...files, ...(partsSeenFirst[path] ?? [])]) followImports(manifest, file, found);
    const scripts = [...found].filter((script) => !shell.includes(script));
    const links = scripts.map(
      (script) => `<link rel="modulepreload" crossorigin fetchpriority="low" href="/${script}">`,
    );
    const early = [...listImages(manifest, path), ...listAsked(askedFirst, path)];
    return [
      path,
      {
        links: [...early, ...links].join(""),
        plainLinks: listAsked(askedPlainly, path).join(""),
        body: packBody(bodies.get(path) ?? ""),
      },
    ] as const;
  });
  writeFileSync(join(directory, "pages.json"), JSON.stringify({ pages: Object.fromEntries(pages), parts }));
}

/** The server keeps more than a hundred similar bodies in memory, compressed. */
function packBody(body: string): string {
  const params = { [constants.BROTLI_PARAM_QUALITY]: packQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  return body === "" ? "" : brotliCompressSync(body, { params }).toString("base64");
}

function followImports(manifest: Manifest, key: string, found = new Set<string>()): ReadonlySet<string> {
  const { file = "", imports = [] } = manifest[key] ?? {};
  if (file === "" || found.has(file)) return found;
  found.add(file);
  for (const needed of imports) followImports(manifest, needed, found);
  return found;
}

/** Preloads the largest contentful paint. */
function listImages(manifest: Manifest, path: string): string[] {
  if (path !== "/") return [];
  return Object.entries(manifest)
    .filter(([key]) => key.endsWith("landing/media/boat-poster.webp"))
    .map(([, { file }]) => `<link rel="preload" as="image" fetchpriority="high" href="/${file}">`);
}

/** Preloads the page's first API requests while its scripts load. */
function listAsked(table: typeof askedFirst, path: string): string[] {
  const [, asked] = table.find(([paths]) => paths.test(path)) ?? [];
  return (asked ?? []).map((name) => `<link rel="preload" as="fetch" crossorigin href="/console/api/${name}">`);
}

/** Prioritizes the first paint: inlines the styles, preloads the font, and lowers the scripts' priority. */
function arrangeShell(directory: string): void {
  const path = join(directory, "index.html");
  const shell = readFileSync(path, "utf8");
  const [file = "", ...others] = globSync("assets/*.css", { cwd: directory });
  if (others.length > 0) throw new Error("The build has more than one CSS file.");
  const styles = readFileSync(join(directory, file), "utf8").trim();
  if (styles.includes("</style")) throw new Error("The CSS contains </style and cannot be inlined.");
  rmSync(join(directory, file));
  const arranged = shell
    .replace('<link rel="preload" as="font"', (font) => `<style>${styles}</style>\n    ${font}`)
    .replaceAll(/<(script type="module"|link rel="modulepreload") /g, (tag) => `${tag}fetchpriority="low" `);
  writeFileSync(path, arranged);
}

function compress(path: string): void {
  if (isCompressed.test(path)) return;
  const plain = readFileSync(path);
  if (plain.length < compressedBytesMin) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(plain, { params }));
  writeFileSync(`${path}.gz`, gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }));
}
