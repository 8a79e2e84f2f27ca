import type { Document } from "@holdfast/client";
import { type Row, flexRender } from "@tanstack/react-table";
import { type CSSProperties, type DragEvent, type MouseEvent, type ReactNode, memo } from "react";
import { useMessages } from "../../../messages/messages.ts";
import { messages as bulkMessages } from "../actions/messages.ts";
import { messages } from "../messages.ts";
import type { features } from "./columns.tsx";
import styles from "./list.module.css";
import { nameOf } from "../documents.ts";

export interface RowActions {
  readonly toggle: (index: number, isRange: boolean) => void;
  readonly activate: (index: number) => void;
  readonly openMenu: (document: Document, at: DOMRect) => void;
  readonly open: (document: Document) => void;
  readonly drag: (document: Document, event: DragEvent) => void;
}

interface Props {
  readonly row: Row<typeof features, Document>;
  readonly index: number;
  readonly start: number;
  readonly height: number;
  readonly tracks: string;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly canSelect: boolean;
  readonly actions: RowActions;
}

function DocumentRowView({
  row,
  index,
  isSelected,
  isActive,
  canSelect,
  actions,
  ...place
}: Props): ReactNode {
  const texts = useMessages(messages).list;
  const bulk = useMessages(bulkMessages);
  const document = row.original;
  const name = nameOf(document);
  const click = (event: MouseEvent): void => {
    actions.activate(index);
    const isModified = event.shiftKey || event.ctrlKey || event.metaKey;
    if (isModified && canSelect) {
      event.preventDefault();
      actions.toggle(index, event.shiftKey);
    } else if (!isModified && (event.target as Element).closest("[data-opens]") !== null) {
      // A plain link, since a list draws many: the click is led to the router here.
      event.preventDefault();
      actions.open(document);
    }
  };
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the grid around it has the keys
    <div
      role="row"
      id={rowId(document.id)}
      aria-rowindex={index + 2}
      aria-selected={canSelect ? isSelected : undefined}
      data-active={isActive || undefined}
      className={`${styles["line"]} ${styles["row"]}`}
      style={styleOf(place)}
      draggable={canSelect}
      onDragStart={(event) => actions.drag(document, event)}
      onClick={click}
      onDoubleClick={() => actions.open(document)}
    >
      {canSelect && (
        <div role="gridcell">
          <input
            type="checkbox"
            tabIndex={-1}
            className={styles["pick"]}
            checked={isSelected}
            aria-label={bulk.select(name)}
            onClick={(event) => event.stopPropagation()}
            onChange={(event) =>
              actions.toggle(index, (event.nativeEvent as { shiftKey?: boolean }).shiftKey === true)
            }
          />
        </div>
      )}
      {row.getVisibleCells().map((cell) => (
        <div role="gridcell" key={cell.id} className={styles["cell"]}>
          {flexRender(cell.column.columnDef.cell, cell.getContext())}
        </div>
      ))}
      <div role="gridcell">
        <button
          type="button"
          tabIndex={-1}
          className={styles["more"]}
          aria-label={texts.menu(name)}
          aria-haspopup="menu"
          onClick={(event) => {
            event.stopPropagation();
            actions.openMenu(document, event.currentTarget.getBoundingClientRect());
          }}
        >
          <span aria-hidden>⋯</span>
        </button>
      </div>
    </div>
  );
}

/** Drawn again only if what it shows has changed: a list that scrolls makes new row objects all the time. */
export const DocumentRow = memo(
  DocumentRowView,
  ({ row: rowBefore, ...before }, { row: rowAfter, ...after }) =>
    rowBefore.original === rowAfter.original &&
    (Object.keys(before) as Array<keyof typeof before>).every((key) => before[key] === after[key]),
);

export const rowId = (documentId: string): string => `document-${documentId}`;

const styleOf = ({ start, height, tracks }: Pick<Props, "start" | "height" | "tracks">): CSSProperties => ({
  height,
  gridTemplateColumns: tracks,
  transform: `translateY(${start}px)`,
});

/** In place of a row whose page is on its way. */
export function LoadingRow(place: Pick<Props, "start" | "height" | "tracks" | "index">): ReactNode {
  const texts = useMessages(messages).list;
  return (
    <div
      role="row"
      aria-rowindex={place.index + 2}
      className={`${styles["line"]} ${styles["row"]}`}
      style={{ ...styleOf(place), gridTemplateColumns: "1fr" }}
    >
      <div role="gridcell" className={styles["small"]}>
        {place.index + 1} · {texts.row}
      </div>
    </div>
  );
}
