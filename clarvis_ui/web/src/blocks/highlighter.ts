import dart from 'highlight.js/lib/languages/dart';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import elixir from 'highlight.js/lib/languages/elixir';
import haskell from 'highlight.js/lib/languages/haskell';
import nginx from 'highlight.js/lib/languages/nginx';
import nix from 'highlight.js/lib/languages/nix';
import powershell from 'highlight.js/lib/languages/powershell';
import protobuf from 'highlight.js/lib/languages/protobuf';
import scala from 'highlight.js/lib/languages/scala';
import { common, createLowlight } from 'lowlight';

/** The heavy part of highlighting; loaded when the first block of code is seen. */

const lowlight = createLowlight({
  ...common,
  dart,
  dockerfile,
  elixir,
  haskell,
  nginx,
  nix,
  powershell,
  protobuf,
  scala,
});
lowlight.registerAlias({
  bash: ['console', 'shell-session'],
  json: ['json5', 'jsonc'],
  xml: ['vue', 'svelte'],
});

export interface Piece {
  text: string;
  look: string;
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

/** Null for a language that nobody taught us. */
export function pieces(code: string, language: string): Piece[] | null {
  if (!lowlight.registered(language)) return null;
  const found: Piece[] = [];
  const walk = (nodes: readonly Node[], look: string) => {
    for (const node of nodes) {
      if (node.type === 'text') found.push({ text: node.value, look });
      else if (node.type === 'element') {
        const classes = node.properties.className;
        walk(node.children, Array.isArray(classes) ? String(classes[0]) : look);
      }
    }
  };
  walk(lowlight.highlight(language, code).children, '');
  return found;
}
