import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Words that are still being written. Whoever selected some of them keeps them: only what changed
 * is changed, while a text that is set anew takes every selection in it along.
 */
export function StreamingText({ text }: { text: string }) {
  const box = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const node = box.current?.firstChild;
    if (node instanceof Text) rewrite(node, text);
    else if (box.current) box.current.textContent = text;
  }, [text]);
  return <span ref={box} />;
}

function rewrite(node: Text, text: string): void {
  const before = node.data;
  if (text.startsWith(before)) {
    if (text.length > before.length) node.appendData(text.slice(before.length));
    return;
  }
  let same = 0;
  while (same < before.length && before[same] === text[same]) same += 1;
  node.replaceData(same, before.length - same, text.slice(same));
}
