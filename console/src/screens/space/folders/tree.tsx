import { type DragEvent, type KeyboardEvent, type ReactNode, type RefObject, useState, memo } from "react";
import { useQuery } from "@tanstack/react-query";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { isDrag, isFileDrag, startDrag } from "../list/drag.ts";
import { TOP } from "../list/question.ts";
import { messages } from "./messages.ts";
import { type Folder, type TreeLine, aboveOf, foldersQuery, linesOf } from "./tree-data.ts";
import styles from "./tree.module.css";

interface Props {
  readonly spaceId: string;
  /** A folder's id, `top`, or undefined: all documents. */
  readonly selected: string | undefined;
  readonly onSelect: (folder: string | undefined) => void;
  readonly canWrite: boolean;
  /** Gets what was dropped: documents, a folder or files. `null` is the top level. */
  readonly onDrop?: (event: DragEvent, folderId: string | null) => void;
  readonly onMenu?: (folder: Folder, at: DOMRect) => void;
  readonly onKey?: (key: "F2" | "Delete", folder: Folder) => void;
  readonly treeRef?: RefObject<HTMLUListElement | null>;
  /** In place of "All documents": what chooses no folder. */
  readonly rootName?: string;
}

/** The folders of a space. Arrow keys walk it, right and left open and close, enter chooses. */
export const FolderTree = memo(function FolderTree(props: Props): ReactNode {
  const { spaceId, selected, onSelect, rootName, treeRef } = props;
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const query = useQuery(foldersQuery(holdfast, spaceId));
  const { data: folders = [] } = query;
  // What the person opened or closed; the way to the folder that is chosen is open unless it was closed.
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const opened = new Set(aboveOf(folders, selected));
  for (const [id, isOpen] of changed) {
    if (isOpen) opened.add(id);
    else opened.delete(id);
  }
  const lines = linesOf(folders, opened);
  const open = (id: string, isOpen: boolean): void =>
    setChanged((before) => new Map([...before, [id, isOpen]]));
  if (query.error !== null && query.data === undefined)
    return <ScreenError error={query.error} retry={() => void query.refetch()} />;
  const isTopShown = rootName === undefined;
  const focusable =
    lines.some(({ folder }) => folder.id === selected) || selected === TOP ? selected : undefined;
  return (
    <ul ref={treeRef} role="tree" aria-label={texts.label} className={styles["tree"]} onKeyDown={walk}>
      <Place {...props} id={undefined} name={rootName ?? texts.all} isFocusable={focusable === undefined} />
      {isTopShown && <Place {...props} id={TOP} name={texts.top} isFocusable={focusable === TOP} />}
      {lines.map((line) => (
        <Line
          key={line.folder.id}
          {...props}
          line={line}
          isFocusable={focusable === line.folder.id}
          onOpen={(isOpen) => open(line.folder.id, isOpen)}
          onSelect={() => onSelect(line.folder.id)}
        />
      ))}
    </ul>
  );
});

/** Goes from line to line, as a tree is walked everywhere. */
function walk(event: KeyboardEvent<HTMLUListElement>): void {
  const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=treeitem]")];
  const at = lines.indexOf(event.target as HTMLElement);
  if (at < 0) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: lines.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  lines[Math.max(0, Math.min(to, lines.length - 1))]?.focus();
}

interface PlaceProps extends Props {
  readonly id: typeof TOP | undefined;
  readonly name: string;
  readonly isFocusable: boolean;
}

/** All documents, or those in no folder. */
function Place({ id, name, isFocusable, selected, onSelect, ...rest }: PlaceProps): ReactNode {
  // Documents that are dropped on "All documents" would go where nobody meant.
  const drop = useDrop({ ...rest, canWrite: rest.canWrite && id === TOP }, null);
  return (
    <li
      role="treeitem"
      aria-level={1}
      aria-selected={selected === id}
      tabIndex={isFocusable ? 0 : -1}
      className={styles["line"]}
      style={{ paddingInlineStart: 8 }}
      onClick={() => onSelect(id)}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onSelect(id);
      }}
      {...drop}
    >
      <span className={styles["name"]}>{name}</span>
    </li>
  );
}

interface LineProps extends Omit<Props, "onSelect"> {
  readonly line: TreeLine;
  readonly isFocusable: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  readonly onSelect: () => void;
}

function Line({ line, isFocusable, onOpen, onSelect, onMenu, onKey, ...rest }: LineProps): ReactNode {
  const texts = useMessages(messages);
  const { folder, level, isOpen, mayOpen } = line;
  const drop = useDrop(rest, folder.id);
  const press = (event: KeyboardEvent<HTMLLIElement>): void => {
    const { key, currentTarget } = event;
    if (event.target !== currentTarget) return;
    if (key === "Enter" || key === " ") onSelect();
    else if (key === "ArrowRight" && mayOpen) onOpen(true);
    else if (key === "ArrowLeft") onOpen(false);
    else if ((key === "F2" || key === "Delete") && onKey !== undefined && rest.canWrite) onKey(key, folder);
    else if (rest.canWrite && (key === "ContextMenu" || (key === "F10" && event.shiftKey)))
      onMenu?.(folder, currentTarget.getBoundingClientRect());
    else return;
    event.preventDefault();
  };
  return (
    <li
      role="treeitem"
      aria-level={level}
      aria-posinset={line.position}
      aria-setsize={line.siblings}
      aria-expanded={mayOpen ? isOpen : undefined}
      aria-selected={rest.selected === folder.id}
      aria-label={folder.name}
      tabIndex={isFocusable ? 0 : -1}
      className={styles["line"]}
      style={{ paddingInlineStart: 8 + (level - 1) * 16 }}
      draggable={rest.canWrite && onMenu !== undefined}
      onDragStart={(event) => startDrag(event, { kind: "folder", id: folder.id, name: folder.name })}
      onClick={onSelect}
      onKeyDown={press}
      {...drop}
    >
      <span
        aria-hidden
        className={styles["twist"]}
        onClick={(event) => {
          event.stopPropagation();
          onOpen(!isOpen);
        }}
      >
        {mayOpen ? (isOpen ? "▾" : "▸") : ""}
      </span>
      <span className={styles["name"]} title={folder.name}>
        <Bidi>{folder.name}</Bidi>
      </span>
      {onMenu !== undefined && rest.canWrite && (
        <button
          type="button"
          tabIndex={-1}
          className={styles["more"]}
          aria-label={texts.menu(folder.name)}
          aria-haspopup="menu"
          onClick={(event) => {
            event.stopPropagation();
            onMenu(folder, event.currentTarget.getBoundingClientRect());
          }}
        >
          <span aria-hidden>⋯</span>
        </button>
      )}
    </li>
  );
}

/** What makes a line a place to drop on. */
function useDrop({ canWrite, onDrop }: Pick<Props, "canWrite" | "onDrop">, folderId: string | null) {
  const [isOver, setIsOver] = useState(false);
  if (!canWrite || onDrop === undefined) return {};
  return {
    "data-over": isOver || undefined,
    onDragOver(event: DragEvent) {
      if (!isDrag(event) && !isFileDrag(event)) return;
      event.preventDefault();
      event.stopPropagation();
      setIsOver(true);
    },
    onDragLeave: () => setIsOver(false),
    onDrop(event: DragEvent) {
      event.preventDefault();
      event.stopPropagation();
      setIsOver(false);
      onDrop(event, folderId);
    },
  };
}
