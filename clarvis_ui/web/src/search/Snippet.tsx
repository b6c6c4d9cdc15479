import type { Piece } from '../api/search';
import './snippet.css';

/** Some of the words around what was found, which is marked. */
export function Snippet({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <>
      {pieces.map((piece, at) =>
        piece.match ? (
          <mark key={at} class="snippet-match">
            {piece.text}
          </mark>
        ) : (
          piece.text
        ),
      )}
    </>
  );
}
