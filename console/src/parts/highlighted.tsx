import { Fragment, type ReactNode } from "react";

interface Props {
  readonly text: string;
  /** `[start, end)` in UTF-16 code units, in their order; what overlaps is marked once. */
  readonly ranges: ReadonlyArray<readonly number[]>;
}

/** A text with some of its words marked, in the direction in which it is written. */
export function Highlighted({ text, ranges }: Props): ReactNode {
  const pieces: Array<{ readonly at: number; readonly text: string; readonly isMarked: boolean }> = [];
  let at = 0;
  for (const [start = 0, end = 0] of ranges) {
    const from = Math.max(at, start);
    if (end <= from) continue;
    pieces.push({ at, text: text.slice(at, from), isMarked: false });
    pieces.push({ at: from, text: text.slice(from, end), isMarked: true });
    at = end;
  }
  pieces.push({ at, text: text.slice(at), isMarked: false });
  return (
    <span dir="auto" style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere", display: "block" }}>
      {pieces.map((piece) => (
        <Fragment key={`${piece.at} ${String(piece.isMarked)}`}>
          {piece.isMarked ? <mark>{piece.text}</mark> : piece.text}
        </Fragment>
      ))}
    </span>
  );
}
