/**
 * How the console is built: for the address /console/ of any host, with hashed names for everything in
 * assets/.
 */
import react from "@vitejs/plugin-react";
import { join } from "node:path";
import { defineConfig } from "vite";

export default defineConfig({
  base: "/console/",
  plugins: [react()],
  resolve: {
    alias: {
      // From its sources, so that the console is built without a build of the client before it.
      "@holdfast/client": join(import.meta.dirname, "../clients/typescript/src/index.ts"),
    },
  },
  build: {
    manifest: true,
    target: "es2023",
    // Those that know light-dark(), which would else be taken apart into variables that Mantine does not set.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // Data URLs would need a wider policy, and every file is cached anyway.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1_000,
  },
  // For work on the console with a service that runs: `npm run dev -w console`.
  server: {
    host: "127.0.0.1",
    proxy: { "^/(v1|console/config.json)": "http://127.0.0.1:8080" },
  },
});
