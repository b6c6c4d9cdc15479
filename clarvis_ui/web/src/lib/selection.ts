/** A selection inside an element, by the offsets of its characters. */
export interface TextSelection {
  from: number;
  to: number;
  words: string;
}

export function selectionIn(words: Element | null): TextSelection | null {
  const selection = getSelection();
  if (!words || !selection || selection.rangeCount === 0 || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!words.contains(range.commonAncestorContainer)) return null;
  const until = document.createRange();
  until.selectNodeContents(words);
  until.setEnd(range.startContainer, range.startOffset);
  const from = until.toString().length;
  return { from, to: from + range.toString().length, words: range.toString() };
}

/** Selects the same characters in a new element. */
export function restoreSelection(words: Element | null, selected: TextSelection | null): void {
  if (!words || !selected) return;
  const range = document.createRange();
  const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  let passed = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const length = node.nodeValue?.length ?? 0;
    if (passed <= selected.from && selected.from < passed + length) {
      range.setStart(node, selected.from - passed);
    }
    if (passed < selected.to && selected.to <= passed + length) {
      range.setEnd(node, selected.to - passed);
    }
    passed += length;
  }
  // whatever else it may have become, other words are not selected
  if (range.toString() !== selected.words) return;
  getSelection()?.removeAllRanges();
  getSelection()?.addRange(range);
}
