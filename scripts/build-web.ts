// Builds the site's pages into dist/web, if they are not those of the sources at hand; it takes a few seconds.
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "vite";
import { builtWebDir, computeWebStamp, isWebBuilt, webStampPath } from "./web-stamp.mjs";

/** Smaller files gain nothing from being compressed. */
const compressedBytesMin = 1_024;

/** Compressed already. */
const isCompressed = /\.(jpg|mp4|png|webp|woff2)$/;

const manifestName = "manifest.json";

if (!isWebBuilt()) await buildWeb();

async function buildWeb(): Promise<void> {
  const startedAt = performance.now();
  const stamp = computeWebStamp();
  const distDir = dirname(builtWebDir);
  // Built beside its place and moved there whole, so that nobody ever serves half a site.
  const freshDir = join(distDir, `web-${process.pid}`);
  // Tests have another mode, by which the site would be built with all that React checks while people work on it.
  process.env.NODE_ENV = "production";
  try {
    await build({
      configFile: join(import.meta.dirname, "../web/vite.config.ts"),
      logLevel: "error",
      build: { outDir: freshDir, emptyOutDir: true, manifest: manifestName },
    });
    writeLandingShell(freshDir);
    for (const name of readdirSync(join(freshDir, "assets"))) compress(join(freshDir, "assets", name));
    writeFileSync(join(freshDir, basename(webStampPath)), stamp);
    rmSync(builtWebDir, { recursive: true, force: true });
    renameSync(freshDir, builtWebDir);
  } finally {
    rmSync(freshDir, { recursive: true, force: true });
  }
  console.error(`Built the site in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
}

type Manifest = Record<string, { file: string; imports?: string[]; assets?: string[] }>;

/**
 * The landing page's document names what the page needs at once, so that a first visit need not run one script to learn of
 * the next. All other pages share the document that names only what all of them need.
 */
function writeLandingShell(directory: string): void {
  const manifest: Manifest = JSON.parse(readFileSync(join(directory, manifestName), "utf8"));
  const shell = readFileSync(join(directory, "index.html"), "utf8");
  const needed = new Set<string>();
  const follow = (key: string): void => {
    const { file = "", imports = [] } = manifest[key] ?? {};
    if (file === "" || needed.has(file)) return;
    needed.add(file);
    imports.forEach(follow);
  };
  follow("src/pages/landing/landing-page.tsx");
  const scripts = [...needed].filter((file) => !shell.includes(file));
  const links = [
    ...scripts.map((file) => `<link rel="modulepreload" crossorigin href="/${file}">`),
    ...Object.entries(manifest)
      .filter(([key]) => key.endsWith("landing/media/boat-poster.webp"))
      .map(([, { file }]) => `<link rel="preload" as="image" fetchpriority="high" href="/${file}">`),
  ];
  writeFileSync(
    join(directory, "landing.html"),
    shell.replace("</head>", () => `${links.join("")}</head>`),
  );
}

function compress(path: string): void {
  if (isCompressed.test(path)) return;
  const plain = readFileSync(path);
  if (plain.length < compressedBytesMin) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  writeFileSync(`${path}.br`, brotliCompressSync(plain, { params }));
  writeFileSync(`${path}.gz`, gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }));
}
