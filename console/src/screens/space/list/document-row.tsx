import { type CSSProperties, type DragEvent, type MouseEvent, type ReactNode, memo } from "react";
import { type Document, nameOf } from "../documents.ts";
import { cellOf } from "./cell.tsx";
import styles from "./list.module.css";
import type { RowLook } from "./row-look.ts";

export interface RowActions {
  readonly toggle: (index: number, isRange: boolean) => void;
  readonly activate: (index: number) => void;
  readonly openMenu: (document: Document, at: DOMRect) => void;
  readonly open: (document: Document) => void;
  readonly drag: (document: Document, event: DragEvent) => void;
}

interface Props {
  readonly document: Document;
  readonly index: number;
  readonly start: number;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly look: RowLook;
  readonly actions: RowActions;
}

/** Drawn again only if what it shows has changed. */
export const DocumentRow = memo(function DocumentRow(props: Props): ReactNode {
  const { document, index, start, isSelected, isActive, look, actions } = props;
  const { canSelect, columns, texts } = look;
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
      style={styleOf(start, look)}
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
            aria-label={texts.bulk.select(name)}
            onClick={(event) => event.stopPropagation()}
            onChange={({ nativeEvent }) =>
              actions.toggle(index, nativeEvent instanceof PointerEvent && nativeEvent.shiftKey)
            }
          />
        </div>
      )}
      {columns.map((column) => (
        <div role="gridcell" key={column} className={styles["cell"]}>
          {cellOf(column, document, look)}
        </div>
      ))}
      <div role="gridcell">
        <button
          type="button"
          tabIndex={-1}
          className={styles["more"]}
          aria-label={texts.list.menu(name)}
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
});

export const rowId = (documentId: string): string => `document-${documentId}`;

const styleOf = (start: number, { height, tracks }: RowLook): CSSProperties => ({
  height,
  gridTemplateColumns: tracks,
  transform: `translateY(${start}px)`,
});

type LoadingProps = Pick<Props, "start" | "look" | "index">;

/** In place of a row whose page is on its way. */
export function LoadingRow({ start, look, index }: LoadingProps): ReactNode {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={`${styles["line"]} ${styles["row"]}`}
      style={{ ...styleOf(start, look), gridTemplateColumns: "1fr" }}
    >
      <div role="gridcell" className={styles["small"]}>
        {index + 1} · {look.texts.list.row}
      </div>
    </div>
  );
}
