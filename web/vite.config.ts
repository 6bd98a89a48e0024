import { readFile } from "node:fs/promises";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { parseMarkdown } from "./src/pages/guide/parse-document.ts";
import { bundleReference } from "./src/pages/reference/build/bundle-reference.ts";

/** Where a gateway runs while somebody works on the pages (`vite web`). */
const gatewayUrl = "http://localhost:4242";

/** The guide's Markdown is parsed here, and comes to the page as data. */
const guideDocuments: Plugin = {
  name: "guide-documents",
  async load(id) {
    if (!id.endsWith(".md")) return null;
    const blocks = parseMarkdown(await readFile(id, "utf8"));
    return { code: `export const blocks = ${JSON.stringify(blocks)};`, moduleType: "js" };
  },
};

/** Every document has the styles in itself (`scripts/build-web.ts`), so that no part of the program brings them. */
const stylesInDocuments: Plugin = {
  name: "styles-in-documents",
  generateBundle: {
    order: "pre",
    handler(_options, bundle) {
      for (const output of Object.values(bundle)) {
        if (output.type === "chunk") output.viteMetadata?.importedCss.clear();
      }
    },
  },
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), guideDocuments, bundleReference(), stylesInDocuments],
  build: {
    // What the colours need (`light-dark`) and what passkeys need are in all of these.
    target: ["chrome129", "edge129", "firefox130", "safari18.2"],
    // The policy of the site allows files only, so nothing may be written into the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    // What all pages need is one file, what most of them share another, and what guide and reference share a third: many small
    // ones would be compressed worse.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "kit", test: /\/node_modules\/(react|react-dom|scheduler|openapi-fetch|@tanstack\/(?!.*virtual))/ },
            { name: "kit", test: /\/web\/src\/(api|design|parts\/(?!samples))/, minShareCount: 12 },
            { name: "docs", test: /\/web\/src\/pages\/(docs\/(page-turn|use-addressed)|guide\/chapter)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/console/api": gatewayUrl, "/v1": gatewayUrl } },
});
