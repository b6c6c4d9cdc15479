import { createLowlight } from 'lowlight';
import { grammarOf } from './languages';

/** The heavy part of highlighting; loaded when the first block of code is seen. */

const lowlight = createLowlight();

export interface ColouredPiece {
  text: string;
  className: string;
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

export async function colour(code: string, language: string): Promise<ColouredPiece[] | null> {
  if (!lowlight.registered(language)) {
    const grammar = await grammarOf(language);
    if (!grammar) return null;
    lowlight.register(language, grammar);
  }
  const pieces: ColouredPiece[] = [];
  const walk = (nodes: readonly Node[], className: string) => {
    for (const node of nodes) {
      if (node.type === 'text') pieces.push({ text: node.value, className });
      else if (node.type === 'element') {
        const classes = node.properties.className;
        walk(node.children, Array.isArray(classes) ? String(classes[0]) : className);
      }
    }
  };
  walk(lowlight.highlight(language, code).children, '');
  return pieces;
}
