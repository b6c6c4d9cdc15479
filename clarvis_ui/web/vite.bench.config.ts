import { join } from 'node:path';
import { defineConfig } from 'vite';

/** The conversation alone, for `make bench ARGS="--only page"`. */
export default defineConfig({
  root: join(import.meta.dirname, 'benchmarks'),
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
});
