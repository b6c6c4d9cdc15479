import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';
import { drawIcon, ICONS } from './icons.ts';

const STATIC = join(import.meta.dirname, '..', 'static');

/** A packed sibling for each file: the server sends it as it is and packs nothing itself. */
function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(STATIC, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(js|css|html|svg|webmanifest)$/.test(name)) continue;
        const path = join(STATIC, name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
      }
    },
  };
}

/** The icons that are made of points; they stand beside the page, under names that stay. */
function icons(): Plugin {
  return {
    name: 'icons',
    apply: 'build',
    generateBundle() {
      for (const [fileName, shape] of Object.entries(ICONS)) {
        this.emitFile({ type: 'asset', fileName, source: drawIcon(shape) });
      }
    },
  };
}

export default defineConfig({
  plugins: [icons(), packed()],
  build: {
    outDir: STATIC,
    emptyOutDir: true,
    target: 'es2022',
    // the policy of the page allows no data: address for scripts, styles and fonts
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    // `npm run dev` beside a running Clarvis
    proxy: { '/api': 'http://127.0.0.1:7434', '/login': 'http://127.0.0.1:7434' },
  },
});
