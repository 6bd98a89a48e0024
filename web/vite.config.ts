import { readFile } from "node:fs/promises";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { parseMarkdown } from "./src/pages/guide/parse-document.ts";
import { bundleReference } from "./src/pages/reference/build/bundle-reference.ts";

/** The gateway used by the development server (`vite web`). */
const gatewayUrl = "http://localhost:4242";

/** Parses the guide's Markdown at build time. */
const guideDocuments: Plugin = {
  name: "guide-documents",
  async load(id) {
    if (!id.endsWith(".md")) return null;
    const blocks = parseMarkdown(await readFile(id, "utf8"));
    return { code: `export const blocks = ${JSON.stringify(blocks)};`, moduleType: "js" };
  },
};

/** `scripts/build-web.ts` inlines the styles into every document, so scripts must not import them. */
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
    // The first versions with `light-dark()` and passkey JSON methods.
    target: ["chrome129", "edge129", "firefox130", "safari18.2"],
    // The CSP allows files only, so assets must not be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    // One chunk for the framework and widely shared code, one for summaries of money, for code, and for the docs: many
    // small chunks compress worse. A group also takes what its modules import, unless another has priority.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            {
              name: "kit",
              test: /\/node_modules\/((react|react-dom|scheduler|openapi-fetch)\/|@tanstack\/(?!.*virtual))|(format-money|long-name)\./,
              priority: 1,
            },
            {
              name: "kit",
              test: /\/web\/src\/(api|design\/(?!text-field)|parts\/(?!samples|forms))/,
              minShareCount: 33,
              priority: 1,
            },
            {
              name: "money",
              test: /\/web\/src\/(design\/(exact|fact|section)|parts\/format\/(money\.|format-amount))/,
            },
            { name: "code", test: /\/web\/src\/design\/(code-block|copy-button)/ },
            { name: "docs", test: /\/web\/src\/pages\/(docs\/(page-navigation|use-hash|insert)|guide\/chapter)/ },
          ],
        },
      },
    },
  },
  server: { proxy: { "/admin/v1": gatewayUrl, "/console/api": gatewayUrl, "/v1": gatewayUrl } },
});
