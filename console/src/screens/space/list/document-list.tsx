import type { Document } from "@holdfast/client";
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { useTable } from "@tanstack/react-table";
import { type Virtualizer, useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  startTransition,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useMessages } from "../../../messages/messages.ts";
import { useStable } from "../../../parts/use-stable.ts";
import { messages } from "../messages.ts";
import { columns, features, rowHeightOf, tracksOf, visibilityOf } from "./columns.ts";
import { DocumentRow, LoadingRow, type RowActions, rowId } from "./document-row.tsx";
import { ListHead } from "./list-head.tsx";
import { movedBy } from "./list-keys.ts";
import styles from "./list.module.css";
import { useRowLook } from "./row-look.ts";
import type { ListState } from "./use-list.ts";

interface Props {
  readonly list: ListState;
  readonly canSelect: boolean;
  readonly order: string;
  readonly onOrder: (order: string) => void;
  readonly actions: Pick<RowActions, "open" | "openMenu" | "drag">;
  /** Gets the focus by a shortcut. */
  readonly gridRef: RefObject<HTMLDivElement | null>;
}

/** As many rows beyond the view are drawn, so that a fast scroll finds them there: after those in view. */
const OVERSCAN = 12;
/**
 * More than are ever drawn at once. A row that leaves the view becomes the one that comes in: changing what
 * it says is cheaper than making its elements.
 */
const SLOTS = 128;

/** A list of any length: only the rows in view are drawn, and only their pages are asked for. */
export function DocumentList({ list, canSelect, order, onOrder, actions, gridRef }: Props): ReactNode {
  const texts = useMessages(messages).list;
  const { ref: sizeRef, width } = useElementSize<HTMLDivElement>();
  const ref = useMergedRef(sizeRef, gridRef);
  const height = rowHeightOf(width);
  const [overscan, setOverscan] = useState(0);
  const virtualizer = useVirtualizer({
    count: list.total,
    getScrollElement: () => gridRef.current,
    estimateSize: () => height,
    overscan,
  });
  useEffect(() => startTransition(() => setOverscan(OVERSCAN)), []);
  useEffect(() => virtualizer.measure(), [virtualizer, height]);
  useRange(virtualizer, list);
  const ids = useColumns(width, order);
  const look = useRowLook(ids, tracksOf(ids, canSelect), height, canSelect);
  const rowActions = useStable({ ...actions, toggle: list.toggle, activate: list.setActive });
  const moveBy = useKeys(list, { virtualizer, canSelect, open: actions.open, openMenu: actions.openMenu });
  const { activeDocument } = list;
  return (
    <div
      ref={ref}
      role="grid"
      tabIndex={0}
      aria-label={texts.label}
      aria-rowcount={list.total + 1}
      aria-multiselectable={canSelect}
      aria-activedescendant={activeDocument === undefined ? undefined : rowId(activeDocument.id)}
      className={styles["grid"]}
      onKeyDown={moveBy}
    >
      <ListHead {...{ look, list, order, onOrder }} />
      <div role="rowgroup" style={{ height: virtualizer.getTotalSize(), position: "relative" }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const document = list.rows.rowAt(index);
          if (document === undefined) return <LoadingRow key={index % SLOTS} {...{ index, start, look }} />;
          return (
            <DocumentRow
              key={index % SLOTS}
              {...{ document, index, start, look }}
              isSelected={list.isSelected(document.id)}
              isActive={index === list.active}
              actions={rowActions}
            />
          );
        })}
      </div>
    </div>
  );
}

type Rows = Virtualizer<HTMLDivElement, Element>;

/** Tells which rows are in view, in steps, so that a scroll asks nothing anew for each row. */
function useRange(virtualizer: Rows, { setRange }: ListState): void {
  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {};
  const first = Math.floor(startIndex / STEP) * STEP;
  const last = Math.ceil((endIndex + 1) / STEP) * STEP;
  const newest = useRef(setRange);
  useEffect(() => {
    newest.current = setRange;
  });
  useEffect(() => newest.current({ first, last }), [first, last]);
}

const STEP = 25;

const NO_ROWS: Document[] = [];

/**
 * The columns that there is room for. The table keeps which they are and how they are ordered; the rows are
 * the service's, which has filtered and ordered them, and only those in view are drawn.
 */
function useColumns(width: number, order: string): readonly string[] {
  const columnVisibility = useMemo(() => visibilityOf(width), [width]);
  const sorting = useMemo(() => [{ id: order.replace(/^-/u, ""), desc: order.startsWith("-") }], [order]);
  const table = useTable({
    features,
    columns,
    data: NO_ROWS,
    manualSorting: true,
    state: { columnVisibility, sorting },
  });
  return table.getVisibleLeafColumns().map(({ id }) => id);
}

interface Keys extends Pick<RowActions, "open" | "openMenu"> {
  readonly virtualizer: Rows;
  readonly canSelect: boolean;
}

function useKeys(list: ListState, { virtualizer, canSelect, open, openMenu }: Keys) {
  const move = (to: number, isRange: boolean): void => {
    list.setActive(to);
    virtualizer.scrollToIndex(to);
    if (isRange && canSelect) list.toggle(to, true);
  };
  const act = (document: Document, isMenu: boolean): void => {
    if (!isMenu) return open(document);
    const row = globalThis.document.querySelector(`#${CSS.escape(rowId(document.id))}`);
    if (row !== null) openMenu(document, row.getBoundingClientRect());
  };
  const runOf = ({ key, shiftKey, ctrlKey, metaKey }: KeyboardEvent): (() => void) | undefined => {
    const { activeDocument: document } = list;
    if (ctrlKey || metaKey) return key === "a" && canSelect ? list.selectAll : undefined;
    const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {};
    const page = Math.max(1, endIndex - startIndex - 1);
    const to = movedBy(key, list.active, { total: list.total, page });
    if (to !== undefined) return () => move(to, shiftKey);
    if (key === " " && canSelect) return () => list.toggle(list.active, shiftKey);
    const isMenu = key === "ContextMenu" || (key === "F10" && shiftKey);
    return (key === "Enter" || isMenu) && document !== undefined ? () => act(document, isMenu) : undefined;
  };
  return (event: KeyboardEvent<HTMLDivElement>): void => {
    // A box or button in a row has its own keys.
    if (event.altKey || event.target !== event.currentTarget) return;
    const run = runOf(event);
    if (run === undefined) return;
    event.preventDefault();
    run();
  };
}
