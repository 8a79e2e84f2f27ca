/** The columns of the list: what each shows, and by what the service orders it. */
import type { Document } from "@holdfast/client";
import {
  columnVisibilityFeature,
  createColumnHelper,
  rowSortingFeature,
  tableFeatures,
} from "@tanstack/react-table";
import type { ReactNode } from "react";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { Ago } from "../../../parts/time.tsx";
import { messages } from "../messages.ts";
import { StateCell } from "../state/state-cell.tsx";
import styles from "./list.module.css";
import { NAME } from "./question.ts";
import { nameOf } from "../documents.ts";

export const features = tableFeatures({ rowSortingFeature, columnVisibilityFeature });

export const STATE = "processing_state.pipeline_status";

const helper = createColumnHelper<typeof features, Document>();

/** By the field that the service orders by; `state` is shown below the name where there is no room for it. */
export const columns = helper.columns([
  helper.accessor(nameOf, {
    id: NAME,
    cell: ({ row, table }) => (
      <NameCell document={row.original} hasState={!table.getColumn(STATE)!.getIsVisible()} />
    ),
  }),
  helper.display({ id: STATE, cell: ({ row }) => <StateCell document={row.original} /> }),
  helper.accessor("file_type", { id: "file_type" }),
  helper.accessor("file_size", { id: "file_size", cell: ({ row }) => <SizeCell document={row.original} /> }),
  helper.accessor("created_at", {
    id: "created_at",
    cell: ({ row }) => <Ago at={row.original.created_at} />,
  }),
]);

/** The word above a column. */
export const TITLES: Readonly<Record<string, "name" | "status" | "type" | "size" | "created">> = {
  [NAME]: "name",
  [STATE]: "status",
  file_type: "type",
  file_size: "size",
  created_at: "created",
};

/** The width of each column, as a track of a grid. */
const TRACKS: Readonly<Record<string, string>> = {
  [NAME]: "minmax(140px, 1fr)",
  [STATE]: "minmax(200px, 1fr)",
  file_type: "90px",
  file_size: "80px",
  created_at: "120px",
};

/** With the box at the start and the menu at the end. */
export const tracksOf = (ids: readonly string[], canSelect: boolean): string =>
  [...(canSelect ? ["20px"] : []), ...ids.map((id) => TRACKS[id]), "32px"].join(" ");

const NARROW_PX = 620;
const MIDDLE_PX = 860;

/** What there is room for in a list of this width; 0: it is not known yet. */
export function visibilityOf(width: number): Record<string, boolean> {
  const isNarrow = width > 0 && width < NARROW_PX;
  const isMiddle = width > 0 && width < MIDDLE_PX;
  return {
    [STATE]: !isNarrow,
    file_type: !isMiddle,
    file_size: !isMiddle,
    created_at: !isNarrow,
  };
}

export const rowHeightOf = (width: number): number => (width > 0 && width < NARROW_PX ? 92 : 56);

interface CellProps {
  readonly document: Document;
}

function NameCell({ document, hasState }: CellProps & { readonly hasState: boolean }): ReactNode {
  const texts = useMessages(messages).list;
  return (
    <>
      <a
        href={`${import.meta.env.BASE_URL}documents/${document.id}`}
        tabIndex={-1}
        draggable={false}
        className={styles["name"]}
        title={nameOf(document)}
        data-opens
      >
        <Bidi>{nameOf(document)}</Bidi>
      </a>
      {document.folder_path !== null && (
        <span className={styles["small"]} title={document.folder_path}>
          {texts.inFolder} <Bidi>{document.folder_path}</Bidi>
        </span>
      )}
      {hasState && <StateCell document={document} />}
    </>
  );
}

function SizeCell({ document }: CellProps): ReactNode {
  return useFormats().bytes(document.file_size);
}
