import { defineConfig } from "vite";

// The content security policy of the service allows files only: no inline script, style or data.
export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../assets/web",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    license: { fileName: "licenses.md" },
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8080", "/c/": "http://127.0.0.1:8080" } },
});
