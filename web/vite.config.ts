import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where a gateway runs while somebody works on the pages (`vite web`). */
const gatewayUrl = "http://localhost:4242";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    // What the colours need (`light-dark`) and what passkeys need are in all of these.
    target: ["chrome129", "edge129", "firefox130", "safari18.2"],
    // The policy of the site allows files only, so nothing may be written into the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
  },
  server: { proxy: { "/console/api": gatewayUrl, "/docs": gatewayUrl, "/v1": gatewayUrl } },
});
