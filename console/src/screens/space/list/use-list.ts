/** The state of the list: which rows are in view, which one has the keyboard, and which are selected. */
import type { Document } from "@holdfast/client";
import { useQueryClient } from "@tanstack/react-query";
import { notifications } from "@mantine/notifications";
import { useEffect, useRef, useState } from "react";
import { useHoldfast } from "../../../app/context.ts";
import type { Question } from "./question.ts";
import { type Range, type Rows, idsBetween, useRows } from "./rows.ts";
import {
  ALL,
  MOST_SELECTED,
  NONE,
  type Selection,
  countOf,
  extend,
  isSelected,
  toggle,
} from "./selection.ts";

export interface ListState {
  readonly question: Question;
  readonly rows: Rows;
  readonly total: number;
  readonly selection: Selection;
  readonly count: number;
  /** The row that the keyboard is at. */
  readonly active: number;
  readonly activeDocument: Document | undefined;
  readonly setActive: (index: number) => void;
  readonly setRange: (range: Range) => void;
  readonly isSelected: (id: string) => boolean;
  /** With `isRange` all from where the last one was selected. */
  readonly toggle: (index: number, isRange: boolean) => void;
  readonly selectAll: () => void;
  readonly clear: () => void;
}

export function useList(question: Question): ListState {
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const [range, setRange] = useState<Range>({ first: 0, last: 0 });
  const [selection, setSelection] = useState<Selection>(NONE);
  const [active, setActive] = useState(0);
  const [anchor, setAnchor] = useState(0);
  // Another question is another list; what was selected may not be in it.
  const asked = JSON.stringify(question);
  const [shown, setShown] = useState(asked);
  if (shown !== asked) {
    setShown(asked);
    setSelection(NONE);
    setActive(0);
    setAnchor(0);
    setRange({ first: 0, last: 0 });
  }
  const newest = useRef(asked);
  useEffect(() => {
    newest.current = asked;
  }, [asked]);
  const rows = useRows(question, range);
  const total = rows.total ?? 0;
  const at = Math.min(active, Math.max(total - 1, 0));
  const pick = (index: number, isRange: boolean): void => {
    setActive(index);
    if (!isRange) {
      const document = rows.rowAt(index);
      setAnchor(index);
      if (document !== undefined) setSelection(toggle(selection, document.id));
      return;
    }
    const first = Math.min(anchor, index);
    const last = Math.min(Math.max(anchor, index), first + MOST_SELECTED - 1);
    idsBetween(queries, api, question, { first, last }).then(
      // In another list that is shown by then they would be selected unseen.
      (ids) => newest.current === asked && setSelection((before) => extend(before, ids)),
      (error: unknown) =>
        notifications.show({ color: "red", message: error instanceof Error ? error.message : String(error) }),
    );
  };
  return {
    question,
    rows,
    total,
    selection,
    count: countOf(selection, total),
    active: at,
    activeDocument: rows.rowAt(at),
    setActive,
    setRange,
    isSelected: (id) => isSelected(selection, id),
    toggle: pick,
    selectAll: () => setSelection(ALL),
    clear: () => setSelection(NONE),
  };
}
