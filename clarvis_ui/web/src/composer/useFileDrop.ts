import { useEffect, useRef, useState } from 'preact/hooks';

/**
 * Files that are dropped anywhere on the page; the answer is whether some are being dragged over it.
 * Left to the browser, a file that misses the field would take the place of the page.
 */
export function useFileDrop(take: (files: readonly File[]) => void): boolean {
  const [dragging, setDragging] = useState(false);
  const latest = useRef(take);
  latest.current = take;

  useEffect(() => {
    function over(event: DragEvent): void {
      // words that are dragged go where they are dropped
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setDragging(true);
    }
    function onLeave(event: DragEvent): void {
      if (event.relatedTarget === null) setDragging(false);
    }
    function dropped(event: DragEvent): void {
      setDragging(false);
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      latest.current([...event.dataTransfer.files]);
    }
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', onLeave);
    document.addEventListener('drop', dropped);
    return () => {
      document.removeEventListener('dragover', over);
      document.removeEventListener('dragleave', onLeave);
      document.removeEventListener('drop', dropped);
    };
  }, []);
  return dragging;
}
